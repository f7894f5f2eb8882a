"""Scores to tables: statistics, published values, claims."""
