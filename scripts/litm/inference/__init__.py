"""Inference: from examples to responses."""
