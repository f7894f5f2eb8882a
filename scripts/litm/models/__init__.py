"""Models: files, identity, context window, device and batches."""
