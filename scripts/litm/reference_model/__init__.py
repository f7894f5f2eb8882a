"""The reference model: a small language model that is trained here, from generated text alone."""
