"""The estimate: remaining work, rate and money of a sweep; a running sweep is not disturbed."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest
from configs import config, study
from conftest import ROOT
from echo_engine import AskedSweep
from engine_settings import changed_settings
from litm.inference.journal import Journal
from local_engines import SETTINGS
from programs import run_program
from record_makers import example
from score_frames import of_matrix, random_matrix
from sweeps import MODEL, local_sweep

from litm.analysis.power import Assumption, earlier
from litm.base.json_files import read_json, write_json
from litm.base.store import digest
from litm.engines.modules.transformers import Engine
from litm.inference.answer_identity import sweep_identity
from litm.inference.asked_sweep import AskedSweep as Sweep
from litm.inference.prompts import Fit, sweep_prompts
from litm.inference.sweep import ask_missing
from litm.planning.counting import Estimate, count, curve_questions, encoder
from litm.planning.downloads import Remote, download_lines, missing, ok
from litm.planning.estimate import as_text, by_rules_of_thumb, estimate_table, notes, notes_on_rules, what_is_shown
from litm.planning.speed import Rate, rate_of, seconds
from litm.planning.tokens import BOUND, COUNTED, Work
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


WORK = Work(10, 1_000_000, 500_000, 1_000_000, basis=COUNTED)


def left(model: str = "m", experiment: str = "e", questions: int | None = None, **changes) -> Estimate:
    return Estimate(model, experiment, 10, replace(WORK, **changes), 10, 0, 0, questions)


def work(texts=TEXTS, answered=(), window=None, encode=ENCODE, shares=False) -> Estimate:
    """The work that is left for these prompts. answered: identity and prompt of each one that has an answer."""
    answers = {response_key(*one): answer_to(one[1]) for one in answered}
    return count(NAMES, prompts(texts), answers, Fit(window, 10), encode, shares)


def test_answers_in_the_journal_under_the_same_identity_are_not_asked_again():
    lengths = [*map(len, ENCODE(TEXTS[1:]))]
    found = work([*TEXTS, TEXTS[3]], [("i", TEXTS[0]), ("other", TEXTS[1])])
    of_three = Work(3, sum(lengths), 30, sum(lengths), max(lengths) + 10, COUNTED)
    assert found == Estimate("m", "e", 5, of_three, 4, 1, 0)


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
    assert (found.distinct_prompts, found.answered, found.too_long, found.work.prompts) == (5, 1, 1, 3)
    # As in a sweep, an answer that was got under a larger window does not count under a smaller one.
    none_fits = work(TEXTS, [("i", TEXTS[0])], window=12)
    left_of_none = none_fits.work
    assert (none_fits.answered, none_fits.too_long, left_of_none.prompts, left_of_none.prompt_tokens) == (0, 4, 0, 0)


def test_an_engine_that_shares_computes_common_beginnings_once():
    alone, shared = work().work, work(shares=True).work
    assert alone.computed_tokens == alone.prompt_tokens == shared.prompt_tokens
    beginning = len(ENCODE(["The documents are all the same, the question is"])[0])
    assert shared.computed_tokens <= shared.prompt_tokens - 3 * (beginning - 1)


def test_a_server_reads_a_prompt_with_each_answer_that_is_measured():
    measured = [replace(prompt, answers=("one", "two", "three")) for prompt in prompts(TEXTS)]
    alone, shared = (count(NAMES, measured, {}, Fit(None, 0), ENCODE, shares).work for shares in (False, True))
    assert alone.prompt_tokens == 3 * shared.prompt_tokens
    assert (alone.prompts, alone.answer_tokens) == (4, 0)


def test_without_a_tokenizer_the_tokens_of_the_prompts_to_ask_are_counted_by_characters():
    each = [*map(most_tokens, TEXTS)]
    found = work(window=20, encode=None)
    assert found == Estimate("m", "e", 4, Work(4, sum(each), 40, sum(each), max(each) + 10, BOUND), 4, 0, 0)
    assert work(TEXTS, [("i", TEXTS[0])], encode=None).work.prompt_tokens == sum(each[1:])


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
    identity, fit, settings = {"model": "m"}, Fit(30, 3), changed_settings(SETTINGS, max_new_tokens=3)
    asked = prompts(TEXTS, digest(identity))
    found = count(NAMES, asked, {}, fit, ENCODE, shares=True)
    with Journal(tmp_path / "j.jsonl") as journal:
        outcome = ask_missing(asked, journal, AskedSweep("m/e", identity), fit, lambda: Engine(settings))
    assert (found.work.prompts, found.work.prompt_tokens) == (outcome.asked, outcome.work["prompt_tokens"])
    assert found.work.computed_tokens == outcome.work["tree_tokens"]


def estimate_sweep(folder: Path) -> Estimate:
    write_json(folder / "source.json", dict(LOCAL.source))
    write_examples(folder / "examples.jsonl.gz", examples(TEXTS))
    files = {"source": "source.json", "examples": "examples.jsonl.gz", "journal": "journal.jsonl"}
    options = {name: str(folder / file) for name, file in (files | {"output": "estimate.json"}).items()}
    options |= {"settings": LOCAL.settings, "decoding": DECODING}
    done = run_program("estimate_sweep", model="m", experiment="e", **options)
    assert done.returncode == 0, done.stderr
    return Estimate.read(read_json(folder / "estimate.json"))


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
        assert (found.answered, found.work.prompts, path.read_bytes()) == (2, 2, before)


PRICES = {"input": 2, "output": 10}
SERVED = {"engine": "openai", "api_model": "x"}
LOCAL_ENTRY = {"engine": "transformers", "path": str(MODEL)}
KV = {"experiments": ["kv_retrieval_small"]}


def study_of(**entries: dict):
    return study(models={"m": LOCAL_ENTRY, **entries}, **KV)


def test_hours_are_unknown_rather_than_wrong_and_a_measured_speed_has_the_answers_time():
    local, served = study_of(api=SERVED | {"concurrency": 5}).models.values()
    assert seconds(local, WORK, Rate(100.0, "")) == 10_000
    assert seconds(local, WORK, Rate(100.0, "", has_answers=False)) == 10_000 + 0.25 * 5_000
    assert seconds(local, WORK, None) is None
    assert seconds(local, replace(WORK, prompts=0), None) == 0
    assert seconds(served, WORK, None) == 10 * 10 / 5


def test_the_table_has_sums_and_says_what_it_does_not_know():
    estimates = [left(), left("api"), left("free")]
    one = study_of(api=SERVED | {"prices": PRICES}, free=SERVED)
    rates = {"m": Rate(1000.0, "measured on kv (cpu)"), "api": None, "free": None}
    table = estimate_table(one, estimates[:2], rates)
    assert table["dollars"].tolist() == [0, 7, 7] and table["to_ask"].tolist() == [10, 10, 20]
    shown = as_text(table).splitlines()
    assert "1,000,000" in shown[1] and shown[2].split()[-1] == "7.00"
    whole = estimate_table(one, estimates, rates)
    assert whole["dollars"].isna().tolist() == [False, False, True, True] and "?" in as_text(whole).splitlines()[3]
    told = "\n".join(notes(one, estimates, rates))
    assert "m: hours at 1,000 prompt tokens a second, measured on kv (cpu)" in told and "at most" in told
    assert "api, free: hours at 10 seconds a prompt, `concurrency` of them at a time" in told
    assert "free: US$ unknown: set prices" in told and "api: US$" not in told


@pytest.mark.parametrize("prices", [None, {"input": 0, "output": 0}, PRICES])
@pytest.mark.parametrize("changes", [{}, {"basis": BOUND}, {"prompts": 0, "prompt_tokens": 0}])
def test_us_dollars_are_shown_and_explained_where_any_are_to_be_paid_or_unknown(prices, changes):
    one, estimates = study_of(api=SERVED | ({"prices": prices} if prices else {})), [left("api", **changes)]
    table, told = estimate_table(one, estimates, {"api": None}), notes(one, estimates, {"api": None})
    costs = "prompts" not in changes and prices != {"input": 0, "output": 0}
    assert ("US$, at most" in as_text(table)) == any(line.startswith("US$ are at most") for line in told) == costs


def by_rules(one) -> list[Estimate]:
    return [by_rules_of_thumb(one, sweep) for sweep in one.sweeps]


def table_of(one) -> pd.DataFrame:
    rates = {name: rate_of(model, Path("nowhere")) for name, model in one.models.items()}
    return estimate_table(one, by_rules(one), rates).set_index("model")


def test_the_cost_of_models_that_are_not_here_is_said_without_a_download():
    models = {"llama-2-13b": {}, "qwen2.5-7b-instruct": {}}
    one = study(models={**models, "served": SERVED | {"prices": PRICES}}, **KV)
    table = table_of(one)
    llama, served = table.loc["llama-2-13b"], table.loc["served"]
    assert table["prompts"].tolist() == [13 * 50] * 3 + [3 * 13 * 50]
    timed = llama["computed_tokens"] + 0.25 * llama["max_new_tokens"]
    assert llama["gpu_hours"] == pytest.approx(timed * 2 * 13e9 / 5e13 / 3600, rel=1e-3) and served["gpu_hours"] == 0
    assert served["dollars"] == pytest.approx((served["prompt_tokens"] * 2 + served["max_new_tokens"] * 10) / 1e6)
    assert llama["computed_tokens"] < llama["prompt_tokens"] == served["prompt_tokens"]
    offline = dict.fromkeys(models, missing("", "", download=None, gated=None))
    said = [*download_lines(one, Remote(offline, []))]
    by_parameters = "40.0 GB, by parameters, as the hub does not answer for all (llama-2-13b 26.0 GB, qwen2.5-7b"
    assert said[0].startswith(f"Weights to download: {by_parameters}")
    known = dict.fromkeys(offline, ok("", "", download=10**9))
    weights, _ = download_lines(one, Remote(known, []))
    assert "2.0 GB, as the hub says" in weights


def test_a_models_sweeps_by_rules_of_thumb_are_one_row_on_a_terminal_and_counted_ones_keep_theirs():
    one = study(models={"api": SERVED}, experiments=["kv_retrieval_small", "three_needles_small", "kv_retrieval"])
    first, *others = by_rules(one)
    counted = replace(first, work=replace(first.work, basis=COUNTED), answered=0)
    table = estimate_table(one, [counted, *others], {"api": None})
    assert len(table) == 4 and table["basis"].tolist()[:3] == ["counted", "rule of thumb", "rule of thumb"]
    heading, row, rest, total = as_text(table).splitlines()
    assert re.match(r"api +kv_retrieval_small +counted +650 ", row) and "basis" in heading
    assert re.match(r"api +2 experiments +rule of thumb ", rest) and total.startswith("total  total")


def test_rules_of_thumb_say_what_they_do_not_count_and_which_models_take_several_gpus():
    entry = {"engine": "transformers", "hub": "a/b", "parameters": 70, "gpus": 4, "prompt_template": "raw"}
    mine = study(models={"large": entry, "gpt-4-0613": {}}, experiments=["three_needles_small"])
    said = [*notes_on_rules(mine, by_rules(mine))]
    assert "of all GPUs together (4 at once for large)" in said[0] and "tokens by the kind of context" in said[0]
    assert any(line.startswith("Not counted, left out: gpt-4-0613 (") for line in said)
    small = study(models={"api": SERVED}, **KV)
    assert "Tables 2 to 4 of the paper" in next(notes_on_rules(small, by_rules(small)))


def test_prompts_that_do_not_fit_cost_nothing_and_are_named():
    models = {name: SERVED | {"prices": PRICES} for name in ("any", "short", "none", "long")}
    models["short"] |= {"context_window": 8192}
    models["none"] |= {"context_window": 1000}
    models["long"] |= {"context_window": 20_000, "request": {"max_tokens": 12_000}}
    positions = {"whole": {75: [0], 300: [0]}, "without": {75: [0]}}
    asked = {
        name: study(models=models, experiments={"kv_retrieval": {"positions": given}})
        for name, given in positions.items()
    }
    whole, without = (table_of(one)[["prompts", "dollars"]] for one in asked.values())
    assert (whole.loc["short"] == without.loc["any"]).all() and (whole.loc["any"] > without.loc["any"]).all()
    assert whole.loc["none"].tolist() == [0, 0]
    (prompts, cost), limit = whole.loc["long"], asked["whole"].experiments["kv_retrieval"].max_new_tokens
    assert prompts == whole["prompts"]["short"]
    assert cost == pytest.approx(whole["dollars"]["short"] + prompts * (12_000 - limit) * 10 / 1e6)
    told = "not counted, on average longer than its context_window: kv_retrieval"
    said = [line for line in notes_on_rules(asked["whole"], by_rules(asked["whole"])) if "not counted, on" in line]
    sizes = {"short": "300", "none": "75, 300", "long": "300"}
    assert said == [f"{model}: {told} ({some} key-value pairs)" for model, some in sizes.items()]


def measuring(*what: str):
    served = SERVED | {"endpoint": "completions", "prompt_template": "raw", "tokenizer": str(MODEL), "prices": PRICES}
    return study(models={"served": served}, experiments={"kv_retrieval_small": {"measure": [*what]}})


def test_sweeps_that_measure_log_probabilities_are_counted_and_cost_no_new_token():
    both, alone = (table_of(measuring(*what)) for what in (("answer", "log_probability"), ("log_probability",)))
    assert both["prompts"]["total"] == 2 * alone["prompts"]["total"]
    row = alone.loc["served"]
    assert row["dollars"] == pytest.approx(row["prompt_tokens"] * 2 / 1e6) and row["max_new_tokens"] == 0
    rows = as_text(both.reset_index()).splitlines()
    assert "measure" in rows[0] and " log_probability " in rows[2]


def config_of(entry: dict) -> dict:
    return config(models={"m": entry}, experiments=["kv_retrieval_small"])


def estimate(folder: Path, entry: dict, **changes):
    """What the program prints about one sweep of a model, and its table."""
    write_json(folder / "one.json", asdict(left(experiment="kv_retrieval_small", **changes)))
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
        (SLOW, 6.25, "at 50 prompt tokens a second, a rule"),
        (SLOW | {"tokens_per_second": 100}, 2.777778, "at 100 prompt tokens a second, tokens_per_second of its entry"),
    ],
    ids=["never ran", "stated"],
)
def test_the_table_is_printed_and_written_and_the_origin_of_its_hours_is_named(tmp_path, entry, hours, said):
    printed, table = estimate(tmp_path, entry)
    assert f"m: hours {said}" in printed and table["hours"].tolist() == pytest.approx([hours] * 2)


def test_a_model_without_a_tokenizer_has_tokens_and_dollars_by_characters_and_a_budget_below_them_is_named(tmp_path):
    entry = {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}, "budget": 3}
    printed, table = estimate(tmp_path, entry, prompt_tokens=700_000, basis=BOUND)
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
    table = estimate_table(study_of(), [left(), left(experiment="closed_book")], {"m": None}, shown)
    assert table["n"].tolist() == [100, pd.NA, pd.NA]
    assert table["pbi_mde"][0] == pytest.approx(0.127, abs=0.003) and pd.isna(table["n_for_5_points_pbi"][2])
    printed, _ = estimate(tmp_path, SLOW, questions=100)
    assert "100 questions show only differences of 14.4 points or more between positions" in printed
