"""Library of the workflow's programs: pure functions and frozen dataclasses, no Snakemake."""

import sys

from litm.base.messages import say_missing_package

# Before any other import of a program, as a missing package is found while they are imported.
sys.excepthook = say_missing_package
