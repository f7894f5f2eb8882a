"""Tokens of a session before there are prompts, against those of the prompts that are then made."""

import json
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

from litm.config.study import load_study
from litm.corpora.sessions import read_session
from litm.engines.model_files import count_tokens
from litm.examples.planted_sessions import Planting, write_planted
from litm.examples.tasks import load_task
from litm.planning.session_tokens import CHARACTERS
from litm.planning.tokens import lengths_of

SESSION = ROOT / "examples" / "sessions" / "codex.jsonl"
DEFAULT = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    summary = tmp_path_factory.mktemp("session") / "summary.txt"
    summary.write_text("We fixed two tests. " * 20)
    served = {"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "api_model": "m", "context_window": 32000}
    tokenizer = str(ROOT / "resources" / "reference_model")
    models = {"plain": served, "counting": {**served, "tokenizer": tokenizer}}
    mine = {"session": str(SESSION), "lengths": [2000, 12000, 30000], "compacted": str(summary)}
    return load_study({**DEFAULT, "models": [*models], "my_data": mine, "define": {"models": models}}, ROOT)


@pytest.mark.parametrize("model", ["plain", "counting"])
def test_the_tokens_of_a_context_are_near_those_of_its_prompts_with_and_without_remedies(study, model, tmp_path):
    for name, experiment in study.experiments.items():
        questions = study.questions[experiment.datasets[min(experiment.cell_sizes)]]
        summary = questions.compacted and Path(questions.compacted).read_text()
        planting = Planting(
            questions.facts, 3, 1, questions.repeat, questions.result_words, questions.keep_results, summary
        )
        write_planted(tmp_path / "q.jsonl.gz", read_session(SESSION), planting)
        lengths, task = lengths_of(study, model, experiment), load_task(experiment.task)
        for size in experiment.cell_sizes:
            question = next(iter(task.questions(size, None, str(tmp_path / "q.jsonl.gz"))))
            items = [*question.distractors[: size - 1], question.golds[0].item]
            text = json.dumps(task.as_messages(items, question.text), ensure_ascii=False)
            tokens = len(text) / CHARACTERS
            if model == "counting":
                (tokens,) = count_tokens(str(ROOT / "resources" / "reference_model"), [text])
            # The placed message is shorter than a step of the session.
            assert lengths.mean_tokens(size) == pytest.approx(tokens, rel=0.1 + 1.2 / size), (name, size)
