"""Sweeps: a model on the cells of an experiment, and what is measured there."""

import pytest
from configs import study
from conftest import ROOT
from plans import inputs_of, of

from litm.base.messages import UserError
from litm.checks.doctor import longest_prompt
from litm.config.catalogue import MODELS
from litm.planning.tokens import ANSWER_SHARE, FRAME_TOKENS, mean_work, most_work
from litm.records.measures import ANSWER, LOG_PROBABILITY

HERE = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model"), "prompt_template": "raw"}
THINKS = {"reasoning": "budget", "reasoning_tokens": 4000}
SERVED = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}}
EXPERIMENT = "kv_retrieval_small"


def test_each_measure_of_a_pair_is_a_sweep_of_its_own_and_those_of_answers_are_first():
    kv = {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 3, "measure": [ANSWER, LOG_PROBABILITY]}
    one = study(models={"a": HERE, "served": SERVED}, experiments={"x": kv})
    names = [(*sweep.pair, sweep.measure, sweep.files.estimate) for sweep in one.sweeps]
    assert names == [
        ("a", "x", ANSWER, "results/estimates/a/x.json"),
        ("served", "x", ANSWER, "results/estimates/served/x.json"),
        ("a", "x", LOG_PROBABILITY, "results/estimates/a/x.log_probability.json"),
    ]
    assert [sweep.answer_tokens > 0 for sweep in one.sweeps] == [True, True, False]
    assert one.sweeps[2].decoding == {"measure": LOG_PROBABILITY}


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [(HERE, 120), (HERE | THINKS, 4120), (SERVED, 120), (SERVED | {"request": {"max_completion_tokens": 900}}, 900)],
)
def test_an_answer_has_the_limit_of_the_experiment_or_the_request_and_the_budget_of_its_reasoning(entry, tokens):
    (sweep,) = study(models={"a": entry}, experiments=[EXPERIMENT]).sweeps
    assert sweep.experiment.max_new_tokens == 120 and sweep.answer_tokens == tokens


def test_memory_time_and_tokens_are_those_of_the_reasoning_too(tmp_path):
    """Otherwise a model that reasons would get the job of one that does not."""
    one = study(models={"plain": HERE, "thinks": HERE | THINKS}, experiments=[EXPERIMENT])
    plain, thinks = one.sweeps
    more, prompts = thinks.answer_tokens - plain.answer_tokens, most_work(plain).prompts
    assert most_work(thinks).longest - most_work(plain).longest == more == 4000
    assert most_work(thinks).tokens - most_work(plain).tokens == more * prompts
    means = [mean_work(one, sweep) for sweep in (plain, thinks)]
    assert means[1].timed_tokens - means[0].timed_tokens == pytest.approx(more * prompts * ANSWER_SHARE)
    longest = {name: longest_prompt(one, tmp_path, name).longest for name in one.models}
    assert longest["thinks"] - longest["plain"] == more and longest["plain"] > FRAME_TOKENS


def test_a_job_that_measures_has_the_memory_and_time_of_its_own_sweep_not_those_of_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = HERE | {"device": "cpu", "parameters": 7, "batch_tokens": 100_000}
    kv = {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 300, "max_new_tokens": 4000}
    kv["measure"] = [ANSWER, LOG_PROBABILITY]
    sweeps = inputs_of(study(models={"a": entry}, experiments={"x": kv})).sweeps
    answers, measured = (sweeps.needs(measure) for measure in (ANSWER, LOG_PROBABILITY))
    for name in ("mem_mb", "runtime"):
        assert measured[name](of(model="a", experiment="x"), 1) < answers[name](of(model="a", experiment="x"), 1)


def test_a_sweep_that_the_selection_lacks_is_named():
    with pytest.raises(UserError, match="a does not run y for its answer"):
        study(models={"a": HERE}, experiments=[EXPERIMENT]).sweep("a", "y")


def test_a_model_is_of_one_kind():
    recorded = {"engine": "recorded", "responses": {"x": "r.jsonl"}}
    classes = [MODELS.class_of(entry) for entry in (HERE, {"engine": "dummy"}, SERVED, recorded)]
    kinds = [(one.is_local, one.is_served, one.is_recorded) for one in classes]
    assert kinds == [(True, False, False), (True, False, False), (False, True, False), (False, False, True)]
    assert [one.has_weights for one in classes] == [True, False, False, False]
