"""The contents of a small report, made for real: two models, key-value retrieval at three positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from conftest import ROOT
from programs import load_program
from record_makers import response
from score_frames import accuracy_table
from suite_examples import example, questions

from litm.analysis.cells import wrong_answer_rows
from litm.analysis.grid import curves
from litm.analysis.positions import position_bias_row
from litm.analysis.significance import with_holm
from litm.base.table_files import plain_rows
from litm.examples.task import ExampleSettings
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.figures.style import save_figure
from litm.findings.first_screen import FirstScreen, first_screen
from litm.findings.record import Finding
from litm.findings.study import findings_of
from litm.records.examples import Example
from litm.records.responses import SweepResponse
from litm.report.page import render_report
from litm.report.question_samples import question_records, sampled_ids
from litm.scoring.scores import Sweep, score_sweep
from litm.tables.table import tables as declared

MODELS, SIZE, POSITIONS, QUESTIONS = ("model-a", "model-b"), 6, (0, 3, 5), 40
FIGURE = {
    "name": "kv", "kind": "accuracy_by_position", "title": "Key-value retrieval", "experiments": ["kv"],
    "references": {}, "panel_title": "{size} pairs", "x_label": "Position of the pair asked for", "recall": [],
}  # fmt: skip
#: The figure of the second model's wrong answers: all of them are of the kind `other`, at the middle position.
WRONG_FIGURE = FIGURE | {"name": "kv_wrong", "kind": "wrong_answers", "title": "Wrong answers: Key-value retrieval"}
EXPERIMENT = {
    "name": "kv", "title": "Key-value retrieval", "asks": "Key-value retrieval: find the value of one key.",
    "right_if": "any accepted value is a substring of the text.", "task": "kv_retrieval", "prompt": "kv_retrieval",
    "cells": [{"size": SIZE, "placement": f"gold_at_{position}"} for position in POSITIONS], "datasets": {},
    "examples": QUESTIONS, "selection": "first", "subset": None, "distractor_order": "ranked",
    "metric": "value_in_answer",
}  # fmt: skip
#: What a prompt format puts around a prompt.
FORMAT = {"prompt_template": "chat", "before": "<user>", "after": "<end>", "strips": False, "special": ""}
#: The words for the curves of the two models.
WORDS = ("no difference shown", "U")
#: Fields of `Contents` that are settings of make_report.py.
SETTINGS = ("figures", "experiments", "models", "prices", "seed", "config", "about")
#: The template of the page, its style and its scripts, by name.
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "resources" / "report").iterdir()}


@dataclass(frozen=True)
class Contents:
    """What make_report.py makes the page from, as it reads it."""

    tables: Mapping[str, pd.DataFrame]
    screen: FirstScreen
    findings: Sequence[Finding]
    figures: Sequence[Mapping]
    pictures: Mapping[str, bytes]
    manifests: Sequence[Mapping]
    samples: Mapping[str, Sequence[Mapping]]
    experiments: Sequence[Mapping]
    prices: Mapping[str, Mapping | None]
    datasets: Sequence[Mapping]
    seed: int
    models: Sequence[str]
    commit: str | None
    config: str
    about: Mapping[str, Mapping]
    formats: Mapping[str, Mapping]

    @property
    def titles(self) -> dict[str, str]:
        return {experiment["name"]: experiment["title"] for experiment in self.experiments}


@cache
def examples() -> list[Example]:
    asked = questions("kv_retrieval", SIZE, ExampleSettings(QUESTIONS, 0, "ranked"))
    return [example("kv_retrieval", one, SIZE, f"gold_at_{position}") for position in POSITIONS for one in asked]


def responses(model: str) -> list[SweepResponse]:
    """The second model is wrong in the middle; the first on every fifth question, and it was never asked the first."""
    return [_response(model, index, one) for index, one in enumerate(examples())]


def _response(model: str, index: int, asked: Example) -> SweepResponse:
    (target,), names = asked.targets, {"id": asked.id, "size": asked.size, "placement": asked.placement}
    is_right = index % 5 != 1 if model == MODELS[0] else target.position != 3
    if model == MODELS[0] and index == 0:
        return response(**names, response=None, finish_reason="overflow", response_tokens=0)
    return response(**names, response=target.answers[0] if is_right else "<b>no & idea</b> 🤷", response_tokens=4)


@cache
def scores() -> pd.DataFrame:
    sweeps = [
        score_sweep(Sweep(model, "kv", "kv_retrieval", "value_in_answer"), examples(), responses(model))
        for model in MODELS
    ]
    return pd.concat(sweeps, ignore_index=True)


def records(sample: int = 5) -> list[dict]:
    """The page's records of a sample of the questions."""
    ids = sampled_ids(scores(), sample, seed=0)
    return list(question_records(examples(), {model: responses(model) for model in MODELS}, scores(), ids))


def manifest(model: str) -> dict:
    """A manifest of a model that was run here."""
    fields = {
        "source": {"files": {"config.json": "0" * 64}},
        "model": {"dtype": "float32", "attention": "sdpa", "prompt_template": "raw"},
        "decoding": {"max_new_tokens": 50, "stop": "end_token"},
    }
    return {
        "model": model, "experiment": "kv", "identity": "1" * 64, "identity_fields": fields, "context_window": 2048,
        "prompts": 120, "asked": 120, "prompt_tokens": 12_000, "response_tokens": 1_500,
        "work": {"prompt_tokens": 12_000, "computed_tokens": 9_000, "tree_tokens": 8_000},
        "made_with": {"transformers 5, cpu": 120},
    }  # fmt: skip


def contents_with_wrong_answers() -> Contents:
    """Contents of a report with the figure of wrong answers, whose picture is that of the curves."""
    whole = contents()
    rows = [row for model in MODELS for row in wrong_answer_rows(scores()[scores()["model"] == model])]
    tables = {**whole.tables, "wrong_answers": declared()["wrong_answers"].frame(rows)}
    pictures = {**whole.pictures, "kv_wrong": whole.pictures["kv"]}
    return replace(whole, tables=tables, figures=[FIGURE, WRONG_FIGURE], pictures=pictures)


def page(tables: Mapping[str, pd.DataFrame] | None = None, whole: Contents | None = None, **changes: Any) -> str:
    """The page of these contents, by default of all, with further tables and other changes."""
    whole = whole or contents()
    values = vars(replace(whole, tables={**whole.tables, **(tables or {})}, **changes))
    settings = {name: values.pop(name) for name in SETTINGS}
    return render_report(SOURCES, load_program("make_report").page_of(settings, values.pop("screen"), **values))


@cache
def contents() -> Contents:
    accuracy = accuracy_table(scores())
    with TemporaryDirectory() as folder:
        picture = Path(folder, "kv.png")
        save_figure(KINDS[FIGURE["kind"]].draw(FIGURE, Rows(accuracy)), picture)
        pictures = {"kv": picture.read_bytes()}
    of_models = [scores()[scores()["model"] == model] for model in MODELS]
    rows = [position_bias_row(curve, 0) for sweep in of_models for curve in curves(sweep)]
    rows = with_holm(rows, "cochran_p_value", "cochran_p_holm")
    for row, word in zip(rows, WORDS, strict=True):
        row["shape"] = word
    tables = {"accuracy": accuracy, "position_bias": declared()["position_bias"].frame(rows)}
    findings = findings_of(lambda name: plain_rows(tables[name]) if name in tables else [], [EXPERIMENT])
    return Contents(
        tables, first_screen(findings), findings.findings, [FIGURE], pictures,
        [manifest(model) for model in MODELS], {"kv": records()}, [EXPERIMENT],
        prices={}, datasets=[], seed=0, models=MODELS, commit="0" * 12, config="c0ffee" * 8,
        about={MODELS[0]: {"family": "letters", "parameters": 0.5}}, formats={MODELS[1]: FORMAT},
    )  # fmt: skip
