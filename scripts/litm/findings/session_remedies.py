"""What helps a model in a session, by the comparison of remedies."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from litm.findings.record import SHOWN, Finding, Kind, Strength

KINDS = {
    "session_remedies": Kind(
        "What helps a model against forgetting in a session: shown if a remedy is shown to change its accuracy at the "
        "largest size of the remedy, not shown otherwise.",
        facts={
            "remedies": "each remedy at its largest size: setting (in words), experiment, size, n, accuracy, "
            "accuracy_without, difference, ci_low, ci_high, p_holm, n_for_5_points, tokens and dollars more than "
            "without (for one question and for 1,000; null if not known)"
        },
    )
}
#: What is taken of a row as it is.
_TAKEN = (
    "setting", "experiment", "size", "n", "accuracy", "accuracy_without", "difference", "ci_low",
    "ci_high", "p_holm", "n_for_5_points",
)  # fmt: skip


def session_findings(rows: Iterable[Mapping[str, Any]], stand_ins: Collection[str] = ()) -> Iterator[Finding]:
    """A finding for each model; rows: of session_remedies.csv."""
    named = (row for row in rows if row["model"] not in stand_ins)
    for model, of_model in groupby(named, key=itemgetter("model")):
        largest = {row["experiment"]: row for row in sorted(of_model, key=itemgetter("size"))}
        remedies = [_remedy(row) for row in largest.values()]
        is_shown = any(remedy["p_holm"] < SHOWN for remedy in remedies)
        yield Finding(
            "session_remedies",
            (model,),
            tuple(largest),
            strength=Strength.SHOWN if is_shown else Strength.CANNOT_TELL,
            facts={"remedies": remedies},
        )


def _remedy(row: Mapping[str, Any]) -> dict[str, Any]:
    more = {
        name: None if None in (row[name], row[f"{name}_without"]) else row[name] - row[f"{name}_without"]
        for name in ("tokens", "dollars")
    }
    return {**{name: row[name] for name in _TAKEN}, **more}
