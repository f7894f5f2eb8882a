"""Examples and responses with a few JSON fields, for tests of their readers."""

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from pathlib import Path

from conftest import write_lines

from litm.base.json_files import read_jsonl
from litm.records.examples import Example
from litm.records.responses import SweepResponse

_CELL = {"id": "q", "size": 4, "placement": "gold_at_0"}
_EXAMPLE = {**_CELL, "question": "which?", "answer_in_distractors": False, "prompt": "p", "targets": ()}
_TARGET = {"name": "gold", "position": 0, "depth": 0.0, "span": None, "answers": []}
_TOLD = {"response": "x", "finish_reason": "stop", "prompt_tokens": 9, "response_tokens": 2}
_RESPONSE = {**_CELL, "key": "0" * 64, **_TOLD}


def example(**fields) -> Example:
    """An example with these JSON fields, and defaults for the others."""
    record = {**_EXAMPLE, **fields}
    return Example.from_json({**record, "targets": [{**_TARGET, **target} for target in record["targets"]]})


def response(**fields) -> SweepResponse:
    """A response with these JSON fields, and defaults for the others."""
    return SweepResponse.from_json({**_RESPONSE, **fields})


def change_first(path: Path, **fields) -> None:
    """Change fields of the first record of a file."""
    first, *others = (record for _, record in read_jsonl(path))
    write_lines(path, [first | fields, *others])


def changed(
    examples: Mapping[str, Iterable[Example]], change: Callable[[dict[str, list[dict]]], object]
) -> dict[str, list[Example]]:
    """The examples by placement after `change` was made to their JSON objects."""
    records = {placement: [deepcopy(one.to_json()) for one in some] for placement, some in examples.items()}
    change(records)
    return {placement: [Example.from_json(record) for record in some] for placement, some in records.items()}
