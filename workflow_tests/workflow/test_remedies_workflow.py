"""An experiment with remedies, run for real from retrieved documents to the advice; and the effect of edits."""

import re

import pandas as pd
import pytest
import yaml
from conftest import write_lines
from encoders import WORDS, make_cross_encoder
from reruns import changes, check
from workbench import Workbench

from litm.base.json_files import read_jsonl

CONFIG = yaml.safe_load("""
models: [dummy]
experiments: [open]
define:
  datasets: {retrieved: {path: retrieved.jsonl}}
  rerankers: {tiny: {method: cross_encoder, path: cross_encoder, max_tokens: 48, device: cpu}}
  experiments:
    open: {task: open_domain_qa, dataset: retrieved, sizes: [1, 4], max_new_tokens: 10, remedies: {order: [ends],
      rerank: [tiny], cut: [{margin: 2}]}}
""")


def question(number: int) -> dict:
    texts = [" ".join(WORDS[3 * number + place : 3 * number + place + 5]) for place in range(5)]
    ctxs = [
        {"id": f"d{number}_{place}", "title": "", "text": text, "score": str(10 - 1.5 * place)}
        for place, text in enumerate(texts)
    ]
    return {"question": f"which {WORDS[number]}", "answers": [WORDS[3 * number]], "ctxs": ctxs}


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory) -> Workbench:
    bench = new_project.moved_to(tmp_path_factory.mktemp("remedies"))
    make_cross_encoder(bench.path("cross_encoder"))
    write_lines(bench.path("retrieved.jsonl"), [question(number) for number in range(12)])
    bench.configure(CONFIG)
    bench.run()
    return bench


def shown(bench: Workbench, experiment: str, size: int = 4) -> list[list[str]]:
    """The texts of the documents of each prompt, in their order."""
    path = bench.path(f"results/examples/{experiment}/{size}/as_retrieved.jsonl.gz")
    return [re.findall(r"(?m)^Document \[.*?\) (.*)$", example["prompt"]) for _, example in read_jsonl(path)]


def test_conditions_show_the_same_documents_ordered_reranked_or_cut(finished):
    plain = shown(finished, "open")
    assert plain == [[one["text"] for one in question(number)["ctxs"][:4]] for number in range(12)]
    assert shown(finished, "open-ends") == [[a, c, d, b] for a, b, c, d in plain]
    # Scores are 10, 8.5, 7, ...
    assert shown(finished, "open-margin_2") == [texts[:2] for texts in plain]
    reranked = [record for _, record in read_jsonl(finished.path("results/reranked/tiny/retrieved.jsonl.gz"))]
    assert shown(finished, "open-tiny") == [[one["text"] for one in record["ctxs"][:4]] for record in reranked]
    # All five documents are reranked, and four of them are read.
    assert all(sorted(one["id"][-1] for one in record["ctxs"]) == list("01234") for record in reranked)


def test_the_table_the_figure_and_the_top_of_the_report_have_the_advice(finished):
    table = pd.read_csv(finished.path("results/tables/advice.csv"))
    cells = [f"{row.experiment} {row.size}" for row in table.itertuples()]
    assert cells == ["open 1", "open 4", "open-ends 4", "open-tiny 1", "open-tiny 4", "open-margin_2 4"]
    (advice,) = table["advice"].dropna()
    assert advice in finished.path("results/report.html").read_text()
    assert finished.path("results/figures/open_cost.png").stat().st_size > 5000
    differences = pd.read_csv(finished.path("results/tables/condition_differences.csv"))
    assert {"order", "rerank", "cut"} <= set(differences["condition"])


def use_other_weights(bench: Workbench) -> None:
    make_cross_encoder(bench.path("cross_encoder"), layers=1)


def reverse_the_documents_of_a_question(bench: Workbench) -> None:
    records = [question(number) for number in range(12)]
    records[0]["ctxs"] = records[0]["ctxs"][::-1]
    for place, document in enumerate(records[0]["ctxs"]):
        document["score"] = 10 - place
    write_lines(bench.path("retrieved.jsonl"), records)


@changes("remedies")
def test_a_change_runs_what_the_page_says(bench, row):
    check(bench, CONFIG, row, globals())
