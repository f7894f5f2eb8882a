"""Library of the workflow's programs: pure functions and frozen dataclasses, no Snakemake."""
