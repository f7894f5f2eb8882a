"""Engines: their interface and registry, and the entries of the models that they run."""
