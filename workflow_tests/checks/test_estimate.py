"""The estimate: remaining work, rate and money of a sweep; a running sweep is not disturbed."""

from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest
from configs import config
from conftest import ROOT
from echo_engine import AskedSweep
from local_engines import SETTINGS
from programs import run_program
from record_makers import example
from score_frames import of_matrix, random_matrix
from sweeps import MODEL, local_sweep

from litm.analysis.power import Assumption, earlier
from litm.base.json_files import read_json, write_json
from litm.base.store import digest
from litm.checks.estimate import (
    Remaining,
    as_text,
    by_characters,
    curve_questions,
    dollars,
    encoder,
    estimate_table,
    hours,
    notes,
    remaining_work,
    what_is_shown,
)
from litm.engines.modules.transformers import Engine
from litm.inference.answer_identity import sweep_identity
from litm.inference.asked_sweep import AskedSweep as Sweep
from litm.inference.journal import Journal
from litm.inference.prompts import Fit, sweep_prompts
from litm.inference.sweep import ask_missing
from litm.planning.speed import Rate
from litm.prompting.prompt_format import most_tokens
from litm.records.examples import Example, write_examples
from litm.records.responses import Response, response_key

NAMES = ("m", "e")
LOCAL = local_sweep(Path())
DECODING = {"max_new_tokens": 10, "stop": "end_token"}
ENCODE = encoder(Sweep(LOCAL.source, LOCAL.settings, None, DECODING))
#: Prompts with a common beginning.
TEXTS = [f"The documents are all the same, the question is {word}." for word in ("one", "two", "three", "four")]


def examples(texts: list[str]) -> list[Example]:
    return [example(id=str(number), size=1, prompt=text) for number, text in enumerate(texts)]


def prompts(texts: list[str], identity: str = "i"):
    return sweep_prompts(examples(texts), identity, "raw")


def answer_to(text: str) -> Response:
    return Response("x", "stop", len(ENCODE([text])[0]), 1, "fake")


def left(**changes) -> Remaining:
    return replace(Remaining("m", "e", 10, 10, 0, 0, 10, 1_000_000, 1_000_000, 500_000), **changes)


def work(texts=TEXTS, answered=(), window=None, encode=ENCODE, shares=False) -> Remaining:
    """The work that is left for these prompts. answered: identity and prompt of each one that has an answer."""
    answers = {response_key(*one): answer_to(one[1]) for one in answered}
    return remaining_work(NAMES, prompts(texts), answers, Fit(window, 10), encode, shares)


def test_answers_in_the_journal_under_the_same_identity_are_not_asked_again():
    tokens = sum(map(len, ENCODE(TEXTS[1:])))
    found = work([*TEXTS, TEXTS[3]], [("i", TEXTS[0]), ("other", TEXTS[1])])
    assert found == Remaining("m", "e", 5, 4, 1, 0, 3, tokens, tokens, 30)


@pytest.mark.parametrize(
    ("request_", "decoding", "limit"),
    [
        ({"seed": 1, "max_tokens": None}, DECODING, 10),
        ({"max_completion_tokens": 700}, DECODING, 700),
        ({"max_tokens": 5.0, "max_completion_tokens": float("inf")}, DECODING, 5),
        ({"max_tokens": 700}, {"measure": "log_probability"}, 0),
    ],
)
def test_the_room_for_an_answer_is_the_limit_of_the_request(request_, decoding, limit):
    served = Sweep(LOCAL.source, {**LOCAL.settings, "request": request_}, None, decoding)
    assert served.fit(1700) == Fit(1700, limit)


def test_what_does_not_fit_is_neither_answered_nor_asked():
    found = work([*TEXTS, "word " * 200], [("i", TEXTS[0])], window=100)
    assert (found.distinct_prompts, found.answered, found.too_long, found.to_ask) == (5, 1, 1, 3)
    # As in a sweep, an answer that was got under a larger window does not count under a smaller one.
    none_fits = work(TEXTS, [("i", TEXTS[0])], window=12)
    assert (none_fits.answered, none_fits.too_long, none_fits.to_ask, none_fits.prompt_tokens) == (0, 4, 0, 0)


def test_an_engine_that_shares_computes_common_beginnings_once():
    alone, shared = work(), work(shares=True)
    assert alone.computed_tokens == alone.prompt_tokens == shared.prompt_tokens
    beginning = len(ENCODE(["The documents are all the same, the question is"])[0])
    assert shared.computed_tokens <= shared.prompt_tokens - 3 * (beginning - 1)


def test_a_server_reads_a_prompt_with_each_answer_that_is_measured():
    measured = [replace(prompt, answers=("one", "two", "three")) for prompt in prompts(TEXTS)]
    alone, shared = (remaining_work(NAMES, measured, {}, Fit(None, 0), ENCODE, shares) for shares in (False, True))
    assert alone.prompt_tokens == 3 * shared.prompt_tokens
    assert (alone.to_ask, alone.max_new_tokens) == (4, 0)


def test_without_a_tokenizer_the_tokens_of_the_prompts_to_ask_are_counted_by_characters():
    found = work(window=20, encode=None)
    most = sum(map(most_tokens, TEXTS))
    assert found == Remaining("m", "e", 4, 4, 0, 0, 4, None, None, 40, most_tokens=most)
    assert work(TEXTS, [("i", TEXTS[0])], encode=None).most_tokens == most - most_tokens(TEXTS[0])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # By the tokenizer of GPT-NeoX.
        ("Die Geschäftsführungsentscheidungen der Donaudampfschifffahrtsgesellschaft werden unterzeichnet.", 32),
        ("    for key, value in sorted(counts.items()):\n        print(f'{key}: {value}')\n", 28),
        ('"3f2504e0-4f89-11d3-9a0c-0305e82c3301": "6fa459ea-ee8a-3ca4-894e-db77e160355e"', 53),
        ("中华人民共和国是位于东亚的社会主义国家", 24),
        ("Москва является столицей Российской Федерации.", 24),
    ],
)
def test_tokens_by_characters_are_no_fewer_than_those_of_a_tokenizer(text, tokens):
    assert tokens <= most_tokens(text)


def test_a_servers_chat_is_counted_in_the_chat_template_or_else_by_its_words(tmp_path):
    settings = {"engine": "openai", "endpoint": "chat", "prompt_template": "chat", "request": {}}
    served = Sweep({**LOCAL.source, "location": "gpt", "base_url": None}, settings, None, DECODING)
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": " two"}]
    assert encoder(served) is None
    assert encoder(replace(served, tokenizer=str(MODEL)))([turns, "one two"]) == [ENCODE(["one two"])[0]] * 2
    for file in MODEL.glob("tokenizer*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    served = replace(served, tokenizer=str(tmp_path))
    assert encoder(served)([turns]) == ENCODE(["<user>one<assistant> two"])
    # Anthropic's template is not that of any tokenizer.
    served = replace(served, settings={**settings, "engine": "anthropic"})
    assert encoder(served)([turns]) == ENCODE(["one two"])


def test_the_estimate_is_what_a_sweep_then_asks(tmp_path):
    identity, fit, settings = {"model": "m"}, Fit(30, 3), replace(SETTINGS, max_new_tokens=3)
    asked = prompts(TEXTS, digest(identity))
    found = remaining_work(NAMES, asked, {}, fit, ENCODE, shares=True)
    with Journal(tmp_path / "j.jsonl") as journal:
        outcome = ask_missing(asked, journal, AskedSweep("m/e", identity), fit, lambda: Engine(settings))
    assert (found.to_ask, found.prompt_tokens) == (outcome.asked, outcome.work["prompt_tokens"])
    assert found.computed_tokens == outcome.work["tree_tokens"]


def estimate_sweep(folder: Path) -> Remaining:
    write_json(folder / "source.json", dict(LOCAL.source))
    write_examples(folder / "examples.jsonl.gz", examples(TEXTS))
    files = {"source": "source.json", "examples": "examples.jsonl.gz", "journal": "journal.jsonl"}
    options = {name: str(folder / file) for name, file in (files | {"output": "estimate.json"}).items()}
    options |= {"settings": LOCAL.settings, "decoding": DECODING}
    done = run_program("estimate_sweep", model="m", experiment="e", **options)
    assert done.returncode == 0, done.stderr
    return Remaining(**read_json(folder / "estimate.json"))


def test_a_running_sweep_is_read_up_to_its_last_line_and_not_disturbed(tmp_path):
    path = tmp_path / "journal.jsonl"
    identity = sweep_identity(LOCAL.source["identity"], LOCAL.settings, None, DECODING)

    def pair(text: str) -> tuple[str, Response]:
        return response_key(digest(identity), text), answer_to(text)

    with Journal(path) as journal, Journal(tmp_path / "journal" / "1_of_2.jsonl") as shard:
        journal.append(identity, [pair(TEXTS[0])])
        shard.append(identity, [pair(TEXTS[1])])
        with path.open("ab") as file:
            file.write(b'{"key": "half a line of the batch that is being writ')
        before = path.read_bytes()
        found = estimate_sweep(tmp_path)
        assert (found.answered, found.to_ask, path.read_bytes()) == (2, 2, before)


def test_hours_and_dollars_are_unknown_rather_than_wrong():
    assert hours(left(computed_tokens=3_600_000), Rate(100.0, "")) == 10
    assert hours(left(), None) is hours(left(computed_tokens=None), Rate(100.0, "")) is None
    assert hours(left(to_ask=0, computed_tokens=0), None) == 0
    prices = {"input": 2, "output": 10}
    assert dollars(left(), prices) == 7
    assert dollars(left(), None) is dollars(left(prompt_tokens=None), prices) is None


def test_the_table_has_sums_and_says_what_it_does_not_know():
    sweeps = [left(), left(model="api", experiment="e")]
    rates, prices = {"m": Rate(1000.0, "measured on kv (cpu)"), "api": None}, {"api": {"input": 2, "output": 10}}
    table = estimate_table(sweeps, rates, prices)
    assert table["dollars"].tolist() == [0, 7, 7] and table["to_ask"].tolist() == [10, 10, 20]
    assert table["hours"].isna().tolist() == [False, True, True]
    shown = as_text(table).splitlines()
    assert "1,000,000" in shown[1] and shown[2].split()[-2:] == ["?", "7.00"]
    told = "\n".join(notes(sweeps, rates, prices))
    assert "m: hours at 1,000 prompt tokens a second, measured on kv (cpu)" in told and "at most" in told
    assert "api: hours unknown: run one small experiment first" in told
    assert any("set prices" in line for line in notes(sweeps, rates, {"api": None}))


def test_money_is_not_mentioned_where_nothing_costs_any():
    table = estimate_table([left()], {"m": None}, {})
    assert "US$" not in as_text(table) and not any("US$" in line for line in notes([left()], {"m": None}, {}))


@pytest.mark.parametrize("prices", [None, {"input": 0, "output": 0}, {"input": 2, "output": 10}])
@pytest.mark.parametrize("work", [{}, {"prompt_tokens": None, "most_tokens": 9}, {"to_ask": 0, "prompt_tokens": 0}])
def test_us_dollars_are_shown_and_explained_where_any_are_to_be_paid_or_unknown(prices, work):
    one, of_api = left(model="api", **work), {"api": prices}
    table = estimate_table([by_characters(one)], {"api": None}, of_api)
    told = notes([one], {"api": None}, of_api)
    costs = "to_ask" not in work and prices != {"input": 0, "output": 0}
    assert ("US$, at most" in as_text(table)) == any(line.startswith("US$ are at most") for line in told) == costs


def config_of(entry: dict) -> dict:
    return config(models={"m": entry}, experiments=["kv_retrieval_small"])


def estimate(folder: Path, entry: dict, **changes):
    """What the program prints about one sweep of a model, and its table."""
    write_json(folder / "one.json", asdict(left(**changes)))
    options = {"config": config_of(entry), "lock": str(ROOT / "requirements.lock"), "results": str(folder)}
    done = run_program("estimate", sweeps=f"{folder}/one.json", table=f"{folder}/estimate.csv", **options)
    assert done.returncode == 0, done.stderr
    return done.stdout, pd.read_csv(folder / "estimate.csv")


#: Of half a billion parameters, for one core of a processor.
SLOW = {"engine": "transformers", "path": str(MODEL), "parameters": 0.5, "dtype": "float32"}
SLOW |= {"device": "cpu", "threads": 1}


@pytest.mark.parametrize(
    ("entry", "hours", "said"),
    [
        (SLOW, 5.555556, "at 50 prompt tokens a second, a rule"),
        (SLOW | {"tokens_per_second": 100}, 2.777778, "at 100 prompt tokens a second, tokens_per_second of its entry"),
    ],
    ids=["never ran", "stated"],
)
def test_the_table_is_printed_and_written_and_the_origin_of_its_hours_is_named(tmp_path, entry, hours, said):
    printed, table = estimate(tmp_path, entry)
    assert f"m: hours {said}" in printed and table["hours"].tolist() == pytest.approx([hours] * 2)


def test_a_model_without_a_tokenizer_has_tokens_and_dollars_by_characters_and_a_budget_below_them_is_named(tmp_path):
    entry = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}, "budget": 3}
    unknown = {"experiment": "kv_retrieval_small", "prompt_tokens": None, "computed_tokens": None}
    printed, table = estimate(tmp_path, entry, **unknown, most_tokens=700_000)
    assert "m: tokens estimated from characters, usually too many; to count them, set 'tokenizer'" in printed
    assert "m: its budget of US$ 3.00 may not be enough" in printed
    row, _ = table.to_dict("records")
    assert row["prompt_tokens"] == 700_000
    assert row["dollars"] == pytest.approx((700_000 * 2 + 500_000 * 10) / 1e6)


def curve_prompts(counts: dict[tuple[int, int], int]):
    """Prompts at each (size, position), with the given number of questions."""
    every = [(number, *cell) for cell, count in counts.items() for number in range(count)]
    made = [
        example(id=str(n), size=size, placement=f"gold_at_{at}", prompt=f"{n} {size} {at}") for n, size, at in every
    ]
    return sweep_prompts(made, "i", "raw")


def test_the_questions_of_a_curve_are_those_of_its_smallest_size_with_three_positions():
    three = {(10, 0): 40, (10, 4): 40, (10, 9): 40}
    assert curve_questions(curve_prompts({**three, (20, 0): 30, (20, 9): 30, (20, 19): 30, (5, 0): 9, (5, 4): 9})) == 30
    assert curve_questions(curve_prompts({(10, 0): 40, (10, 9): 40})) is None


def test_without_earlier_scores_the_estimate_names_its_assumptions(tmp_path):
    no_curve = {("m", "closed_book"): None}
    columns, (heading, line) = what_is_shown({("m", "e"): 100, ("other", "e"): 100, **no_curve}, tmp_path)
    assert list(columns) == [("m", "e"), ("other", "e")]
    assert columns["m", "e"]["pbi_mde"] < columns["m", "e"]["difference_mde"]
    assert "with a chance of 80 %" in heading
    said = "100 questions show only differences of 14.4 points or more between positions; 791 "
    assert line.startswith(f"e (m, other): {said}")
    assert "(accuracy 50.0 %, correlation 0.50: assumed, for independent questions)" in line
    assert what_is_shown(no_curve, tmp_path) == ({}, [])


def test_earlier_scores_of_the_sweep_or_else_of_another_model_tell_accuracy_and_correlation(tmp_path):
    for model, accuracies in (("m", (0.9, 0.8, 0.9)), ("another", (0.3, 0.2, 0.3)), ("floor", (-0.2, -0.2, -0.2))):
        path = tmp_path / "scores" / model / "e.parquet"
        path.parent.mkdir(parents=True)
        of_matrix(random_matrix(accuracies, 400), (0, 4, 8)).to_parquet(path)
    assumed, source = earlier(tmp_path, "m", "e")
    assert assumed.accuracy == pytest.approx(0.87, abs=0.05) and source == "from earlier scores of m, n = 400"
    assumed, source = earlier(tmp_path, "floor", "e", ["floor", "another"])
    assert assumed.accuracy < 0.4 and source == "from earlier scores of another, n = 400"
    # Of models that the study does not have, scores tell nothing.
    # Damaged scores end no plan: the job that needs them says so.
    (tmp_path / "scores" / "new").mkdir()
    (tmp_path / "scores" / "new" / "e.parquet").touch()
    assert earlier(tmp_path, "new", "e")[1] == "assumed, for independent questions"
    assert earlier(tmp_path, "m", "never_run")[0] == Assumption(0.5, 0.5)


def test_earlier_scores_tell_how_much_questions_of_a_cluster_count(tmp_path):
    once = random_matrix((0.6, 0.5, 0.6), 200)
    fours = of_matrix(once.repeat(4, axis=0), (0, 4, 8))
    fours["cluster"] = fours["id"].str[1:].astype(int) // 4
    for model, scores in (("single", of_matrix(once, (0, 4, 8))), ("fours", fours)):
        (tmp_path / "scores" / model).mkdir(parents=True)
        scores.to_parquet(tmp_path / "scores" / model / "e.parquet")
    columns, (_, _, line) = what_is_shown({("single", "e"): 200, ("fours", "e"): 800}, tmp_path)
    assert "design effect 4.0: from earlier scores of fours, n = 800)" in line
    single, found = columns["single", "e"], columns["fours", "e"]
    assert [found[name] / single[name] for name in single] == pytest.approx([4, 1, 1, 4, 4], rel=0.05)


def test_the_estimates_table_has_detectable_effects_and_no_sum_of_them(tmp_path):
    shown, _ = what_is_shown({("m", "e"): 100}, tmp_path)
    table = estimate_table([left(), left(experiment="closed_book")], {"m": None}, {}, shown)
    assert table["n"].tolist() == [100, pd.NA, pd.NA]
    assert table["pbi_mde"][0] == pytest.approx(0.127, abs=0.003) and pd.isna(table["n_for_5_points_pbi"][2])
    printed, _ = estimate(tmp_path, SLOW, questions=100)
    assert "100 questions show only differences of 14.4 points or more between positions" in printed
