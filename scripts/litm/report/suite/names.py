"""The suite's own names: `exp1a_kv100/kv100_pos_0.jsonl`, `exp2_needle/needle_depth_0.125.jsonl`."""

from collections.abc import Callable
from dataclasses import dataclass

from litm.domain.curve import Curve
from litm.domain.placement import depth_of


@dataclass(frozen=True)
class ExportNames:
    """Folder and file names of a curve, and whether they name depths instead of positions.

    figure: end of the figure's name; size_key: key of the size in the suite's summary, None if it has none.
    """

    folder: str
    stem: str
    by_depth: bool = False
    figure: str = "curve"
    size_key: str | None = None

    def predictions(self, position: int | None, items: int) -> str:
        """File of the predictions with the gold item at a position (from 0) of a context of `items`."""
        place = (
            f"depth_{nominal_depth(position, items)}" if self.by_depth and position is not None else f"pos_{position}"
        )
        return f"{self.stem}_{place}.jsonl"

    @property
    def data(self) -> str:
        """File of the examples."""
        return f"{self.stem}_data.jsonl"

    @property
    def summary(self) -> str:
        """File of the summary."""
        return f"{self.stem}_summary.json"

    @property
    def picture(self) -> str:
        """File of the figure."""
        return f"{self.stem}_{self.figure}.png"


def nominal_depth(position: int, items: int) -> float:
    """The depth in eighths that a position stands for (62 of 500 items is 0.125), 1.0 for the last item.

    Any other position has its depth, with three decimals.
    """
    if position == items - 1:
        return 1.0
    eighths = [eighth / 8 for eighth in range(8) if items * eighth // 8 == position]
    return eighths[0] if eighths else round(depth_of(position, items), 3)


def _key_value(size: int) -> ExportNames:
    part = {100: "a", 200: "b"}.get(size, "")
    return ExportNames(f"exp1{part}_kv{size}", f"kv{size}", size_key="num_keys")


#: Functions of a size that return a curve's names, by experiment of the catalogue.
_SUITE: dict[str, Callable[[int], ExportNames]] = {
    "suite_kv_retrieval": _key_value,
    "suite_needle_in_haystack": lambda _: ExportNames("exp2_needle", "needle", by_depth=True),
    "suite_multi_needle": lambda _: ExportNames("exp3_multi_needle", "multi", figure="bar"),
    "suite_needle_in_haystack_original": lambda _: ExportNames(
        "exp2_needle_original", "needle_original", by_depth=True
    ),
    "suite_multi_needle_original": lambda _: ExportNames("exp3_multi_needle_original", "multi_original", figure="bar"),
    "suite_fact_reasoning": lambda _: ExportNames("exp4_fact_reasoning", "reasoning"),
    "suite_semantic_distractors": lambda _: ExportNames("exp5_semantic_distractors", "distractors"),
    "suite_temporal_narrative": lambda _: ExportNames("exp6_temporal_narrative", "temporal"),
    "suite_conversation_memory": lambda _: ExportNames("exp7_conversation_memory", "conversation"),
}


def export_names(curve: Curve) -> ExportNames:
    """Names of a curve: the suite's for the suite's experiments, else made of the curve's name.

    If an experiment other than key-value retrieval has several curves, its names end as the curve's name does.
    """
    if curve.experiment not in _SUITE:
        return ExportNames(curve.name, curve.name, figure="curve" if curve.placement is None else "bar")
    names = _SUITE[curve.experiment](curve.size)
    ending = curve.name.removeprefix(curve.experiment)
    if not ending or names.size_key:
        return names
    return ExportNames(names.folder + ending, names.stem + ending, names.by_depth, names.figure)
