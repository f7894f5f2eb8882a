"""Costs of a sweep: the speed of its model, and the tokens that its prompts have in common."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litm.base.json_files import write_json
from litm.planning import speed
from litm.prompting.prefix_tree import tree_order, tree_tokens


def manifest(experiment: str, computed: int | None, asked: int = 100) -> dict:
    work = {"prompt_tokens": 2_000, "computed_tokens": computed, "tree_tokens": None} if asked else None
    return {"experiment": experiment, "asked": asked, "work": work, "made_with": {"torch 2.13.0, H100": asked}}


def test_a_rate_is_what_the_last_run_computed_in_its_time():
    assert speed.measured_rate(manifest("kv", 1_000), 2.0) == speed.Rate(500.0, "measured on kv (torch 2.13.0, H100)")
    # A server does not say what it computed.
    assert speed.measured_rate(manifest("kv", None), 2.0).tokens_per_second == 1000
    assert speed.measured_rate(manifest("kv", 0, asked=0), 2.0) is None


def test_the_entrys_rate_comes_first_then_that_of_the_largest_run_then_the_rule_of_thumb():
    runs = [
        (manifest("small", 1_000), 1_000.0),
        (manifest("none", 0, asked=0), 9_000.0),
        (manifest("large", 9_000), 3_000.0),
        # Most of it was loading the model.
        (manifest("short", 90_000), 300.0),
    ]
    predicted = speed.Rate(7.0, "a rule of thumb")
    assert speed.choose_rate(50.0, runs, predicted).tokens_per_second == 50
    assert speed.choose_rate(None, runs, predicted).source.startswith("measured on large")
    assert speed.choose_rate(None, runs[1:2], predicted) == speed.choose_rate(None, [], predicted) == predicted
    assert speed.choose_rate(None, runs[1:2], None) is None
    assert speed.choose_rate(None, runs[3:], predicted) == predicted
    assert speed.choose_rate(None, runs[3:], None).tokens_per_second == 300


def test_runs_are_found_with_their_times_shards_too_and_a_benchmark_without_a_run_measures_nothing(tmp_path):
    for kind, name in (("responses", "m/kv"), ("parts", "m/kv/1_of_2"), ("responses", "none/kv")):
        benchmark = tmp_path / "benchmarks" / "generate" / f"{name}.tsv"
        benchmark.parent.mkdir(parents=True, exist_ok=True)
        benchmark.write_text("s\th:m:s\n" + "12.5\t0:00:12\n" * (name != "none/kv"))
        write_json(tmp_path / kind / f"{name}.manifest.json", manifest(kind, 100))
    found = speed.measured_runs(tmp_path, "m")
    assert sorted((run["experiment"], seconds) for run, seconds in found) == [("parts", 12.5), ("responses", 12.5)]
    assert speed.measured_runs(tmp_path, "another") == []
    ((run, seconds),) = speed.measured_runs(tmp_path, "none")
    assert speed.measured_rate(run, seconds) is None


def test_the_rule_of_thumb_counts_parameters_cores_and_the_number_format():
    one = speed.predicted_rate(0.135, "bfloat16", gpu=False, threads=1)
    assert one.tokens_per_second == pytest.approx(370, abs=1)
    assert speed.predicted_rate(0.135, "bfloat16", gpu=False, threads=4).tokens_per_second == 4 * one.tokens_per_second
    assert speed.predicted_rate(1.35, "bfloat16", gpu=False, threads=10).tokens_per_second == one.tokens_per_second
    assert speed.predicted_rate(0.135, "float32", gpu=False, threads=1).tokens_per_second < one.tokens_per_second
    emulated = speed.predicted_rate(0.135, "bfloat16", gpu=False, threads=1, is_emulated=True)
    assert 8 * emulated.tokens_per_second == speed.predicted_rate(0.135, "float32", False, 1).tokens_per_second
    on_gpu = speed.predicted_rate(7, "bfloat16", gpu=True, threads=8)
    assert on_gpu == speed.predicted_rate(7, "float32", gpu=True, threads=1)
    assert "rule of thumb for a GPU" in on_gpu.source and "2 processor cores" in speed.predicted_rate(
        7, "float32", gpu=False, threads=2
    ).source  # fmt: skip


#: Few different tokens, so that prompts have beginnings in common; of one, two and three bytes.
PROMPTS = st.lists(st.lists(st.sampled_from([7, 300, 70_000]), max_size=12), max_size=12)


@given(PROMPTS)
def test_the_tokens_of_the_tree_are_those_of_a_tree_that_is_built(prompts):
    nodes = {tuple(prompt[:end]) for prompt in prompts for end in range(1, len(prompt) + 1)}
    assert tree_tokens(prompts) == len(nodes)


@given(PROMPTS)
def test_no_earlier_prompt_has_more_in_common_than_the_one_before(prompts):
    order, shared = tree_order(dict(enumerate(prompts)))
    for place, tokens in enumerate(shared):
        earlier = [common(prompts[order[place]], prompts[other]) for other in order[:place]]
        assert tokens == max(earlier, default=0)


def common(one: list[int], other: list[int]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
