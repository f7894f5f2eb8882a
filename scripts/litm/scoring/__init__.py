"""Scoring: examples and responses become scores."""
