"""Exports and summaries of the suite."""
