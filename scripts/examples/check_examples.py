"""Check the examples of an experiment: the same questions at every placement, gold items in their places, no leaks."""

import argparse
from collections import defaultdict
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import UserError, note
from litm.base.records import write_json
from litm.domain.example import read_examples
from litm.examples.example_check import check_examples
from litm.examples.task import ASK_ANOTHER_KEY, MOVE_THE_PAIR

SHOWN = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--examples", required=True, nargs="+", help="files {size}/{placement}.jsonl.gz")
    parser.add_argument("--generated", action="store_true", help="check for leaks and repetitions too")
    parser.add_argument("--design", choices=[MOVE_THE_PAIR, ASK_ANOTHER_KEY], default=MOVE_THE_PAIR)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    by_size: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in map(Path, args.examples):
        by_size[path.parent.name][path.name.removesuffix(".jsonl.gz")] = path
    for size, paths in by_size.items():
        examples = {placement: read_examples(path) for placement, path in paths.items()}
        found = check_examples(examples, args.generated, args.design)
        if found:
            more = f" (and {len(found) - SHOWN} more)" if len(found) > SHOWN else ""
            raise UserError(
                f"the examples of {args.experiment}, size {size}, would not measure what they should: "
                f"{'; '.join(found[:SHOWN])}{more}. Fix the dataset, or the task that made them"
            )
    placements = {size: list(paths) for size, paths in by_size.items()}
    write_json(args.output, {"experiment": args.experiment, "generated": args.generated, "placements": placements})
    note(f"{args.experiment}: examples checked")


if __name__ == "__main__":
    run(main)
