"""The whole workflow with models on servers: one holds back a prompt, others repeat a key, which is written nowhere."""

import random

import pandas as pd
import pytest
from canaries import CANARY, files_with
from fault_server import FaultServer
from workbench import CONFIG

from litm.base.json_files import read_json


def test_a_model_of_a_server_is_asked_scored_drawn_and_never_asked_again(new_bench):
    bench = new_bench

    def right(prompt: str) -> str:
        number = prompt.rpartition("what is number ")[2].split()[0]
        return f"\nanswer{number}, I think.\nWhy?"

    refused = "what is number 2"
    with FaultServer(lambda prompt, attempt: "refused" if refused in prompt else None, answer=right) as server:
        served = {"engine": "openai", "api_model": "big-1", "base_url": f"{server.url}/v1", "request": {"seed": 1}}
        define = {**CONFIG["define"], "models": {"served": served}}
        bench.configure({**CONFIG, "models": ["served"], "experiments": ["qa"], "define": define})
        bench.run()
        assert bench.asked("qa", "served") == (8, 0)
        assert all(body["seed"] == 1 and body["max_tokens"] == 10 for body in server.bodies)
        bench.run("--forcerun", "generate", "--until", "generate")
        assert bench.asked("qa", "served") == (0, 8) and len(server.asked) == 8
    accuracy = pd.read_csv(bench.path("results/tables/accuracy.csv"))
    assert accuracy["n"].tolist() == [4, 4] and accuracy["accuracy"].tolist() == [0.75, 0.75]
    assert accuracy["n_refused"].tolist() == [1, 1] and accuracy["n_failed"].tolist() == [0, 0]
    report = bench.path("results/report.html").read_text()
    assert f"big-1 of a server ({served['base_url']})" in report
    manifest = read_json(bench.path("results/responses/served/qa.manifest.json"))
    (made_with,) = manifest["made_with"]
    assert made_with.startswith("openai ") and made_with.endswith(f", {server.url}/v1, big-1-0613")


#: How a server may repeat a key, before it answers.
REPEATED = ("key in all of a failure", "key in an error", "key as the reason")
#: How it may in an answer, or as it refuses for good.
AT_LAST = ("key as the model", "key in the answer", None)


@pytest.mark.slow
def test_no_file_of_a_run_and_no_line_of_the_console_has_the_key_that_servers_repeat(new_bench, monkeypatch):
    monkeypatch.setenv("MY_KEY", CANARY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Mine: {CANARY}")
    monkeypatch.setenv("OPENAI_LOG", "debug")
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")

    def repeats(prompt: str, attempt: int) -> str | None:
        return REPEATED[len(prompt) % 3] if attempt == 1 else random.Random(prompt).choice(AT_LAST)

    refusals = {"refused": "key in all of a refusal", "redirected": "elsewhere with the key"}
    with FaultServer(repeats) as server:
        others = {name: FaultServer(lambda prompt, attempt, one=fault: one) for name, fault in refusals.items()}
        entry = {"api_model": "m", "api_key_variable": "MY_KEY"}
        models = {
            "served": {**entry, "engine": "openai", "base_url": f"{server.url}/v1"},
            "other": {**entry, "engine": "anthropic", "base_url": server.url},
        }
        with others["refused"], others["redirected"]:
            for name, one in others.items():
                models[name] = {**entry, "engine": "openai", "base_url": f"{one.url}/v1"}
            define = {**CONFIG["define"], "models": models}
            chosen = {**CONFIG, "define": define, "experiments": ["kv", "qa"]}
            new_bench.configure({**chosen, "models": list(models)})
            failed = new_bench.snakemake("--keep-going", "--until", "generate")
        new_bench.configure({**chosen, "models": ["served", "other"]})
        done = new_bench.snakemake()
    assert failed.returncode and not done.returncode, done.stderr
    said = failed.stdout + failed.stderr + done.stdout + done.stderr
    assert "no *** here" in said and "redirects requests to http://elsewhere.invalid" in said
    assert "answers repeat your key" in said and "Traceback" not in said
    assert CANARY not in said
    assert new_bench.path(".snakemake").is_dir() and list(new_bench.folder.glob("results/**/*.gz"))
    assert not files_with(new_bench.folder)
