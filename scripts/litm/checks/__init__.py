"""Checks before and after a run: doctor, estimate, audit."""
