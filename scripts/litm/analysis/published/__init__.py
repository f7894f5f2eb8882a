"""Published values, and their comparison with results."""
