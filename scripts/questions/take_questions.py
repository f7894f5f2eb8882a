"""Take the first questions of a dataset, each record as it is."""

import argparse
from itertools import islice

from litm.base.cli import run
from litm.base.messages import UserError, note
from litm.base.records import read_records, write_jsonl


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="a file in the released format")
    parser.add_argument("--taken", required=True, type=int, help="number of questions to take, the first ones")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    records = [record for _, record in islice(read_records(args.dataset), args.taken)]
    if len(records) < args.taken:
        raise UserError(f"{args.dataset} has {len(records)} questions; lower 'questions', which asks for {args.taken}")
    write_jsonl(args.output, records)
    note(f"{args.output}: the first {len(records)} questions of {args.dataset}")


if __name__ == "__main__":
    run(main)
