"""What a change runs again, and which prompts it asks again."""

import os
import re
from copy import deepcopy
from pathlib import Path

import pytest
from conftest import ROOT, qa_record, write_lines
from workbench import FINISHED, changed

from litm.base.records import read_json
from litm.base.store import file_sha256

#: dummy on three experiments, reference on one of them.
SWEEPS = 4
#: What follows from new scores of one sweep.
TABLES = {
    # All tables but those of tokens and of gold answers.
    "make_table": 12, "make_markdown": 2, "make_claims_table": 1, "plot_pbi_forest": 1, "summarize": 1,
    "record_study": 1,
}  # fmt: skip
#: What follows from new scores of both models on an experiment that is in six figures, and of all sweeps.
AFTER_KV = {"score": 2, **TABLES, "summarize": 2, "plot_figure": 6, "sample_questions": 1, "make_report": 1}
AFTER_ALL_SCORES = {
    "score": SWEEPS, **TABLES, "summarize": 2, "plot_figure": 7, "sample_questions": 3, "make_report": 1
}  # fmt: skip
#: Results of new examples of an experiment, apart from its sweeps and the tables of tokens and of gold answers.
COUNTS = {"check_examples": 1, "count_tokens": 1}
KV_RESPONSES = "results/responses/dummy/kv.jsonl.gz"


def with_models(**models: dict) -> dict:
    """The config with other values for some keys of its models, or with more models."""
    config = deepcopy(FINISHED)
    config["define"]["models"] = models
    config["models"] += [name for name in models if name not in config["models"]]
    return config


def test_the_page_on_what_re_runs_names_every_rule():
    text = "".join(path.read_text() for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")])
    rules = re.findall(r"(?m)^(?:use rule \w+ as|rule) (\w+)", text)
    page = (ROOT / "docs" / "what_re_runs_when.md").read_text()
    assert len(rules) > 50
    assert [rule for rule in rules if f"`{rule}`" not in page] == []


def test_nothing_after_a_full_run(finished):
    assert finished.plan() == {}


def test_nothing_in_a_moved_checkout(bench):
    assert bench.plan() == {}


def test_nothing_after_a_touch_of_every_file_of_the_project(bench):
    for path in bench.folder.rglob("*"):
        if path.is_file() and not {"results", ".snakemake", ".git"} & set(path.relative_to(bench.folder).parts):
            os.utime(path)
    assert bench.plan() == {}


def test_nothing_after_a_git_checkout_of_another_branch_and_back(bench):
    bench.git("checkout", "--quiet", "-b", "other")
    for path in [*bench.path("scripts").rglob("*.py"), *bench.path("resources/prompts").glob("*.txt")]:
        path.write_text(path.read_text() + "\n")
    bench.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--all", "--message=other")
    bench.git("checkout", "--quiet", "main")
    assert bench.plan() == {}


def test_nothing_after_reordering_the_keys_of_the_config(bench):
    def reverse(value):
        return {key: reverse(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

    bench.configure(reverse(FINISHED))
    assert bench.plan() == {}


def test_nothing_after_changing_how_a_model_is_run(bench):
    config = with_models(reference={"batch_tokens": 99, "device": "auto", "threads": 1}, dummy={"batch_tokens": 99})
    config["data_mirror"] = "elsewhere"
    bench.path("elsewhere").mkdir()
    bench.configure(config)
    assert bench.plan() == {}


def test_another_position_makes_its_examples_and_asks_only_them(bench):
    config = changed(kv={"positions": {4: [0, 2, 3], 6: [0, 5]}})
    bench.configure(config)
    assert bench.plan() == {"make_examples": 1, "generate": 2, **COUNTS, **AFTER_KV, "make_table": 13}
    bench.configure({**config, "models": ["dummy"], "experiments": ["kv"]})
    bench.run()
    assert bench.asked("kv") == (3, 12)
    assert bench.plan() == {}


def test_a_position_less_asks_nothing(bench):
    bench.configure(changed(kv={"positions": {4: [0], 6: [0, 5]}}))
    assert bench.plan() == {"generate": 2, **COUNTS, **AFTER_KV, "make_table": 13}
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (0, 9)


def test_another_model_runs_its_own_sweeps_only(bench):
    bench.configure(with_models(second={"engine": "dummy", "dtype": "bfloat16"}))
    assert bench.plan() == {
        **AFTER_ALL_SCORES, "identify_model": 1, "generate": 3, "score": 3, "summarize": 3
    }  # fmt: skip
    bench.run("results/responses/second/kv.jsonl.gz", KV_RESPONSES)
    assert bench.asked("kv", "second") == (12, 0)
    assert bench.asked("kv") == (12, 0), "the first model's sweep was run again"


def test_a_renamed_model_runs_its_own_sweeps_which_ask_nothing(bench):
    renamed = with_models(renamed={"engine": "dummy"})
    bench.configure({**renamed, "models": ["renamed", "reference"]})
    planned = bench.plan()
    assert {rule: planned[rule] for rule in ("identify_model", "generate", "score", "summarize")} == {
        "identify_model": 1, "generate": 3, "score": 3, "summarize": 2
    }  # fmt: skip
    bench.run("results/responses/renamed/kv.jsonl.gz")
    assert bench.asked("kv", "renamed") == (0, 12)


def test_a_model_less_asks_and_scores_nothing(bench):
    bench.configure({**FINISHED, "models": ["dummy"]})
    assert bench.plan() == {**TABLES, "make_table": 10, "plot_figure": 6, "sample_questions": 1, "make_report": 1}


@pytest.mark.parametrize(("model", "sweeps"), [("dummy", 3), ("reference", 1)])
def test_another_dtype_asks_that_model_again(bench, model, sweeps):
    bench.configure(with_models(**{model: {"dtype": "bfloat16"}}))
    plan = bench.plan()
    assert (plan["generate"], plan["score"]) == (sweeps, sweeps)
    assert not {"identify_model", "make_examples", "count_tokens"} & plan.keys()


def test_switching_back_to_the_first_dtype_asks_nothing(bench):
    bench.configure(with_models(dummy={"dtype": "bfloat16"}))
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (12, 0)
    bench.configure(FINISHED)
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (0, 12)


def test_shards_ask_all_prompts_of_the_sweep_and_another_number_of_shards_asks_nothing(bench):
    bench.configure(with_models(dummy={"dtype": "bfloat16", "shards": 2}))
    plan = bench.plan()
    assert (plan["generate_shard"], plan["generate"], plan["score"]) == (6, 3, 3)
    bench.run(KV_RESPONSES)
    shards = bench.folder / "results" / "parts" / "dummy" / "kv"
    asked = [read_json(path)["asked"] for path in sorted(shards.glob("*.manifest.json"))]
    assert asked == [6, 6] and bench.asked("kv") == (0, 12)
    whole = bench.path(KV_RESPONSES).read_bytes()
    for more in ({}, {"shards": 3}):
        bench.configure(with_models(dummy={"dtype": "bfloat16", **more}))
        bench.run(KV_RESPONSES)
        assert bench.asked("kv") == (0, 12)
        assert bench.path(KV_RESPONSES).read_bytes() == whole


def test_changed_on_failure_or_on_overflow_asks_nothing(bench):
    bench.configure(changed(kv={"on_overflow": "fail"}))
    assert bench.plan() == {"generate": 2, **AFTER_KV}
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (0, 12)
    bench.configure(with_models(dummy={"on_failure": "stop"}, reference={"on_failure": "stop"}))
    assert bench.plan() == {"generate": SWEEPS, **AFTER_ALL_SCORES}


def test_an_edited_table_makes_that_table_and_the_report_again(bench):
    bench.edit("scripts/litm/analysis/tables.yaml", "Pairs of positions: diff", "Two positions: diff")
    assert bench.plan() == {"make_table": 1, "record_study": 1, "make_report": 1}
    assert bench.plan("results/tables/position_pairs.csv") == {"make_table": 1}


def test_an_edited_scorer_scores_again_without_inference(bench):
    bench.edit("scripts/litm/scoring/scores.py", "one row per prompt and target", "a row for each prompt and target")
    assert bench.plan() == AFTER_ALL_SCORES


def test_a_comment_in_the_inference_code_asks_no_prompt_again(bench):
    bench.edit("scripts/litm/inference/journal.py", "# A full disk may have", "# A disk that is full may have")
    assert bench.plan() == {"generate": SWEEPS, **AFTER_ALL_SCORES}
    paths = [KV_RESPONSES, "results/responses/reference/kv.jsonl.gz"]
    before = [bench.path(path).read_bytes() for path in paths]
    bench.run(*paths)
    assert bench.asked("kv") == bench.asked("kv", "reference") == (0, 12)
    assert [bench.path(path).read_bytes() for path in paths] == before


def test_a_comment_in_the_code_of_an_engine_runs_its_own_sweeps_only(bench):
    bench.edit("scripts/litm/inference/generation.py", "# A cast, because", "# Cast, because")
    assert bench.plan()["generate"] == 1
    bench.edit("scripts/litm/inference/engines/dummy.py", "#: Prompts answered", "#: How many are answered")
    assert bench.plan()["generate"] == SWEEPS


def test_an_edited_prompt_asks_the_experiments_that_use_it(bench):
    bench.edit("resources/prompts/kv_retrieval.txt", "Extract the value", "Find the value")
    assert bench.plan() == {"make_examples": 4, "generate": 2, **COUNTS, **AFTER_KV, "make_table": 14}
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (12, 0)


def test_more_examples_ask_only_the_new_ones(bench):
    bench.configure(changed(kv={"examples": 5}))
    assert bench.plan() == {"make_examples": 4, "generate": 2, **COUNTS, **AFTER_KV, "make_table": 14}
    bench.run(KV_RESPONSES)
    assert bench.asked("kv") == (8, 12)


def test_another_metric_scores_again_without_inference(bench):
    bench.configure(changed(kv={"metric": "best_subspan_em"}))
    assert bench.plan() == AFTER_KV


def test_an_edited_published_value_remakes_only_the_files_that_show_it(bench):
    bench.edit("resources/published/token_counts.csv", "1749.9", "1749.8")
    assert bench.plan() == {}
    bench.edit("resources/published/accuracy.csv", "0.629", "0.628")
    made = {"make_table": 1, "make_markdown": 1, "plot_figure": 1, "record_study": 1, "make_report": 1}
    assert bench.plan() == made


def test_another_title_draws_one_figure_again(bench):
    config = deepcopy(FINISHED)
    config["define"]["figures"]["qa"]["title"] = "Questions"
    bench.configure(config)
    assert bench.plan() == {"plot_figure": 1, "make_report": 1}


def test_a_deleted_intermediate_is_made_again_only_when_asked_for(bench):
    bench.path(KV_RESPONSES).unlink()
    assert bench.plan() == {}
    assert bench.plan(KV_RESPONSES) == {"generate": 1}


def replace_weights(file: Path) -> None:
    """Other weights of the same size, with the time of the first, as `cp -p` and `tar` may bring them."""
    state, weights = file.stat(), bytearray(file.read_bytes())
    weights[-1] ^= 1
    file.write_bytes(weights)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("age", ["new", "old"])
def test_other_weights_ask_everything_again_for_any_file_time(bench, age):
    weights = bench.path("resources/reference_model/model.safetensors")
    replace_weights(weights)
    if age == "new":
        os.utime(weights)
    plan = bench.plan()
    assert (plan["identify_model"], plan["generate"], plan["score"]) == (1, 1, 1)
    assert not {"make_examples", "count_tokens"} & plan.keys()


def test_another_seed_makes_only_what_is_random_again(bench):
    bench.configure({**FINISHED, "seed": 7})
    assert bench.plan() == {
        "make_examples": 4, "generate": 2, **COUNTS, **AFTER_KV, "make_table": 14, "sample_questions": 3
    }  # fmt: skip


def test_another_order_in_the_config_orders_tables_and_figures_again(bench):
    bench.configure({**FINISHED, "experiments": ["qa", "kv", "closed_book"]})
    # Of the tables that scores are in, effective_length and bias_by_size have one experiment.
    assert bench.plan() == {**TABLES, "make_table": 9, "plot_figure": 2, "summarize": 2, "make_report": 1}


def test_a_model_for_two_gpus_is_given_two_though_one_job_runs_at_a_time(bench):
    config = changed()
    config |= {"models": ["large"], "only": {}}
    config["define"]["models"] = {"large": {"engine": "transformers", "path": "resources/reference_model", "gpus": 2}}
    bench.configure(config)
    done = bench.snakemake("-n", "-p", "--quiet", "host", "--", "results/responses/large/qa.jsonl.gz")
    assert " --gpus 2 " in done.stdout


def test_a_remote_file_is_fetched_checked_and_used(bench, tmp_path):
    remote = write_lines(tmp_path / "remote.jsonl.gz", [qa_record(9, 2)])
    entry = {"url": remote.as_uri(), "sha256": file_sha256(remote)}
    config = changed(closed_book={"dataset": "remote"})
    config["define"]["datasets"]["remote"] = entry
    bench.configure(config)
    bench.run("results/examples/closed_book/0/no_gold.jsonl.gz")
    assert bench.path("results/data/remote.jsonl.gz").read_bytes() == remote.read_bytes()
    config["define"]["datasets"]["remote"] = {**entry, "sha256": "0" * 64}
    bench.configure(config)
    done = bench.snakemake("results/examples/closed_book/0/no_gold.jsonl.gz")
    assert done.returncode == 1
    assert f"its sha256 is {entry['sha256']}, but must be {'0' * 64}" in done.stderr + done.stdout
