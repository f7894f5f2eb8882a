"""Say what is wrong with files of the configuration, in one line.

For files that Snakemake itself ends on with a traceback: it reads them before this workflow gets a say.
"""

import argparse

from litm.base.cli import run
from litm.base.messages import UserError, note
from litm.config.yaml_files import read_config_file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="YAML or JSON files")
    for path in parser.parse_args().files:
        if not isinstance(read_config_file(path), dict):
            raise UserError(f"{path}: expected keys with values, as in 'seed: 1'")
        note(f"{path}: can be read")


if __name__ == "__main__":
    run(main)
