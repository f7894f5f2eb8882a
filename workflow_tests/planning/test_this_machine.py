"""What this machine decides: the number format of a model, how many sweeps run at once, and how long they take."""

import re
from pathlib import Path

import pytest
from configs import study
from conftest import ROOT
from plans import inputs_of, of, plan

from litm.base.json_files import write_json
from litm.base.messages import money
from litm.config.study import Study
from litm.config.sweeps import Sweep
from litm.models import devices
from litm.planning import speed
from litm.planning.speed import duration
from litm.planning.tokens import Work, lengths_of, mean_work, tree_items
from litm.planning.words import SHOWN, dollar_lines, gpu_lines, time_lines

MODEL = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model"), "prompt_template": "raw"}
SWEPT = ("a", "kv_retrieval_small")
SWEEP = of(model=SWEPT[0], experiment=SWEPT[1])
MANIFEST = "results/responses/a/kv_retrieval_small.manifest.json"
#: All prompts of the sweep by their pairs, and half of them.
ALL, HALF = {10: 250, 25: 250, 50: 150}, {10: 125, 25: 125, 50: 75}
#: As `snakedeploy deploy-workflow` writes it.
IMPORTING = """
configfile: "small.yaml"
module litm:
    snakefile:
        "workflow/Snakefile"
    config:
        config
use rule * from litm
"""


def left_of(one: Study, *models: str, left: dict[int, int] = ALL) -> list[tuple[Sweep, Work]]:
    """Sweeps of these models, or of all, with the work of their prompts without an answer."""
    return [(sweep, mean_work(one, sweep, left)) for sweep in one.sweeps if not models or sweep.model.name in models]


def of_models(**entries: dict):
    models = {name: {**MODEL, "threads": 1, **entry} for name, entry in entries.items()}
    return study(models=models, experiments=["kv_retrieval_small"])


@pytest.fixture
def flags(monkeypatch):
    """A function that gives this process a processor with these flags and no GPU."""
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.setattr(devices, "has_gpu", lambda: False)
    return lambda *names: monkeypatch.setattr(devices, "processor_flags", lambda: frozenset(names))


def test_the_format_that_auto_takes_is_a_param_where_jobs_run_here_and_left_to_the_nodes_of_a_cluster(flags):
    for names, expected in ((("avx512_bf16",), "bfloat16"), (("avx2",), "float32")):
        flags(*names)
        one = of_models(a={})
        assert inputs_of(one).sweeps.number_format(SWEEP) == expected
        assert inputs_of(one, runs_here=False).sweeps.number_format(SWEEP) == ""
        # What the program gets is what the entry says: it chooses where it runs.
        assert one.models["a"].answer_settings()["dtype"] == "auto"


def test_another_kind_of_machine_says_that_it_asks_again_and_how_to_keep_answers(flags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(MANIFEST, {"identity_fields": {"model": {"dtype": "bfloat16"}}})
    for processor, count in (("avx512_bf16", 0), ("avx2", 1)):
        flags(processor)
        one = of_models(a={})
        lines = [line for line in time_lines(one, left_of(one)) if "asked again" in line]
        assert len(lines) == count
    assert "in bfloat16" in lines[0] and "again in float32" in lines[0] and "'dtype: bfloat16'" in lines[0]


def test_weights_whose_files_set_the_format_are_not_said_to_be_in_another(flags, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json("results/models/a.json", {"is_quantized": True})
    write_json(MANIFEST, {"identity_fields": {"model": {"dtype": "auto"}}})
    flags("avx2")
    (line,) = time_lines(one := of_models(a={}), left_of(one))
    assert line.endswith("(a rule of thumb, wrong by up to a factor of three)")
    for file in Path("results").rglob("*.json"):
        file.write_text("")
    (line,) = time_lines(one := of_models(a={}), left_of(one))
    assert "in float32" in line, "a damaged file is left to the jobs that read it"


@pytest.mark.parametrize(
    ("experiment", "items"),
    [
        # Ten documents at 0, 2, 4, 7 and 9: 10 + 10 + 8 + 6 + 3 items are not in an earlier context.
        ("mini_gazetteer_qa", 37),
        ("mini_gazetteer_oracle", 1),
        ("mini_gazetteer_closed_book", 0),
        # Three needles in 20 sentences have one place.
        ("three_needles_small", 20),
    ],
)
def test_contexts_share_what_is_before_the_gold_item(experiment, items):
    assert tree_items(plan("config").study.experiments[experiment]) == items


def test_the_tokens_that_a_sweep_computes_are_about_those_that_were_counted():
    one = plan("config").study
    sweep = one.sweep("smollm2-135m-instruct-q4_1", "mini_gazetteer_qa")
    # Of 24 questions, SmolLM2 computed 30,700 tokens of prompts and 2,000 of answers.
    assert mean_work(one, sweep).timed_tokens == pytest.approx(32_700, rel=0.25)


def hours_in(line: str) -> float:
    return float(re.search(r"about ([\d,.]+) hours", line)[1].replace(",", ""))


def test_a_slower_format_takes_longer_and_a_measured_speed_replaces_the_rule_of_thumb(flags, monkeypatch):
    one = of_models(a={"parameters": 7})
    flags("avx512_bf16")
    fast, _ = time_lines(one, left_of(one))
    flags("avx2")
    slow, shorter = time_lines(one, left_of(one))
    assert shorter.startswith("  more than 10 minutes: `--config examples=5` asks 5 questions")
    assert hours_in(slow) > 1.5 * hours_in(fast) and "factor of three), in float32" in slow
    monkeypatch.setattr(speed, "measured_runs", lambda results, model: [])
    (line,) = time_lines(one := of_models(a={"parameters": 7, "tokens_per_second": 1e6}), left_of(one))
    assert "about 1 minute here (as earlier sweeps took)" in line


def test_the_time_is_that_of_the_prompts_without_an_answer(flags):
    flags("avx2")
    one = of_models(a={"parameters": 7})
    whole, half = (hours_in(time_lines(one, left_of(one, left=left))[0]) for left in (ALL, HALF))
    assert half == pytest.approx(whole / 2, rel=0.05)


def test_the_money_is_that_of_the_prompts_without_an_answer_by_their_own_length_and_a_budget_below_it_is_named():
    entry = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}, "budget": 1}
    too_low = ["its budget of US$ 1.00 may not be enough"]
    for count, request, says in ((150, {}, too_low), (1, {}, []), (20, {"max_completion_tokens": 20_000}, too_low)):
        one = study(models={"a": entry | {"request": request}}, experiments=["kv_retrieval_small"])
        experiment = one.experiments["kv_retrieval_small"]
        line, *budget = dollar_lines(one, left_of(one, left={50: count}))
        limit = request.get("max_completion_tokens", experiment.max_new_tokens)
        cost = money(count * (lengths_of(one, "a", experiment).mean_tokens(50) * 2 + limit * 10) / 1e6)
        assert line == f"  a: at most about US$ {cost} if each answer is as long as is allowed (by rules of thumb)"
        assert [said.partition(":")[2].partition(":")[0].strip() for said in budget] == says


def test_a_run_on_a_cluster_has_its_gpu_hours():
    one = of_models(a={"parameters": 70_000, "gpus": 2}, b={"device": "cpu"}, small={})
    (line,) = gpu_lines(one, left_of(one, "a", "b", left=HALF))
    tokens = mean_work(one, one.sweep(*SWEPT)).timed_tokens
    hours = 2 * 0.5 * tokens * 2 * 7e13 / 5e13 / 3600
    assert line == f"  about {hours:,.0f} GPU-hours, by a rule of thumb that may be wrong by a factor of three"
    assert gpu_lines(one, left_of(one, "small"))[0].startswith("  less than a GPU-hour, by")
    assert gpu_lines(one, left_of(one, "b")) == []


def test_many_models_have_their_time_together(flags):
    flags("avx2")
    many = of_models(**{f"m{number}": {"parameters": 7} for number in range(SHOWN + 2)})
    lines = time_lines(many, left_of(many))
    assert len(lines) == SHOWN + 2 and re.fullmatch(r"  2 more models: about [\d,.]+ hours", lines[SHOWN])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "1 minute"), (150, "2 minutes"), (5000, "83 minutes"), (9000, "2.5 hours"), (97_865_640, "27,000 hours")],
)
def test_times_are_minutes_or_hours(seconds, words):
    assert duration(seconds) == words


def test_sweeps_are_asked_in_the_order_of_the_config():
    sweeps = plan("config").sweeps
    order = [sweeps.priority(of(experiment=name)) for name in plan("config").study.experiments]
    assert order == sorted(order, reverse=True) and all(0 < one < 1 for one in order)


def test_without_a_gpu_two_sweeps_run_at_once_also_where_another_workflow_imports_this_one(new_bench):
    models = {"a": {**MODEL, "threads": 1}, "b": {**MODEL, "threads": 1, "config": {"rms_norm_eps": 1e-5}}}
    own = {"models": ["a", "b"], "experiments": ["kv_retrieval_small"], "examples": 2}
    new_bench.configure({**own, "define": {"models": models}})
    # So that both sweeps can begin.
    before = [*(f"results/models/{model}.json" for model in "ab"), "results/example_checks/kv_retrieval_small.json"]
    targets = [f"results/responses/{model}/kv_retrieval_small.jsonl.gz" for model in "ab"]
    new_bench.run("--cores", "2", "--", *before)
    new_bench.path("importing.smk").write_text(IMPORTING)
    for file in ("Snakefile", "importing.smk"):
        new_bench.run("-s", file, "--cores", "2", "--quiet", "host", "--forcerun", "generate", "--", *targets)
        log = max(new_bench.path(".snakemake/log").glob("*.log"))
        assert re.findall(r"Execute \d+ jobs", log.read_text()) == ["Execute 2 jobs"]
