"""Studies of providers' models: what they would cost, what they cost by the server's own bill, and a budget."""

import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest
from billing_server import FACTS, BillingServer
from conftest import ROOT, qa_record, write_lines
from tokenizers import Tokenizer
from workbench import Workbench, commands_in, program_and_words

from litm.base.json_files import read_json
from litm.base.messages import money
from litm.inference.answer_lines import answer_line, parse_line
from litm.records.bills import Prices, Usage
from litm.report.page_tables import token_table

TOKENIZER = Tokenizer.from_file(str(ROOT / "resources" / "reference_model" / "tokenizer.json"))
MODELS = {"claude": "claude-sonnet-4-5", "gpt": "gpt-4o-2024-11-20"}
NO_WEIGHTS = shutil.ignore_patterns("*.safetensors")
#: As the server has them; those of caches are the usual ones of their providers, which the entries leave out.
PRICES = {
    "claude": Prices(input=3, output=15, cache_write=3.75, cache_read=0.3),
    "gpt": Prices(input=2.5, output=10, cache_write=2.5, cache_read=1.25),
}
EXPERIMENTS = {
    "keys": {"task": "kv_retrieval", "design": "ask_another_key", "positions": {40: "nine"}, "examples": 2},
    "own": {"task": "multi_document_qa", "dataset": "own", "positions": {20: [0, 4, 9, 14, 19]}},
}


@pytest.fixture
def server(monkeypatch):
    """A provider that counts as `TOKENIZER`, and answers as long as it may."""
    monkeypatch.setenv("A_KEY", "k" * 20)
    with BillingServer(tokens=lambda text: TOKENIZER.encode(text).ids, frame=0) as server:
        yield server


def served(server: BillingServer, name: str, **keys: object) -> dict:
    """The entry of a model of the server."""
    engine, path = ("openai", "/v1") if name.startswith("gpt") else ("anthropic", "")
    own = {"engine": engine, "api_model": name, "base_url": server.url + path, "api_key_variable": "A_KEY"}
    return {**own, **keys}


def study(bench: Workbench, server: BillingServer, model: str, **changes: object) -> None:
    """Configure a study of key-value pairs and of own documents."""
    records = [qa_record(number, 19) for number in range(3)]
    for document in (one for record in records for one in record["ctxs"]):
        document["text"] += " The river runs by the old mill and the long road." * 6
    write_lines(bench.path("own.jsonl.gz"), records)
    tokenizer = bench.path("tokenizer")
    shutil.copytree(ROOT / "resources" / "reference_model", tokenizer, ignore=NO_WEIGHTS, dirs_exist_ok=True)
    (tokenizer / "chat_template.jinja").write_text("{% for message in messages %}{{ message.content }}{% endfor %}")
    prices = {"input": PRICES[model].input, "output": PRICES[model].output}
    entry = served(server, MODELS[model], tokenizer="tokenizer", context_window=9_000, prices=prices, **changes)
    experiments = {name: {**one, "max_new_tokens": 20} for name, one in EXPERIMENTS.items()}
    define = {"datasets": {"own": {"path": "own.jsonl.gz"}}, "models": {model: entry}, "experiments": experiments}
    bench.configure({"models": [model], "experiments": [*EXPERIMENTS], "define": define})


def billed(bench: Workbench, model: str) -> float:
    """Dollars by the manifests of a model."""
    manifests = map(read_json, bench.path(f"results/responses/{model}").glob("*.manifest.json"))
    return sum(PRICES[model].dollars(Usage.from_json(one)) for manifest in manifests for one in manifest["billed"])


@pytest.mark.parametrize("caching", [True, False], ids=["cached", "not cached"])
@pytest.mark.parametrize("model", MODELS)
def test_estimate_console_manifest_table_and_report_say_what_the_provider_bills(new_bench, server, model, caching):
    study(new_bench, server, model, prompt_caching=caching)
    scores = [f"results/scores/{model}/{name}.parquet" for name in EXPERIMENTS]
    planned = new_bench.snakemake("--dry-run", "--printshellcmds", "--quiet", "host", "--", "estimate", *scores)
    assert ("with prompt caching US$" in planned.stdout + planned.stderr) == caching
    # Snakemake runs one of them, up to the page, which takes half a minute.
    page = ["results/report.html"] if caching and model == "claude" else []
    commands = commands_in(planned.stdout)
    answering = [command for command in commands if program_and_words(command)[0] in ("generate", "score")]

    def make(*targets: str, by: list[str]) -> None:
        if page:
            new_bench.run(*targets)
            return
        done = new_bench.run_programs(by)
        assert done.returncode == 0, done.stdout + done.stderr

    make("estimate", by=[command for command in commands if command not in answering])
    estimate = pd.read_csv(new_bench.path("results/estimate.csv")).set_index("experiment")
    make(*page, by=answering)
    dollars = float(server.dollars)
    assert billed(new_bench, model) == pytest.approx(dollars, abs=1e-9)
    # The server caches prompts of OpenAI's protocol without being asked.
    if caching or model == "claude":
        assert estimate.loc["total", "dollars_as_set"] == pytest.approx(dollars, rel=0.02)
    assert estimate.loc["total", "dollars"] >= estimate.loc["total", "dollars_as_set"] * (1.2 if caching else 1)
    if page:
        log = "".join(new_bench.path(f"results/logs/generate/{model}/{name}.log").read_text() for name in EXPERIMENTS)
        told = [float(text) for text in re.findall(r"billed by the provider's counters: US\$ ([\d.]+)", log)]
        assert len(told) == 2 and sum(told) == pytest.approx(dollars, abs=1e-4)
        assert f"these answers cost US$ {money(dollars)}" in new_bench.path("results/report.html").read_text()
    scores = map(pd.read_parquet, new_bench.path(f"results/scores/{model}").glob("*.parquet"))
    assert sum(PRICES[model].of_rows(rows).sum() for rows in scores) == pytest.approx(dollars, abs=1e-9)


def test_a_budget_stops_all_sweeps_of_a_model_in_time_and_a_higher_one_goes_on(new_bench, server):
    study(new_bench, server, "claude", budget=0.03)
    targets = [f"results/responses/claude/{name}.jsonl.gz" for name in EXPERIMENTS]
    done = new_bench.snakemake("--keep-going", "--cores", "2", *targets)
    assert done.returncode != 0
    for name in EXPERIMENTS:
        log = new_bench.path(f"results/logs/generate/claude/{name}.log").read_text()
        assert log.count("the budget of US$ 0.030 ends here") == 1
    first = float(server.dollars)
    assert 0 < first <= 0.03
    answered = len(server.usages)
    study(new_bench, server, "claude", budget=1)
    new_bench.run(*targets)
    assert len(server.usages) == 2 * 9 + 3 * 5 > answered
    assert billed(new_bench, "claude") == pytest.approx(float(server.dollars), abs=1e-9)


def test_answers_without_a_bill_are_used_and_called_not_recorded(new_bench, server):
    study(new_bench, server, "gpt")
    new_bench.run("results/responses/gpt/own.jsonl.gz")
    (file,) = new_bench.answers("own", "gpt")
    # As an earlier version wrote them.
    answers = map(parse_line, file.read_bytes().splitlines())
    file.write_text("".join(answer_line(*names, replace(answer, billed=None)) for *names, answer in answers))
    new_bench.run("results/scores/gpt/own.parquet", "--forcerun", "generate")
    assert len(server.usages) == 3 * 5
    manifest = read_json(new_bench.path("results/responses/gpt/own.manifest.json"))
    assert "billed" not in manifest and manifest["prompt_tokens"] > 0
    table = token_table([manifest], {"gpt": {"input": 2.5, "output": 10}})
    assert [*table["bill"]] == ["not recorded"]
    plain = Usage(manifest["prompt_tokens"], 0, 0, manifest["response_tokens"])
    assert table["dollars"].sum() == pytest.approx(PRICES["gpt"].dollars(plain))


#: Of docs/api_models.md: models by experiment, with the share of the input's price that caching saves.
SAVED = {
    "qa": {"claude-sonnet-4-5": 0.17, "claude-opus-5": 0.21, "gpt-4o-2024-11-20": 0.11},
    "keys": {"claude-sonnet-4-5": 0.77, "claude-opus-5": 0.77, "gpt-4o-2024-11-20": 0.44},
}


@pytest.mark.slow
@pytest.mark.parametrize("experiment", SAVED)
def test_the_bills_of_the_papers_sizes_are_those_of_the_documentation(new_bench, monkeypatch, data, experiment):
    monkeypatch.setenv("A_KEY", "k" * 20)
    file = data / "tokenizers" / "gpt-neox-20b.tokenizer.json"
    of_text = Tokenizer.from_file(str(file))
    experiments = {
        "qa": {"task": "multi_document_qa", "dataset": "first", "positions": {20: [0, 4, 9, 14, 19]}, "examples": 50},
        "keys": {
            **EXPERIMENTS["keys"], "positions": {75: "nine", 140: "nine"}, "examples": 20,
            "dataset": {75: "kv_75_keys", 140: "kv_140_keys"},
        },
    }  # fmt: skip
    first = {"path": str(data / "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz")}
    for name, saved in SAVED[experiment].items():
        costs = {}
        for caching in (True, False):
            with BillingServer(tokens=lambda text: of_text.encode(text).ids) as server:
                # Its chat template is not public, or not the server's: tokens are those of the text.
                entry = served(server, name, tokenizer=str(file), prompt_caching=caching)
                prices = FACTS[entry["engine"]]["prices"][name]
                entry["prices"] = {"input": prices[0], "output": prices[3]}
                asked = {experiment: {**experiments[experiment], "max_new_tokens": 100}}
                define = {"datasets": {"first": first}, "models": {"m": entry}, "experiments": asked}
                config = {"models": ["m"], "experiments": [experiment], "data_mirror": str(data), "define": define}
                new_bench.configure(config)
                new_bench.run("estimate")
                told = pd.read_csv(new_bench.path("results/estimate.csv")).iloc[-1]
                new_bench.run(f"results/responses/m/{experiment}.jsonl.gz")
                billed = read_json(new_bench.path(f"results/responses/m/{experiment}.manifest.json"))["billed"]
                usages = [Usage.from_json(one) for one in billed]
                of_answers = sum(one.output for one in usages) * prices[3] / 1e6
                ours = sum(map(Prices(prices[0], prices[3], *prices[1:3]).dollars, usages))
                assert ours == pytest.approx(float(server.dollars), abs=1e-9)
                costs[caching] = (ours - of_answers, told["dollars_as_set"], ours)
        plain = sum(one.prompt for one in usages) * prices[0] / 1e6
        of_input, estimate, bill = costs[True]
        print(f"\n{experiment} {name}: input US$ {plain:.4f}, cached {of_input:.4f} ({of_input / plain - 1:+.1%})")
        print(f"estimate {estimate:.4f}, bill {bill:.4f}")
        assert 1 - of_input / plain == pytest.approx(saved, abs=0.01)
        assert estimate == pytest.approx(bill, rel=0.02)
