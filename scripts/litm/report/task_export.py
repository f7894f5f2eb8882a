"""Experiments as tasks of other frameworks: records, facts about them, and their metric as a package of its own."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litm.base.extensions import in_use
from litm.base.messages import SCRIPTS, UserError
from litm.records.examples import Example
from litm.scoring.metrics import METRICS, Metric

#: Word of the templates that stands for the experiment's name.
NAME = "EXPERIMENT"
#: The file of records, and the file of facts, of each experiment.
RECORDS, FACTS = "examples.jsonl", "task.json"


def task_name(experiment: str) -> str:
    """The experiment's name as one of Python's, for modules and functions."""
    return re.sub(r"\W", "_", experiment)


def task_record(example: Example) -> dict[str, Any]:
    """The line of an example: `id`, `input` (a text, or chat messages), `target` (all accepted answers), `metadata`.

    `cell` is size and placement in one word; `cluster` names the questions that depend on each other, the same question
    at all positions among them; `prompt` is the text of a conversation for models that take no chat.
    """
    single = example.targets[0] if len(example.targets) == 1 else None
    targets = [{**target.to_json(), "item": target.text_in(example.prompt)} for target in example.targets]
    return {
        "id": f"{example.size}-{example.placement}-{example.id}",
        "input": example.messages or example.prompt,
        "target": example.answers,
        "metadata": {
            "question_id": example.id,
            "question": example.question,
            "size": example.size,
            "documents": example.context_items,
            "placement": example.placement,
            "cell": f"{example.size}_{example.placement}",
            "position": single and single.position,
            "depth": single and single.depth,
            "cluster": example.cluster or example.id,
            "answer_in_distractors": example.answer_in_distractors,
            "targets": targets,
            "prompt_sha256": example.prompt_sha256,
            **({"prompt": example.prompt} if example.messages else {}),
        },
    }


def task_facts(about: Mapping[str, Any], records: Sequence[Mapping]) -> dict[str, Any]:
    """What a scorer and a reader need to know of an experiment, apart from its records.

    about: name, task, title, metric, max_new_tokens and stop of the experiment.
    """
    metadata = [record["metadata"] for record in records]
    metric = METRICS[about["metric"]]
    return {
        **about,
        "reads": metric.reads,
        "measure": metric.label,
        "prompts": len(records),
        "questions": len({entry["question_id"] for entry in metadata}),
        "cells": list(dict.fromkeys(entry["cell"] for entry in metadata)),
        "targets": list(dict.fromkeys(target["name"] for entry in metadata for target in entry["targets"])),
        "chat": any(isinstance(record["input"], list) for record in records),
    }


def measures(facts: Mapping[str, Any]) -> list[str]:
    """The names of an experiment's measures: of all prompts and of each cell, or of each target of these."""
    names = [""] if len(facts["targets"]) == 1 else [f"_{target}" for target in facts["targets"]]
    cells = ["", *(f"_{cell}" for cell in facts["cells"])] if len(facts["cells"]) > 1 else [""]
    return [f"accuracy{name}{cell}" for cell in cells for name in names]


def filled(template: str, facts: Mapping[str, Any]) -> str:
    """A template of resources/task_export with an experiment's name, limit and measures."""
    listed = [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in measures(facts)]
    words = {
        NAME: task_name(facts["name"]),
        "MAX_TOKENS": str(facts["max_new_tokens"]),
        "[MEASURES]": json.dumps(listed),
    }
    for word, text in words.items():
        template = template.replace(word, text)
    return template


def metric_package(facts: Mapping[str, Any], files: Iterable[Path]) -> dict[str, bytes]:
    """The files of a package `{name}_metric` with an experiment's metric as this project has it, by their places.

    files: the module of the metric, and all that it imports. Imports of them become those of the package, so that it
    meets no installed version of this library. Its `METRIC` is the experiment's `Metric`.
    """
    name = f"{task_name(facts['name'])}_metric"
    roots = {folder.name: folder.resolve().parent for folder in in_use()} | {"litm": SCRIPTS}
    ours = re.compile(rf"^(\s*(?:from|import)\s+)(?=(?:{'|'.join(map(re.escape, roots))})\b)".encode(), re.MULTILINE)
    module = METRICS.module_of(facts["metric"])
    module, entries = (module, "METRICS") if module else (Metric.__module__, "_BUILT_IN")
    lines = [f'"""The metric {facts["metric"]}."""', "", f"from {name}.{module} import {entries}", ""]
    package = {"__init__.py": "\n".join([*lines, f"METRIC = {entries}[{facts['metric']!r}]", ""]).encode()}
    for file in files:
        file = file.resolve()
        root = next((root for part, root in roots.items() if file.is_relative_to(root / part)), None)
        if root is None:
            raise UserError(f"{file}: the metric {facts['metric']} needs this file, which is of no extension in use")
        text = file.read_bytes()
        place = file.relative_to(root).as_posix()
        package[place] = ours.sub(rf"\g<1>{name}.".encode(), text) if file.suffix == ".py" else text
    return {f"{name}/{place}": text for place, text in package.items()}


def card(template: str, facts: Mapping[str, Mapping[str, Any]], sources: Sequence[Mapping[str, Any]]) -> str:
    """The card of exported experiments, with a configuration for each.

    facts: by the names of their folders; sources: name, source and version of the data that they are made of.
    """
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    return environment.from_string(template).render(tasks=facts, sources=sources, records=RECORDS)
