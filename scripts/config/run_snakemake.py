"""Run Snakemake after a check of the command and its config files, on this workflow where the folder has none."""

import sys

from litm.base.cli import run
from litm.workflow.start import start_snakemake


def main() -> None:
    start_snakemake(sys.argv[1:])


if __name__ == "__main__":
    run(main)
