"""Differences of two models in an experiment."""

from collections.abc import Container, Iterable, Iterator, Sequence
from operator import itemgetter

from litm.base.groups import grouped
from litm.findings.curves import PLACES, Row
from litm.findings.record import Finding, Kind, Number, Strength

#: Fraction: a smaller difference counts as none, as `litm.analysis.shapes.SMALL` does.
SMALL = 0.05
BIAS = ("primacy", "recency", "pbi")

KINDS = {
    "pair": Kind(
        "The first model minus the second, on their common questions, as means over the sizes of an experiment. Shown "
        "if any of its numbers is; not shown if the whole interval of the accuracy is within 5 points. Numbers of "
        "positions have no value if the positions of one of the two tell nothing.",
        numbers={
            "accuracy": "difference in accuracy over all positions",
            **{place: f"difference at the {place}" for place in PLACES},
            "primacy": "difference in start minus middle",
            "recency": "difference in end minus middle",
            "pbi": "difference in the Position Bias Index",
        },
        facts={
            "metric": "the metric of the experiment",
            "n_sizes": "sizes that the accuracies are a mean of",
            "n_sizes_pbi": "sizes that the PBI is a mean of, null without one",
            "pbi_a": "the PBI of the first model, null without one",
            "pbi_b": "the PBI of the second model",
            "silent": "those of the two whose positions tell nothing, so that only accuracies are compared",
        },
    )
}


def pair_findings(
    rows: Iterable[Row], accuracy: Iterable[Row], stand_ins: Container[str], silent: Container[tuple]
) -> Iterator[Finding]:
    """A finding for each pair of models and experiment, in the order of the rows.

    rows, accuracy: of model_pairs.csv and accuracy.csv; stand_ins: models that are in no pair; silent: the (model,
    experiment) whose positions tell nothing.
    """
    metrics = {row["experiment"]: row["metric"] for row in accuracy}
    for (experiment, a, b), alike in grouped(rows, itemgetter("experiment", "model_a", "model_b")).items():
        if a not in stand_ins and b not in stand_ins:
            yield _pair(experiment, (a, b), alike, [m for m in (a, b) if (m, experiment) in silent], metrics)


def _pair(experiment: str, models: tuple[str, str], rows: Sequence[Row], silent: list[str], metrics: dict) -> Finding:
    # Only accuracies count for a model whose positions tell nothing.
    by_name = {
        ("accuracy" if row["place"] == "all" else row["place"]) or row["quantity"]: row
        for row in rows
        if row["quantity"] == "accuracy" or not silent
    }
    numbers = {
        name: Number.of_row(by_name[name], "difference", "", "p_holm") if name in by_name else Number(None)
        for name in KINDS["pair"].numbers
    }
    overall, pbi = by_name["accuracy"], by_name.get("pbi")
    return Finding(
        "pair",
        models,
        (experiment,),
        overall.get("size"),
        n=overall["n"],
        strength=_strength(numbers),
        numbers=numbers,
        facts={
            "metric": metrics.get(experiment),
            "n_sizes": overall["n_sizes"],
            "n_sizes_pbi": pbi["n_sizes"] if pbi else None,
            "pbi_a": pbi["value_a"] if pbi else None,
            "pbi_b": pbi["value_b"] if pbi else None,
            "silent": silent,
        },
    )


def _strength(numbers: dict[str, Number]) -> Strength:
    if any(number.is_shown for number in numbers.values()):
        return Strength.SHOWN
    overall = numbers["accuracy"]
    is_small = overall.low is not None and overall.high is not None and -SMALL < overall.low <= overall.high < SMALL
    return Strength.NOT_SHOWN if is_small else Strength.CANNOT_TELL
