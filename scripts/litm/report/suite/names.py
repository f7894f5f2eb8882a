"""The suite's own names: `exp1a_kv100/kv100_pos_0.jsonl`, `exp2_needle/needle_depth_0.125.jsonl`.

Stems are the description's names of its experiments (section 5.4), folders those of its scripts (6.4) with `exp`.
"""

from dataclasses import dataclass

from litm.placements import depth_of
from litm.records import Curve


@dataclass(frozen=True)
class ExportNames:
    """Folder and file names of a curve.

    is_suite: whether it is of the suite; figure: end of the figure's name; size_key: key of the size in the suite's
    summary, None if it has none.
    """

    folder: str
    stem: str
    is_suite: bool = False
    figure: str = "curve"
    size_key: str | None = None

    def predictions(self, position: int | None, items: int) -> str:
        """File of the predictions with the gold item at a position (from 0) of a context of `items`: by depth for the
        suite's experiments 2 to 7.
        """
        if self.is_suite and self.size_key is None and position is not None:
            return f"{self.stem}_depth_{nominal_depth(position, items)}.jsonl"
        return f"{self.stem}_pos_{position}.jsonl"

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


#: Folders and stems by experiment of the catalogue.
_SUITE = {
    "suite_needle_in_haystack": ("exp2_needle", "needle"),
    "suite_multi_needle": ("exp3_multi", "multi"),
    "suite_fact_reasoning": ("exp4_reason", "reason"),
    "suite_semantic_distractors": ("exp5_semantic", "semantic"),
    "suite_temporal_narrative": ("exp6_narrative", "narrative"),
    "suite_conversation_memory": ("exp7_conversation", "conversation"),
}


def export_names(curve: Curve) -> ExportNames:
    """Names of a curve: the suite's for the suite's experiments, else made of the curve's name.

    If an experiment other than key-value retrieval has several curves, its names end as the curve's name does.
    """
    figure = "curve" if curve.placement is None else "bar"
    if curve.experiment == "suite_kv_retrieval":
        part = {100: "a", 200: "b"}.get(curve.size, "")
        return ExportNames(f"exp1{part}_kv{curve.size}", f"kv{curve.size}", True, size_key="num_keys")
    if curve.experiment not in _SUITE:
        return ExportNames(curve.name, curve.name, figure=figure)
    folder, stem = _SUITE[curve.experiment]
    ending = curve.name.removeprefix(curve.experiment)
    return ExportNames(folder + ending, stem + ending, True, figure)
