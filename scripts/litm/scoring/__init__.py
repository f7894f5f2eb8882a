"""From examples and responses to scores."""
