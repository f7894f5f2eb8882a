"""Checks before and after a run: doctor, estimate and audit."""
