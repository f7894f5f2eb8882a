"""Log-probabilities in a run of the workflow: beside answers, and alone."""

import pandas as pd
from workbench import Workbench, changed

from litm.base.formats import read_json, read_jsonl

JOURNAL = "results/journal/reference/kv.log_probability.jsonl"
MANIFEST = "results/log_probabilities/reference/kv.manifest.json"


def asked(bench: Workbench) -> tuple[int, int]:
    """Prompts that the last run of the sweep measured, and results that it took from the journal."""
    manifest = read_json(bench.path(MANIFEST))
    return manifest["asked"], manifest["reused"]


def test_log_probabilities_beside_answers_are_measured_once_and_ask_for_no_answer_again(bench):
    journal = bench.path("results/journal/reference/kv.jsonl").read_bytes()
    bench.configure(changed(kv={"measure": ["answer", "log_probability"]}))
    planned = bench.plan()
    assert (planned["measure"], planned["score_log_probabilities"]) == (1, 1) and "generate" not in planned
    done = bench.snakemake()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no log-probabilities, left out: dummy (engine dummy cannot)") == 1
    assert bench.path("results/journal/reference/kv.jsonl").read_bytes() == journal
    table = pd.read_csv(bench.path("results/tables/log_probability.csv"))
    assert list(zip(table["model"], table["size"], table["position"], table["n"], strict=True)) == [
        ("reference", size, position, 3) for size, position in ((4, 0), (4, 3), (6, 0), (6, 5))
    ]
    assert table["answer"].between(-1000, 0, inclusive="neither").all()
    kinds = {record["finish_reason"] for _, record in read_jsonl(bench.path(JOURNAL)) if "key" in record}
    assert kinds == {"measured"}
    report = bench.path("results/report.html").read_text()
    assert "log_probability" in report
    assert bench.plan() == {}
    # A position more measures its own prompts.
    bench.configure(changed(kv={"measure": ["answer", "log_probability"], "positions": {4: [0, 1, 3], 6: [0, 5]}}))
    assert bench.plan()["measure"] == 1
    bench.run("--", MANIFEST)
    assert asked(bench) == (3, 12)


def test_log_probabilities_alone_generate_nothing(bench):
    bench.configure({**changed(kv={"measure": ["log_probability"], "examples": 2}), "models": ["reference"]})
    planned = bench.plan("--forceall", "--", "tables", "figures")
    assert planned["measure"] == 1 and "generate" not in planned and "score" not in planned
    said = bench.snakemake("--dry-run")
    assert said.stderr.count("no report, which is of answers") == 1
