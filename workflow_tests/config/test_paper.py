"""The paper's config: its default selection, and all of it in miniature."""

from collections import Counter
from copy import deepcopy
from types import SimpleNamespace

import paper_miniature
import pytest
import yaml
from configs import DEFAULT
from conftest import ROOT
from snakemake.utils import update_config

from litm.config.needs import needs_of
from litm.config.study import Study, load_study
from litm.config.sweeps import Sweep
from litm.planning.downloads import results_bytes
from litm.planning.tokens import fitting, most_work, prompt_tokens

QA, SAMPLE = "multi_document_qa", "multi_document_qa_sample"
READERS = ["gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613", "claude-1.3", "claude-1.3-100k"]
READERS += ["mpt-30b-instruct", "longchat-13b-16k"]
LLAMA = [f"llama-2-{size}{kind}" for size in ("7b", "13b", "70b") for kind in ("", "-chat")]
KINDS = ("query_aware", "unambiguous", "random_distractors", "random_order")
#: What the paper runs: positions by size (1 without a gold item), and the questions.
PAPER = {
    **{"closed_book_qa": ({0: 1}, 2_655), "oracle_qa": ({1: 1}, 2_655), QA: ({10: 3, 20: 5, 30: 7}, 2_655)},
    # Figure 10, and section 5.2 of arXiv's versions
    **dict.fromkeys(["kv_retrieval", "kv_retrieval_query_aware"], ({75: 4, 140: 5, 300: 7}, 500)),
    # Figures 12, 15, 16 and 17; 18; 14
    **{f"{QA}_{kind}": ({20: 5}, 2_655) for kind in KINDS},
    SAMPLE: ({20: 5}, 500),
    "open_domain_qa": (dict.fromkeys((5, 10, 20, 30, 40, 50), 1), 2_655),
}
#: The models that run few of these: Figures 11, 13 and 18, Figure 16 of TACL, and the authors' EXPERIMENTS.md.
FEW = {model: [QA] for model in ("mpt-30b", "flan-t5-xxl", "flan-ul2", *LLAMA)} | {"gpt-4-0613": [SAMPLE]}
FEW["llama-2-70b-chat"] = [QA, "closed_book_qa", "oracle_qa"]
#: Mean tokens of a prompt in Tables 2 to 4 by number of documents, at most 30, and of pairs. Prompts of the same
#: contexts in another order, or with the question at both ends, have no row of their own and are counted as these.
SIZES = (0, 1, 10, 20, 30, 75, 140, 300)
TOKENS = {
    "mpt-30b-instruct": (43.5, 187.9, 1499.7, 2962.4, 4426.9, 4110.5, 7600.9, 16192.4),
    "longchat-13b-16k": (55.6, 219.7, 1749.9, 3464.6, 5181.9, 5444.5, 10072.4, 21467.3),
    "gpt-3.5-turbo-0613": (15.3, 156.0, 1475.6, 2946.2, 4419.2, 3768.7, 6992.8, 14929.4),
}


def study(*configs: dict) -> Study:
    """The study of configs that are merged as Snakemake does it."""
    merged = deepcopy(DEFAULT)
    for config in configs:
        update_config(merged, deepcopy(config))
    return load_study(merged, ROOT)


@pytest.fixture
def miniature(tmp_path, monkeypatch) -> Study:
    paper_miniature.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return study(paper_miniature.paper(), yaml.safe_load((tmp_path / "config.yaml").read_text()))


def test_the_papers_config_runs_as_it_is_and_names_the_files_to_supply():
    paper = study(paper_miniature.paper())
    retired = {name for name in {*READERS, *FEW} if name.startswith(("gpt", "claude"))}
    assert set(paper.models) == {*READERS, *FEW} - retired
    assert len(paper.experiments) == 10 and "multi_document_qa_unambiguous" not in paper.experiments
    assert len(paper.left_out) == 2 and all(name in paper.left_out[0] for name in retired)


def test_the_page_has_the_disk_that_estimate_says():
    # The last two experiments need all of Wikipedia.
    without = {"experiments": paper_miniature.paper()["experiments"][:-2]}
    both = (study(paper_miniature.paper()), study(paper_miniature.paper(), without))
    whole, part = (results_bytes(one, needs_of(one)) / 1e9 for one in both)
    page = (ROOT / "docs" / "paper.md").read_text()
    assert f"| {whole:.0f} GB, 66 GB of them vectors; {part:.1f} GB without the two Wikipedia experiments |" in page


@pytest.mark.parametrize(("models", "sweeps"), [(["mpt-30b-instruct"], 10), (["flan-ul2"], 1), (["reference"], 10)])
def test_a_selection_of_the_papers_models_runs_their_own_experiments(models, sweeps):
    assert len(study(paper_miniature.paper(), {"models": models}).pairs()) == sweeps


def test_the_config_and_its_miniature_run_what_the_paper_runs_and_no_more(miniature):
    run = {(model, name) for model, names in (dict.fromkeys(READERS, PAPER) | FEW).items() for name in names}
    assert set(miniature.pairs()) == run and miniature.left_out == []
    assert paper_figures() <= set(miniature.figures)
    lines = {name: one.references for name, one in miniature.figures.items() if name.startswith("figure")}
    assert {name for name, of_paper in lines.items() if of_paper} == {"figure1"}
    labels = {"unambiguous_questions": {"path": "unambiguous.txt", "labels": "txt"}}
    paper = study(paper_miniature.paper(), {"define": {"datasets": labels}})
    # A dry run and the time limits of a cluster count these.
    prompts = {one.pair: most_work(one).prompts for one in paper.sweeps}
    assert set(prompts) == {(model, name) for model, name in run if model in paper.models}
    for sweep in miniature.sweeps:
        model, name = sweep.pair
        sizes, questions = PAPER[name] if name != QA or model not in ("mpt-30b", *LLAMA) else ({20: 5}, 2_655)
        assert Counter(cell.size for cell in sweep.cells) == sizes
        assert prompts.get((model, name)) in (None, sum(sizes.values()) * questions)


def sweep_of(one: Study, model: str, experiment: str) -> Sweep:
    """A sweep of all sizes, whether the study has it and its model or not."""
    nobody = SimpleNamespace(name=model, reasoning=SimpleNamespace(tokens=0))
    return Sweep(one.models.get(model, nobody), one.experiments[experiment])


def test_the_planned_tokens_are_those_of_the_papers_tables():
    """Of recorded models too. The tables have no prompts of 5, 40 and 50 documents: these are on a straight line."""
    paper = study(paper_miniature.paper())
    for model, means in TOKENS.items():
        lengths = dict(zip(SIZES, means, strict=True))
        for name in {*PAPER} - {f"{QA}_unambiguous", "open_domain_qa"}:
            sizes, questions = PAPER[name]
            by_hand = questions * sum(lengths[size] * number for size, number in sizes.items())
            assert prompt_tokens(paper, sweep_of(paper, model, name)) == pytest.approx(by_hand, rel=1e-9), name
        per_document = (lengths[30] - lengths[10]) / 20
        by_hand = 2_655 * sum(lengths[10] + (size - 10) * per_document for size in (5, 10, 20, 30, 40, 50))
        assert prompt_tokens(paper, sweep_of(paper, model, "open_domain_qa")) == pytest.approx(by_hand, rel=0.005)


SERVED = {"engine": "openai", "api_model": "x"}


@pytest.mark.parametrize(
    ("model", "entry", "experiment", "sizes"),
    [
        ("longchat-13b-16k", {}, "kv_retrieval", {75, 140}),
        ("longchat-13b-16k", {"context_window": 21_567}, "kv_retrieval", {75, 140}),
        ("longchat-13b-16k", {"context_window": 21_568}, "kv_retrieval", {75, 140, 300}),
        ("mpt-30b-instruct", {}, "kv_retrieval", {75, 140, 300}),
        # An encoder-decoder's window has no answer.
        ("flan-ul2", {"context_window": 4450}, QA, {10, 20, 30}),
        ("gpt-3.5-turbo-0613", {**SERVED, "context_window": 4096}, QA, {10, 20}),
        ("gpt-3.5-turbo-0613", {**SERVED, "context_window": 4096}, "kv_retrieval", {75}),
        ("gpt-3.5-turbo-0613", {**SERVED, "context_window": 1000}, "kv_retrieval", set()),
        # The tokens of a model that is not counted are the fewest, and those of own documents are not known.
        ("served", {**SERVED, "context_window": 8192}, "kv_retrieval", {75, 140}),
        ("served", {**SERVED, "context_window": 100}, "mini_gazetteer_qa", {10}),
    ],
)
def test_sizes_that_the_paper_s_mean_lengths_exclude_are_not_planned(model, entry, experiment, sizes):
    one = study({"models": [model], "experiments": [experiment], "define": {"models": {model: entry}}})
    assert fitting(one, sweep_of(one, model, experiment)).experiment.cell_sizes == sizes


def test_a_job_requests_memory_and_time_for_more_tokens_than_are_planned():
    paper = study(paper_miniature.paper())
    for model in (*READERS, "flan-ul2", "llama-2-70b-chat"):
        for experiment in paper.experiments:
            sweep = sweep_of(paper, model, experiment)
            assert prompt_tokens(paper, sweep) < most_work(sweep).tokens


def paper_figures() -> set[str]:
    """Figures of the catalogue that need only the paper's experiments."""
    experiments = set(paper_miniature.paper()["experiments"])
    entries = paper_miniature.catalogue("figures").items()
    return {name for name, entry in entries if set(entry["experiments"]) <= experiments}


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
    tables = {"accuracy", "token_counts", "position_bias", "position_pairs", "model_differences", "utilisation"}
    assert tables <= {path.stem for path in (results / "tables").glob("*.csv")}
    assert (results / "report.html").stat().st_size > 0
    sweeps = len(READERS) * len(paper_miniature.paper()["experiments"]) + sum(map(len, FEW.values()))
    assert len(list((results / "scores").rglob("*.parquet"))) == sweeps
