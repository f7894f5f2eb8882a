"""The configuration: what it selects, and one clear line for each mistake."""

import datetime
import shutil

import pytest
import yaml
from conftest import ROOT

from litm.base.errors import UserError
from litm.config.catalogue import CATALOGUES, merge_catalogue
from litm.config.study import load_study
from litm.domain.curve import Cell

DEFAULT = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())


def config(**changes) -> dict:
    return {**DEFAULT, **changes}


def define(kind: str, **entries) -> dict:
    return {"define": {kind: entries}}


KV = {"task": "kv_retrieval", "examples": 3, "positions": {4: [0, 3]}}


def test_the_default_config_selects_a_real_model_and_what_needs_no_download():
    study = load_study(yaml.safe_load((ROOT / "config" / "config.yaml").read_text()), ROOT)
    assert list(study.models) == ["smollm2-135m-instruct-q4_1"]
    assert list(study.experiments) == ["mini_gazetteer_closed_book", "mini_gazetteer_oracle", "mini_gazetteer_qa"]
    assert list(study.figures) == ["mini_gazetteer_qa"]


def test_the_toy_config_selects_the_reference_model_and_tasks_of_its_size():
    study = load_study(DEFAULT, ROOT)
    assert list(study.models) == ["reference"]
    assert list(study.experiments) == [
        "kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa", "mini_encyclopedia_closed_book",
        "mini_encyclopedia_oracle",
    ]  # fmt: skip
    curves = ["kv_retrieval_small", "needle_in_haystack_small", "mini_encyclopedia_qa"]
    assert list(study.figures) == [*curves, *(f"{name}_{end}" for name in curves for end in ("heatmap", "by_size"))]


def test_every_entry_of_the_catalogues_is_valid():
    names = {kind: list(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())) for kind in CATALOGUES}
    selected = {kind: names[kind] for kind in ("models", "experiments")}
    supplied = define("datasets", unambiguous_questions={"path": "LICENSE"})
    study = load_study(config(**selected, **supplied), ROOT)
    of_remedies = {name for name, condition in study.conditions.items() if not condition.is_plain}
    assert [name for name in study.experiments if name not in of_remedies] == names["experiments"]
    # Of models that are no longer offered the responses are the user's to supply.
    assert set(names["figures"]) - set(study.figures) == {"figure1"}


def test_an_empty_define_is_none():
    assert load_study(config(define=None), ROOT) == load_study(config(define={"models": None}), ROOT)


def test_cells_are_in_the_order_of_sizes_and_positions():
    study = load_study(
        config(experiments=["x"], **define("experiments", x={**KV, "positions": {"10": [9, 0], 4: [3]}})), ROOT
    )
    assert study.experiments["x"].cells == (Cell(4, "gold_at_3"), Cell(10, "gold_at_0"), Cell(10, "gold_at_9"))


def test_a_defined_entry_of_a_known_name_replaces_single_keys():
    study = load_study(config(**define("models", reference={"dtype": "bfloat16"})), ROOT)
    assert study.models["reference"].dtype == "bfloat16"
    assert study.models["reference"].path.endswith("resources/reference_model")
    assert merge_catalogue({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}, "b": {}}) == {"a": {"x": 1, "y": 3}, "b": {}}


def test_an_experiment_without_a_figure_in_the_catalogue_gets_a_plain_curve():
    study = load_study(config(experiments=["x"], **define("experiments", x=KV)), ROOT)
    assert list(study.figures) == ["x"] and study.figures["x"].experiments == ("x",)


def test_the_plain_curve_of_an_experiment_has_its_own_closed_book_and_oracle_lines_as_far_as_they_are_selected():
    own = {**KV, "closed_book": "mini_encyclopedia_closed_book", "oracle": "mini_encyclopedia_oracle"}
    selected = ["x", "mini_encyclopedia_closed_book"]
    study = load_study(config(experiments=selected, **define("experiments", x=own)), ROOT)
    assert study.figures["x"].references == {"mini_encyclopedia_closed_book": "closed book"}
    both = load_study(config(experiments=[*selected, own["oracle"]], **define("experiments", x=own)), ROOT)
    assert list(both.figures["x"].references.values()) == ["closed book", "oracle"]


def test_a_figure_of_some_models_and_sizes_is_left_out_where_none_of_them_is_selected():
    qa = {"models": ["mpt-30b-instruct"], "experiments": ["multi_document_qa"]}
    study = load_study(config(**qa), ROOT)
    limited = {"figure5", "figure6", "figure11", "figure13"}
    by_size = {"multi_document_qa_heatmap"}
    assert set(study.figures) == {"multi_document_qa", *limited, *by_size}
    assert study.figures["figure13"].sizes == (20,) and study.figures["figure5"].published
    assert not study.figures["figure5"].shows("reference") and study.figures["multi_document_qa"].shows("reference")
    small = define("experiments", multi_document_qa={"positions": {10: [0, 9]}})
    assert set(load_study(config(**qa, **small), ROOT).figures) == {"multi_document_qa", *limited - {"figure13"}}
    others = load_study(config(experiments=["multi_document_qa"]), ROOT).figures
    assert set(others) == {"multi_document_qa", "multi_document_qa_by_size", *by_size}


def test_what_a_limited_figure_does_not_show_gets_a_plain_curve():
    name = "multi_document_qa_random_order"
    of_one = load_study(config(models=["mpt-30b-instruct"], experiments=[name]), ROOT)
    assert list(of_one.figures) == ["figure17"]
    of_two = load_study(config(models=["mpt-30b-instruct", "reference"], experiments=[name]), ROOT)
    assert list(of_two.figures) == ["figure17", name] and of_two.figures[name].models is None
    queried = load_study(config(models=["mpt-30b-instruct"], experiments=["multi_document_qa_query_aware"]), ROOT)
    own = "multi_document_qa_query_aware"
    assert list(queried.figures) == ["figure12", own, f"{own}_heatmap", f"{own}_by_size"]


SIZES = {"positions": {4: [0, 3], 8: [0, 7]}}


def kinds(study) -> dict[str, str]:
    return {name: figure.kind for name, figure in study.figures.items()}


def test_an_experiment_of_several_sizes_gets_a_heatmap_and_its_means_by_size():
    study = load_study(config(experiments=["x"], **define("experiments", x={**KV, **SIZES, "title": "X"})), ROOT)
    assert kinds(study) == {
        "x": "accuracy_by_position",
        "x_heatmap": "accuracy_by_size_and_position",
        "x_by_size": "mean_accuracy_by_size",
    }
    assert study.figures["x_heatmap"].title == "X, by size and position"
    of_one_size = config(only={"reference": [{"x": [4]}]}, experiments=["x"])
    study = load_study({**of_one_size, **define("experiments", x={**KV, **SIZES})}, ROOT)
    assert list(study.figures) == ["x"]


def test_a_figure_beside_the_curves_does_not_replace_an_entry_or_an_experiment_of_its_name():
    named = {"experiments": ["x"], "title": "mine"}
    defined = {"define": {"experiments": {"x": {**KV, **SIZES}, "x_by_size": KV}, "figures": {"x_heatmap": named}}}
    study = load_study(config(experiments=["x", "x_by_size"], **defined), ROOT)
    assert study.figures["x_heatmap"].title == "mine"
    assert study.figures["x_by_size"].experiments == ("x_by_size",)


def test_a_query_aware_experiment_is_drawn_beside_its_plain_one_where_a_model_runs_both():
    aware = {**KV, "prompt": "kv_retrieval_query_aware", "query_aware_of": "x"}
    defined = define("experiments", x={**KV, **SIZES}, y=aware)
    both = load_study(config(experiments=["x", "y"], **defined), ROOT)
    assert kinds(both).keys() == {"x", "x_heatmap", "x_by_size", "y_and_plain"}
    both_curves = both.figures["y_and_plain"]
    assert both_curves.experiments == ("x", "y") and both_curves.sizes == (4,) and both_curves.models is None
    assert list(load_study(config(experiments=["y"], **defined), ROOT).figures) == ["y"]


def test_base_and_tuned_models_have_a_figure_of_their_own_among_others():
    model = {"engine": "dummy"}
    tuned = {**model, "about": {"tuned_from": "base"}}
    defined = {"define": {"experiments": {"x": KV}, "models": {"base": model, "tuned": tuned, "other": model}}}
    study = load_study(config(models=["other", "tuned", "base"], experiments=["x"], **defined), ROOT)
    assert study.figures["x_base_and_tuned"].models == ("tuned", "base")
    # The plain curves are of these two alone.
    pair = load_study(config(models=["tuned", "base"], experiments=["x"], **defined), ROOT)
    assert list(pair.figures) == ["x"]
    llama = config(models=["reference", "llama-2-7b", "llama-2-7b-chat"], experiments=["multi_document_qa"])
    figures = load_study(llama, ROOT).figures
    assert "figure_llama2" in figures and "multi_document_qa_base_and_tuned" not in figures
    assert figures["multi_document_qa_by_size"].published and not figures["multi_document_qa_heatmap"].published


def test_figures_of_published_values_do_not_depend_on_what_is_selected():
    study = load_study(DEFAULT, ROOT)
    assert {"figure5", "figure6"} <= set(study.published_figures)
    assert all(figure.published and figure.models for figure in study.published_figures.values())


def test_an_experiment_without_positions_gets_no_figure():
    assert not load_study(config(experiments=["closed_book_qa"]), ROOT).figures


def test_depths_in_tokens_replace_the_positions_of_a_catalogue_entry():
    entry = {"positions": None, "tokens_of": "mpt-30b-instruct", "depths": {500: [1, 0], 1000: [0.5]}}
    study = load_study(
        config(experiments=["suite_needle_in_haystack"], **define("experiments", suite_needle_in_haystack=entry)), ROOT
    )
    assert study.experiments["suite_needle_in_haystack"].cells == (
        Cell(500, "gold_at_depth_0"), Cell(500, "gold_at_depth_1"), Cell(1000, "gold_at_depth_0.5")
    )  # fmt: skip
    assert list(study.models) == ["reference"] and list(study.token_models) == ["mpt-30b-instruct"]
    assert study.figures["suite_needle_in_haystack"].panel_title == "{size} tokens"


def test_several_needles_get_a_figure_of_bars_and_a_curve_for_each_placement():
    study = load_study(config(experiments=["suite_multi_needle", "multi_needle_spacing"]), ROOT)
    assert {figure.kind for figure in study.figures.values()} == {"accuracy_by_target"}
    curves = study.experiments["multi_needle_spacing"].curves
    assert [curve.placement for curve in curves][:2] == ["gold_at_0_1_2", "gold_at_0_150_299"]
    assert curves[0].name == "multi_needle_spacing_gold_at_0_1_2"
    assert [curve.name for curve in study.experiments["suite_multi_needle"].curves] == ["suite_multi_needle"]


def test_model_defaults_fill_in_what_an_entry_leaves_out_and_four_bits_are_part_of_the_identity():
    entries = {"m": {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}}
    study = load_study(
        config(models=["reference", "m"], model_defaults={"quantization": "nf4"}, **define("models", **entries)), ROOT
    )
    assert study.models["m"].answer_settings()["quantization"] == "nf4"
    assert "quantization" not in study.models["reference"].answer_settings()


def test_other_values_for_a_model_s_configuration_are_part_of_its_identity_and_nothing_is_where_there_are_none():
    changes = {"rope_parameters": {"rope_type": "linear", "factor": 8.0}}
    plain, changed = (
        load_study(
            config(
                models=["m"],
                **define("models", m={"engine": "transformers", "hub": "a/b", "prompt_template": "raw", **more}),
            ),
            ROOT,
        )
        for more in ({}, {"config": changes})
    )
    assert plain.models["m"].answer_settings() == {
        "engine": "transformers", "dtype": "auto", "attention": "sdpa", "prompt_template": "raw"
    }  # fmt: skip
    assert plain.models["m"].location() == {"path": None, "hub": "a/b", "revision": None}
    assert changed.models["m"].answer_settings()["config"] == changed.models["m"].location()["config"] == changes


@pytest.mark.parametrize("model", ["qwen2.5-1.5b-instruct", "llama-3.2-1b-instruct"])
def test_the_suite_s_own_models_are_in_the_catalogue_and_loaded_in_four_bits_there(model):
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    study = load_study(config(**{**suite, "models": [model]}), ROOT)
    assert study.models[model].quantization == "nf4" and len(study.sweeps) == 7


def test_100_pairs_of_the_suite_can_be_run_alone():
    for chosen in (
        define("experiments", suite_kv_retrieval={"sizes": [100]}),
        {"only": {"reference": [{"suite_kv_retrieval": [100]}]}},
    ):
        study = load_study(config(models=["reference"], experiments=["suite_kv_retrieval"], **chosen), ROOT)
        assert {cell.size for cell in study.experiments["suite_kv_retrieval"].cells} == {100}


def test_the_suite_loads_models_in_four_bits():
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text())
    assert suite["model_defaults"] == {"quantization": "nf4"}


def test_what_is_done_about_prompts_that_do_not_fit_is_no_part_of_what_defines_an_answer():
    kv, fails = (
        load_study(config(experiments=["x"], **define("experiments", x={**KV, **more})), ROOT).experiments["x"]
        for more in ({}, {"on_overflow": "fail"})
    )
    assert (kv.on_overflow, fails.on_overflow) == ("leave_out", "fail")
    assert (kv.decoding(), kv.example_settings()) == (fails.decoding(), fails.example_settings())


def test_a_dataset_may_be_given_for_each_size():
    study = load_study(config(experiments=["kv_retrieval"]), ROOT)
    assert study.experiments["kv_retrieval"].datasets == {75: "kv_75_keys", 140: "kv_140_keys", 300: "kv_300_keys"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"modls": ["reference"]},
            "config: unknown key 'modls' (did you mean 'models'?); allowed: models, experiments,",
        ),
        ({"models": "reference"}, "config.models: must be a list, as in [one, two], found 'reference'"),
        ({"seed": "one"}, "config.seed: must be a whole number, found 'one'"),
        (
            {"models": ["refrence"]},
            "models: unknown name 'refrence' (did you mean 'reference'?); allowed: reference, ",
        ),
        ({"experiments": ["kv"]}, "experiments: unknown name 'kv'; allowed: "),
        ({"figures": ["nothing"]}, "figures: unknown name 'nothing'; allowed: "),
        (
            {"figures": ["figure1"], "experiments": ["multi_document_qa"]},
            "figures.figure1: it shows nothing of the selection (its models are gpt-3.5-turbo-0613; its sizes are 20)",
        ),
        (define("figures", f={"experiments": ["kv_retrieval"], "models": ["x"]}), "figures.f.models: unknown name 'x'"),
        (
            {
                "figures": ["f"],
                "experiments": ["closed_book_qa"],
                **define("figures", f={"experiments": ["closed_book_qa"], "kind": "mean_accuracy_by_size"}),
            },
            "figures.f: closed_book_qa has no positions, a figure of 'kind: mean_accuracy_by_size' is of",
        ),
        (
            define("figures", f={"experiments": ["kv_retrieval"], "kind": "accuracy_by_positon"}),
            "figures.f.kind: unknown name 'accuracy_by_positon' (did you mean 'accuracy_by_position'?)",
        ),
        (
            {"figures": ["f"], **define("figures", f={"experiments": ["kv_retrieval_small"], "kind": "pbi_forest"})},
            "figures.f: a figure of 'kind: pbi_forest' is always made, of all curves; take this one out of the config",
        ),
        ({"figures": ["multi_document_qa"]}, "figures.multi_document_qa: experiments selected in this config: unknown"),
        (
            define("models", reference={"dtype": "fp16"}),
            "models.reference.dtype: 'fp16' is not allowed; allowed: auto, float32",
        ),
        (
            define("models", reference={"hub": "a/b"}),
            "models.reference: give either 'path' (a folder or a GGUF file), 'package'",
        ),
        (
            define("models", reference={"engine": "vlm"}),
            "models.reference.engine: unknown name 'vlm' (did you mean 'vllm'?); allowed: anthropic, ",
        ),
        (
            define("models", reference={"prompt_template": "x"}),
            "models.reference.prompt_template: unknown name 'x'; allowed: raw, chat, claude",
        ),
        (
            define("models", reference={"path": "no/such"}),
            "models.reference.path: no/such does not exist (searched from ",
        ),
        (
            define("models", reference={"device": "gpu"}),
            "models.reference.device: 'gpu' is not allowed; it is: auto (a GPU if there is one), cpu, cuda,",
        ),
        (define("experiments", x={**KV, "task": "kv"}), "experiments.x.task: unknown name 'kv'"),
        (
            define("experiments", x={**KV, "positions": {4: [0, 4]}}),
            "experiments.x.positions.4: position 4 is impossible, positions in a context of 4 are 0 to 3",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [-1]}}),
            "experiments.x.positions.4.0: -1 is less than the minimum of 0",
        ),
        (
            define("experiments", x={**KV, "positions": {"four": [1]}}),
            "experiments.x.positions: unknown key 'four'; allowed: Positions of the gold item, from 0",
        ),
        (define("experiments", x={"task": "kv_retrieval", "examples": 3}), "experiments.x: 'positions' is missing"),
        (define("experiments", x={**KV, "examples": None}), "experiments.x: 'examples' is missing: the number of"),
        (
            define("experiments", x={**KV, "examples": "ten"}),
            "experiments.x.examples: must be a whole number or null, found 'ten'",
        ),
        (
            define("experiments", x={**KV, "prompt": "y"}),
            "experiments.x.prompt: unknown name 'y'; allowed: closed_book_qa,",
        ),
        (
            define("experiments", x={**KV, "metric": "f1"}),
            "experiments.x.metric: unknown name 'f1'; allowed: best_subspan_em, value_in_answer",
        ),
        (define("experiments", x={**KV, "dataset": {5: "kv_75_keys"}}), "experiments.x.dataset: no dataset for size 4"),
        (define("experiments", x={**KV, "dataset": "nq"}), "experiments.x.dataset: unknown name 'nq'"),
        (
            define("experiments", x={"task": "multi_document_qa", "positions": {2: [0]}}),
            "experiments.x: the task multi_document_qa needs a 'dataset'",
        ),
        (
            define("experiments", x={"task": "oracle_qa", "dataset": "nq_open_oracle", "positions": {2: [0]}}),
            "experiments.x: the task oracle_qa takes no 'positions'",
        ),
        ({"data_mirror": "no/such"}, "config.data_mirror: no/such is not a folder"),
        (define("models", reference={"path": "config"}), "model folder config has no config.json"),
        (define("models", m={"engine": "transformers", "hub": "a/b/c"}), "models.m.hub: 'a/b/c' is not allowed"),
        (
            define("figures", f={"experiments": ["kv_retrieval"], "references": {"x": "X"}}),
            "figures.f.references: unknown",
        ),
        (define("datasets", d={"path": "config"}), "datasets.d.path: config is not a file"),
        (
            define("experiments", x={**KV, "prompt": "closed_book_qa"}),
            f"{ROOT}/resources/prompts/closed_book_qa.txt: the prompt must contain {{context}} once",
        ),
        (define("models", **{"a/b": {}}), "models: the name 'a/b' is not allowed; use letters,"),
        ({"define": {"models": {"m": {"engine": ["dummy"]}}}}, "models.m.engine: "),
        (define("models", reference={"threads": 2.0}), "models.reference.threads: must be a whole number, found 2.0"),
        (define("models", reference={"tokenizer": "config"}), "models.reference.tokenizer: config is not a file"),
        (
            {
                "figures": ["f"],
                **define("figures", f={"experiments": ["closed_book_qa"]}),
                "experiments": ["closed_book_qa"],
            },
            "figures.f: none of its experiments has positions",
        ),
        (
            define("datasets", nq_v1={"url": "https://x/kv-retrieval-75_keys.jsonl.gz", "sha256": "0" * 64}),
            "datasets.nq_v1: kv_75_keys is another file with the same base name kv-retrieval-75_keys.jsonl.gz;",
        ),
        (
            define("datasets", d={"url": "x/y", "sha256": "0" * 64}),
            "datasets.d.url: 'x/y' is not allowed; it is: Address of the file",
        ),
        (define("datasets", d={"url": "https://x/y"}), "datasets.d: a remote file needs its 'sha256'"),
        (
            define("datasets", d={"url": "https://me:secret@x/y", "sha256": "0" * 64}),
            "datasets.d.url: has a user or a password in it, which logs and results would repeat",
        ),
        (
            define("datasets", d={"url": "ssh://me:secret@x/y", "sha256": "0" * 64}),
            "datasets.d.url: 'ssh://***@x/y' is not allowed",
        ),
        (
            define("experiments", x={**KV, "depths": {500: [0, 1]}, "tokens_of": "reference"}),
            "experiments.x: give either 'positions' or 'depths'; 'positions: null' removes those of the catalogue",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1]}}),
            "experiments.x: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1.5]}, "tokens_of": "reference"}),
            "experiments.x.depths.500.1: 1.5 is greater than the maximum of 1",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1]}, "tokens_of": "gpt"}),
            "experiments.x.tokens_of: unknown name 'gpt'; allowed: gpt",
        ),
        (define("experiments", x={**KV, "oracle": "y"}), "experiments.x.oracle: unknown name 'y'"),
        (
            {"experiments": ["x", "x_4"], **define("experiments", x={**KV, "positions": {4: [0, 3], 6: [0]}}, x_4=KV)},
            "experiments.x_4: x also has a curve named x_4; rename one of the two experiments",
        ),
        (define("experiments", pbi_forest=KV) | {"experiments": ["pbi_forest"]}, "the name pbi_forest is taken by"),
        (
            {"model_defaults": {"quantization": "nf5"}},
            "config.model_defaults.quantization: 'nf5' is not allowed; allowed: none, nf4, int8",
        ),
        (
            {"model_defaults": {"quantisation": "nf4"}},
            "config.model_defaults: unknown key 'quantisation' (did you mean 'quantization'?); allowed: dtype,",
        ),
        ({"model_defaults": {"path": "/m"}}, "config.model_defaults: unknown key 'path'"),
        (define("models", **{"a.zip": {}}), "models: the name 'a.zip' is not allowed; it would be taken for a file"),
        (
            define("experiments", x={**KV, "positions": {4: [[0, 1, 2]]}}),
            "experiments.x.positions.4: [0, 1, 2] is not a placement: questions of this task have 1 gold",
        ),
        (
            define("experiments", x={**KV, "task": "multi_needle", "positions": {6: [[0, 1]]}}),
            "experiments.x.positions.6: [0, 1] is not a placement: questions of this task have 3 gold",
        ),
        (
            define("experiments", x={**KV, "task": "multi_needle", "positions": {6: [[0, 3, 3]]}}),
            "experiments.x.positions.6: [0, 3, 3] must ascend, because the gold items keep their order",
        ),
        (
            define(
                "experiments",
                x={**KV, "positions": None, "depths": {500: [0.5, 0.50000001]}, "tokens_of": "reference"},
            ),
            "experiments.x.depths.500: gold_at_depth_0.5 is there 2 times",
        ),
        (
            define(
                "experiments",
                x={
                    "task": "multi_document_qa",
                    "dataset": "mini_encyclopedia_bm25",
                    "depths": {400: [0, 1]},
                    "tokens_of": "reference",
                },
            ),
            "experiments.x: sizes in tokens are for generated contexts, the task multi_document_qa has documents",
        ),
        (
            define("experiments", x={**KV, "on_overflow": "cut"}),
            "experiments.x.on_overflow: 'cut' is not allowed; allowed: leave_out, fail",
        ),
        (define("datasets", d={"path": "no/such.gz"}), "datasets.d.path: no/such.gz does not exist"),
        ({"models": []}, "config.models: [] has too few entries, the minimum is 1"),
        ({"models": [1]}, "config.models.0: must be a text, found 1"),
        ({"audit": {"prompt": 1}}, "config.audit: unknown key 'prompt'; allowed: prompts_per_cell"),
        ({"define": {"modles": {}}}, "config.define: unknown key 'modles' (did you mean 'models'?); allowed: models,"),
        ({"define": {"models": {"m": 3}}}, "config.define.models.m: must be a mapping, as in {key: value}, found 3"),
        (define("models", m={}), "models.m: 'engine' is missing; allowed: anthropic, "),
        (
            define("models", reference={"about": {"parameters": 0}}),
            "models.reference.about.parameters: 0 must be more than 0",
        ),
        (define("models", reference={"parameters": "7b"}), "models.reference.parameters: must be a number or null, fo"),
        (
            define("models", reference={"reasoning": True}),
            "models.reference.reasoning: True is not allowed; allowed: off, strip, budget",
        ),
        (define("experiments", x={"examples": 3}), "experiments.x: 'task' is missing: the kind of questions and"),
        (
            define("experiments", x={**KV, "positions": {4: ["a"]}}),
            "experiments.x.positions.4.0: must be a whole number or a list, as in [one, two], found 'a'",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [[0, "a"]]}}),
            "experiments.x.positions.4.0.1: must be a whole number, found 'a'",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [[0]]}}),
            "experiments.x.positions.4.0: [0] has too few entries, the minimum is 2",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [0, 0]}}),
            "experiments.x.positions.4: gold_at_0 is there 2 times",
        ),
        (define("experiments", x={**KV, "dataset": {4: 5}}), "experiments.x.dataset.4: must be a text, found 5"),
        (
            define("experiments", x={"task": "open_domain_qa", "dataset": "nq_open_as_retrieved", "sizes": [5, 5]}),
            "experiments.x.sizes.5: as_retrieved is there 2 times",
        ),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key_and_what_is_allowed(changes, message, monkeypatch):
    selected = {"experiments": ["x"]} if "x" in changes.get("define", {}).get("experiments", {}) else {}
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **selected, **changes}, ROOT)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("model.safetensors", "has no weights"),
        ("config.json", "has no config.json"),
        ("tokenizer*.json", "has no tokenizer"),
    ],
)
def test_a_model_folder_that_is_not_whole_is_refused_before_any_job(tmp_path, missing, message):
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    for path in folder.glob(missing):
        path.unlink()
    with pytest.raises(UserError, match=f"model folder {folder} {message}"):
        load_study(config(**define("models", reference={"path": str(folder)})), ROOT)


LONG_CONFIGS = {
    "a path": define("models", mine={"engine": "transformers", "path": "p" * 5000}) | {"models": ["mine"]},
    "a tokenizer": define("models", dummy={"tokenizer": "p" * 5000}) | {"models": ["reference"]},
    "a name": {"models": ["m" * 5000]},
    "a value": {"seed": "1" * 5000},
    "a key": {"k" * 5000: 1},
    "a key inside": define("experiments", x={**KV, "dataset": {"k" * 5000: 1}}) | {"experiments": ["x"]},
    "a list": {"seed": list(range(5000))},
    "a name of nobody's home": define("models", mine={"engine": "transformers", "path": "~nobody_at_all/m"})
    | {"models": ["mine"]},
}


@pytest.mark.parametrize("changes", LONG_CONFIGS.values(), ids=LONG_CONFIGS)
def test_whatever_is_long_a_message_is_not(changes, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **changes}, ROOT)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (datetime.date(2020, 1, 1), "datetime.date(2020, 1, 1) is of the kind 'date': write it as a text"),
        ({1}, "{1} is of the kind 'set': write it as a text"),
        (b"hi", "b'hi' is of the kind 'bytes': write it as a text"),
        (float("nan"), "nan is not a number: write one, or leave it out"),
        ([0.5, float("inf")], "inf is not a number: write one, or leave it out"),
        ("half \ud83d", "'half \\ud83d' has half a character"),
    ],
)
def test_what_another_workflow_gives_that_json_does_not_have_is_named_with_its_keys(value, said, monkeypatch):
    monkeypatch.chdir(ROOT)
    changes = define("models", mine={"engine": "openai", "api_model": "m", "request": {"x": value}})
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **changes}, ROOT)
    assert str(caught.value).startswith("config.define.models.mine.request.x") and said in str(caught.value)


def test_a_config_that_contains_itself_is_one_line(monkeypatch):
    monkeypatch.chdir(ROOT)
    own: dict = {}
    own["define"] = own
    with pytest.raises(UserError, match=r"config.*contains itself"):
        load_study({**DEFAULT, **own}, ROOT)
