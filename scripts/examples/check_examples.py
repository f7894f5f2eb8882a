"""Check the examples of an experiment: the same questions at every placement, gold items in their places, no leaks.

examples: files {size}/{placement}.jsonl.gz
generated: check for leaks and repetitions too
"""

from collections import defaultdict
from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.examples.checks import check_examples
from litm.examples.task import ASK_ANOTHER_KEY, MOVE_THE_PAIR
from litm.records.examples import read_examples

SHOWN = 5


@program
def main(
    experiment: str,
    examples: tuple[Path, ...],
    output: str,
    generated: bool = False,
    design: Annotated[str, [MOVE_THE_PAIR, ASK_ANOTHER_KEY]] = MOVE_THE_PAIR,
) -> None:
    by_size: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in examples:
        by_size[path.parent.name][path.name.removesuffix(".jsonl.gz")] = path
    for size, paths in by_size.items():
        read = {placement: read_examples(path) for placement, path in paths.items()}
        faults = check_examples(read, generated, design)
        if faults:
            more = f" (and {len(faults) - SHOWN} more)" if len(faults) > SHOWN else ""
            raise UserError(
                f"the examples of {experiment}, size {size}, would not measure what they should: "
                f"{'; '.join(faults[:SHOWN])}{more}. Fix the dataset, or the task that made them"
            )
    placements = {size: list(paths) for size, paths in by_size.items()}
    write_json(output, {"experiment": experiment, "generated": generated, "placements": placements})
    note(f"{experiment}: examples checked")
