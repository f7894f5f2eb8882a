"""Figures of results: plain data, and pictures of it."""
