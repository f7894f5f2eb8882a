"""The estimate: remaining work, rate and money of a sweep; a running sweep is not disturbed."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT
from echo_engine import AskedSweep
from programs import run_program
from record_makers import example
from score_frames import of_matrix, random_matrix

from litm.analysis.positions import earlier
from litm.analysis.power import Assumption
from litm.base.formats import read_json, write_json
from litm.base.store import canonical_json, digest
from litm.checks.estimate import (
    Remaining,
    as_text,
    curve_questions,
    dollars,
    encoder,
    estimate_table,
    hours,
    notes,
    remaining_work,
    what_is_shown,
)
from litm.checks.study_costs import costs
from litm.config.study import load_study
from litm.inference.answer_identity import sweep_identity
from litm.inference.costs import Rate
from litm.inference.engine import EngineSettings
from litm.inference.engines.transformers import Engine
from litm.inference.journal import Journal
from litm.inference.setup import Fit, Sweep, sweep_prompts
from litm.inference.sweep import ask_missing
from litm.models.identity import folder_identity
from litm.records import Example, Response, response_key, write_examples

REFERENCE = ROOT / "resources" / "reference_model"
NAMES = ("m", "e")
SETTINGS = {"engine": "transformers", "dtype": "float32", "attention": "sdpa", "prompt_template": "raw"}
DECODING = {"max_new_tokens": 10, "stop": "end_token"}
SOURCE = {"location": str(REFERENCE), "revision": None, "context_window": 8192, "identity": {}}
ENCODE = encoder(Sweep(SOURCE, SETTINGS, None, DECODING))
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


def test_answers_in_the_journal_under_the_same_identity_are_not_asked_again():
    answers = {response_key("i", TEXTS[0]): answer_to(TEXTS[0]), response_key("other", TEXTS[1]): answer_to(TEXTS[1])}
    found = remaining_work(NAMES, prompts([*TEXTS, TEXTS[3]]), answers, Fit(None, 10), ENCODE, shares=False)
    tokens = sum(map(len, ENCODE(TEXTS[1:])))
    assert found == Remaining("m", "e", 5, 4, 1, 0, 3, tokens, tokens, 30)


def test_what_does_not_fit_is_neither_answered_nor_asked():
    long = "word " * 200
    answers = {response_key("i", TEXTS[0]): answer_to(TEXTS[0])}
    found = remaining_work(NAMES, prompts([*TEXTS, long]), answers, Fit(100, 10), ENCODE, shares=False)
    assert (found.distinct_prompts, found.answered, found.too_long, found.to_ask) == (5, 1, 1, 3)
    # As in a sweep, an answer that was got under a larger window does not count under a smaller one.
    none_fits = remaining_work(NAMES, prompts(TEXTS), answers, Fit(12, 10), ENCODE, shares=False)
    assert (none_fits.answered, none_fits.too_long, none_fits.to_ask, none_fits.prompt_tokens) == (0, 4, 0, 0)


def test_an_engine_that_shares_computes_common_beginnings_once():
    alone = remaining_work(NAMES, prompts(TEXTS), {}, Fit(None, 10), ENCODE, shares=False)
    shared = remaining_work(NAMES, prompts(TEXTS), {}, Fit(None, 10), ENCODE, shares=True)
    assert alone.computed_tokens == alone.prompt_tokens == shared.prompt_tokens
    beginning = len(ENCODE(["The documents are all the same, the question is"])[0])
    assert shared.computed_tokens is not None and shared.prompt_tokens is not None
    assert shared.computed_tokens <= shared.prompt_tokens - 3 * (beginning - 1)


def test_a_server_reads_a_prompt_with_each_answer_that_is_measured():
    measured = [replace(prompt, answers=("one", "two", "three")) for prompt in prompts(TEXTS)]
    alone, shared = (remaining_work(NAMES, measured, {}, Fit(None, 0), ENCODE, shares) for shares in (False, True))
    assert alone.prompt_tokens == 3 * (shared.prompt_tokens or 0)
    assert (alone.to_ask, alone.max_new_tokens) == (4, 0)


def test_without_a_tokenizer_prompts_are_counted_and_tokens_are_not():
    found = remaining_work(NAMES, prompts(TEXTS), {}, Fit(20, 10), None, shares=False)
    assert (found.to_ask, found.too_long, found.prompt_tokens, found.computed_tokens) == (4, 0, None, None)
    assert found.max_new_tokens == 40


def test_a_servers_chat_is_counted_in_the_chat_template_or_else_by_its_words(tmp_path):
    settings = {"engine": "openai", "endpoint": "chat", "prompt_template": "chat", "request": {}}
    served = Sweep({**SOURCE, "location": "gpt", "base_url": None}, settings, None, DECODING)
    turns = [{"role": "user", "content": "one"}, {"role": "assistant", "content": " two"}]
    assert encoder(served) is None
    assert encoder(replace(served, tokenizer=str(REFERENCE)))([turns, "one two"]) == [ENCODE(["one two"])[0]] * 2
    for file in REFERENCE.glob("tokenizer*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "chat_template.jinja").write_text("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    served = replace(served, tokenizer=str(tmp_path))
    assert encoder(served)([turns]) == ENCODE(["<user>one<assistant> two"])
    # Anthropic's template is not that of any tokenizer.
    served = replace(served, settings={**settings, "engine": "anthropic"})
    assert encoder(served)([turns]) == ENCODE(["one two"])


def test_the_estimate_is_what_a_sweep_then_asks(tmp_path):
    identity = {"model": "m"}
    settings = EngineSettings(str(REFERENCE), None, None, "raw", None, 3, "end_token", dtype="float32", device="cpu")
    found = remaining_work(NAMES, prompts(TEXTS, digest(identity)), {}, Fit(30, 3), ENCODE, shares=True)
    with Journal(tmp_path / "j.jsonl") as journal:
        outcome = ask_missing(
            prompts(TEXTS, digest(identity)), journal, AskedSweep("m/e", identity), Fit(30, 3), lambda: Engine(settings)
        )
    assert outcome.work is not None
    assert (found.to_ask, found.prompt_tokens) == (outcome.asked, outcome.work["prompt_tokens"])
    assert found.computed_tokens == outcome.work["tree_tokens"]


def estimate_sweep(folder: Path) -> Remaining:
    write_json(folder / "source.json", {**SOURCE, "identity": folder_identity(REFERENCE)})
    write_examples(folder / "examples.jsonl.gz", examples(TEXTS))
    options = {
        "model": "m", "experiment": "e", "source": folder / "source.json", "settings": canonical_json(SETTINGS),
        "decoding": canonical_json(DECODING), "examples": folder / "examples.jsonl.gz",
        "journal": folder / "journal.jsonl", "output": folder / "estimate.json",
    }  # fmt: skip
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    done = run_program("estimate_sweep", *words)
    assert done.returncode == 0, done.stderr
    return Remaining(**read_json(folder / "estimate.json"))


def test_without_a_journal_nothing_is_answered_and_nothing_is_made(tmp_path):
    assert estimate_sweep(tmp_path).to_ask == 4 and not (tmp_path / "journal.jsonl").exists()


def test_a_running_sweep_is_read_up_to_its_last_line_and_not_disturbed(tmp_path):
    path = tmp_path / "journal.jsonl"
    identity = sweep_identity(folder_identity(REFERENCE), SETTINGS, None, DECODING)

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


def study_of(entry: dict) -> dict:
    """A config of one model."""
    return {"seed": 0, "models": ["m"], "experiments": ["kv_retrieval_small"], "define": {"models": {"m": entry}}}


def estimate(folder: Path, entry: dict, **changes):
    """What the program prints about one sweep of a model, and its table."""
    write_json(folder / "one.json", asdict(left(**changes)))
    done = run_program(
        *("estimate", "--sweeps", folder / "one.json", "--results", folder, "--table", folder / "estimate.csv"),
        *("--config", json.dumps(study_of(entry)), "--lock", ROOT / "requirements.lock"),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, pd.read_csv(folder / "estimate.csv")


#: Of half a billion parameters, for one core of a processor.
SLOW = {
    "engine": "transformers", "path": str(REFERENCE), "parameters": 0.5, "dtype": "float32", "device": "cpu",
    "threads": 1,
}  # fmt: skip


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


def test_a_model_without_a_tokenizer_has_tokens_and_dollars_by_the_doctors_rules(tmp_path):
    entry = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}}
    # Half of the prompts.
    half = {"experiment": "kv_retrieval_small", "to_ask": 325, "prompt_tokens": None, "computed_tokens": None}
    printed, table = estimate(tmp_path, entry, **half)
    assert "m: tokens by rules of thumb; to count them, set 'tokenizer'" in printed
    row, _ = table.to_dict("records")
    (cost,) = costs(load_study(study_of(entry), ROOT), {}).values()
    assert row["prompt_tokens"] == pytest.approx(cost["their tokens"] / 2)
    assert row["dollars"] == pytest.approx((row["prompt_tokens"] * 2 + 500_000 * 10) / 1e6)


def curve_prompts(counts: dict[tuple[int, int], int]):
    """Prompts at each (size, position), with the given number of questions."""
    made = [
        example(id=str(number), size=size, placement=f"gold_at_{position}", prompt=f"{number} {size} {position}")
        for (size, position), count in counts.items()
        for number in range(count)
    ]
    return sweep_prompts(made, "i", "raw")


def test_the_questions_of_a_curve_are_those_of_its_smallest_size_with_three_positions():
    three = {(10, 0): 40, (10, 4): 40, (10, 9): 40}
    assert curve_questions(curve_prompts({**three, (20, 0): 30, (20, 9): 30, (20, 19): 30, (5, 0): 9, (5, 4): 9})) == 30
    assert curve_questions(curve_prompts({(10, 0): 40, (10, 9): 40})) is None


def questions_of(sweeps: list[Remaining]) -> dict[tuple[str, str], int | None]:
    return {(one.model, one.experiment): one.questions for one in sweeps}


def test_without_earlier_scores_the_estimate_names_its_assumptions(tmp_path):
    sweeps = [left(questions=100), left(model="other", questions=100), left(experiment="closed_book")]
    columns, (heading, line) = what_is_shown(questions_of(sweeps), tmp_path)
    assert list(columns) == [("m", "e"), ("other", "e")]
    assert columns["m", "e"]["pbi_mde"] < columns["m", "e"]["difference_mde"]
    assert "with a chance of 80 %" in heading
    assert line.startswith(
        "e (m, other): 100 questions show only differences of 14.4 points and more between positions; 791 "
    )
    assert "(accuracy 50.0 %, correlation 0.50: assumed)" in line
    assert what_is_shown(questions_of(sweeps[2:]), tmp_path) == ({}, [])


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
    assert earlier(tmp_path, "new", "e")[1] == "assumed"
    assert earlier(tmp_path, "m", "never_run")[0] == Assumption(0.5, 0.5)


def test_the_estimates_table_has_detectable_effects_and_no_sum_of_them(tmp_path):
    sweeps = [left(questions=100), left(experiment="closed_book")]
    table = estimate_table(sweeps, {"m": None}, {}, what_is_shown(questions_of(sweeps), tmp_path)[0])
    assert table["n"].tolist() == [100, pd.NA, pd.NA]
    assert table["pbi_mde"][0] == pytest.approx(0.127, abs=0.003) and pd.isna(table["n_for_5_points_pbi"][2])
    printed, _ = estimate(tmp_path, SLOW, questions=100)
    assert "100 questions show only differences of 14.4 points and more between positions" in printed
