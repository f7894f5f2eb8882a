"""Export in the suite's own layout: the predictions and the figure of each curve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from litm.base.errors import UserError
from litm.domain.curve import Curve
from litm.domain.example import Example
from litm.domain.response import SweepResponse
from litm.figures import accuracy_by_position, accuracy_by_target
from litm.figures.drawing.rows import Rows
from litm.report.suite.names import ExportNames


@dataclass(frozen=True)
class CurveFiles(Curve):
    """A curve, what its figure says, and the files of its examples (one a placement), scores and responses."""

    title: str
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


def suite_summary(summary: Mapping, curve: Curve, names: ExportNames) -> dict:
    """A summary with the suite's own keys for numbers of items (`num_keys`) and of questions (`num_examples`).

    It has no durations, so that equal results are equal bytes; results/benchmarks has them.
    """
    sizes = {} if names.size_key is None else {names.size_key: curve.size}
    return {**summary, **sizes, "num_examples": summary.get("n")}


def _verdicts(scores: pd.DataFrame) -> dict[tuple[str, str, str], float | None]:
    """1.0 (right), 0.0 (wrong) or None (not counted), by placement, question and target."""
    not_counted = scores["excluded"] | scores["correct"].isna()
    columns = (scores["placement"], scores["id"], scores["target"], scores["correct"], not_counted)
    return {
        (placement, id_, target): None if missing else float(correct)
        for placement, id_, target, correct, missing in zip(*columns, strict=True)
    }


def curve_figure(curve: CurveFiles, accuracy: pd.DataFrame) -> Figure:
    """Figure of one curve: accuracy by position, or bars for several gold items of one prompt.

    accuracy: the curve's rows of the accuracy table.
    """
    kind = accuracy_by_position if curve.placement is None else accuracy_by_target
    settings = {
        "name": curve.name,
        "title": curve.title,
        "experiments": [curve.experiment],
        "references": {},
        "panel_title": curve.panel_title,
        "x_label": kind.X_LABEL,
    }
    return kind.draw(settings, Rows(accuracy))
