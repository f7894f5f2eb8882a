"""Figures that a config gets from its experiments and models."""

from configs import DEFAULT, KV, config, define
from conftest import ROOT

from litm.config.study import load_study


def test_an_experiment_without_a_figure_in_the_catalogue_gets_a_plain_curve():
    study = load_study(config(experiments=["x"], **define("experiments", x=KV)), ROOT)
    assert list(study.figures) == ["x"] and study.figures["x"].experiments == ("x",)


def test_labels_of_figures_without_an_entry_have_the_noun_of_the_task():
    qa = {"task": "multi_document_qa", "dataset": "mini_gazetteer_bm25", "positions": {3: [0, 2], 5: [0, 4]}}
    study = load_study(config(experiments=["x", "y"], **define("experiments", x=qa, y=KV)), ROOT)
    labels = {name: (figure.panel_title, figure.x_label) for name, figure in study.figures.items()}
    assert labels["x"] == ("{size} documents", "Position of the document with the answer")
    assert labels["x_by_size"][1] == "Number of documents in the context"
    assert labels["y"] == ("{size} key-value pairs", "Position of the key-value pair with the answer")
    assert not any("{item}" in label for own in labels.values() for label in own)


def test_a_plain_curve_has_the_selected_ones_of_its_closed_book_and_oracle_lines():
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


def test_curves_outside_a_limited_figure_get_a_plain_curve():
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


def test_an_additional_figure_does_not_replace_an_entry_or_an_experiment_with_its_name():
    named = {"experiments": ["x"], "title": "mine"}
    defined = {"define": {"experiments": {"x": {**KV, **SIZES}, "x_by_size": KV}, "figures": {"x_heatmap": named}}}
    study = load_study(config(experiments=["x", "x_by_size"], **defined), ROOT)
    assert study.figures["x_heatmap"].title == "mine"
    assert study.figures["x_by_size"].experiments == ("x_by_size",)


def test_a_query_aware_experiment_is_drawn_with_its_plain_version_if_a_model_runs_both():
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


def test_several_needles_get_a_figure_of_bars_and_a_curve_for_each_placement():
    study = load_study(config(experiments=["suite_multi_needle", "multi_needle_spacing"]), ROOT)
    assert {figure.kind for figure in study.figures.values()} == {"accuracy_by_target"}
    curves = study.experiments["multi_needle_spacing"].curves
    assert [curve.placement for curve in curves][:2] == ["gold_at_0_1_2", "gold_at_0_150_299"]
    assert curves[0].name == "multi_needle_spacing_gold_at_0_1_2"
    assert [curve.name for curve in study.experiments["suite_multi_needle"].curves] == ["suite_multi_needle"]
