"""Responses that were made elsewhere, in files and logs of other programs."""
