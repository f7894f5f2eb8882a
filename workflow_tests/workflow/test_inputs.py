"""Inputs, settings and resources of jobs, where a golden line would not tell why they are so."""

import shutil
from pathlib import Path

import pytest
from conftest import ROOT, qa_record, write_lines
from plans import inputs_of, of, plan

from litm.engines.registry import audit_engine
from litm.records.measures import ANSWER
from litm.workflow.data_inputs import bm25_threads

ODD = {"sizes": [3, 5, 24]}
pytestmark = pytest.mark.usefixtures("in_the_project")


def test_paths_of_the_project_are_the_same_where_project_or_study_are_moved(tmp_path, monkeypatch):
    for folder, whole in ((ROOT, False), (tmp_path, True)):
        monkeypatch.chdir(folder)
        file = Path("resources", "published", "accuracy.csv")
        assert plan().tables.published("accuracy") == str(ROOT / file if whole else file)


def test_an_index_takes_eight_threads_at_most_and_no_more_than_its_corpus_has_shards(paper, other):
    corpora = {**paper.study.corpora, **other.study.corpora}
    assert [bm25_threads(corpora[name]) for name in ("wikipedia_2018", "notes", "mini_encyclopedia")] == [8, 2, 1]


def test_a_sweep_in_parts_has_its_gpus_in_the_parts_and_is_gathered_by_a_job_without(other):
    whole, part = (of(model="parts", experiment="kv", **one) for one in ({}, {"part": "2_of_3"}))
    parts_of = other.sweeps.part_responses(ANSWER)
    assert parts_of(whole) == [f"results/parts/parts/kv/{one}_of_3.jsonl.gz" for one in (1, 2, 3)]
    assert parts_of(part) == []
    for inputs, expected in ((whole, (True, 0, "")), (part, (False, 2, "a100"))):
        asked = other.sweeps
        assert (asked.gathers(inputs), asked.gpus(inputs), asked.gpu_model(inputs)) == expected
    # An audit asks alone, with all GPUs of the model and the plain engine.
    parts, chat = other.study.models["parts"], other.study.models["chat"]
    assert (parts.used_gpus, parts.gpu_model, audit_engine(parts.engine)) == (2, "a100", "transformers")
    assert (chat.used_gpus, chat.gpu_model, chat.threads, audit_engine(chat.engine)) == (0, None, 1, "openai")


def test_a_job_asks_for_more_memory_and_time_at_its_second_attempt(other):
    here, parts = of(model="here", experiment="kv"), of(model="parts", experiment="qa")
    needs = other.sweeps.needs(ANSWER)
    assert [needs["mem_mb"](here, attempt) for attempt in (1, 2)] == [100, 200]
    assert [needs["runtime"](here, attempt) for attempt in (1, 2)] == [30, 60]
    assert needs["runtime"](parts, 1) == 24 * 60


def test_responses_are_recorded_for_some_experiments(other):
    assert "recorded" in other.sweeps.models_of(of(experiment="qa"))
    assert "recorded" not in other.sweeps.models_of(of(experiment="kv"))
    with pytest.raises(SystemExit, match=r"^error: models\.recorded\.responses: no responses to kv$"):
        other.sweeps.recorded_files(of(model="recorded", experiment="kv"))


def test_an_estimate_needs_no_hub_if_the_config_is_complete_and_grows_with_the_answers_of_all_sweeps(other):
    def source(model: str) -> list[str]:
        return inputs_of(other.study).sweeps.estimate_source(of(model=model, experiment="kv"))

    assert source("parts") == []
    # A server's name for its model is in the file, and needs no network.
    identified = ("here", "chat", "completions")
    assert [source(name) for name in identified] == [[f"results/models/{name}.json"] for name in identified]
    assert inputs_of(other.study).sweeps.answered(of(experiment="e")) == 0
    for identity, name, text in (("one", "parts+kv", "12345"), ("another", "here+qa", "678")):
        folder = Path("results/answers") / identity
        folder.mkdir(parents=True)
        (folder / f"{name}.2026-01-31.study-run.jsonl").write_text(text)
    assert inputs_of(other.study).sweeps.answered(of(experiment="e")) == 8
    # A model that was asked is identified; which files have its answers is not known before they are read.
    assert source("parts") == ["results/models/parts.json"]
    shutil.rmtree("results")


def test_a_table_on_demand_is_no_part_of_all_and_nothing_is_compared_where_nothing_moves(demo):
    assert "audit" in demo.tables.tables and "results/tables/audit.csv" not in demo.tables.files
    still = plan(experiments=["mini_encyclopedia_closed_book"])
    assert not any("pbi" in file for file in [*still.tables.files, *still.figures.figures])
    assert len(still.figures.not_drawn) == 2 and demo.figures.not_drawn == []
    with pytest.raises(SystemExit, match="^error: no selected experiment has positions, so .* nothing to export$"):
        still.exports.exports()(of())


def test_each_experiment_with_positions_has_a_figure_of_its_wrong_answers_unless_figures_are_named(demo):
    names = [name for name, one in demo.study.figures.items() if one.kind == "wrong_answers"]
    assert names == [f"{name}_wrong_answers" for name, one in demo.study.experiments.items() if one.has_positions]
    figure = of(figure=names[0])
    assert demo.figures.drawn_tables(figure) == ["results/tables/wrong_answers.csv"]
    assert demo.figures.drawn("accuracy")(figure) == []
    named = {"mini": {"experiments": ["mini_encyclopedia_qa"]}}
    assert [*plan(figures=["mini"], define={"figures": named}).study.figures] == ["mini"]


def test_a_dataset_of_documents_as_retrieved_has_the_recall_of_its_own_file(tmp_path):
    file = write_lines(tmp_path / "theirs.jsonl", [qa_record(0, 24)])
    own = {"datasets": {"theirs": {"path": str(file)}}, "experiments": {"open_domain_qa": {"dataset": "theirs", **ODD}}}
    made, search = plan("paper", define=own), of(corpus="theirs", retriever="theirs", questions="theirs")
    recall = "results/recall/theirs/theirs/theirs.csv"
    assert made.figures.drawn_recall(of(figure="open_domain_qa")) == made.tables.inputs["recalls"][-1:] == [recall]
    assert made.tables.claim_recall == {"open_domain_qa": recall}
    assert made.data.sizes_as_retrieved(search) == ["3", "24"]
    assert (made.data.hits("jsonl.gz")(search), made.data.hits("manifest.json")(search)) == ([str(file)], [])


def test_the_legend_has_facts_about_models_that_differ_in_them(paper):
    known = {name: paper.figures.figure(of(figure=name)) for name in ("figure10", "figure11", "figure13")}
    said = {
        name: f"encoder-decoder, trained on {n} tokens" for name, n in (("flan-t5-xxl", "512"), ("flan-ul2", "2,048"))
    }
    assert known["figure11"]["facts"] == said
    assert known["figure11"]["training_lengths"] == {"flan-t5-xxl": 512, "flan-ul2": 2048}
    assert known["figure13"]["facts"] == {"mpt-30b-instruct": "tuned from mpt-30b"} and "facts" not in known["figure10"]


def test_the_colour_of_a_model_is_its_place_in_the_study(other):
    figure = other.figures.figure(of(figure="kv"))
    assert figure["places"] == {"here": 0, "chat": 1, "completions": 2, "keyless": 3, "parts": 5}
    # Models whose limit of new tokens is not known.
    assert "recorded" not in figure and other.figures.figure(of(figure="qa"))["recorded"] == ["recorded"]
    served = {"engine": "openai", "api_model": "x", "request": {"max_tokens": 9}}
    limited = plan(models=["reference", "served"], define={"models": {"served": served}})
    assert limited.figures.figure(of(figure=next(iter(limited.study.figures))))["recorded"] == ["served"]


def test_the_report_has_questions_unless_it_wants_none(demo):
    assert len(demo.reports.samples) == 5 and plan(report={"questions_per_size": 0}).reports.samples == []
