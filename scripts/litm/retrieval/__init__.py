"""Retrieval: hits and candidates from passages and questions."""
