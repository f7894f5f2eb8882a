"""The measured order, run for real from a made-up reader's curve to its prompts; and the effect of edits."""

import re

import pandas as pd
import pytest
import yaml
from reruns import changes, check
from workbench import Workbench, jobs_by_rule

from litm.base.json_files import read_jsonl
from litm.examples.measured_order import is_held_out

CONFIG = yaml.safe_load("""
models: [reader]
experiments: [curve, open]
seed: 5
define:
  models: {reader: {engine: fake}}
  candidates: {retrieved: {questions: mini_gazetteer_questions, corpus: mini_gazetteer, retriever: bm25s,
    kind: as_retrieved, documents: 5}}
  experiments:
    curve: {task: multi_document_qa, dataset: mini_gazetteer_bm25, positions: {5: [0, 2, 4]}, examples: 60}
    open: {task: open_domain_qa, dataset: retrieved, sizes: [5], examples: 20, remedies: {order: [measured]},
      measured_on: {experiment: curve, model: reader}}
""")


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory) -> Workbench:
    bench = new_project.moved_to(tmp_path_factory.mktemp("measured"))
    bench.configure(CONFIG)
    bench.run()
    return bench


def shown(bench: Workbench, experiment: str) -> dict[str, list[str]]:
    """The texts of the documents of each question's prompt."""
    path = bench.path(f"results/examples/{experiment}/5/as_retrieved.jsonl.gz")
    examples = [example for _, example in read_jsonl(path)]
    return {example["id"]: re.findall(r"(?m)^Document \[.*?\) (.*)$", example["prompt"]) for example in examples}


def test_the_best_documents_are_where_the_reader_is_best_on_other_questions(finished):
    scores = pd.read_parquet(finished.path("results/scores/reader/curve.parquet"))
    ranked, measured = shown(finished, "open"), shown(finished, "open-measured")
    # The same questions are in the file of the curve, and those that judge the order are not in the curve.
    assert ranked.keys() == measured.keys() and len(ranked) == 20 and {*ranked} & {*scores["id"]}
    assert all(is_held_out(name, 5) for name in ranked)
    estimated_on = scores[[not is_held_out(name, 5) for name in scores["id"]]]
    first, middle, last = estimated_on.groupby("position")["correct"].mean()
    assert first > last > middle
    # The middle place is the worst, those beside it are better.
    assert all([texts[place] for place in (0, 4, 1, 3, 2)] == ranked[name] for name, texts in measured.items())
    log = finished.path("results/logs/make_examples/open-measured/5/as_retrieved.log").read_text()
    assert "the measured order of 5 documents: 1 3 5 4 2" in log


def test_the_report_names_the_curve_and_its_halves(finished):
    page = finished.path("results/report.html").read_text()
    assert "only questions that are not in the curve of reader in curve" in page
    advice = pd.read_csv(finished.path("results/tables/advice.csv"))
    assert "5 documents, best where the measured curve is highest" in set(advice["condition"])


def test_an_estimate_asks_no_model_for_the_curve(finished, new_bench):
    new_bench.configure(CONFIG)
    jobs = jobs_by_rule(new_bench.planned("--", "estimate"))
    assert "generate" not in jobs and jobs["estimate_sweep"] == 2


@changes("measured")
def test_a_change_runs_what_the_page_says(bench, row):
    check(bench, CONFIG, row, globals())
