"""What a dry run, the estimate and a cluster's requests say of the same sweeps."""

from dataclasses import asdict

import pytest
from configs import config, study
from conftest import ROOT
from programs import run_program

from litm.base.json_files import write_json
from litm.base.messages import money
from litm.checks.estimate import Remaining
from litm.checks.study_costs import costs
from litm.planning.speed import gpu_hours
from litm.planning.tokens import prompts_by_size, work_of
from litm.planning.words import dollar_lines, gpu_lines
from litm.records.measures import ANSWER, LOG_PROBABILITY

HERE = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model"), "prompt_template": "raw"}
LARGE = {"parameters": 7000}
THINKS = {"reasoning": "budget", "reasoning_tokens": 4000}
SERVED = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}}
BASE = {"endpoint": "completions", "prompt_template": "raw", "tokenizer": HERE["path"]}
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
    estimated = costs(one, {})["a"]
    left = [(sweep, prompts_by_size(sweep.experiment)) for sweep in one.sweeps]
    assert len(left) == len(measures)
    if hours := estimated["GPU-hours"]:
        assert gpu_lines(one, left)[0].startswith(f"  about {hours:,.0f} GPU-hours,")
        requested = sum(gpu_hours(one.models["a"], work_of(sweep).tokens) for sweep in one.sweeps)
        assert 1 < hours < requested
    else:
        (line,) = dollar_lines(one, left)
        assert f"at most about US$ {money(estimated['US$'])} if" in line


def test_the_estimate_has_rules_of_thumb_exactly_if_a_sweep_that_asks_was_not_counted(tmp_path):
    counted = Remaining("a", "x", 10, 10, 0, 0, 10, 1_000, 1_000, 500)
    write_json(tmp_path / "one.json", asdict(counted))
    for measures, is_whole in ((ANSWERS, True), (BOTH, False)):
        given = config(models={"a": HERE}, experiments=experiments(measures))
        options = {"config": given, "lock": str(ROOT / "requirements.lock"), "results": str(tmp_path)}
        files = {"sweeps": f"{tmp_path}/one.json", "table": f"{tmp_path}/estimate.csv"}
        done = run_program("estimate", **files, **options)
        assert done.returncode == 0, done.stderr
        assert ("What all of it costs" not in done.stdout) == is_whole
