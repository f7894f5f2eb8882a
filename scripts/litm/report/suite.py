"""Results in the suite's own layout: its names, predictions and figures.

Names are `exp1a_kv100/kv100_pos_0.jsonl`, `exp2_needle/needle_depth_0.125.jsonl`. Stems are the description's names of
its experiments (section 5.4), folders those of its scripts (6.4) with `exp`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.figure import Figure

from litm.base.messages import UserError
from litm.figures.bars import draw_bars, targets
from litm.figures.chart import Rows
from litm.figures.curves import draw_curves, positions
from litm.figures.kinds import KINDS
from litm.figures.looks import COLOURS
from litm.placements import depth_of
from litm.records.cells import Curve
from litm.records.examples import Example
from litm.records.responses import SweepResponse


@dataclass(frozen=True)
class ExportNames:
    """Folder and file names of a curve."""

    folder: str
    stem: str
    is_suite: bool = False
    """Whether it is of the suite."""
    figure: str = "curve"
    """End of the figure's name."""
    size_key: str | None = None
    """Key of the size in the suite's summary, None if it has none."""

    def predictions(self, position: int | None, items: int, positions: Iterable[int | None] = ()) -> str:
        """File of the predictions with the gold item at a position (from 0) of a context of `items`: by depth for the
        suite's experiments 2 to 7, with more decimals if another of these positions has the same depth by three.
        """
        if self.is_suite and self.size_key is None and position is not None:
            others = [place for place in positions if place not in (position, None)]
            depths = [[nominal_depth(place, items, digits) for place in (position, *others)] for digits in range(3, 16)]
            depth = next(depth_here for depth_here, *other in depths if depth_here not in other)
            return f"{self.stem}_depth_{depth}.jsonl"
        return f"{self.stem}_pos_{position}.jsonl"


def nominal_depth(position: int, items: int, decimals: int = 3) -> float:
    """The depth in eighths that a position stands for (62 of 500 items is 0.125), 1.0 for the last item.

    Any other position has its depth, with these decimals.
    """
    if position == items - 1:
        return 1.0
    eighths = [eighth / 8 for eighth in range(8) if items * eighth // 8 == position]
    return eighths[0] if eighths else round(depth_of(position, items), decimals)


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


#: The suite's curves are red.
RED = "#d6336c"


@dataclass(frozen=True)
class CurveFiles(Curve):
    """A curve, what its figure says, and the files of its examples (one a placement), scores and responses."""

    title: str
    item: str
    """The noun for an item of the context."""
    panel_title: str
    examples: Sequence[str]
    scores: str
    responses: str


def predictions(
    curve: Curve, examples: Iterable[Example], responses: Iterable[SweepResponse], scores: pd.DataFrame
) -> dict[int | None, list[dict]]:
    """Answers by position, one record per question, in the order of the examples.

    examples, scores: of the curve; responses: of its experiment. `correct` is 1.0 or 0.0, and None for a question that
    was left out because it did not fit at some position, even if it was answered at others. Raises `UserError` for an
    example without a response or a score.
    """
    answered = {
        (response.placement, response.id): (response.scored_text, response.finish_reason)
        for response in responses
        if response.size == curve.size and curve.placement in (None, response.placement)
    }
    verdicts = _verdicts(scores)
    by_position: dict[int | None, list[dict]] = {}
    for example in examples:
        prompt = (example.placement, example.id)
        where = f"question {example.id}, size {curve.size}, {example.placement}"
        if prompt not in answered:
            raise UserError(f"no response to {where}: run generate again")
        answer, finish_reason = answered[prompt]
        for target in example.targets:
            if (*prompt, target.name) not in verdicts:
                raise UserError(f"no score of {where}: run score again")
            answers = list(target.answers)
            record = {
                "id": example.id,
                "question": example.question,
                "model_answer": answer,
                "correct": verdicts[(*prompt, target.name)],
                "value": answers[0] if len(answers) == 1 else answers,
                "gold_position": target.position,
                **({} if curve.placement is None else {"target": target.name}),
                "finish_reason": finish_reason,
            }
            by_position.setdefault(target.position, []).append(record)
    return by_position


def suite_summary(summary: Mapping, names: ExportNames) -> dict:
    """A summary with the suite's own name of the experiment, which is the task's, and its keys for numbers of items
    (`num_keys`) and of questions (`num_examples`).

    It has no durations, so that equal results are equal bytes; results/benchmarks has them.
    """
    task_name = {"experiment": summary["task"]} if names.is_suite else {}
    sizes = {} if names.size_key is None else {names.size_key: summary["size"]}
    return {**summary, **task_name, **sizes, "num_examples": summary.get("n")}


def suite_master(master: Mapping, curves: Iterable[Curve]) -> dict:
    """The master summary with the exported summaries, by the stems of the files instead of the curves' names."""
    names = {curve.name: export_names(curve) for curve in curves}
    classes = {name: [names[curve].stem for curve in members] for name, members in master["pbi_classes"].items()}
    summaries = {
        names[curve].stem: suite_summary(summary, names[curve]) for curve, summary in master["experiments"].items()
    }
    return {**master, "pbi_classes": classes, "experiments": summaries}


def _verdicts(scores: pd.DataFrame) -> dict[tuple[str, str, str], float | None]:
    """1.0 (right), 0.0 (wrong) or None (not counted), by placement, question and target."""
    not_counted = scores["excluded"] | scores["correct"].isna()
    columns = (scores["placement"], scores["id"], scores["target"], scores["correct"], not_counted)
    return {
        (placement, id_, target): None if missing else float(correct)
        for placement, id_, target, correct, missing in zip(*columns, strict=True)
    }


def curve_figure(curve: CurveFiles, accuracy: pd.DataFrame) -> Figure:
    """Figure of one curve: accuracy by normalised position in red, or bars for several gold items of one prompt.

    accuracy: the curve's rows of the accuracy table.
    """
    settings = {
        "name": curve.name,
        "title": curve.title,
        "experiments": [curve.experiment],
        "references": {},
        "panel_title": curve.panel_title,
        "x_label": KINDS["accuracy_by_target"].x_label,
        "places": dict.fromkeys(accuracy["model"], COLOURS.index(RED)),
    }
    if curve.placement is not None:
        return draw_bars(targets(settings, Rows(accuracy)))
    settings["x_label"] = f"Normalised position of the {curve.item} with the answer"
    drawn, items = positions(settings, Rows(accuracy)), int(accuracy["items"].iloc[0])
    depths = [tuple((at, f"{nominal_depth(at, items):g}") for at, _ in panel.ticks) for panel in drawn.panels]
    panels = (replace(panel, ticks=ticks) for panel, ticks in zip(drawn.panels, depths, strict=True))
    return draw_curves(replace(drawn, panels=tuple(panels)))
