"""The paper's config: its default selection, and all of it in miniature."""

import json

import paper_miniature
import pytest
import yaml
from configs import DEFAULT
from conftest import ROOT
from snakemake.utils import update_config

from litm.config.study import Study, load_study

QA, SAMPLE = "multi_document_qa", "multi_document_qa_sample"
READERS = ["gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613", "claude-1.3", "claude-1.3-100k"]
READERS += ["mpt-30b-instruct", "longchat-13b-16k"]
LLAMA = [f"llama-2-{size}{kind}" for size in ("7b", "13b", "70b") for kind in ("", "-chat")]
#: The models that run a single experiment, and which.
SINGLE = {"gpt-4-0613": SAMPLE} | dict.fromkeys(["mpt-30b", "flan-t5-xxl", "flan-ul2", *LLAMA], QA)


def study(*configs: dict) -> Study:
    """The study of configs that are merged as Snakemake does it."""
    merged = json.loads(json.dumps(DEFAULT))
    for config in configs:
        update_config(merged, json.loads(json.dumps(config)))
    return load_study(merged, ROOT)


@pytest.fixture
def miniature(tmp_path, monkeypatch) -> Study:
    paper_miniature.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return study(paper_miniature.paper(), yaml.safe_load((tmp_path / "config.yaml").read_text()))


def test_the_papers_config_runs_as_it_is_and_names_the_files_to_supply():
    paper = study(paper_miniature.paper())
    retired = {name for name in {*READERS, *SINGLE} if name.startswith(("gpt", "claude"))}
    assert set(paper.models) == {*READERS, *SINGLE} - retired
    assert len(paper.experiments) == 10 and "multi_document_qa_unambiguous" not in paper.experiments
    assert len(paper.left_out) == 2 and all(name in paper.left_out[0] for name in retired)


@pytest.mark.parametrize(("models", "sweeps"), [(["mpt-30b-instruct"], 10), (["flan-ul2"], 1), (["reference"], 10)])
def test_a_selection_of_the_papers_models_runs_their_own_experiments(models, sweeps):
    assert len(study(paper_miniature.paper(), {"models": models}).sweeps) == sweeps


def test_mpt_30b_and_the_llama_2_models_run_20_documents_alone_and_the_others_all_sizes():
    paper = study(paper_miniature.paper())
    sizes = {model: {cell.size for cell in one.cells} for (model, name), one in paper.run.items() if name == QA}
    assert all(sizes[model] == {20} for model in ("mpt-30b", *LLAMA))
    assert all(sizes[model] == {10, 20, 30} for model in ("flan-t5-xxl", "flan-ul2", "mpt-30b-instruct"))


def test_a_single_experiment_of_the_paper_is_run_by_those_models_that_run_it():
    assert list(study(paper_miniature.paper(), {"experiments": ["kv_retrieval"]}).models) == [
        "mpt-30b-instruct", "longchat-13b-16k"
    ]  # fmt: skip


def test_the_miniature_has_every_model_experiment_and_cell_of_the_paper(miniature):
    paper = paper_miniature.paper()
    assert set(paper["models"]) == {*READERS, *SINGLE}
    assert set(miniature.sweeps) == {
        *((model, experiment) for model in READERS for experiment in paper["experiments"]),
        *SINGLE.items(),
    }
    assert miniature.left_out == []
    assert paper_figures() <= set(miniature.figures)
    whole = study({"models": ["reference"], "experiments": paper["experiments"]}, supplied_labels(miniature))
    assert {name: one.cells for name, one in miniature.experiments.items()} == {
        name: one.cells for name, one in whole.experiments.items()
    }


def paper_figures() -> set[str]:
    """Figures of the catalogue that need only the paper's experiments."""
    experiments = set(paper_miniature.paper()["experiments"])
    entries = paper_miniature.catalogue("figures").items()
    return {name for name, entry in entries if set(entry["experiments"]) <= experiments}


def supplied_labels(miniature: Study) -> dict:
    path = miniature.datasets["unambiguous_questions"].path
    return {"define": {"datasets": {"unambiguous_questions": {"path": path, "labels": "txt"}}}}


def test_the_miniature_asks_the_models_that_the_paper_asks(miniature):
    """Names on the hub, formats, templates and overrides are equal; only the weights under these names are small."""
    paper = study(paper_miniature.paper())
    for name, model in paper.models.items():
        assert miniature.models[name].answer_settings() == model.answer_settings()
        assert miniature.models[name].location() == model.location()


@pytest.mark.slow
def test_the_miniature_makes_every_table_and_figure(tmp_path):
    paper_miniature.prepare(tmp_path)
    paper_miniature.prepare_models(tmp_path)
    assert paper_miniature.run(tmp_path, "--cores", "2") == 0
    results = tmp_path / "results"
    figures = paper_figures() | {"pbi_forest"}
    assert figures <= {path.stem for path in (results / "figures").glob("*.png")}
    assert figures <= {path.stem for path in (results / "figures").glob("*.pdf")}
    tables = {"accuracy", "token_counts", "position_bias", "position_pairs", "pbi", "model_differences", "utilisation"}
    assert tables <= {path.stem for path in (results / "tables").glob("*.csv")}
    assert (results / "report.html").stat().st_size > 0
    sweeps = len(READERS) * len(paper_miniature.paper()["experiments"]) + len(SINGLE)
    assert len(list((results / "scores").rglob("*.parquet"))) == sweeps
