"""Sweeps of several studies in groups whose numbers are comparable, and letters for what is not shown to differ.

Comparable are sweeps of the same experiment, size, metric and prompts before any template (ids of questions, sha256 of
prompts): the prompts have the documents, their order and wording, and the version of the data.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

import pandas as pd

from litm.analysis.differences import BIAS, model_pair_rows
from litm.analysis.grid import Grids, read_curve
from litm.analysis.pbi import PLACES
from litm.analysis.significance import SIGNIFICANT
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.scoring.doubts import doubt_in_words

#: Quantity and place of the paired tests of each column.
TESTED = {"accuracy": ("accuracy", "all")} | {f"accuracy_{place}": ("accuracy", place) for place in PLACES}
TESTED |= {name: (name, "") for name in BIAS}
#: Columns that say how numbers were made, and settings of the experiment that say nothing of it.
FACTS = ("task", "metric", "prompt", "data", "positions", "decoding", "number_format", "prompt_format")
#: Columns of an answer to one target of a prompt.
ANSWER = ["experiment", "metric", "size", "placement", "id", "target", "text"]
NOTHING = "nothing that the studies record"
UNTOLD = ("name", "title", "cells", "datasets", "closed_book", "oracle", "labels", "max_new_tokens", "stop")


@dataclass(frozen=True)
class Sweep:
    """A curve, or a cell without others, of one model of one study."""

    row: dict
    """Values of the columns of the table `studies`."""
    settings: Mapping
    """Settings of the experiment."""
    scores: pd.DataFrame | None
    """Its score rows with ids by prompts, None with the reason if the study lacks them."""
    reason: str = ""
    not_compared: bool = False
    """Whether recorded answers do not say which prompts they answer."""

    @cached_property
    def asked(self) -> frozenset:
        """Ids of its questions, which tell their prompts; empty if they are not known."""
        return frozenset(() if self.scores is None else self.scores["id"])

    @cached_property
    def facts(self) -> dict[str, str]:
        """How its numbers were made, by name."""
        settings = {key: value for key, value in self.settings.items() if key not in UNTOLD}
        return {key: str(value) for key, value in (settings | {key: self.row[key] for key in FACTS}).items()}

    @property
    def about(self) -> tuple:
        """Experiment, size and placement: sweeps that agree in them invite a comparison."""
        return tuple(self.row[name] for name in ("experiment", "size", "placement"))


def comparable(sweeps: Iterable[Sweep]) -> list[dict]:
    """Groups of comparable sweeps as {rows, pairs, notes}, in the order of experiments, then by size.

    rows: with the group's number from 1 as `table`, and letters. pairs: rows of `model_pair_rows`; p_holm is over all
    pairs and places of the group. notes: sentences on what differs and what was not tested.
    """
    alike = grouped(sweeps, lambda sweep: (*sweep.about, sweep.row["metric"], sweep.asked or sweep.row["study"]))
    order = {about[0]: place for place, (*about, _, _) in reversed([*enumerate(alike)])}
    groups = sorted(alike.values(), key=lambda group: (order[group[0].about[0]], group[0].about[1]))
    tables = []
    for number, group in enumerate(groups, 1):
        check_verdicts([sweep.scores for sweep in group if sweep.scores is not None])
        grids = {
            (sweep.row["label"], *sweep.about[:2]): read_curve(sweep.scores)
            for sweep in group
            if sweep.scores is not None
        }
        pairs = [*model_pair_rows({name: grid for name, grid in grids.items() if not grid.doubt})]
        rows = lettered([sweep.row | {"table": number} for sweep in group], pairs)
        tables.append({"rows": rows, "pairs": pairs, "notes": _notes(group, groups, pairs, grids)})
    return tables


def check_verdicts(sweeps: Sequence[pd.DataFrame]) -> None:
    """Raise `UserError` if equal answers to one prompt have unequal verdicts, as of two versions of a metric.

    sweeps: scores with ids by prompts, and `text` and `folder`.
    """
    if sweeps:
        scores = pd.concat(sweeps)
        # The last digits of a graded metric depend on the machine.
        scores["correct"] = scores["correct"].astype("Float64").round(9)
        folders = scores.loc[scores.groupby(ANSWER)["correct"].transform("nunique") > 1, "folder"].unique()
        if len(folders):
            raise UserError(
                f"{' and '.join(folders)}: equal answers to the same prompts have unequal verdicts, by two versions of "
                "a metric or other accepted answers: run the older study again, which asks nothing, or leave it out"
            )


def lettered(rows: Sequence[dict], pairs: Sequence[Mapping]) -> list[dict]:
    """The rows with their letters in each column of `TESTED`, None for a value that was not tested."""
    lettered_rows = [*rows]
    for column, tested in TESTED.items():
        tested_pairs = [pair for pair in pairs if (pair["quantity"], pair["place"]) == tested]
        labels = {pair[side] for pair in tested_pairs for side in ("model_a", "model_b")}
        values = {row["label"]: row[column] for row in rows if row["label"] in labels and row[column] is not None}
        shown = [(pair["model_a"], pair["model_b"]) for pair in tested_pairs if pair["p_holm"] < SIGNIFICANT]
        by_label = letters(sorted(values, key=lambda label: -values[label]), shown)
        lettered_rows = [row | {f"{column}_letters": by_label.get(row["label"])} for row in lettered_rows]
    return lettered_rows


def letters(names: Sequence[str], shown: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The compact letter display (Piepho 2004): two names share a letter unless they are shown to differ.

    names: from the largest value down, as the letters are given out. shown: pairs that are shown to differ.
    """
    sets = [frozenset(names)]
    for a, b in shown:
        split = [part for group in sets for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))]
        sets = [group for group in dict.fromkeys(split) if not any(group < other for other in split)]
    sets.sort(key=lambda group: sorted(names.index(name) for name in group))
    signs = [ascii_lowercase[place % 26] * (1 + place // 26) for place in range(len(sets))]
    return {name: "".join(sign for sign, group in zip(signs, sets, strict=True) if name in group) for name in names}


def _notes(
    group: Sequence[Sweep], groups: Iterable[Sequence[Sweep]], pairs: Collection[Mapping], grids: Grids
) -> list[str]:
    """What differs within a group, what was not tested, and how other groups of the same name differ from it."""
    inner = differing([sweep] for sweep in group)
    notes = [f"Rows of this table differ in {inner}."] if inner else []
    if unknown := [sweep.row["label"] for sweep in group if sweep.not_compared]:
        notes.append(
            f"The prompts of {', '.join(unknown)} could not be compared: recorded answers do not say which prompts "
            "they answer (no prompt_sha256). These rows are comparable only if the prompts had the seed, documents and "
            "text of the study."
        )
    tested = {row[side] for row in pairs for side in ("model_a", "model_b")}
    alone = "no other row has a question of it that was scored at all positions"
    for sweep in group:
        grid = grids.get((sweep.row["label"], *sweep.about[:2]))
        if sweep.scores is None or (grid and grid.doubt) or (len(group) > 1 and sweep.row["label"] not in tested):
            why = alone if grid and len(grid.cases.ids) else "no question was scored at all positions"
            why = doubt_in_words(grid.doubt) if grid and grid.doubt else why
            notes.append(f"No paired test of {sweep.row['label']}: {sweep.reason or why}.")
    for number, other in enumerate(groups, 1):
        if other is not group and other[0].about == group[0].about:
            a, b = group[0].asked, other[0].asked
            common = f"{len(a & b):,} of its {len(a):,} questions have the same prompts"
            compared = common if a and b else "the prompts of one are not known"
            differ = differing([group, other]) or NOTHING
            notes.append(f"Not comparable with table {number}: {compared}; they differ in {differ}.")
    return notes


def differing(groups: Iterable[Sequence[Sweep]]) -> str:
    """The facts that are not the same in all groups, with their values: `prompt (a | b)`."""
    facts = [[sweep.facts for sweep in group] for group in groups]
    keys = dict.fromkeys(key for group in facts for fact in group for key in fact)
    values = {
        key: [", ".join(sorted({fact.get(key, "not known") for fact in group})) for group in facts] for key in keys
    }
    several = {
        key.replace("_", " "): " | ".join(dict.fromkeys(texts)) for key, texts in values.items() if len({*texts}) > 1
    }
    return "; ".join(f"{key} ({text})" for key, text in several.items())
