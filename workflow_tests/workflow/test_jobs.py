"""Jobs on a cluster: the resources of sweeps, and the rules that are submitted."""

import math
import re
from collections import Counter

import pytest
import yaml
from conftest import ROOT
from gguf_files import write_gguf

from litm.config.catalogue import read_catalogue_entry
from litm.engines.local_models import LocalModel
from litm.engines.served_models import ServedModel
from litm.planning import speed
from litm.planning.memory import USUAL_BILLIONS, billions_in, billions_of, memory_mb
from litm.planning.speed import MOST, START, minutes, rate_here
from litm.planning.tokens import Work

WORK = Work(prompts=10_000, prompt_tokens=30_000_000)
#: Rules that are submitted each by itself: they compute for long, or with a GPU.
HEAVY = {
    *("generate", "generate_shard", "ask_again", "make_passages", "index_bm25", "index_bm25s", "index_vectors"),
    *("encode_passages", "retrieve", "rerank"),
}
#: And those that a study has few of.
FEW = {"generate_questions", "derive_questions", "find_size", "make_candidates"}


def model(**entry: object) -> LocalModel:
    entry = {"engine": "transformers", "hub": "someone/model", "prompt_template": "raw", **entry}
    return read_catalogue_entry("models", "m", entry).located(ROOT, {})


def served(**entry: object) -> ServedModel:
    return read_catalogue_entry("models", "m", {"engine": "openai", "api_model": "a-70b", **entry}).located(ROOT, {})


@pytest.mark.parametrize(
    ("entry", "billions"),
    [
        ({"parameters": 11}, 11),
        ({"hub": "meta-llama/Llama-2-70b-chat-hf"}, 70),
        ({"hub": "Qwen/Qwen2.5-0.5B-Instruct"}, 0.5),
        ({"hub": "lmsys/longchat-13b-16k"}, 13),
        ({"hub": "google/flan-ul2", "about": {"parameters": 19.5}}, 19.5),
        ({"hub": "someone/mobile-bert"}, USUAL_BILLIONS),
        ({"hub": "someone/model-7b", "parameters": 3}, 3),
        ({"hub": None, "path": "resources/reference_model"}, pytest.approx(0.001, rel=0.9)),
    ],
)
def test_the_parameters_of_a_model_are_its_entry_s_or_in_its_name_or_by_its_weights(entry, billions):
    assert billions_of(model(**entry)) == billions


def test_the_parameters_of_a_gguf_file_are_counted_by_its_header(tmp_path):
    weights = write_gguf(tmp_path / "m-instruct.gguf")
    path = str(tmp_path / "m-instruct.gguf")
    assert billions_of(model(hub=None, path=path)) == sum(one.size for one in weights.values()) / 1e9


def test_the_parameters_of_every_model_of_the_catalogue_are_known():
    entries = yaml.safe_load((ROOT / "config" / "models.yaml").read_text())
    for name, entry in entries.items():
        if "hub" in entry:
            assert "parameters" in {**entry, **entry.get("about", {})} or billions_in(entry["hub"]), name


def test_memory_grows_with_the_model_its_numbers_and_the_attempt():
    small, large = model(parameters=7, dtype="bfloat16"), model(parameters=70, dtype="bfloat16")
    assert memory_mb(small, 1) < memory_mb(model(parameters=7, dtype="float32"), 1) < memory_mb(large, 1)
    assert memory_mb(large, 1) > 140_000 and memory_mb(small, 2) == 2 * memory_mb(small, 1)
    assert memory_mb(model(mem_mb=123), 2) == 246


def test_a_sweep_on_a_cpu_asks_for_the_predicted_peak_and_its_prompts():
    entry = {"hub": None, "path": "resources/reference_model", "device": "cpu", "dtype": "float32"}
    few, many = Work(10, 10_000, longest=1_000), Work(10_000, 10_000_000, longest=1_000)
    least = memory_mb(model(**entry), 1, few)
    assert 500 < least < 1_000 < memory_mb(model(**entry), 1, many) < 2_000
    for more in ({"batch_tokens": 65_536}, {"device": "cuda"}):
        assert least < memory_mb(model(**entry | more), 1, few)


def test_time_grows_with_the_model_the_prompts_and_the_attempt_up_to_a_day():
    small, large = model(parameters=7), model(parameters=13)
    assert minutes(small, Work(10, 1000), 1) < minutes(small, WORK, 1) < minutes(large, WORK, 1)
    assert minutes(small, WORK, 2) == 2 * minutes(small, WORK, 1)
    assert minutes(model(parameters=70), WORK, 3) == MOST and minutes(model(runtime=5), WORK, 3) == 5
    assert minutes(model(parameters=13, shards=4), WORK, 1) < minutes(large, WORK, 1)


def test_a_server_s_model_needs_no_memory_for_weights_and_time_by_its_requests():
    assert memory_mb(served(), 1) < memory_mb(model(parameters=1), 1)
    assert minutes(served(concurrency=16), WORK, 1) < minutes(served(concurrency=1), WORK, 1)


def test_time_follows_the_speed_of_the_models_largest_earlier_run():
    def run(tokens: int) -> dict:
        return {"experiment": "e", "work": {"computed_tokens": tokens}, "made_with": {"torch, H100": 1}}

    tokens = Work(prompts=10_000, prompt_tokens=36_000_000)
    local = model(parameters=70)
    assert minutes(local, tokens, 1, [(run(10), 10), (run(10_000_000), 1_000)]) == START + 60
    assert minutes(model(parameters=70, tokens_per_second=5_000), tokens, 1, [(run(1_000_000), 100)]) == START + 120
    assert minutes(served(), tokens, 1, [(run(1_000_000), 100)]) == START + 60


def test_the_rate_here_is_that_of_the_processor_unless_there_is_a_gpu(monkeypatch):
    auto = model(parameters=7)
    monkeypatch.setattr(speed, "has_gpu", lambda: False)
    slow = rate_here(auto).tokens_per_second
    monkeypatch.setattr(speed, "has_gpu", lambda: True)
    fast = rate_here(auto).tokens_per_second
    assert fast == rate_here(model(parameters=7, device="cuda")).tokens_per_second > slow
    assert rate_here(model(parameters=7, device="cpu")).tokens_per_second == slow
    assert rate_here(served()) is None


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_every_rule_is_heavy_or_submitted_in_a_group_or_local(profile):
    """A new rule that fails here wants `localrule: True`, a group in the profiles, or a place in `HEAVY`."""
    groups = yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text())["groups"]
    grouped = {entry.partition("=")[0] for entry in groups}
    rules = {
        name: body
        for file in (ROOT / "rules").glob("*.smk")
        for name, body in re.findall(r"^rule (\w+):\n((?:[ \n].*\n?)+)", file.read_text(), re.MULTILINE)
    }
    assert len(rules) > 30
    alone = {name for name, body in rules.items() if "shell:" in body and "localrule: True" not in body} - grouped
    assert alone <= HEAVY | FEW
    assert grouped <= rules.keys()


def test_a_study_of_six_models_submits_tens_of_jobs(new_bench):
    models = {f"m{n}": {"engine": "transformers", "hub": f"someone/chat-{n}b"} for n in range(1, 7)}
    experiments = ["kv_retrieval", "multi_document_qa", "closed_book_qa", "oracle_qa"]
    new_bench.configure({"models": list(models), "experiments": experiments, "define": {"models": models}})
    jobs = new_bench.plan("--", "tables")
    assert sum(jobs.values()) > 100
    assert 24 < submissions(jobs) < 60


def submissions(jobs: dict[str, int]) -> int:
    """The number of SLURM jobs for these numbers of jobs by rule: single jobs, and full groups."""
    profile = yaml.safe_load((ROOT / "profiles" / "slurm" / "config.yaml").read_text())
    groups, sizes = (dict(entry.split("=") for entry in profile[key]) for key in ("groups", "group-components"))
    in_group = Counter()
    for rule in jobs.keys() & groups.keys():
        in_group[groups[rule]] += jobs[rule]
    alone = sum(jobs.get(rule, 0) for rule in HEAVY | FEW)
    return alone + sum(math.ceil(count / int(sizes[group])) for group, count in in_group.items())


def test_jobs_that_many_others_wait_for_come_before_sweeps():
    """A sweep's priority is below 1, see `SweepInputs.priority`."""
    text = "".join(file.read_text() for file in (ROOT / "rules").glob("*.smk"))
    found = dict(re.findall(r"(?ms)^rule (\w+):(?:(?!^rule|^use rule).)*?^    priority: (FIRST|EARLY)$", text))
    assert {name for name, place in found.items() if place == "FIRST"} == {"read_questions"}
    assert {"make_passages", "index_bm25", "retrieve", "rerank", "score", "plot_figure", "count_tokens"} <= found.keys()
    assert re.search(r"^FIRST, EARLY = 2, 1$", (ROOT / "rules" / "common.smk").read_text(), re.MULTILINE)
