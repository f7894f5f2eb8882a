"""The library behind the workflow's scripts: pure functions and frozen dataclasses, no Snakemake."""
