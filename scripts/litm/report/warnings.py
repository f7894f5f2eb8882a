"""The first screen's answers and warnings: what a reader wants to know first, the most important first."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pandas as pd

from litm.analysis.answers import Row, compared, cut_sentences, silenced, to_look_at, uninformative
from litm.analysis.reading_sensitivity import reading_warnings
from litm.base.records import plain_rows
from litm.report.provenance import limits_of_answers

Tables = Mapping[str, pd.DataFrame]
#: Warnings that are open, at most, and comparisons of models.
OPEN, MOST_PAIRS = 3, 6


def first_answers(
    tables: Tables, manifests: Sequence[Mapping], experiments: Sequence[Mapping], stand_ins: Iterable[str]
) -> dict:
    """{answers, advice, warnings, more_warnings}: sentences on pairs of models; (headline, details) of each advice;
    sentences in the order of their meaning for the reader; `OPEN` are open.

    experiments: settings of each, as in `page.Contents`. stand_ins: models that are none: nothing is concluded
    from their answers.
    """
    skipped = set(stand_ins)
    own = {name: table[~table["model"].isin(skipped)] if "model" in table else table for name, table in tables.items()}
    told = uninformative(*(_rows(own, name) for name in ("utilisation", "accuracy", "position_bias")))
    silent = silenced(told, {one["name"]: one.get("closed_book") for one in experiments})
    warnings = [*told.values(), *_of_answers(own, manifests), *to_look_at(tables.get("gold_counts"))]
    return {
        "answers": list(_of_models(_rows(tables, "model_pairs"), {one["name"] for one in experiments}, skipped))[
            :MOST_PAIRS
        ],
        "advice": [
            (row["advice"], row["advice_details"] or "")
            for row in _rows(own, "advice")
            if row["advice"] and (row["model"], row["remedies_of"]) not in silent
        ],
        "warnings": warnings[:OPEN],
        "more_warnings": warnings[OPEN:],
    }


def _rows(tables: Tables, name: str) -> list[dict]:
    return plain_rows(tables[name]) if name in tables else []


def _of_models(rows: Iterable[Row], experiments: Collection[str], skipped: set[str]) -> Iterator[str]:
    for own, conclusion in compared(rows, experiments, skipped):
        first = own[0]
        if len(own) > 1:
            sizes = "" if first["n_sizes"] == 1 else f", mean of {first['n_sizes']} sizes"
            pair = f"{first['model_a']} and {first['model_b']}"
            yield f"{pair} on {first['experiment']}{sizes}, n = {first['n']:,}: {conclusion}"


def _of_answers(tables: Tables, manifests: Sequence[Mapping]) -> Iterator[str]:
    """Cut answers, then conclusions that depend on the reading of answers."""
    yield from (f"{one}." for one in cut_sentences(_rows(tables, "accuracy"), limits_of_answers(manifests)))
    decodings = {(one["model"], one["experiment"]): one["identity_fields"].get("decoding") for one in manifests}
    stops = {sweep: decoding["stop"] for sweep, decoding in decodings.items() if decoding}
    yield from (f"{one}." for one in reading_warnings(tables.get("reading_sensitivity"), stops))
