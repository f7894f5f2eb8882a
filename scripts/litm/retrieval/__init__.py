"""Passages and questions to hits and candidates."""
