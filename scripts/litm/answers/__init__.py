"""Answers: whether a text contains the answer."""
