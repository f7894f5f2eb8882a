"""The plan of tables, figures, report and exports: inputs and params of their jobs."""

import json
import shlex
from copy import deepcopy
from pathlib import Path

import pytest
from plans import OTHER, of, plan

from litm.base.messages import UserError

pytestmark = pytest.mark.usefixtures("in_the_project")


# Tables, figures and the report


def test_the_default_config_has_these_tables(demo):
    assert sorted(demo.tables.files) == [
        f"results/tables/{name}"
        for name in (
            "accuracy.csv", "answer_checks.csv", "bias_by_size.csv", "candidates.csv", "claims.csv", "claims.md",
            "claims_summary.csv", "condition_differences.csv", "detectable_effects.csv", "effective_length.csv",
            "pbi.csv", "pbi.md", "position_bias.csv", "position_pairs.csv", "published_comparison.csv",
            "published_comparison.md", "reading_sensitivity.csv", "retrieval.csv", "token_counts.csv",
            "utilisation.csv", "wrong_answers.csv",
        )
    ]  # fmt: skip
    assert "results/tables/audit.csv" not in demo.tables.files and "audit" in demo.tables.names
    assert demo.paper.tables == []


def test_the_suite_has_no_tables_of_retrieval_and_nothing_without_documents_to_compare_with():
    suite = plan("suite")
    names = {Path(file).name for file in suite.tables.files}
    assert {"position_bias.csv", "pbi.md", "token_counts.csv"} <= names
    assert not {"candidates.csv", "retrieval.csv", "utilisation.csv", "model_differences.csv"} & names
    assert suite.fetch.files == [] and len(suite.fetch.sources) == 1


def test_the_paper_s_config_has_the_paper_s_tables(paper):
    assert "results/tables/model_differences.csv" in paper.tables.files
    assert len(paper.paper.tables) == 7 * 3
    assert paper.paper.measured(of(number="1")) == "results/tables/accuracy.csv"
    assert paper.paper.measured(of(number="4")) == "results/tables/token_counts.csv"
    assert paper.paper.published(of(number="4")) == "resources/published/token_counts.csv"
    assert paper.paper.published(of(number="5")) == "resources/published/accuracy.csv"
    options = shlex.split(paper.tables.options(of(table="published_comparison")))
    versions = json.loads(options[options.index("--settings") + 1])["data_versions"]
    assert versions["multi_document_qa"] == dict.fromkeys(["10", "20", "30"], "v1")


def test_there_is_no_table_of_positions_where_nothing_moves():
    closed_book = plan(experiments=["mini_encyclopedia_closed_book"])
    assert closed_book.tables.position_bias == [] and not closed_book.tables.has_positions
    assert not any("pbi" in file for file in [*closed_book.tables.files, *closed_book.figures.files])
    with pytest.raises(UserError, match="nothing to export"):
        closed_book.suite.exports(of())


def test_a_table_is_made_of_the_files_of_its_inputs_in_their_order(other):
    recall = of(table="retrieval")
    files = [f"results/recall/notes/{search}.csv" for search in ("near/far", "words/asked")]
    assert other.tables.inputs(recall) == {"recalls": files}
    assert other.tables.options(recall) == f"--input recalls {' '.join(files)}"
    assert other.tables.inputs(of(table="candidates")) == {
        "candidates": [f"results/candidates/{name}.csv" for name in ("by_near", "drawn", "by_words")]
    }
    examples = other.tables.inputs(of(table="answer_checks"))["examples"]
    assert examples[:3] == [
        "results/examples/kv/4/gold_at_0.jsonl.gz",
        "results/examples/kv/6/gold_at_0.jsonl.gz",
        "results/examples/kv_in_tokens/500/gold_at_depth_0.jsonl.gz",
    ]
    counts = other.tables.inputs(of(table="token_counts"))["token_counts"]
    assert list(dict.fromkeys(Path(file).parent.name for file in counts)) == ["here", "completions", "keyless", "parts"]
    audits = other.tables.inputs(of(table="audit"))["audits"]
    assert "results/audits/parts/kv.csv" in audits and "results/audits/recorded/qa.csv" not in audits


def test_tokens_of_a_model_with_recorded_responses_are_counted_by_the_tokenizer_that_its_entry_names(other):
    assert "recorded" not in other.models.counted
    entry = {"tokenizer": "resources/reference_model", "prompt_template": "mpt_instruct"}
    with_tokenizer = deepcopy(OTHER)
    with_tokenizer["define"]["models"]["recorded"] |= entry
    counted = plan(**with_tokenizer)
    recorded = of(model="recorded", experiment="qa")
    assert "recorded" in counted.models.counted and "recorded" not in counted.models.asked
    assert counted.models.prompt_template(recorded) == "mpt_instruct"
    assert "results/token_counts/recorded/qa.csv" in counted.tables.inputs(of(table="token_counts"))["token_counts"]


def test_each_experiment_with_positions_has_a_figure_of_its_wrong_answers_unless_figures_are_named(demo, other):
    names = list(demo.study.more_figures)
    assert names == [f"{name}_wrong_answers" for name, one in demo.study.experiments.items() if one.has_positions]
    assert names and set(names) <= {Path(file).stem for file in demo.figures.files}
    figure = of(figure=names[0])
    assert demo.figures.wrong_answers(figure) == ["results/tables/wrong_answers.csv"]
    assert demo.figures.accuracy(figure) == demo.figures.scores(figure) == demo.figures.differences(figure) == []
    named = {"mini": {"experiments": ["mini_encyclopedia_qa"]}}
    assert not plan(figures=["mini"], define={"figures": named}).study.more_figures


def test_a_table_is_made_by_its_module(demo):
    code = demo.tables.code(of(table="pbi"))
    assert code[0] == "scripts/analysis/make_table.py" and "scripts/litm/analysis/tables/pbi.py" in code
    assert "scripts/litm/analysis/tables/accuracy.py" not in code


def test_claims_have_the_recall_of_open_domain_experiments(paper, demo):
    assert paper.claims.recall_of == ["open_domain_qa"]
    assert paper.claims.recall == ["results/recall/wikipedia_2018/contriever/nq_open_oracle.csv"]
    assert demo.claims.recall == []
    assert list(json.loads(demo.claims.relations)["experiments"]) == sorted(demo.study.experiments)
    assert "kv_retrieval" in json.loads(demo.claims.published_relations)["experiments"]
    assert {"gpt-3.5-turbo-0613", "claude-1.3"} <= set(json.loads(paper.claims.relations)["recorded"])


def test_a_figure_is_drawn_of_its_selected_models_and_reference_lines(paper, demo):
    figure = of(figure="figure5")
    assert paper.figures.accuracy(figure) == [
        f"results/accuracy/{model}/multi_document_qa.csv" for model in ("mpt-30b-instruct", "longchat-13b-16k")
    ]
    assert "results/accuracy/reference/mini_encyclopedia_closed_book.csv" in demo.figures.accuracy(
        of(figure="mini_encyclopedia_qa")
    )
    assert paper.figures.scores(figure) == []
    assert paper.figures.published(figure) == ["resources/published/accuracy.csv"]
    assert paper.figures.recall(figure) == []
    assert paper.figures.code(figure)[0] == "scripts/figures/plot_figure.py"
    assert "scripts/litm/figures/accuracy_by_position.py" in paper.figures.code(figure)
    assert "scripts/litm/figures/accuracy_by_size.py" not in paper.figures.code(figure)
    assert json.loads(paper.figures.settings(figure))["panel_title"] == "{size} documents"


def test_a_figure_of_means_over_positions_is_drawn_of_the_single_answers_too(paper):
    figure = of(figure="figure6")
    pairs = [Path(path).with_suffix("").parts[2:] for path in paper.figures.accuracy(figure)]
    assert pairs and [Path(path).with_suffix("").parts[2:] for path in paper.figures.scores(figure)] == pairs


def test_a_figure_by_size_shows_the_recall_of_the_retriever(paper):
    figure = of(figure="open_domain_qa")
    assert paper.figures.recall(figure) == ["results/recall/wikipedia_2018/contriever/nq_open_oracle.csv"]
    assert paper.figures.published(figure) == []


def test_figures_come_in_two_formats_with_the_one_of_all_curves_first(demo):
    curves = ("kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa")
    by_size = (f"{name}_{end}" for name in curves for end in ("heatmap", "by_size"))
    names = ("pbi_forest", *curves, *by_size, *(f"{name}_wrong_answers" for name in curves))
    assert demo.figures.files == [f"results/figures/{name}.{format}" for name in names for format in ("png", "pdf")]
    assert demo.figures.shown == [f"results/figures/untitled/{name}.png" for name in names[1:]]


def test_a_figure_has_the_lengths_of_the_prompts_that_can_be_counted(paper, demo):
    counted = [Path(path).parts[2:] for path in paper.figures.token_counts(of(figure="figure5"))]
    assert counted == [(model, "multi_document_qa.csv") for model in ("mpt-30b-instruct", "longchat-13b-16k")]
    assert demo.figures.token_counts(of(figure="kv_retrieval_small")) == [
        "results/token_counts/reference/kv_retrieval_small.csv"
    ]


def test_the_legend_has_facts_about_models_that_differ_in_them(paper):
    settings = json.loads(paper.figures.settings(of(figure="figure11")))
    assert settings["facts"] == {
        "flan-t5-xxl": "encoder-decoder, trained on 512 tokens",
        "flan-ul2": "encoder-decoder, trained on 2,048 tokens",
    }
    assert settings["training_lengths"] == {"flan-t5-xxl": 512, "flan-ul2": 2048}
    assert json.loads(paper.figures.settings(of(figure="figure13")))["facts"] == {
        "mpt-30b-instruct": "tuned from mpt-30b"
    }
    assert "facts" not in json.loads(paper.figures.settings(of(figure="figure10")))


def test_published_values_alone_make_seven_figures_seven_tables_and_the_claims(demo):
    names = [Path(file).name for file in demo.paper.published_files]
    assert len(names) == 7 * 2 + 2 + 7 * 3
    assert {"figure5.png", "claims.md", "table7.tex"} <= set(names)
    assert json.loads(demo.figures.published_settings(of(figure="figure5")))["name"] == "figure5"


def test_the_report_has_the_origin_of_its_data_and_the_cost_of_servers(other):
    settings = json.loads(other.report.settings(of()))
    assert settings["prices"] == {"chat": {"input": 1, "output": 2}, "completions": None, "keyless": None}
    assert settings["datasets"] == [
        {"name": "by_near", "source": "made by this workflow", "version": None},
        {"name": "drawn", "source": "made by this workflow", "version": None},
        {"name": "kept", "source": "a file of the user's own", "version": None},
        {"name": "by_words", "source": "made by this workflow", "version": None},
        {"name": "asked", "source": "a file of the user's own", "version": None},
    ]
    assert other.report.datasets == [
        "results/candidates/by_near.jsonl.gz", "results/candidates/drawn.jsonl.gz", "kept.txt",
        "results/candidates/by_words.jsonl.gz", "asked.jsonl",
    ]  # fmt: skip


def test_the_report_has_a_sample_of_each_experiment_unless_it_wants_none(demo):
    experiment = of(experiment="mini_encyclopedia_qa")
    assert len(demo.report.samples) == 5
    assert demo.report.models(experiment) == ["reference"]
    assert demo.report.responses(experiment) == ["results/responses/reference/mini_encyclopedia_qa.jsonl.gz"]
    assert plan(report={"questions_per_size": 0}).report.samples == []


def test_the_pictures_of_the_suite_s_export_have_the_noun_of_their_task():
    curves = json.loads(plan("suite").suite.curve_files(of(model="qwen2.5-1.5b-instruct")))
    assert [(one["panel_title"], one["item"]) for one in curves] == [
        (f"{{size}} {item}s", item)
        for item in (
            "key-value pair", "key-value pair", "sentence", "sentence", "sentence", "statement", "event", "exchange"
        )
    ]  # fmt: skip


def test_the_suite_exports_the_curves_of_models_that_have_any(demo, other):
    assert demo.suite.summaries == ["results/summaries/reference"]
    assert demo.suite.exports(of()) == ["results/suite_export/reference"]
    curve = next(curve for curve in json.loads(demo.suite.curve_files(of(model="reference"))))
    assert (curve["name"], curve["size"], curve["panel_title"]) == (
        "kv_retrieval_small_10",
        10,
        "{size} key-value pairs",
    )
    assert len(curve["examples"]) == 5
    in_tokens = [one for one in json.loads(other.suite.curve_files(of(model="here"))) if "tokens" in one["name"]]
    assert {one["panel_title"] for one in in_tokens} == {"{size} tokens"}
    assert other.suite.files(of(model="recorded")) == [
        "results/examples/qa/3/gold_at_0.jsonl.gz", "results/examples/qa/3/gold_at_2.jsonl.gz",
        "results/examples/qa/4/gold_at_1.jsonl.gz", "results/responses/recorded/qa.jsonl.gz",
        "results/scores/recorded/qa.parquet",
    ]  # fmt: skip
