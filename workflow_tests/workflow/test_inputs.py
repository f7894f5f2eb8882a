"""Inputs, settings and resources of jobs, where a golden line would not tell why they are so."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from configs import study
from conftest import ROOT
from gguf_files import write_gguf
from plans import OTHER, inputs_of, of, plan
from reruns import with_keys

from litm.inference.engine import audit_engine
from litm.workflow.data_inputs import bm25_threads, gpus, identity_file

pytestmark = pytest.mark.usefixtures("in_the_project")


def test_paths_of_the_project_are_the_same_where_project_or_study_are_moved(tmp_path, monkeypatch):
    for folder, whole in ((ROOT, False), (tmp_path, True)):
        monkeypatch.chdir(folder)
        file = Path("resources", "published", "accuracy.csv")
        assert plan().tables.published("accuracy") == str(ROOT / file if whole else file)


def test_a_file_is_the_user_s_or_fetched_or_made(other):
    files = [other.data.file(name) for name in ("asked", "far", "by_near")]
    assert files == ["asked.jsonl", "results/data/far.jsonl.gz", "results/candidates/by_near.jsonl.gz"]
    named = other.data.files(lambda wildcards: wildcards.names)
    assert named(of(names=("asked", "far"))) == ["asked.jsonl", "results/data/far.jsonl.gz"]
    assert named(of(names=None)) == [] and named(of(names="asked")) == ["asked.jsonl"]


def test_a_search_takes_no_more_threads_than_its_corpus_has_shards_and_a_gpu_for_an_encoder_alone(paper, other):
    corpora = {**paper.study.corpora, **other.study.corpora}
    assert [bm25_threads(corpora[name]) for name in ("wikipedia_2018", "notes", "mini_encyclopedia")] == [8, 2, 1]
    assert other.data.search_threads(of(corpus="notes", retriever="exact")) == 2
    exact, near, words = (other.study.retrievers[name] for name in ("exact", "near", "words"))
    assert [gpus(one) for one in (exact, near, words)] == [1, 0, 0]
    assert (identity_file(exact), identity_file(words)) == (["results/retrievers/exact.json"], [])


def test_an_exact_search_reads_vectors_alone_and_an_approximate_one_an_index_a_shard(other):
    exact, near, words = (of(corpus="notes", retriever=name) for name in ("exact", "near", "words"))
    assert other.data.vectors(exact) == [f"results/vectors/notes/exact/{shard}.json" for shard in (0, 1)]
    assert other.data.indexes(exact) == other.data.vectors(words) == []
    assert other.data.indexes(near) == [f"results/indexes/notes/near/{shard}.json" for shard in (0, 1)]
    assert other.data.indexes(words) == ["results/indexes/notes/bm25.json"]


def test_what_is_fetched_is_what_experiments_and_models_name(paper, other):
    assert "results/data/psgs_w100.tsv.gz" in paper.data.needed and len(paper.data.needed) == 9
    assert paper.sweeps.sources[-1] == "results/retrievers/contriever.json"
    assert other.sweeps.sources == [
        *(f"results/models/{name}.json" for name in ("counter", "here", "chat", "completions", "keyless", "parts")),
        "results/retrievers/near.json",
        "results/rerankers/deep.json",
    ]


def test_a_sweep_in_parts_has_its_gpus_in_the_parts_and_is_gathered_by_a_job_without(other):
    whole, part = (of(model="parts", experiment="kv", **one) for one in ({}, {"part": "2_of_3"}))
    parts_of = other.sweeps.part_responses("results/parts/{model}/{experiment}")
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
    assert [other.sweeps.memory(here, attempt) for attempt in (1, 2)] == [100, 200]
    assert [other.sweeps.minutes(here, attempt) for attempt in (1, 2)] == [30, 60]
    assert other.sweeps.minutes(parts, 1) == 24 * 60


def test_a_gguf_file_is_its_model_and_its_tokenizer_is_where_the_file_was_unpacked_to(tmp_path):
    path = tmp_path / "m-instruct.gguf"
    write_gguf(path)
    models = {"m": {"engine": "transformers", "path": str(path), "dtype": "bfloat16", "context_window": 128}}
    sweeps = inputs_of(study(models=models, experiments=["kv_retrieval_small"])).sweeps
    assert (sweeps.prompting["m"].tokenizer, sweeps.prompting["m"].tokenizer_files) == ("", [])
    assert sweeps.prompting["m"].source == ["results/models/m.json"]
    assert sweeps.estimate_source(of(model="m", experiment="kv_retrieval_small")) == ["results/models/m.json"]
    assert sweeps.counted == ["m"]


def test_the_tokenizer_of_a_servers_model_counts_tokens_and_is_not_part_of_its_identity(paper, other):
    assert other.sweeps.prompting["keyless"].tokenizer_files == ["results/data/tokenizer.json"]
    assert other.sweeps.identified_tokenizer(of(model="keyless")) == []
    assert set(other.sweeps.counted) == {"here", "completions", "keyless", "parts", "counter"}
    mpt = paper.sweeps.prompting["mpt-30b-instruct"]
    assert paper.sweeps.identified_tokenizer(of(model="mpt-30b-instruct")) == mpt.tokenizer_files == [mpt.own_tokenizer]


def test_tokens_of_recorded_responses_are_counted_by_the_tokenizer_that_their_entry_names(other):
    keys = {"tokenizer": "resources/reference_model", "prompt_template": "raw"}
    sweeps = plan(**with_keys(OTHER, {f"define.models.recorded.{key}": value for key, value in keys.items()})).sweeps
    assert "recorded" not in other.sweeps.counted and "recorded" in sweeps.counted and "recorded" not in sweeps.asked


def test_responses_are_recorded_for_some_experiments(other):
    assert "recorded" in other.sweeps.models_of(of(experiment="qa"))
    assert "recorded" not in other.sweeps.models_of(of(experiment="kv"))
    with pytest.raises(SystemExit, match=r"^error: models\.recorded\.responses: no responses to kv$"):
        other.sweeps.recorded_files(of(model="recorded", experiment="kv"))


def test_an_estimate_needs_no_hub_if_the_config_is_complete_and_grows_with_the_journals_of_all_sweeps(other):
    def source(model: str) -> list[str]:
        return inputs_of(other.study).sweeps.estimate_source(of(model=model, experiment="kv"))

    assert source("parts") == []
    # A server's name for its model is in the file, and needs no network.
    identified = ("here", "chat", "completions")
    assert [source(name) for name in identified] == [[f"results/models/{name}.json"] for name in identified]
    assert inputs_of(other.study).sweeps.answered(of()) == 0
    journal = Path("results/journal/parts/kv.jsonl")
    journal.with_suffix("").mkdir(parents=True)
    journal.write_text("12345")
    (journal.with_suffix("") / "1_of_3.jsonl").write_text("678")
    assert inputs_of(other.study).sweeps.answered(of()) == 8
    # A model that was asked is identified; which journals have answers is not known before they are read.
    assert source("parts") == ["results/models/parts.json"]
    shutil.rmtree("results")


def test_a_table_on_demand_is_no_part_of_all_and_nothing_is_compared_where_nothing_moves(demo):
    assert "audit" in demo.tables.tables and "results/tables/audit.csv" not in demo.tables.files
    still = plan(experiments=["mini_encyclopedia_closed_book"])
    assert not any("pbi" in file for file in [*still.tables.files, *still.pages.figures])
    assert len(still.pages.not_drawn) == 2 and demo.pages.not_drawn == []
    with pytest.raises(SystemExit, match="^error: no selected experiment has positions, so .* nothing to export$"):
        still.pages.exports()(of())


def test_the_files_of_a_table_are_given_in_their_order(other):
    recall = [f"results/recall/notes/{search}.csv" for search in ("near/far", "words/asked")]
    table = of(table="retrieval")
    assert other.tables.inputs_of(table) == recall
    assert shlex.split(other.tables.options(table)) == ["--input", "recalls", *recall]
    audits = other.tables.inputs_of(of(table="audit"))
    assert "results/audits/parts/kv.csv" in audits and "results/audits/recorded/qa.csv" not in audits


def test_each_experiment_with_positions_has_a_figure_of_its_wrong_answers_unless_figures_are_named(demo):
    names = [name for name, one in demo.study.figures.items() if one.kind == "wrong_answers"]
    assert names == [f"{name}_wrong_answers" for name, one in demo.study.experiments.items() if one.has_positions]
    figure = of(figure=names[0])
    assert demo.pages.drawn_tables(figure) == ["results/tables/wrong_answers.csv"]
    assert demo.pages.drawn("accuracy")(figure) == []
    named = {"mini": {"experiments": ["mini_encyclopedia_qa"]}}
    assert [*plan(figures=["mini"], define={"figures": named}).study.figures] == ["mini"]


def test_a_figure_by_size_and_a_claim_have_the_recall_of_the_retriever(paper):
    recall = "results/recall/wikipedia_2018/contriever/nq_open_oracle.csv"
    assert paper.pages.drawn_recall(of(figure="open_domain_qa")) == [recall]
    assert paper.tables.claim_recall == {"open_domain_qa": recall}
    search = of(corpus="wikipedia_2018", retriever="contriever", questions="nq_open_oracle")
    usual, odd = {"sizes": [5, 20]}, {"sizes": [3, 5, 24]}
    assert plan("paper", define={"experiments": {"open_domain_qa": usual}}).data.sizes_as_retrieved(search) is None
    assert plan("paper", define={"experiments": {"open_domain_qa": odd}}).data.sizes_as_retrieved(search) == ["3", "24"]


def test_the_legend_has_facts_about_models_that_differ_in_them(paper):
    known = {name: paper.pages.figure(of(figure=name)) for name in ("figure10", "figure11", "figure13")}
    said = {
        name: f"encoder-decoder, trained on {n} tokens" for name, n in (("flan-t5-xxl", "512"), ("flan-ul2", "2,048"))
    }
    assert known["figure11"]["facts"] == said
    assert known["figure11"]["training_lengths"] == {"flan-t5-xxl": 512, "flan-ul2": 2048}
    assert known["figure13"]["facts"] == {"mpt-30b-instruct": "tuned from mpt-30b"} and "facts" not in known["figure10"]


def test_the_colour_of_a_model_is_its_place_in_the_study(other):
    figure = other.pages.figure(of(figure="kv"))
    assert figure["places"] == {"here": 0, "chat": 1, "completions": 2, "keyless": 3, "parts": 5}
    # Models whose limit of new tokens is not known.
    assert "recorded" not in figure and other.pages.figure(of(figure="qa"))["recorded"] == ["recorded"]


def test_the_report_has_questions_unless_it_wants_none(demo):
    assert len(demo.pages.samples) == 5 and plan(report={"questions_per_size": 0}).pages.samples == []


def test_the_suite_exports_the_curves_of_models_that_have_any_with_the_noun_of_their_task(demo, other):
    assert demo.pages.summaries == ["results/summaries/reference"]
    curve = json.loads(demo.pages.exported_curves(of(model="reference")))[0]
    assert (curve["name"], curve["panel_title"]) == ("kv_retrieval_small_10", "{size} key-value pairs")
    in_tokens = [one for one in json.loads(other.pages.exported_curves(of(model="here"))) if "tokens" in one["name"]]
    assert {one["panel_title"] for one in in_tokens} == {"{size} tokens"}
