"""Requests for a provider's cache and their bill, against a server that has its own rules and counts its own tokens."""

import asyncio
import json
import random
from contextlib import nullcontext

import pytest
from api_engines import HASTE, SETTINGS, answers, make_engine
from billing_server import COUNTERS, BillingServer
from engine_settings import changed_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from litm.base.messages import UserError
from litm.engines.interface import Prepared, PromptCache
from litm.engines.modules import openai
from litm.records.bills import Prices, Usage
from litm.records.responses import Response
from litm.servers.billing import Account
from litm.servers.caching import cut_place, plan
from litm.servers.retrying import Patience, Unanswered, as_they_finish

MODELS = {"anthropic": "claude-sonnet-4-5", "openai": "gpt-4o-2024-11-20"}
PRICES = {
    "anthropic": {"input": 3, "cache_write": 3.75, "cache_read": 0.3, "output": 15},
    "openai": {"input": 2.5, "cache_read": 1.25, "output": 10},
}
RULES = PromptCache(least={"": 40}, write={"": 1.25}, read={"": 0.1}, marks=4)


def documents(*names: object) -> str:
    """Documents of about 150 tokens of the server, a line each."""
    return "".join(f"Document {name}: {' '.join(f'{name}w{n:02}' for n in range(35))}\n" for name in names)


def position_sweep(questions: int, size: int = 20) -> list[str]:
    """Prompts of a sweep over five positions of the gold document, in any order."""
    prompts = []
    for number in range(questions):
        others = [f"{number}d{place:02}" for place in range(size - 1)]
        for position in range(0, size, size // 4):
            context = [*others[:position], f"{number}g00", *others[position:]]
            prompts.append(
                f"Answer from the documents.\n\n{documents(*context)}\nQuestion: where is {number}?\nAnswer:"
            )
    random.Random(7).shuffle(prompts)
    return prompts


def other_keys(contexts: int, keys: int) -> list[str]:
    """Prompts of the same pairs that ask for another key; some keys begin alike, and are cut before them."""
    return [
        f"Find it.\n\n{documents(*(f'{c}k{p}' for p in range(12)))}\nKey: {key}\nValue:"
        for c in range(contexts)
        for key in [*range(10, 9 + keys), 99]
    ]


SWEEPS = {"positions": position_sweep(2), "keys": other_keys(2, 9), "short": other_keys(1, 3)[0][:40].split()}


def engine_of(protocol: str, server: BillingServer, **changes: object):
    usual = {"location": MODELS[protocol], "prices": PRICES[protocol], "max_new_tokens": 8}
    return make_engine(protocol, server, **{**usual, **changes})


def bill(found: dict[int, Response], prices: dict) -> float:
    return sum(Prices.from_entry(prices).dollars(response.billed) for response in found.values())


@pytest.mark.parametrize("limit", [0, 5], ids=["", "with a limit of requests"])
@pytest.mark.parametrize("caching", [True, False], ids=["cached", "not cached"])
@pytest.mark.parametrize("sweep", SWEEPS)
def test_the_bill_is_that_of_the_server(protocol, sweep, caching, limit):
    with BillingServer(limit=limit) as server:
        found = answers(engine_of(protocol, server, prompt_caching=caching), SWEEPS[sweep])
    assert len(found) == len(SWEEPS[sweep]) == len(server.usages)
    assert bill(found, PRICES[protocol]) == pytest.approx(float(server.dollars), abs=1e-9)
    for counter in COUNTERS:
        assert sum(getattr(response.billed, counter) for response in found.values()) == server.total(counter)
    assert bool(server.refused) == bool(limit and len(found) > limit)


@pytest.mark.parametrize(("sweep", "share"), [("positions", 0.88), ("keys", 0.3)])
def test_a_cached_sweep_costs_less_and_what_was_planned(protocol, sweep, share):
    costs = {}
    for caching in (True, False):
        with BillingServer(seconds=0.01) as server:
            engine = engine_of(protocol, server, prompt_caching=caching, concurrency=16)
            # As with a tokenizer that counts like the server's.
            prompts = [Prepared(prompt, [*server.tokens(prompt)]) for prompt in SWEEPS[sweep]]
            planned = engine.plan(SWEEPS[sweep], [prompt.tokens for prompt in prompts])
            assert sum(map(len, engine.generate(prompts))) == len(prompts)
            costs[caching] = (float(server.dollars), server.total("cache_read"), planned)
    dollars, read, planned = costs[True]
    tokens = sum(prompt.tokens for prompt in prompts)
    # Each waits for what it reads: on any machine the server's counts are the planned ones, by characters.
    assert read == pytest.approx(planned.shares["cache_read"] * tokens, rel=0.03)
    # A server that caches by itself may do so for any order, but never more.
    assert costs[False][1] <= read and (protocol == "openai" or costs[False][1] == 0)
    assert protocol == "openai" or dollars < share * costs[False][0]


def test_prompts_that_share_nothing_long_are_asked_as_before(protocol):
    bodies = {}
    for caching in (True, False):
        with BillingServer() as server:
            answers(engine_of(protocol, server, prompt_caching=caching), SWEEPS["short"])
        bodies[caching] = sorted(map(json.dumps, server.bodies))
    assert bodies[True] == bodies[False]


def test_prices_at_which_a_cache_does_not_pay_leave_requests_as_they_are():
    dear = {"input": 3, "cache_write": 30, "cache_read": 2.9, "output": 15}
    with BillingServer() as server:
        answers(engine_of("anthropic", server, prices=dear), SWEEPS["positions"])
    assert server.total("cache_write") == 0


def test_a_prefix_that_is_gone_is_written_again_and_billed():
    times = iter(range(0, 10**9, 400))
    with BillingServer(clock=lambda: float(next(times))) as server:
        found = answers(engine_of("anthropic", server, concurrency=1), SWEEPS["keys"])
    # At each look at the clock 400 seconds have passed.
    assert server.total("cache_read") == 0 and server.total("cache_write") > 0.8 * server.total("input")
    assert bill(found, PRICES["anthropic"]) == pytest.approx(float(server.dollars), abs=1e-9)


def test_blocks_have_the_text_of_the_prompt_at_most_four_marks_and_whole_lines():
    with BillingServer() as server:
        answers(engine_of("anthropic", server), SWEEPS["positions"])
    sent = []
    for content in (message["content"] for body in server.bodies for message in body["messages"]):
        blocks = [{"text": content}] if isinstance(content, str) else content
        assert sum("cache_control" in block for block in blocks) <= 4
        assert all(block["text"].endswith("\n") for block in blocks[:-1])
        sent.append("".join(block["text"] for block in blocks))
    assert sorted(sent) == sorted(SWEEPS["positions"])


@pytest.mark.parametrize("roles", ["user", "system user", "system user assistant user"])
def test_conversations_and_system_prompts_are_cached_up_to_the_turn_that_differs(roles):
    def prompt(number: int) -> list[dict[str, str]]:
        *shared, last = roles.split()
        turns = [{"role": role, "content": documents(*(f"{role}{n}" for n in range(9)))} for role in shared]
        return [*turns, {"role": last, "content": documents(*range(20)) * (not shared) + f"Question {number}?"}]

    with BillingServer() as server:
        found = answers(engine_of("anthropic", server, prompt_template="chat"), [prompt(n) for n in range(4)])
    assert [one.billed.cache_read > 1000 for _, one in sorted(found.items())].count(True) == 3
    assert max(one.billed.input for one in found.values()) < 40


def session(place: int, turns: int) -> list[dict]:
    """A session with tools: each turn has a call and its result, and one more turn is at `place`."""

    def turn(name: object) -> list[dict]:
        call = {"id": f"call_{name}", "name": "read", "arguments": json.dumps({"path": f"{name}.md"})}
        return [
            {"role": "user", "content": f"Read {name}.md."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": documents(name), "tool_call_id": call["id"]},
        ]

    turns = [[*turn(number)] for number in range(turns)]
    placed = [*turns[:place], turn("placed"), *turns[place:]]
    return [*(message for part in placed for message in part), {"role": "user", "content": "Where is it?"}]


def conversation(place: int, turns: int) -> list[dict]:
    """A conversation without tools; one more turn is at `place`."""
    told = [f"Turn {number}. {documents(number)}" for number in range(turns)]
    told.insert(place, "The code is 17.")
    return [
        *({"role": role, "content": text} for text in told for role in ("user", "assistant")),
        {"role": "user", "content": "Which code?"},
    ]


@pytest.mark.parametrize("prompt", [session, conversation])
def test_what_long_sessions_have_in_common_is_read_with_at_most_four_marks(prompt):
    with BillingServer() as server:
        found = answers(
            engine_of("anthropic", server, prompt_template="chat"), [prompt(n, 40) for n in (12, 20, 30, 38)]
        )
    assert not server.refused
    assert max(json.dumps(body).count("cache_control") for body in server.bodies) <= 4
    assert bill(found, PRICES["anthropic"]) == pytest.approx(float(server.dollars), abs=1e-9)
    # The first writes; the others read what stands before the first place that differs.
    shares = sorted(one.billed.cache_read / one.billed.prompt for one in found.values())
    assert shares[0] == 0 and shares[1] > 0.25 and shares[3] > 0.6


@pytest.mark.parametrize("url", [None, "https://eu.api.openai.com/v1", "http://localhost:1/v1"])
def test_only_openais_own_servers_get_a_key_to_their_cache(url, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    engine = openai.Engine(changed_settings(SETTINGS, prices=PRICES["openai"], base_url=url), HASTE)
    planned = engine.plan(SWEEPS["keys"], [2000] * len(SWEEPS["keys"])).prompts
    plain = [engine.request(prompt)[1] for prompt in SWEEPS["keys"]]
    bodies = [engine.for_cache(body, planned[number]) for number, body in enumerate(plain)]
    keys = [body.pop("prompt_cache_key", None) for body in bodies]
    assert bodies == plain and len(set(keys)) == (1 if url and "localhost" in url else 2)


def test_a_server_that_refuses_marks_costs_one_line_and_no_answer(capsys):
    with BillingServer(unknown="cache_control") as server:
        found = answers(engine_of("anthropic", server), SWEEPS["positions"])
    assert len(found) == len(server.usages) == len(SWEEPS["positions"])
    told = capsys.readouterr().err
    assert told.count("refuses requests for its cache") == 1 and "Extra inputs are not permitted" in told
    assert len(server.refused) <= 8 and set(server.refused) == {400}


def test_another_mistake_in_a_marked_request_is_an_error_as_before():
    with BillingServer() as server, pytest.raises(UserError, match="not_found_error"):
        answers(engine_of("anthropic", server, location="claude-none"), SWEEPS["keys"])
    with BillingServer(unknown="top_k") as server, pytest.raises(UserError, match="top_k"):
        answers(engine_of("anthropic", server, request={"top_k": 1}), SWEEPS["keys"])


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 2), max_size=7), min_size=1, max_size=25))
def test_every_prompt_reads_only_what_an_earlier_one_that_it_waits_for_has_written(paths):
    texts = [
        "".join(f"{'abc'[step]}{'x' * 28}\n" for step in path) + f"end {number}" for number, path in enumerate(paths)
    ]
    planned = plan(texts, [len(text) for text in texts], RULES, "m", Prices(1, 1, 1.25, 0.1))
    assert sorted(planned.order) == list(range(len(texts)))
    done: set[int] = set()
    written: dict[str, int] = {}
    for number in planned.order:
        one, text = planned.prompts[number], texts[number]
        assert one.after is None or one.after in done
        assert one.billed.input + one.billed.cache_write + one.billed.cache_read == len(text)
        assert len(one.marks) <= 4 and set(one.marks) <= set(one.places) and all(place >= 40 for place in one.places)
        for place in one.marks:
            written.setdefault(text[:place], number)
        if one.billed.cache_read:
            assert written[text[: one.billed.cache_read]] == one.after
        done.add(number)
    # Prompts with a common place are divided alike up to it.
    for one, other in zip(planned.order, planned.order[1:], strict=False):
        for place in planned.prompts[one].places:
            if texts[one][:place] == texts[other][:place] and planned.prompts[other].places:
                assert place in planned.prompts[other].places


def test_a_cut_is_after_a_line_or_before_a_word():
    assert cut_place("one two\nthree four\nfive", 20) == 19
    assert cut_place("a\n" + "word " * 20 + "end", 100) == 96
    assert cut_place("x" * 50, 30) == 0


@pytest.mark.parametrize("share", [0.0001, 0.3, 0.7])
def test_a_budget_stops_a_sweep_in_time_and_a_higher_one_continues_it(protocol, share):
    prompts, prices = other_keys(6, 5), PRICES[protocol]
    with BillingServer() as server:
        answers(engine_of(protocol, server, concurrency=1), prompts)
        whole = float(server.dollars)
    with BillingServer(seconds=0.005) as server:
        found: dict[int, Response] = {}
        engine = engine_of(protocol, server, budget=share * whole)
        with pytest.raises(UserError, match=r"the budget of US\$ .* All answers are kept: raise the model's 'budget'"):
            for batch in engine.generate(engine.prepare(prompts)):
                found |= dict(batch)
        spent = bill(found, prices)
        assert float(server.dollars) == pytest.approx(spent, abs=1e-9) and spent <= share * whole
        assert len(found) < len(prompts) and (len(found) > 0) == (share > 0.01)
        left = [prompt for number, prompt in enumerate(prompts) if number not in found]
        found = answers(engine_of(protocol, server, budget=2 * whole, spent=spent), left)
    assert len(found) == len(left) and float(server.dollars) <= 2 * whole


def test_the_most_that_an_answer_can_cost_is_by_the_limit_of_the_request(protocol):
    with BillingServer() as server:
        plain, longer = (engine_of(protocol, server, request=sent) for sent in ({}, {"max_tokens": 5_000}))
        more = longer.most_dollars(Prepared("x", None)) - plain.most_dollars(Prepared("x", None))
    assert more == pytest.approx((5_000 - 8) * PRICES[protocol]["output"] / 1e6)


def test_requests_under_way_and_those_without_a_bill_count_as_dear_as_they_can_be():
    account = Account(Prices(1, 2, 1.25, 0.1), budget=10, spent=1)
    most = account.most(2_000_000, 500_000)
    assert most == 3.5
    assert [account.refusal(number, most) is None for number in range(3)] == [True, True, False]
    account.settle(0, Usage(0, 0, 2_000_000, 500_000))
    assert account.refusal(2, most) is None and account.refusal(3, most) is not None
    account.settle(1, None)
    account.settle(2, Usage(0, 0, 0, 0))
    assert account.refusal(4, 4.3) is None and account.refusal(4, 4.4) is not None


@pytest.mark.parametrize(
    ("cut", "bill", "spent", "sends"),
    [(1, 0.1, None, [0, 1, 2, 0]), (1, 0.9, "2.8000", [0, 1, 2]), (3, 0.1, "3.0000", [0])],
)
def test_a_repeated_request_waits_for_those_under_way_before_the_budget_ends(cut, bill, spent, sends):
    account, sent = Account(Prices(1e6, 1, 1, 1), budget=3.5, spent=0), []

    async def send(number: int) -> int:
        sent.append(number)
        if sent == [0]:
            account.settle(0, Usage(cut, 0, 0, 0))
            raise Unanswered("cut")
        await asyncio.sleep(0.01)
        account.settle(number, Usage(bill, 0, 0, 0))
        return number

    async def answered() -> set[int]:
        patience, refusal = Patience(timeout=1, attempts=3, first_wait=0.001), lambda one: account.refusal(one, 1.0)
        found = as_they_finish(send, [0, 1, 2], 3, patience, None, refusal)
        return {number async for some in found for number, _ in some}

    with pytest.raises(UserError, match=rf"US\$ {spent} are billed.* up to US\$ 1.0000") if spent else nullcontext():
        assert asyncio.run(asyncio.wait_for(answered(), 5)) == {0, 1, 2}
    assert sent == sends
