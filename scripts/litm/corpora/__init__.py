"""Corpora: passages from sources of text."""
