"""Reference model: a small language model trained here, from generated text alone."""
