"""Requests to servers, their replies, caches, batches and bills."""
