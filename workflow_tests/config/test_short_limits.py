"""Limits of new tokens that are likely to cut right answers are said before a run."""

from configs import KV, define, study
from conftest import ROOT

from litm.checks.doctor import examine, look_remote
from litm.checks.doctor_models import WARNING
from litm.config.study import load_study

LINE = "a, c: max_new_tokens is 24, and 100 if left out, so right answers may be cut and count as wrong"


def test_a_limit_of_new_tokens_below_a_quarter_of_the_tasks_own_is_a_note_of_a_run_and_a_warning_of_the_doctor():
    limits = {"a": {"max_new_tokens": 24}, "b": {"max_new_tokens": 25}, "c": {"max_new_tokens": 24}, "d": {}}
    entries = define("experiments", **{name: {**KV, **limit} for name, limit in limits.items()})
    short = study(models=["dummy"], experiments=list(limits), **entries)
    assert short.notes == [LINE]
    checks = examine(short, [], ROOT / "results", look_remote(short, ROOT / "results"))
    assert [(one.status, one.message) for one in checks if one.what == "limit of new tokens"] == [(WARNING, LINE)]


def test_no_experiment_of_the_catalogue_has_such_a_limit():
    assert study(models=["dummy"]).short_limits == []
    default = {"models": ["dummy"], "experiments": ["mini_gazetteer_qa", "mini_gazetteer_closed_book"], "seed": 0}
    assert load_study(default, ROOT).short_limits == []


def test_a_dry_run_says_it_before_its_summary(new_bench):
    done = new_bench.snakemake("--dry-run", "--config", "define={experiments: {kv: {max_new_tokens: 1}}}")
    assert "kv: max_new_tokens is 1, and 100 if left out, so right answers may be cut" in done.stderr
    assert done.returncode == 0 and "asks dummy at most" in done.stdout
