"""What a judge costs: the estimate before it is asked, and the bill of the provider."""

import shutil
from dataclasses import replace

import pandas as pd
import pytest
import yaml
from billing_server import BillingServer
from conftest import ROOT
from test_bill import NO_WEIGHTS, TOKENIZER, served
from workbench import CONFIG

from litm.base.json_files import read_json
from litm.records.bills import Prices, Usage

pytestmark = pytest.mark.study
PRICES = {"input": 2.5, "output": 10}


def test_a_judge_is_asked_as_often_as_its_estimate_says_and_billed_as_its_provider_does(new_bench, monkeypatch):
    monkeypatch.setenv("A_KEY", "k" * 20)
    tokenizer = new_bench.path("tokenizer")
    shutil.copytree(ROOT / "resources" / "reference_model", tokenizer, ignore=NO_WEIGHTS)
    (tokenizer / "chat_template.jinja").write_text("{% for message in messages %}{{ message.content }}{% endfor %}")
    with BillingServer(
        tokens=lambda text: TOKENIZER.encode(text).ids, frame=0, answer=lambda prompt: "Wrong."
    ) as server:
        judge = served(server, "gpt-4o-2024-11-20", tokenizer="tokenizer", context_window=9_000)
        judge |= {"prices": PRICES, "prompt_caching": False}
        config = yaml.safe_load(yaml.safe_dump(CONFIG))
        config["experiments"] = ["qa"]
        config["define"].setdefault("models", {})["judge"] = judge
        config["define"]["experiments"]["qa"] |= {"metric": "judged", "judge": {"model": "judge"}}
        new_bench.configure(config)
        before = verdicts_of(new_bench)
        new_bench.run("results/responses/dummy/qa.jsonl.gz")
        counted = verdicts_of(new_bench)
        assert not server.usages
        new_bench.run()
        # Those of each answer, and of the same ones with the accepted answers in reverse order.
        assert before["to_ask"] == counted["to_ask"] == len(server.usages) == 16
        (manifest,) = map(read_json, new_bench.path("results/verdicts/judge").glob("*.manifest.json"))
        usage = Usage.from_json(manifest["billed"][0])
        assert (before["basis"], counted["basis"]) == ("rule of thumb", "counted")
        assert counted["prompt_tokens"] == usage.prompt
        as_long_as_allowed = replace(usage, output=counted["max_new_tokens"])
        assert counted["dollars"] == pytest.approx(Prices.from_entry(PRICES).dollars(as_long_as_allowed), abs=1e-9)
        assert Prices.from_entry(PRICES).dollars(usage) == pytest.approx(float(server.dollars), abs=1e-9)
        assert verdicts_of(new_bench)["to_ask"] == 0
        # Answers to fewer examples are not those that this config judges: nothing is asked for an estimate.
        config["define"]["experiments"]["qa"]["positions"] = {3: [0, 1, 2]}
        new_bench.configure(config)
        assert verdicts_of(new_bench)["basis"] == "rule of thumb"
        assert len(server.usages) == 16


def verdicts_of(bench):
    """The row of the judge's sweep in the estimate."""
    bench.run("estimate")
    estimate = pd.read_csv(bench.path("results/estimate.csv"))
    (row,) = estimate[estimate["measure"] == "verdict"].to_dict("records")
    return row
