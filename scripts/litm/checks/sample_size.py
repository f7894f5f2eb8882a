"""Sample size: the effects that a config's questions can detect, and the questions that an effect needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.analysis.positions import earlier
from litm.analysis.power import (
    FIVE_POINTS,
    Assumption,
    detectable_effect,
    n_for_five_points,
    needed_in_words,
    questions_needed,
)
from litm.base.messages import points
from litm.checks.estimate import Remaining
from litm.inference.setup import Prompt
from litm.placements import gold_places

#: Positions that a curve needs for start, middle and end.
LEAST_POSITIONS = 3
#: Heading of the lines on sweeps.
HEADING = (
    "What these numbers of questions can show, with a chance of 80 % (docs/evidence.md), if they are independent; with "
    "`cluster` it is less, see design_effect in detectable_effects.csv:"
)


@dataclass(frozen=True)
class SampleSize:
    """The effects that the questions of one sweep detect with a power of 80 %.

    questions: of the size with the fewest; source: origin of the assumed accuracy and correlation; index, pair: the
    smallest detectable Position Bias Index and difference between two positions, None if none is; index_needed: the
    questions needed for an index of 5 points.
    """

    model: str
    experiment: str
    questions: int
    assumed: Assumption
    source: str
    index: float | None
    pair: float | None
    index_needed: int | None
    pair_needed: int | None


def curve_questions(prompts: Iterable[Prompt]) -> int | None:
    """The number of questions of a sweep's curve, the smallest over its sizes; None if no size has three positions."""
    sizes: dict[int, dict[str, set[str]]] = {}
    for prompt in prompts:
        if len(gold_places(prompt.placement)) == 1:
            sizes.setdefault(prompt.size, {}).setdefault(prompt.placement, set()).add(prompt.id)
    counts = [min(map(len, places.values())) for places in sizes.values() if len(places) >= LEAST_POSITIONS]
    return min(counts, default=None)


def sample_sizes(sweeps: Sequence[Remaining], results: Path) -> list[SampleSize]:
    """The sample sizes of sweeps with curves; results: the folder with earlier scores."""
    models = list(dict.fromkeys(left.model for left in sweeps))
    return [
        _sample_size(left, left.questions, *earlier(results, left.model, left.experiment, models))
        for left in sweeps
        if left.questions
    ]


def _sample_size(left: Remaining, questions: int, assumed: Assumption, source: str) -> SampleSize:
    return SampleSize(
        model=left.model,
        experiment=left.experiment,
        questions=questions,
        assumed=assumed,
        source=source,
        index=detectable_effect("pbi", questions, assumed),
        pair=detectable_effect("primacy", questions, assumed),
        index_needed=questions_needed("pbi", FIVE_POINTS, assumed),
        pair_needed=n_for_five_points(assumed),
    )


def sample_size_notes(sizes: Sequence[SampleSize]) -> list[str]:
    """Lines on groups of like sweeps: their number of questions, detectable effects, and the questions needed."""
    together: dict[tuple, list[SampleSize]] = {}
    for size in sizes:
        together.setdefault((size.experiment, size.questions, size.assumed, size.source), []).append(size)
    lines = [
        f"{same[0].experiment} ({', '.join(one.model for one in same)}): {_shown(same[0])}"
        for same in together.values()
    ]
    return [HEADING, *lines] if lines else []


def _shown(size: SampleSize) -> str:
    effect = "no difference" if size.pair is None else f"differences of two positions from {points(size.pair)[1:]} on"
    return f"{size.questions:,} questions show {effect}; {needed_in_words(size.pair_needed, size.assumed, size.source)}"


def sample_size_columns(sizes: Iterable[SampleSize]) -> dict[tuple[str, str], Mapping[str, object]]:
    """The columns on sample sizes in the table of the estimate, by model and experiment."""
    return {
        (size.model, size.experiment): {
            "n": size.questions,
            "pbi_mde": size.index,
            "difference_mde": size.pair,
            "n_for_5_points_pbi": size.index_needed,
            "n_for_5_points_difference": size.pair_needed,
        }
        for size in sizes
    }
