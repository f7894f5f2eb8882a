"""What the study is, the effect of position in each curve, and accuracies of experiments without positions."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from litm.analysis import shapes
from litm.analysis.shapes import FLAT, NO_INFORMATION, NONE
from litm.base.groups import grouped
from litm.findings.record import SHOWN, Finding, Kind, Number, Strength
from litm.scoring.doubts import is_doubt

Row = Mapping
curve_of = itemgetter("model", "experiment", "size", "placement")
sweep_of = itemgetter("model", "experiment")
FLOOR, CEILING, TOO_FEW = "floor", "ceiling", "too few questions"
#: A curve at the floor with more than half of its experiment's answers cut, or refused.
CUT, REFUSED = "cut", "refused"
#: Reasons of curves whose positions tell nothing, and what to do: names of `litm.findings.words.REMEDIES`.
SILENT = {
    FLOOR: "fewer_items",
    CUT: "raise_limit",
    REFUSED: "another_prompt",
    TOO_FEW: "more_questions",
    CEILING: "harder_questions",
}
PLACES = ("start", "middle", "end")
CONTRASTS = ("primacy", "recency", "tilt", "pbi")
#: The number that the word for a shape is about; of other words the gap.
EFFECTS = {
    shapes.U: "pbi",
    shapes.INVERTED: "pbi",
    **dict.fromkeys((shapes.PRIMACY, shapes.RECENCY_UNCLEAR, shapes.START_LOWER), "primacy"),
    **dict.fromkeys((shapes.RECENCY, shapes.PRIMACY_UNCLEAR, shapes.END_LOWER), "recency"),
    **dict.fromkeys((shapes.RISING, shapes.FALLING), "tilt"),
}

KINDS = {
    "study": Kind(
        "What was measured, and in how many curves positions are shown to differ.",
        facts={
            "n_models": "models with results",
            "n_experiments": "experiments with results",
            "n_cells": "cells of accuracy.csv",
            "n_answers": "answers counted",
            "n_curves": "curves",
            "n_differing": "curves whose positions are shown to differ",
            "n_flat": "curves whose positions are all shown to be within 5 points of each other",
            "n_silent": "curves that tell nothing: floor, ceiling, too few questions, or answers in doubt",
            "has_doubts": "whether answers of a curve are in doubt",
            "published": "comparisons with published values, by verdict",
        },
    ),
    "stand_ins": Kind("The models that stand in for real ones: nothing is concluded from their answers."),
    "curve": Kind(
        "The effect of position in a curve: a model, experiment and size. A curve in doubt has no numbers.",
        numbers={
            "overall": "mean accuracy of all positions on the questions scored at each",
            "start": "accuracy at the start, without limits",
            "middle": "accuracy in the middle, without limits",
            "end": "accuracy at the end, without limits",
            "primacy": "start minus middle",
            "recency": "end minus middle",
            "tilt": "end minus start",
            "pbi": "Position Bias Index: mean of start and end, minus middle",
            "gap": "best minus worst position; p by permutation, where labels correct a judge by pairs of positions, "
            "for this curve alone",
            "best": "accuracy at the best position, without limits",
            "worst": "accuracy at the worst position, without limits",
            "cochran": "Cochran's Q, null where labels correct a judge; p corrected over all curves",
            "detectable": "smallest PBI that the questions show with a chance of 80 %",
        },
        facts={
            "metric": "the metric of the experiment",
            "shape": "the word for the shape, null without one",
            "reason": "why positions tell nothing, or why there is no shape or no PBI: a reason of position_bias.csv; "
            "`cut` and `refused` at the floor with most answers cut or refused; null without one",
            "is_differing": "whether positions are shown to differ",
            "effect": "the number that says how much is lost by position, null unless positions are shown to differ",
            "pbi_class": "the class of the PBI, null without one",
            "class_words": "the class, and the classes that its interval reaches",
            "position_best": "position of the best accuracy, from 0; null if all are equal",
            "position_worst": "position of the worst accuracy",
            "n_left_out": "questions that were not scored at every position",
            "n_positions": "number of positions",
            "points": "[position from 0, depth, accuracy, its lower and its upper 95 % limit] of each position; the "
            "last three are null where the accuracy is in doubt",
            "needed": "questions that show a PBI of 5 points with a chance of 80 %; null where curves do not tell",
        },
    ),
    "accuracy": Kind(
        "Accuracy of a model in an experiment and size without a curve.",
        numbers={"overall": "accuracy, without limits if it is the mean of several cells"},
        facts={
            "metric": "the metric of the experiment",
            "doubt": "why the answers are in doubt, null without a doubt",
            "points": "as those of `curve` where there are positions, whose curve is not known",
        },
    ),
    "no_information": Kind(
        "The positions of all curves of a model in these experiments tell nothing, for one reason.",
        facts={
            "reason": "floor, ceiling, too few questions, or cut and refused as in `curve`",
            "n_most": "the most questions of a curve; n has the fewest",
            "cluster": "the field of the clusters if their number counts, null without",
        },
        is_warning=True,
    ),
}


def differs(row: Row) -> bool:
    """Whether a curve's positions are shown to differ: by its word; without a word, by Cochran's Q.

    row: of position_bias.csv.
    """
    if row["verdict"] == NO_INFORMATION:
        return False
    return row["shape"] not in (FLAT, NONE) if row["shape"] else (row["cochran_p_holm"] or 0.0) < SHOWN


def strength_of(row: Row, needed: int | None) -> Strength:
    """How sure the effect of position in a curve is.

    row: of position_bias.csv; needed: questions that show 5 points, None if that is not known.
    """
    if row["verdict"] == NO_INFORMATION:
        return Strength.CANNOT_TELL if row["reason"] == TOO_FEW else Strength.UNINFORMATIVE
    if differs(row):
        return Strength.SHOWN
    is_enough = needed is not None and row["n"] >= needed
    return Strength.NOT_SHOWN if row["shape"] == FLAT or is_enough else Strength.CANNOT_TELL


def curve_findings(
    accuracy: Sequence[Row], bias: Iterable[Row], wrong: Iterable[Row] = (), stand_ins: Collection[str] = ()
) -> Iterator[Finding]:
    """A finding for each curve, in the order of the rows.

    accuracy, bias, wrong: rows of accuracy.csv, position_bias.csv and wrong_answers.csv; stand_ins: models whose curves
    have no strength.
    """
    cells = grouped(accuracy, itemgetter("model", "experiment", "size"))
    mostly = _mostly(accuracy, wrong)
    for row in bias:
        model, experiment, size, placement = curve_of(row)
        of_curve = [
            cell
            for cell in cells.get((model, experiment, size), ())
            if cell["position"] is not None and (not placement or cell["placement"] == placement)
        ]
        # Curves at a bound, or of few questions, do not tell how many are enough.
        needed = row["pbi_n_for_5_points"] if row["verdict"] != NO_INFORMATION else None
        points = _points(of_curve)
        reason = reason_of(row, mostly)
        yield Finding(
            "curve",
            (model,),
            (experiment,),
            size,
            placement or None,
            row["n"],
            None if model in stand_ins else strength_of(row, needed),
            _curve_numbers(row),
            {
                "metric": row["metric"],
                "shape": row["shape"] or None,
                "reason": reason,
                "is_differing": differs(row),
                "effect": EFFECTS.get(row["shape"], "gap") if differs(row) else None,
                "pbi_class": row["pbi_class"] or None,
                "class_words": row["class_words"] or None,
                "position_best": row["position_best"],
                "position_worst": row["position_worst"],
                "n_left_out": row["n_left_out"] or 0,
                "n_positions": row["n_positions"],
                "points": points,
                "needed": needed,
            },
            SILENT.get(reason or ""),
        )


def _points(cells: Iterable[Row]) -> list[list]:
    points = [[cell["position"], cell["depth"], *sound_accuracy(cell)] for cell in cells]
    return sorted(points, key=itemgetter(0))


def sound_accuracy(cell: Row) -> tuple[float | None, float | None, float | None]:
    """The accuracy of a row of accuracy.csv with its limits; None without answers, or with answers in doubt."""
    return (None, None, None) if cell.get("doubt") else (cell["accuracy"], cell["ci_low"], cell["ci_high"])


def reason_of(row: Row, mostly: Mapping[tuple, str]) -> str | None:
    """Why a curve's positions tell nothing, or why it lacks a shape or PBI; None if it lacks nothing.

    mostly: see `_mostly`.
    """
    reason = row["reason"] or None
    is_at_floor = reason == FLOOR or (reason in SILENT and not row["accuracy_best"])
    return mostly.get(sweep_of(row), reason) if is_at_floor else reason


def _mostly(accuracy: Iterable[Row], wrong: Iterable[Row]) -> dict[tuple, str]:
    """`REFUSED` or `CUT` for each (model, experiment) with more than half of its answers so."""
    cut: dict[tuple, list[int]] = {}
    once = {(*sweep_of(row), row["size"], row["placement"]): row for row in accuracy if row["n_cut"] is not None}
    for (model, experiment, *_), row in once.items():
        counts = cut.setdefault((model, experiment), [0, 0])
        counts[0] += row["n"]
        counts[1] += row["n_cut"]
    cut_sweeps = {sweep: CUT for sweep, (answers, n_cut) in cut.items() if 2 * n_cut > answers}
    refused: dict[tuple, float] = {}
    for row in wrong:
        surplus = row["n_wrong"] * (row["share_refusal"] or 0) - row["n"] / 2
        refused[sweep_of(row)] = refused.get(sweep_of(row), 0.0) + surplus
    return cut_sweeps | {sweep: REFUSED for sweep, surplus in refused.items() if surplus > 0}


def _curve_numbers(row: Row) -> dict[str, Number]:
    if is_doubt(row["reason"]):
        return dict.fromkeys(KINDS["curve"].numbers, Number(None))
    return {
        "overall": Number.of_row(row, "accuracy_all"),
        **{place: Number(row[f"accuracy_{place}"]) for place in PLACES},
        **{name: Number.of_row(row, name) for name in CONTRASTS},
        "gap": Number.of_row(row, "gap", p="gap_p_value"),
        **{end: Number(row[f"accuracy_{end}"]) for end in ("best", "worst")},
        "cochran": Number(row["cochran_q"], p=row["cochran_p_holm"]),
        "detectable": Number(row["pbi_mde"]),
    }


def accuracy_findings(accuracy: Iterable[Row], bias: Iterable[Row]) -> Iterator[Finding]:
    """A finding for each model, experiment and size without a curve, in the order of the rows.

    accuracy, bias: rows of accuracy.csv and position_bias.csv.
    """
    size_of = itemgetter("model", "experiment", "size")
    with_curve = {size_of(row) for row in bias}
    for (model, experiment, size), cells in grouped(accuracy, size_of).items():
        if (model, experiment, size) in with_curve:
            continue
        doubt = next((cell["doubt"] for cell in cells if cell.get("doubt")), None)
        accuracies = [cell["accuracy"] for cell in cells if cell["accuracy"] is not None]
        overall = Number(sum(accuracies) / len(accuracies) if accuracies and not doubt else None)
        if len(cells) == 1 and not doubt:
            overall = Number.of_row(cells[0], "accuracy", "")
        places = {cell["position"] for cell in cells} - {None}
        points = _points(cells) if len(places) == len(cells) > 1 else []
        facts = {"metric": cells[0]["metric"], "doubt": doubt, "points": points}
        n = min(cell["n"] for cell in cells)
        yield Finding("accuracy", (model,), (experiment,), size, None, n, numbers={"overall": overall}, facts=facts)


def no_information_findings(
    curves: Iterable[Finding], unhelped: Collection[tuple], clusters: Mapping[str, str]
) -> Iterator[Finding]:
    """A finding for each model and reason whose experiments have nothing but curves that tell nothing.

    curves: findings; unhelped: the (model, experiment) that the document does not help, whose curves tell nothing
    anyway; clusters: the field of the clusters by experiment, where an experiment has them.
    """
    alike: dict[tuple, dict[str, list[Finding]]] = {}
    with_strength = [curve for curve in curves if curve.strength is not None and curve.sweep not in unhelped]
    for (model, experiment), of_sweep in grouped(with_strength, lambda curve: curve.sweep).items():
        reasons = {curve.facts["reason"] for curve in of_sweep}
        if len(reasons) == 1 and (reason := reasons.pop()) in SILENT:
            cluster = clusters.get(experiment) if reason == TOO_FEW else None
            alike.setdefault((model, reason, cluster), {})[experiment] = of_sweep
    for (model, reason, cluster), experiments in alike.items():
        numbers = [curve.n or 0 for of_sweep in experiments.values() for curve in of_sweep]
        yield Finding(
            "no_information",
            (model,),
            tuple(experiments),
            n=min(numbers),
            strength=Strength.CANNOT_TELL if reason == TOO_FEW else Strength.UNINFORMATIVE,
            facts={"reason": reason, "n_most": max(numbers), "cluster": cluster},
            remedy=SILENT[reason],
        )


def study_finding(accuracy: Sequence[Row], bias: Sequence[Row], published: Iterable[Row]) -> Finding:
    """What was measured; rows of accuracy.csv, position_bias.csv and published_comparison.csv."""
    verdicts: dict[str, int] = {}
    for row in published:
        verdicts[row["verdict"]] = verdicts.get(row["verdict"], 0) + 1
    silent = [row for row in bias if row["verdict"] == NO_INFORMATION]
    counts = {
        "n_models": len({row["model"] for row in accuracy}),
        "n_experiments": len({row["experiment"] for row in accuracy}),
        "n_cells": len(accuracy),
        "n_answers": sum(row["n"] for row in accuracy),
        "n_curves": len(bias),
        "n_differing": sum(map(differs, bias)),
        "n_flat": sum(row["shape"] == FLAT for row in bias),
        "n_silent": len(silent),
        "has_doubts": any(is_doubt(row["reason"]) for row in silent),
        "published": dict(sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))),
    }
    return Finding("study", facts=counts)


def doubtful_sweeps(accuracy: Iterable[Row], bias: Iterable[Row]) -> set[tuple]:
    """The (model, experiment) with answers in doubt; rows of accuracy.csv and position_bias.csv."""
    cells = {sweep_of(row) for row in accuracy if row.get("doubt")}
    return cells | {sweep_of(row) for row in bias if is_doubt(row["reason"])}


def silent_sweeps(bias: Iterable[Row]) -> set[tuple]:
    """The (model, experiment) with nothing but curves at the floor, at the ceiling or of too few questions."""
    return {sweep for sweep, rows in grouped(bias, sweep_of).items() if all(row["reason"] in SILENT for row in rows)}
