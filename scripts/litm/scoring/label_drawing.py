"""The answers that a person is to label, drawn from those of all models to an experiment."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from litm.base.store import digest
from litm.base.table_files import by_cell
from litm.records.examples import Example
from litm.scoring.judge_error import drawn
from litm.scoring.judging import LABEL_COLUMNS, SWEEP_DIGITS, label_key

#: Columns of the cells; each cell has an equal part of the labels.
CELL = ["model", "experiment", "size", "placement"]
#: The name of an answer: its model, and the name of its prompt.
Name = tuple[str, tuple[int, str, str]]


def drawn_names(scores: Iterable[pd.DataFrame], number: int, seed: int) -> Iterator[Name]:
    """Yield the answers to label, `number` of all; scores: rows of each judged sweep."""
    cells = [cell for sweep in scores for cell in by_cell(sweep, CELL)]
    for names, group in cells:
        judged = group[~group["excluded"] & group["correct"].notna()]
        verdicts, strict = (judged[name].to_numpy(dtype=int)[:, None] for name in ("correct", "correct_strict"))
        rng = np.random.default_rng(int(digest([seed, *map(str, names.values())])[:16], 16))
        chosen = judged[drawn(verdicts, strict, number / len(cells), rng)[:, 0]]
        for id in chosen["id"]:
            yield names["model"], (names["size"], names["placement"], id)


def label_rows(
    experiment: str, names: Iterable[Name], texts: Mapping[Name, str], examples: Iterable[Example]
) -> list[dict[str, str]]:
    """The rows of a table of labels, in an order that tells neither models nor positions.

    texts: of the answers.
    """
    of_prompt: dict[tuple[int, str, str], list[str]] = {}
    for model, name in names:
        of_prompt.setdefault(name, []).append(model)
    rows = []
    for example in examples:
        for model in of_prompt.get(example.name, ()):
            answer = texts[model, example.name]
            accepted = "; ".join(example.targets[0].answers)
            key = label_key(model, experiment, example.name, answer)
            rows.append(dict(zip(LABEL_COLUMNS, (key, example.question, accepted, answer.strip(), ""), strict=True)))
    return sorted(rows, key=lambda row: row["key"][SWEEP_DIGITS:])
