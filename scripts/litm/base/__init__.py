"""What every stage builds on: errors, messages, files, and the schemas of what users write."""
