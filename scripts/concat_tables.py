"""Put CSV tables of the same columns into one, in the order given."""

import argparse

from litm.cli import run
from litm.records import atomic_writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", required=True, nargs="+")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    with atomic_writer(args.output) as target:
        for index, path in enumerate(args.tables):
            with open(path, "rb") as table:
                header = table.readline()
                if index == 0:
                    target.write(header)
                target.writelines(table)


if __name__ == "__main__":
    run(main)
