"""The whole workflow with a judge: answers, verdicts, labels, and numbers that they correct."""

import csv
import os
import re
import signal
import subprocess
import sys
import threading

import pandas as pd
import pytest
from fault_server import FaultServer
from waiting import HANG, wait_until
from workbench import CONFIG

from litm.base.json_files import read_json, read_jsonl

ASKED = "the answer to judge"


def verdict(prompt: str) -> str:
    """A judge that finds an accepted answer in most answers, and now and then thinks aloud first."""
    if "nothing else" not in prompt and len(prompt) % 5 == 0:
        return "Let me think."
    answer = " ".join(re.findall(r"^\| (.*)", prompt, re.MULTILINE)).lower()
    accepted = re.search("Accepted answers: (.*)", prompt)[1].lower().split("; ")
    return "Right." if any(text in answer for text in accepted) and len(prompt) % 4 else "Wrong."


def judged_config(url: str, **judge: str) -> dict:
    judge_model = {"engine": "openai", "api_model": "j", "base_url": f"{url}/v1", "prices": {"input": 1, "output": 1}}
    experiments = {**CONFIG["define"].get("experiments", {})}
    experiments["qa"] = {**experiments.get("qa", {}), "metric": "judged", "judge": {"model": "judge", **judge}}
    define = {**CONFIG["define"], "experiments": experiments}
    define["models"] = {**define.get("models", {}), "judge": judge_model}
    return {**CONFIG, "experiments": ["qa"], "define": define}


def test_a_judges_verdicts_are_kept_checked_by_labels_and_never_asked_again(new_bench):
    bench = new_bench
    with FaultServer(lambda prompt, attempt: None, answer=verdict) as server:
        bench.configure(judged_config(server.url))
        bench.run()
        asked = len(server.asked)
        others = [prompt for _, prompt, _ in server.asked if "You judge the answer" not in prompt]
        assert asked and not others
        manifest = read_json(next(bench.folder.glob("results/verdicts/judge/*.manifest.json")))
        assert manifest["asked"] == asked, "the bill has all that was asked"
        judge = pd.read_csv(bench.path("results/tables/judge.csv"))
        assert judge["n_labels"].eq(0).all() and judge["accuracy"].isna().all()
        assert '"judge_unchecked"' in bench.path("results/findings.json").read_text()
        rows = [*csv.DictReader(bench.path("results/labels/qa.csv").open())]
        assert rows and [*rows[0]] == ["key", "question", "accepted_answers", "answer", "right"]
        with bench.path("mine.csv").open("w") as file:
            table = csv.DictWriter(file, [*rows[0]])
            table.writeheader()
            table.writerows({**row, "right": "no"} for row in rows)
        bench.configure(judged_config(server.url, labels="mine.csv"))
        bench.run()
        assert len(server.asked) == asked
    judge = pd.read_csv(bench.path("results/tables/judge.csv"))
    assert judge["n_labels"].sum() == len(rows) and judge["accuracy"].eq(0).all()
    accuracy = pd.read_csv(bench.path("results/tables/accuracy.csv"))
    assert accuracy["accuracy"].eq(0).all(), "accuracies are those by the labels"
    assert accuracy["accuracy_full"].tolist() == judge["accuracy_judge"].tolist()
    refused = bench.path("mine.csv")
    refused.write_text(refused.read_text().replace(rows[0]["key"], rows[0]["key"][:9] + "0" * 12))
    assert "1 labels, such as" in bench.refusal()


def test_a_judge_that_fails_is_asked_again_about_what_it_has_not_judged_alone(new_bench):
    fails = {"now": True}

    def failing(prompt: str, attempt: int) -> str | None:
        return "quota" if fails["now"] and len(prompt) % 2 else None

    with FaultServer(failing, answer=verdict) as server:
        config = judged_config(server.url)
        config["define"]["models"]["judge"]["request_attempts"] = 1
        new_bench.configure(config)
        assert new_bench.snakemake().returncode
        judged, fails["now"] = len(server.asked), False
        server.asked.clear()
        new_bench.run()
        prompts = [record for _, record in read_jsonl(next(new_bench.folder.glob("results/judging/*/qa.jsonl.gz")))]
        assert 0 < len(server.asked) < len({record["prompt"] for record in prompts}) + judged


def test_two_judges_share_the_answers_and_their_agreement_is_told(new_bench):
    with FaultServer(lambda prompt, attempt: None, answer=verdict) as server:
        config = judged_config(server.url)
        strict = FaultServer(lambda prompt, attempt: None, answer=lambda prompt: "wrong")
        with strict:
            entry = {**config["define"]["models"]["judge"], "base_url": f"{strict.url}/v1"}
            config["define"]["models"]["other"] = entry
            first = config["define"]["experiments"]["qa"]
            config["define"]["experiments"]["qa2"] = {**first, "judge": {"model": "other"}}
            config["experiments"] = ["qa", "qa2"]
            new_bench.configure(config)
            new_bench.run()
    assert new_bench.asked("qa2") == (0, new_bench.asked("qa")[1] + new_bench.asked("qa")[0])
    row = pd.read_csv(new_bench.path("results/tables/judge_agreement.csv")).iloc[0]
    judge = pd.read_csv(new_bench.path("results/tables/judge.csv"))
    said_right = judge.loc[judge["experiment"] == "qa", "accuracy_judge"].mean()
    assert row["agreement"] == 1 - said_right and (row["experiment_a"], row["experiment_b"]) == ("qa", "qa2")


def test_a_judge_without_its_metric_and_a_recorded_judge_are_refused(new_bench):
    config = judged_config("http://localhost:9")
    config["define"]["experiments"]["qa"]["metric"] = "best_subspan_em"
    new_bench.configure(config)
    assert "'metric: judged' and 'judge: {model: NAME}' go together" in new_bench.refusal("-n")


@pytest.mark.slow
def test_a_killed_judge_is_asked_again_only_about_what_has_no_kept_verdict(new_bench):
    go_on, lock, asked = threading.Event(), threading.Lock(), []

    def held(prompt: str) -> str:
        with lock:
            asked.append(prompt)
            is_held = len(asked) > 3
        if is_held:
            go_on.wait(HANG)
        return "right"

    with FaultServer(lambda prompt, attempt: None, answer=held) as server:
        config = judged_config(server.url)
        config["define"]["models"]["judge"] |= {"concurrency": 1}
        new_bench.configure(config)
        words = ["snakemake", "--configfile", "small.yaml", "--cores", "1"]
        process = subprocess.Popen([sys.executable, "-m", *words], cwd=new_bench.folder, process_group=0)
        kept = new_bench.folder.glob
        wait_until(lambda: sum(path.read_bytes().count(b"\n") for path in kept("results/answers/*/judge+*")) > 1)
        wait_until(lambda: len(asked) > 3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(HANG)
        first = asked[:3]
        go_on.set()
        asked.clear()
        assert new_bench.snakemake("--unlock").returncode == 0
        new_bench.run()
    # The third may have been on its way when the run was killed.
    assert asked and not {*first[:2]} & {*asked}
    manifest = read_json(next(new_bench.folder.glob("results/verdicts/judge/*.manifest.json")))
    assert manifest["reused"] >= 2 and manifest["asked"] == len(asked)
