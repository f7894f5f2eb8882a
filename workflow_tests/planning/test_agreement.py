"""What a dry run, the estimate and a cluster's requests say of the same sweeps."""

import re
from collections import Counter
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError

import pytest
from configs import config, study
from conftest import ROOT
from engine_settings import changed_settings
from local_engines import SETTINGS, answered, prepared, save_babbler
from plans import inputs_of
from programs import run_program
from suite_examples import example, questions

from litm.base.json_files import write_json
from litm.base.messages import UserError, money
from litm.engines.registry import load_engine
from litm.examples.task import ExampleSettings
from litm.inference.prompts import Fit, sweep_prompts
from litm.planning.counting import Estimate, count
from litm.planning.estimate import by_rules_of_thumb, estimate_table
from litm.planning.speed import duration, gpu_hours, rate_of
from litm.planning.tokens import COUNTED, Work, mean_work, most_work
from litm.planning.words import LOADING_SECONDS, dollar_lines, gpu_lines, time_lines
from litm.prompting.prompt_format import load_tokenizer
from litm.prompting.reasoning import BUDGET, Reasoning
from litm.records.measures import ANSWER, LOG_PROBABILITY
from litm.workflow import dry_run

HERE = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model"), "prompt_template": "raw"}
LARGE = {"parameters": 7000}
THINKS = {"reasoning": "budget", "reasoning_tokens": 4000}
SERVED = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}}
BASE = {"endpoint": "completions", "prompt_template": "raw", "tokenizer": HERE["path"]}
#: The tags of reasoning have two tokens each and share the first.
PIECES = ["<", "think>", "/think>", "\n", " a", " b", "c", " \n", "d", "</s>"]
BOTH, ANSWERS = [ANSWER, LOG_PROBABILITY], [ANSWER]


def experiments(measures: list[str]) -> dict:
    kv = {"task": "kv_retrieval", "positions": {4: [0, 3], 9: [0, 8]}, "examples": 300}
    return {"x": {**kv, "measure": measures}}


@pytest.mark.parametrize(
    ("entry", "measures"),
    [
        (HERE | LARGE, ANSWERS),
        (HERE | LARGE, BOTH),
        (HERE | LARGE | THINKS, ANSWERS),
        (SERVED, ANSWERS),
        (SERVED | BASE, BOTH),
        (SERVED | {"request": {"max_completion_tokens": 900}}, ANSWERS),
    ],
)
def test_a_dry_run_and_the_estimate_have_the_same_hours_and_dollars_below_what_a_job_requests(entry, measures):
    one = study(models={"a": entry}, experiments=experiments(measures))
    estimated = estimate_table(one, [by_rules_of_thumb(one, sweep) for sweep in one.sweeps], {"a": None}).iloc[-1]
    left = [(sweep, mean_work(one, sweep)) for sweep in one.sweeps]
    assert len(left) == len(measures)
    if hours := estimated["gpu_hours"]:
        assert gpu_lines(one, left)[0].startswith(f"  about {hours:,.0f} GPU-hours,")
        requested = sum(gpu_hours(one.models["a"], most_work(sweep)) for sweep in one.sweeps)
        assert 1 < hours < requested
    else:
        (line,) = dollar_lines(one, left)
        assert f"at most about US$ {money(estimated['dollars'])} if" in line


def test_the_estimate_has_rules_of_thumb_exactly_if_a_sweep_that_asks_was_not_counted(tmp_path):
    counted = Estimate("a", "x", 10, Work(10, 1_000, 500, 1_000, basis=COUNTED), 10, 0, 0)
    write_json(tmp_path / "one.json", asdict(counted))
    for measures, is_whole in ((ANSWERS, True), (BOTH, False)):
        given = config(models={"a": HERE}, experiments=experiments(measures))
        options = {"config": given, "lock": str(ROOT / "requirements.lock"), "results": str(tmp_path)}
        files = {"sweeps": f"{tmp_path}/one.json", "table": f"{tmp_path}/estimate.csv"}
        done = run_program("estimate", **files, **options)
        assert done.returncode == 0, done.stderr
        assert ("Rules of thumb:" not in done.stdout) == is_whole


def jobs_of(one) -> dry_run.Jobs:
    """The jobs of a run that asks all sweeps here."""
    inputs = inputs_of(one)
    jobs = dry_run.Jobs(one, inputs.sweeps, lambda left: time_lines(one, left) + dollar_lines(one, left))
    for sweep in one.sweeps:
        rule = "generate" if sweep.measure == ANSWER else "measure"
        jobs.add(rule, {"model": sweep.model.name, "experiment": sweep.experiment.name})
    return jobs


def lines_at_the_start(one) -> str:
    """The lines before the first job of such a run."""
    return "\n".join(jobs_of(one).at_start())


def test_a_package_that_a_model_to_ask_needs_is_missed_before_the_first_job(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def version(package):
        if package == "torch":
            raise PackageNotFoundError
        return "1"

    monkeypatch.setattr("importlib.metadata.version", version)
    monkeypatch.setattr("litm.base.messages.is_clone", lambda: False)
    of_server = {"a": SERVED | BASE}
    jobs_of(study(models=of_server, experiments=experiments(BOTH))).check_packages()
    here = jobs_of(study(models={"a": HERE}, experiments=experiments(ANSWERS)))
    with pytest.raises(UserError, match=r"^a: the package torch is not installed: pip install .*\[local\]"):
        here.check_packages()
    # All prompts have answers.
    monkeypatch.setattr(here, "size", lambda sweep: (Counter(), 10, ""))
    here.check_packages()


@pytest.mark.parametrize("measures", [ANSWERS, BOTH])
@pytest.mark.parametrize("entry", [HERE | LARGE, HERE | LARGE | {"tokens_per_second": 5}, SERVED | BASE])
def test_the_lines_at_the_start_of_a_run_have_the_hours_and_dollars_of_the_estimate(
    entry, measures, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    one = study(models={"a": entry}, experiments=experiments(measures))
    rates = {"a": rate_of(one.models["a"], tmp_path / "results")}
    total = estimate_table(one, [by_rules_of_thumb(one, sweep) for sweep in one.sweeps], rates).iloc[-1]
    said = lines_at_the_start(one)
    if entry["engine"] == "openai":
        assert re.search(rf"a: at most about US\$ {money(total['dollars'])}(, with prompt caching .*)? if", said)
    else:
        assert f"a: about {duration(total['hours'] * 3600 + LOADING_SECONDS * len(one.sweeps))} here" in said


@pytest.mark.parametrize("thinks", [{}, THINKS])
@pytest.mark.parametrize("shares", [True, False])
def test_what_is_counted_is_at_most_the_bound_by_which_jobs_request(thinks, shares):
    (sweep,) = study(models={"a": HERE | thinks}, experiments=experiments(ANSWERS)).sweeps
    made = [
        example("kv_retrieval", question, cell.size, cell.placement)
        for cell in sweep.cells
        for question in questions("kv_retrieval", cell.size, ExampleSettings(300, 1, "ranked"))
    ]
    asked, bound = sweep_prompts(made, "i", "raw"), most_work(sweep)
    encode = load_tokenizer(HERE["path"])
    fit = Fit(None, sweep.answer_tokens)
    for tokens in (lambda texts: [encode.encode(text) for text in texts], None):
        work = count(sweep.pair, asked, {}, fit, tokens, shares).work
        assert (work.prompts, work.answer_tokens) == (bound.prompts, bound.answer_tokens)
        if tokens:
            assert work.computed_tokens <= work.prompt_tokens <= bound.prompt_tokens
            assert work.timed_tokens <= bound.timed_tokens <= bound.tokens and work.longest <= bound.longest


def test_an_engine_with_a_reasoning_budget_computes_at_most_the_bound_and_more_than_without_the_budget(tmp_path):
    save_babbler(tmp_path, PIECES, end=len(PIECES) - 1, seed=3)
    entry = {"engine": "transformers", "path": str(tmp_path), "prompt_template": "raw"}
    given = {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 20, "max_new_tokens": 8}
    models = {"plain": entry, "thinks": entry | {"reasoning": "budget", "reasoning_tokens": 11}}
    plain, thinks = map(most_work, study(models=models, experiments={"x": given}).sweeps)
    rules = {"max_new_tokens": 8, "stop": "end_token", "reasoning": Reasoning(BUDGET, 11)}
    engine = load_engine("transformers", changed_settings(SETTINGS, location=str(tmp_path), batch_tokens=500, **rules))
    # Each ends with the opening tag.
    asked = [[*((n * k) % 9 for k in range(1, 4 + n % 5)), 0, 1, 3] for n in range(1, thinks.prompts + 1)]
    found = answered(engine, prepared(asked))
    new = [response.response_tokens for response in found]
    assert plain.answer_tokens < sum(new) <= thinks.answer_tokens
    assert engine.computed_tokens <= thinks.computed_tokens
    longest = max(response.prompt_tokens + more for response, more in zip(found, new, strict=True))
    assert longest <= thinks.longest and max(new) <= thinks.longest - plain.longest + 8
