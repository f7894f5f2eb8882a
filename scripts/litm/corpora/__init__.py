"""Text to passages."""
