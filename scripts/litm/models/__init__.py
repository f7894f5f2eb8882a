"""What a model is: its files, identity, context window, device and memory."""
