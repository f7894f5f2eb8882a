"""The selection of models and experiments, without those that lack files the user must supply."""

import configs
from configs import KV
from conftest import write_lines
from plans import inputs_of
from workbench import jobs_by_rule

#: As `KV`, with three sizes.
SIZES = {**KV, "positions": {4: [0, 3], 6: [0, 5], 8: [0, 7]}}
OTHER = {"engine": "transformers", "path": "resources/reference_model"}
UNRECORDED = {"engine": "recorded", "responses": None}
RETRIEVED = {"task": "open_domain_qa", "dataset": "mini_encyclopedia_as_retrieved", "sizes": [1, 2, 4], "examples": 3}
QA = {"task": "multi_document_qa", "dataset": "asked", "positions": {3: [0, 2]}}


def study(**changes):
    """The study of two models and two experiments, or of other ones."""
    define = {"models": {"other": OTHER, "unrecorded": UNRECORDED}, "experiments": {"a": KV, "b": KV}}
    return configs.study(**{"models": ["reference", "other"], "experiments": ["a", "b"], "define": define, **changes})


def test_all_models_run_all_experiments_except_those_under_only():
    pairs = [("reference", "a"), ("reference", "b"), ("other", "a"), ("other", "b")]
    assert study().pairs() == study(only={"other": None}).pairs() == pairs
    limited = study(only={"other": ["b"], "mpt-30b": ["a"]})
    assert limited.pairs() == [pair for pair in pairs if pair != ("other", "a")]
    assert limited.left_out == []


def test_a_model_or_an_experiment_that_only_leaves_nothing_of_is_left_out_and_named():
    one = study(experiments=["a"], only={"other": ["b"]})
    assert one.pairs() == [("reference", "a")] and list(one.models) == ["reference"]
    assert one.left_out == ["left out: other ('only' gives these models none of the experiments that are run)"]
    other = study(models=["other"], only={"other": ["b"]})
    assert list(other.experiments) == ["b"]
    assert other.left_out[0].startswith("left out: a ('only' gives these experiments to none of the models")


def sizes_of(chosen, model, experiment):
    return sorted({cell.size for cell in chosen.experiment_of(model, experiment).cells})


def test_a_model_runs_the_sizes_that_only_names_and_others_run_all():
    sizes = {"a": SIZES, "b": KV}
    some = study(experiments=sizes, only={"other": [{"a": [6]}, "b"]})
    assert some.pairs() == study().pairs()
    assert sizes_of(some, "other", "a") == [6] and sizes_of(some, "reference", "a") == [4, 6, 8]
    assert [curve.name for curve in some.curves_of("other", "a")] == ["a_6"]
    assert len(inputs_of(some).tables.inputs["compared_scores"]) == 4
    one_mapping = study(experiments=sizes, only={"other": [{"a": [6], "b": [4]}]})
    assert one_mapping.pairs() == some.pairs() and sizes_of(one_mapping, "other", "a") == [6]


def test_sizes_that_no_model_runs_are_no_part_and_models_that_share_none_are_not_compared():
    apart = study(experiments={"a": SIZES}, only={"other": [{"a": [6]}], "reference": [{"a": [8]}]})
    assert sorted({cell.size for cell in apart.experiments["a"].cells}) == [6, 8]
    inputs = inputs_of(apart).tables.inputs
    assert inputs["scores"] and inputs["compared_scores"] == []


def test_conditions_of_remedies_are_run_at_the_sizes_of_their_experiment():
    asked = {"asked": {**RETRIEVED, "remedies": {"order": ["reversed"]}}}
    some = study(experiments=asked, only={"other": [{"asked": [1, 4]}]})
    assert sizes_of(some, "other", "asked") == [1, 4] and sizes_of(some, "other", "asked-reversed") == [4]
    alone = study(experiments=asked, only={"other": [{"asked": [1]}]})
    assert ("other", "asked-reversed") not in alone.pairs() and ("reference", "asked-reversed") in alone.pairs()


def test_recorded_responses_count_for_the_experiments_that_are_run_and_a_model_without_any_is_left_out(tmp_path):
    without = study(models=["reference", "unrecorded"])
    assert list(without.models) == ["reference"] and len(without.left_out) == 1
    assert without.left_out[0].startswith("left out: unrecorded (their recorded responses are yours to supply: set")
    path = str(write_lines(tmp_path / "a.jsonl", [{"id": "1", "response": "x"}]))
    recorded = {"engine": "recorded", "responses": {"a": path, "b": path}}
    own = study(models={"reference": {}, "recorded": recorded}, only={"recorded": ["b"]})
    assert own.pairs()[2:] == [("recorded", "b")]


def test_an_experiment_whose_file_is_still_to_be_supplied_is_left_out_and_named(tmp_path):
    asked = {"path": str(write_lines(tmp_path / "asked.jsonl", ["{}"]))}

    def with_labels(path):
        files = {"asked": asked, "labels": {"path": path, "labels": "txt"}}
        return configs.study(experiments={"a": KV, "qa": {**QA, "subset": "labels"}}, define={"datasets": files})

    without, supplied = with_labels(None), with_labels(str(write_lines(tmp_path / "labels.txt", ["who"])))
    assert list(without.experiments) == ["a"]
    said = "left out: qa (a file is yours to supply: set the 'path' of labels in define.datasets)"
    assert without.left_out == [said]
    assert list(supplied.experiments) == ["a", "qa"] and supplied.left_out == []


def test_snakemake_says_what_is_left_out_and_plans_the_rest_at_the_sizes_that_each_model_runs(new_bench):
    config = {
        "models": ["reference", "other", "gpt-4-0613"],
        "experiments": ["a", "b"],
        "only": {"reference": [{"a": [6]}], "other": [{"a": [6, 8]}, "b"]},
        "define": {"models": {"other": OTHER}, "experiments": {"a": SIZES, "b": KV}},
    }
    new_bench.configure(config)
    done = new_bench.snakemake("--dry-run", "--quiet", "host", "--", "results/responses/reference/a.jsonl.gz")
    lines = (done.stdout + done.stderr).splitlines()
    (asked,) = [line for line in lines if "input: " in line and "results/example_checks/a.json" in line]
    assert "results/examples/a/6/" in asked and "results/examples/a/8/" not in asked
    assert done.stderr.count("left out: gpt-4-0613 (their recorded responses are yours to supply") == 1
    jobs = new_bench.planned()
    # Two positions of `a` at two sizes, and of `b` at one.
    assert jobs_by_rule(jobs)["make_examples"] == 6
    asked = {job.output[0] for job in jobs if job.rule == "generate"}
    assert asked == {f"results/responses/{sweep}.jsonl.gz" for sweep in ("reference/a", "other/a", "other/b")}
