"""Prices without looking up: what the table knows fills an entry without prices, and is named with each amount."""

from dataclasses import replace

import pandas as pd
import pytest
from configs import study
from genai_prices import Usage as TheirUsage
from genai_prices import calc_price

from litm.base.messages import UserError
from litm.engines.modules.openai import Settings
from litm.planning.counting import Estimate
from litm.planning.estimate import estimate_table, notes
from litm.planning.tokens import Work
from litm.planning.words import dollar_lines
from litm.records import price_table
from litm.records.bills import Prices, Usage
from litm.records.price_table import looked_up
from litm.report.page_tables import token_table, tokens_in_words
from litm.servers.billing import Account, bill_in_words

OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
#: Models with and without prices for long prompts.
MODELS = [
    ("gpt-4o-mini-2024-07-18", OPENAI),
    ("gpt-5.6", OPENAI),
    ("claude-sonnet-4-5", ANTHROPIC),
    ("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai/"),
]
#: Prices as the table has them, with those of prompts above 32,000 tokens.
TIERED = {
    "input": 1.0, "output": 10.0, "cache_read": 0.1, "batch": 0.5, "table": "a-table 1.2",
    "above": {"32000": {"input": 2.0, "output": 20.0, "cache_read": 0.2}},
}  # fmt: skip


def served(**keys):
    """The entry of a model of OpenAI's, as a study has it."""
    entry = {"engine": "openai", "api_model": "gpt-4o-mini", **keys}
    return study(models={"m": entry}, experiments=["kv_retrieval_small"]).models["m"]


@pytest.fixture
def without_package(monkeypatch):
    """As if the package with the table was not installed."""
    looked_up.cache_clear()
    monkeypatch.setattr(price_table, "find_spec", lambda name: None)
    yield
    looked_up.cache_clear()


@pytest.mark.parametrize("tokens", [1_000, 199_000, 201_000, 300_000])
@pytest.mark.parametrize(("model", "url"), MODELS)
def test_an_answer_costs_what_the_library_computes_for_short_and_long_prompts(model, url, tokens):
    prices = looked_up(model, url)
    assert prices and prices["table"].startswith("genai-prices ")
    cached = tokens // 2
    theirs = calc_price(
        TheirUsage(input_tokens=tokens, cache_read_tokens=cached, output_tokens=500), model, provider_api_url=url
    )
    ours = Prices.from_entry(prices).dollars(Usage(tokens - cached, 0, cached, 500))
    assert ours == pytest.approx(float(theirs.total_price))


@pytest.mark.parametrize(
    ("model", "url"), [("no-such-model", OPENAI), ("gpt-4o", "http://localhost:8000/v1"), ("gpt-4o", "")]
)
def test_what_the_table_does_not_know_has_no_price(model, url):
    assert looked_up(model, url) is None


def test_an_entry_without_prices_has_those_of_the_table_and_its_own_win():
    assert served().all_prices == looked_up("gpt-4o-mini", OPENAI)
    own = served(prices={"input": 7, "output": 8}).all_prices
    # The cache's price is the provider's usual part of the input's.
    assert own == {"input": 7, "output": 8, "cache_read": 3.5}
    assert served(base_url="http://localhost:8000/v1").all_prices is None
    assert served(api_model="no-such-model").all_prices is None


def test_prices_change_no_identity_and_reach_the_job_that_asks():
    unpriced, priced = served(), served(prices={"input": 7, "output": 8})
    assert unpriced.answer_settings() == priced.answer_settings() and unpriced.location() == priced.location()
    asked = Settings.from_settings({**unpriced.answer_settings(), **unpriced.run_settings()})
    assert asked.prices == looked_up("gpt-4o-mini", OPENAI)


def test_a_budget_works_with_prices_of_the_table_and_needs_some():
    assert served(budget=1).budget == 1
    with pytest.raises(UserError, match="'budget' needs 'prices'"):
        served(api_model="no-such-model", budget=1)
    account = Account(Prices.from_entry(TIERED), budget=0.1, spent=0)
    assert account.refusal(1, account.most(32_000, 1_000)) is None
    # A longer prompt costs twice as much.
    assert account.most(32_001, 1_000) == pytest.approx(2 * account.most(32_000, 1_000), rel=1e-3)
    assert account.refusal(2, account.most(32_001, 1_000)) is not None


def test_without_the_package_no_price_is_known_and_claude_has_its_usual_factors(without_package):
    claude = {"engine": "anthropic", "api_model": "claude-sonnet-4-5"}
    assert served(**claude).all_prices is None
    own = served(**claude, prices={"input": 3, "output": 15}).all_prices
    assert (own["cache_write"], own["cache_read"]) == (pytest.approx(3.75), pytest.approx(0.3))


def test_sums_and_rows_have_the_prices_of_each_prompt():
    usages = [Usage(20_000, 0, 0, 100), Usage(30_000, 0, 0, 100), Usage(40_000, 0, 0, 100), Usage(33_000, 0, 0, 0)]
    prices = Prices.from_entry(TIERED)
    each = sum(map(prices.dollars, usages))
    assert each == pytest.approx((50_000 + 2 * 73_000 + 2_000 + 2_000) / 1e6)
    sums = [Usage.sum_from_json(one.to_json()) for one in Usage.sums(usages)]
    assert sum(map(prices.dollars, sums)) == pytest.approx(each) and len(sums) == 2
    rows = pd.DataFrame({"prompt_tokens": [one.prompt for one in usages], "response_tokens": [100, 100, 100, 0]})
    assert prices.of_rows(rows).sum() == pytest.approx(each)
    # Short prompts are written as before, and so is a single answer.
    assert Usage.sums(usages[:2])[0].to_json() == Usage(50_000, 0, 0, 200).to_json()
    assert Usage.from_json(usages[2].to_json()) == usages[2]


def test_the_bill_names_the_table_and_the_price_of_long_prompts():
    usages = [Usage(20_000, 0, 0, 100), Usage(40_000, 0, 0, 100), replace(Usage(10, 0, 0, 1), batch=True)]
    short, long, batch = bill_in_words(usages, TIERED)
    assert "US$ 0.0210 by a-table 1.2 (20,000 tokens of prompts" in short
    assert "counters, for prompts above 32,000 tokens: US$ 0.0820 by a-table 1.2" in long
    assert "in batches: US$ 0.0000 by a-table 1.2" in batch
    (own,) = bill_in_words(usages[:1], {"input": 1, "output": 10})
    assert "US$ 0.0210 (" in own
    assert [line for line in bill_in_words(usages[:1], None) if "no prices" in line]


def test_plan_estimate_and_report_name_the_table():
    one = study(models={"m": {"engine": "openai", "api_model": "gpt-5.6"}}, experiments=["kv_retrieval_small"])
    table = looked_up("gpt-5.6", OPENAI)["table"]
    work = Work(10, 1_000_000, 1_000, 1_000_000, longest=5_000)
    assert all(f"prices of {table})" in line for line in dollar_lines(one, [(one.sweeps[0], work)]))
    estimates = [Estimate("m", "kv_retrieval_small", 10, work, 10, 0, 0, None)]
    (line,) = [line for line in notes(one, estimates, {"m": None}) if table in line]
    assert line.startswith(f"m: US$ by {table}, ") and "above 272,000 tokens" in line
    prices = Prices.from_entry(looked_up("gpt-5.6", OPENAI))
    short, long = (estimate_table(one, [replace(estimates[0], work=replace(work, longest=longest))], {"m": None})
                   for longest in (5_000, 300_000))  # fmt: skip
    assert short["dollars"].iloc[0] == pytest.approx(prices.dollars(Usage(1_000_000, 0, 0, 1_000, longest=0)))
    assert long["dollars"].iloc[0] > 1.4 * short["dollars"].iloc[0]


def test_the_report_names_where_prices_are_from():
    manifest = {
        "model": "m", "experiment": "e", "prompt_tokens": 1_000_000, "response_tokens": 0, "made_with": {"x": 1},
        "asked": 1, "work": None, "billed": [Usage(1_000_000, 0, 0, 0).to_json()],
    }  # fmt: skip
    other = manifest | {"model": "own"}
    prices = {"m": TIERED, "own": {"input": 2, "output": 2}}
    *_, both = tokens_in_words(token_table([manifest, other], prices), prices)
    assert both == "By the prices in the config and of a-table 1.2 (m), these answers cost US$ 3.00."
    *_, one = tokens_in_words(token_table([manifest], {"m": TIERED}), {"m": TIERED})
    assert one == "By the prices of a-table 1.2 (m), these answers cost US$ 1.00."
    *_, own = tokens_in_words(token_table([other], prices), {"own": prices["own"]})
    assert own == "By the prices in the config, these answers cost US$ 2.00."
