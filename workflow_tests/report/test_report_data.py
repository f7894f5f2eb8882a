"""Data in the report: equal to the tables, prompts and answers of the files."""

import base64
import gzip
import json
import re
from dataclasses import replace

import pandas as pd
import pytest
import yaml
from conftest import ROOT
from programs import load_program
from record_makers import example, response
from report_contents import (
    FIGURE,
    MODELS,
    POSITIONS,
    SIZE,
    WRONG_FIGURE,
    contents,
    contents_with_wrong_answers,
    examples,
    manifest,
    page,
    records,
    responses,
    scores,
)
from score_frames import accuracy_table

from litm.base.messages import money
from litm.claims.statements import CLAIMS
from litm.examples.tasks.question_answering import multi_document_qa, other_documents
from litm.figures.style import DPI
from litm.records.bills import Usage
from litm.report.charts import chart, forest
from litm.report.page_tables import claims_in_words, token_table, tokens_in_words
from litm.report.pictures import png_width
from litm.report.provenance import cited, sweep_row
from litm.report.question_samples import pack, question_records, sampled_ids
from litm.report.sizes import SizeNames
from litm.scoring.scores import Sweep, score_sweep
from litm.tables.table import tables


def unpacked(packed: str) -> list[dict]:
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture
def whole():
    return contents()


# --- curves


def test_the_points_of_a_chart_are_the_rows_of_the_accuracy_table(whole):
    (panel,) = chart(FIGURE, whole.tables)["panels"]
    assert panel["title"] == f"{SIZE} pairs" and panel["ticks"] == [[0, "1st"], [3, "4th"], [5, "6th"]]
    shown = [[one["model"], *point] for one in panel["series"] for point in one["points"]]
    columns = ["model", "position", "n", "accuracy", "ci_low", "ci_high"]
    assert shown == whole.tables["accuracy"][columns].round(6).values.tolist()


def test_an_accuracy_in_doubt_is_a_gap_of_its_curve(whole):
    table = whole.tables["accuracy"]
    refused = ["refused" if position == 3 else None for position in table["position"]]
    doubt = pd.Series(refused, index=table.index, dtype="string")
    (panel,) = chart(FIGURE, {**whole.tables, "accuracy": table.assign(doubt=doubt)})["panels"]
    assert [[point[0] for point in one["points"]] for one in panel["series"]] == [[0, 5]] * len(MODELS)


def test_a_chart_has_only_the_models_and_sizes_of_its_figure_and_its_reference_lines(whole):
    table = whole.tables["accuracy"]
    oracle = table[table["position"] == 0].assign(experiment="oracle", size=1)
    tables = {"accuracy": pd.concat([table, table.assign(size=9), oracle])}
    figure = FIGURE | {"models": [MODELS[1]], "sizes": [9], "references": {"oracle": "gold alone"}}
    (panel,) = chart(figure, tables)["panels"]
    assert panel["title"] == "9 pairs"
    assert [(one["model"], one["label"], one["kind"]) for one in panel["series"]] == [
        (MODELS[1], "", "curve"), (MODELS[1], "gold alone", "reference")
    ]  # fmt: skip
    assert panel["series"][1]["points"][0][:3] == [None, 39 + 1, 1.0]


def test_published_values_are_drawn_where_the_figure_wants_them_and_have_no_interval(whole):
    cell = {"model": MODELS[0], "experiment": "kv", "size": SIZE, "position": 3, "n_published": 500}
    rows = pd.DataFrame([cell | {"accuracy_published": accuracy} for accuracy in (0.25, 0.5)])
    tables = {**whole.tables, "published_comparison": rows}
    series = chart(FIGURE | {"published": True}, tables)["panels"][0]["series"]
    assert [one["points"] for one in series if one["kind"] == "published"] == [[[3, 500, 0.25, None, None]]]
    assert chart(FIGURE, tables) == chart(FIGURE, whole.tables)


def test_a_bar_of_wrong_answers_and_its_parts_have_the_shares_intervals_and_n_of_the_table():
    tables = contents_with_wrong_answers().tables
    made = chart(WRONG_FIGURE, tables)
    assert made["y_label"] == "Wrong answers (% of all)" and made["y"][0] == 0
    panel = made["panels"][1]
    part, whole = panel["series"]
    assert panel["title"] == f"{SIZE} pairs, {MODELS[1]}" and (part["kind"], whole["kind"]) == ("part", "whole")
    all_wrong = [1, 40, 1.0, 0.911903, 1.0]
    assert whole["points"][1] == all_wrong and whole["points"][0][2] == 0.0 and part["points"] == [all_wrong]
    assert chart(WRONG_FIGURE, {"accuracy": tables["accuracy"]}) is None


def test_several_targets_are_marks_in_the_order_of_their_positions():
    rows = scores()[scores()["placement"] == "gold_at_0"]
    targets = [rows.assign(target=name, position=place, placement="two") for name, place in (("late", 9), ("early", 2))]
    figure = FIGURE | {"kind": "accuracy_by_target"}
    (panel,) = chart(figure, {"accuracy": accuracy_table(pd.concat(targets))})["panels"]
    assert panel["ticks"] == [[0, "early, 3rd"], [1, "late, 10th"]]
    assert {one["kind"] for one in panel["series"]} == {"marks"} and len(panel["series"]) == len(MODELS)


def test_recall_is_drawn_in_the_range_of_the_sizes():
    rows = [scores().assign(size=size, position=None, placement="as_retrieved") for size in (5, 20)]
    search = {"questions": "q", "corpus": "c", "retriever": "bm25", "n": 9, "ci_low": 0.1, "ci_high": 0.9}
    recall = pd.DataFrame([{**search, "k": k, "recall": k / 100} for k in (1, 5, 10, 20, 50)])
    figure = FIGURE | {"kind": "accuracy_by_size", "recall": [("q", "c", "bm25")]}
    (panel,) = chart(figure, {"accuracy": accuracy_table(pd.concat(rows)), "retrieval": recall})["panels"]
    (line,) = [one for one in panel["series"] if one["label"] == "recall of bm25"]
    assert [point[0] for point in line["points"]] == [5, 10, 20] and line["model"] is None


def test_a_kind_of_figure_without_a_chart_is_shown_as_a_picture_at_six_rem_to_an_inch(whole):
    figure = FIGURE | {"kind": "mean_accuracy_by_size"}
    assert chart(figure, whole.tables) is None
    html = page(figures=[figure])
    assert 'data-chart="kv"' not in html and "<noscript><div" not in html and "data:image/png;base64" in html
    assert "data:image/png;base64" not in page(figures=[figure], pictures={"kv": b""})
    inches = png_width(whole.pictures["kv"]) / DPI
    assert f'<img style="width: {6 * inches:.1f}rem"' in html


# --- the index of every curve


def test_the_forest_has_every_curve_with_an_index_on_one_scale(whole):
    bias, names = whole.tables["position_bias"], SizeNames([FIGURE])
    picture = forest(bias, MODELS, names)
    assert picture["ticks"] == [(0, "-100"), (25, "-50"), (50, "0"), (75, "+50"), (100, "+100")]
    assert [row["model"] for row in picture["rows"]] == list(MODELS)
    assert [row["colour"] for row in picture["rows"]] == [0, 1]
    strong = picture["rows"][1]
    assert strong["words"].startswith("strong; ") and strong["text"].startswith("100.0 [")
    for row in picture["rows"]:
        assert 0 <= row["left"] <= row["dot"] <= row["right"] <= 100
    # A class that the interval leaves open is not named.
    open_class = bias.assign(class_certain=False, shape="no difference shown")
    assert {row["words"] for row in forest(open_class, MODELS, names)["rows"]} == {"no difference shown"}
    assert forest(bias.assign(pbi_class=None), MODELS, names) is None and forest(None, MODELS, names) is None


# --- questions


def test_a_record_gives_back_every_prompt_and_marks_the_gold_item():
    by_cell = {(one.id, one.placement): one for one in examples()}
    shown = records()
    assert len(shown) == 5 and all(len(record["cells"]) == len(POSITIONS) for record in shown)
    for record in shown:
        assert len(record["pieces"]) == len(set(record["pieces"]))
        for cell in record["cells"]:
            asked = by_cell[record["id"], cell["placement"]]
            prompt = "".join(record["pieces"][piece] for piece in cell["prompt"])
            assert prompt == asked.prompt
            (target,) = cell["targets"]
            marked = prompt[slice(*target["span"])]
            assert record["cells"][0]["question"] in marked and target["answers"][0] in marked


def test_a_record_has_every_models_answer_and_its_verdict():
    everything = records(sample=40)
    (first,) = [record for record in everything if record["id"] == examples()[0].id]
    overflowed = first["cells"][0]["responses"][0]
    assert (overflowed["text"], overflowed["verdicts"], overflowed["finish_reason"]) == (None, [None], "overflow")
    assert [cell["responses"][0]["excluded"] for cell in first["cells"]] == [True] * 3
    verdicts = {
        (answer["model"], record["id"], cell["placement"]): answer["verdicts"]
        for record in everything for cell in record["cells"] for answer in cell["responses"]
    }  # fmt: skip
    assert len(verdicts) == len(scores())
    for row in scores().itertuples():
        assert verdicts[row.model, row.id, row.placement] == [None if row.correct is pd.NA else row.correct]


def test_spans_count_as_a_browser_does():
    asked = example(size=1, prompt="🦉 owl. gold 🥇 here", targets=[{"answers": ["gold"], "span": [7, 13]}])
    (record,) = question_records([asked], {}, scores(), {1: ["q"]})
    start, end = record["cells"][0]["targets"][0]["span"]
    assert asked.prompt.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le") == "gold 🥇"


@pytest.mark.parametrize(
    ("answer", "taken"),
    [("Adam Norris", (2, "Farm) The owner is Adam Norris.")), ("Karl Hughes", None), ("nobody at all", None)],
)
def test_a_wrong_answer_names_the_item_that_its_score_names_and_marks_it_in_the_prompt(answer, taken):
    texts = ["Bank) The manager is Nora Price.", "Inn) The owner is Karl Hughes.", "Farm) The owner is Adam Norris."]
    documents = "\n".join(f"Document [{number}](Title: {text}" for number, text in enumerate(texts, start=1))
    prompt = f"🦉 Answer.\n\n{documents}\n\nQuestion: who owns the inn\nAnswer:"
    start = prompt.index("Document [2]")
    target = {"answers": ["Karl Hughes"], "position": 1, "span": [start, prompt.index("Document [3]")]}
    asked = example(size=3, prompt=prompt, question="who owns the inn", targets=[target])
    answered = response(id=asked.id, size=3, placement=asked.placement, response=answer)
    sweep = Sweep("m", "qa", "multi_document_qa", "best_subspan_em", multi_document_qa)
    scored = score_sweep(sweep, [asked], [answered])
    (record,) = question_records([asked], {"m": [answered]}, scored, {3: [asked.id]}, other_documents)
    found = record["cells"][0]["responses"][0].get("taken")
    assert (found is None) == (taken is None)
    if taken is not None:
        low, high = found["span"]
        marked = prompt.encode("utf-16-le")[2 * low : 2 * high].decode("utf-16-le")
        assert (found["position"], marked.strip()) == taken


def test_the_scored_part_of_a_reasoning_is_shown_with_the_whole_text():
    for part, is_shown in (("after", True), (None, False)):
        answers = [replace(one, answer=part or one.text, has_answer=True) for one in responses(MODELS[1])]
        (record,) = question_records(examples(), {MODELS[1]: answers}, scores(), sampled_ids(scores(), 1, seed=0))
        assert ("answer" in record["cells"][0]["responses"][0]) == is_shown


def test_a_smaller_sample_is_the_beginning_of_a_larger_one_and_another_seed_draws_another():
    small, large, other = (sampled_ids(scores(), n, seed)[SIZE] for n, seed in ((5, 0), (20, 0), (20, 1)))
    assert large[:5] == small and len(set(large)) == 20 and large != other


def test_as_many_questions_are_packed_as_there_is_room_for():
    samples = {"one": records(16), "two": records(4)}
    packed, left = pack(samples, 10_000_000)
    assert left is None and {name: unpacked(text) for name, text in packed.items()} == samples
    room = sum(map(len, packed.values()))
    packed, left = pack(samples, room - 1)
    assert left == 8 and [len(unpacked(packed[name])) for name in samples] == [8, 4]
    packed, left = pack(samples, 200)
    assert left == 0 and [unpacked(text) for text in packed.values()] == [[], []]


# --- tokens and money


def test_small_amounts_of_money_have_two_digits_and_others_cents():
    assert [*map(money, (0, 1234.5, 0.27, 0.034, 0.0000412))] == ["0.00", "1,234.50", "0.27", "0.034", "0.000041"]
    (cells,) = tables()["tokens_used"].cells(pd.DataFrame([{"dollars": 0.034}]), ["dollars"])
    assert cells == ["0.034"]


def test_saved_tokens_and_prices_are_counted_where_they_are_known():
    local, server = manifest("local"), manifest("server") | {"work": None}
    recorded = manifest("recorded") | {"prompt_tokens": None, "work": None}
    prices = {"server": {"input": 10.0, "output": 100.0}}
    table = token_table([local, server, recorded], prices).set_index("model")
    assert list(table.index) == ["local", "server"]
    assert table["saved"].to_list() == [0.25, pd.NA]
    assert table.loc["server", "dollars"] == pytest.approx(0.12 + 0.15)
    words = [*tokens_in_words(table.reset_index(), prices)]
    assert any("9,000 of 12,000 prompt tokens" in one and "25.0" in one for one in words)
    assert any("US$ 0.27" in one for one in words)
    # All its answers are another sweep's.
    again = server | {"experiment": "again", "billed": [Usage(12_000, 0, 0, 1_500, elsewhere=True).to_json()]}
    assert [*token_table([server, again], prices)["dollars"]] == pytest.approx([0.27, 0])
    *_, unknown = tokens_in_words(token_table([server], {"server": None}), {"server": None})
    assert unknown == "The cost of server is unknown: the config has no prices."
    assert [*tokens_in_words(token_table([recorded], {}), {})] == []


# --- the page


def test_the_same_contents_give_the_same_page_which_needs_nothing_else():
    html = page()
    assert html == page()
    assert not re.search(r"(src|href)=\"(?!#|data:)", html) and "@import" not in html
    # Hatchings of bars are patterns of the page itself.
    assert not re.search(r"url\((?!#hatch)", html)
    assert str(ROOT) not in html and len(html) < 25_000_000


def test_what_a_model_wrote_cannot_break_out_of_the_page():
    html = page(figures=[FIGURE | {"title": "</script><b>"}])
    assert "</script><b>" not in html and "\\u003c/script\\u003e" in html


def test_sections_without_anything_to_show_are_left_out(whole):
    html = page(whole=replace(whole, tables={"accuracy": whole.tables["accuracy"]}, figures=[], samples={}))
    for section in ("curves", "bias", "questions", "published"):
        assert f'id="{section}"' not in html and f'href="#{section}"' not in html


def test_the_published_comparison_is_shown_if_it_has_rows():
    row = {
        "model": "a", "experiment": "kv", "size": 6, "placement": "gold_at_0", "accuracy": 0.5,
        "accuracy_published": 0.75, "difference": -0.25, "difference_ci_low": -0.3, "difference_ci_high": -0.2,
        "verdict": "differs", "reason": "",
    }  # fmt: skip
    for rows, is_shown in (([row], True), ([], False)):
        html = page({"published_comparison": pd.DataFrame(rows, columns=list(row))})
        assert ('<section id="published">' in html) == is_shown and ("<td>-25.0</td>" in html) == is_shown


def test_claims_are_shown_and_those_that_were_not_tested_are_folded():
    first, *others = CLAIMS
    told = {"statement": first.statement, "section": "2.3", "finding": "Of 4: supported in 3."}
    row = told | {"claim": first.name, "experiment": "qa", "status": "contested", "contested_by": "Doe 2025"}
    frames = {"claims": tables()["claims"].frame([row, row, *({"claim": claim.name} for claim in others)])}
    assert claims_in_words(frames) == {
        "asked": [told | {"status": "Later works contest the paper's claim: Doe 2025."}],
        "others": [{"statement": one.statement, "needs": one.needs} for one in others],
    }
    section = page(frames).partition('<section id="claims">')[2]
    assert (
        section.index(first.statement) < section.index("<details>") < section.index(f"Here it needs {others[0].needs}.")
    )
    assert 'id="claims"' not in page()


def test_the_commit_is_named_where_there_is_one(tmp_path):
    commit_of = load_program("make_report").commit_of
    assert commit_of(tmp_path) is None
    assert re.fullmatch(r"[0-9a-f]{12,}(-dirty)?", commit_of(ROOT) or "000000000000")


@pytest.mark.parametrize(
    ("experiments", "works"),
    [
        ([("multi_document_qa", "figure5"), ("demonstrations", "x")], ["The paper"]),
        ([("kv_retrieval", "kv")], ["The paper"]),
        ([("kv_retrieval", "suite_kv_retrieval")], ["The paper", "The suite"]),
        ([("needle_in_haystack", "mine")], ["The paper", "The suite"]),
        ([("demonstrations", "x")], []),
    ],
)
def test_the_works_to_cite_are_those_whose_experiments_were_run_as_in_the_citation_file(experiments, works):
    rows = cited([{"task": task, "name": name} for task, name in experiments])
    assert [row["Work"] for row in rows] == works
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    sources = [citation["preferred-citation"], *citation["references"]]
    for row, source in zip(rows, sources, strict=False):
        parts = [source["title"], source["year"], source.get("doi", ""), source.get("url", ""), source.get("end", "")]
        assert all(str(part) in row["Reference"] for part in parts)


RECORDED = {"identity_fields": {"source": {"recorded": ["a", "b"]}}, "made_with": {}}
SERVED = {
    "identity_fields": {
        "source": {"api_model": "x", "base_url": "http://a"}, "model": {"prompt_template": "chat"},
        "decoding": {"max_new_tokens": 9, "stop": "first_line"},
    },
    "made_with": {"openai 1, http://a, alpha": 2, "openai 2, http://a, alpha": 1},
}  # fmt: skip
OTHER_NAME = {"openai 2, http://a, gamma, beta": 4}
SEVERAL_NAMES = "2 names of models in the server's answers: alpha (3), gamma, beta (4)"


UNKNOWN = ("Number format", "Attention", "Prompt format", "Decoding", "Computed with")


@pytest.mark.parametrize(
    ("changes", "weights"),
    [
        (RECORDED, "recorded responses (2 hashed files)"),
        (SERVED, "x of a server (http://a)"),
        (SERVED | {"made_with": SERVED["made_with"] | OTHER_NAME}, f"x of a server (http://a); {SEVERAL_NAMES}"),
        ({"weights": "Q4_1 and Q8_0, read as bfloat16"}, "1 hashed file; Q4_1 and Q8_0, read as bfloat16"),
    ],
    ids=["recorded", "a server", "a server that names several models", "computed with in another format"],
)
def test_the_weights_of_a_sweep_are_told_as_they_are_known_and_recorded_responses_claim_nothing_else(changes, weights):
    row = sweep_row(manifest("m") | changes)
    assert row["Weights"] == weights
    assert ({row[name] for name in UNKNOWN} == {"not known"}) == (changes is RECORDED)


@pytest.mark.parametrize(
    ("sent", "told"),
    [({}, "9 tokens, to the first_line"), ({"max_tokens": 70}, "70 tokens, to the first_line, request")],
)
def test_the_limit_of_an_answer_is_that_of_the_request(sent, told):
    fields = SERVED["identity_fields"] | {"model": {"prompt_template": "chat", "request": sent}}
    row = sweep_row(manifest("m") | SERVED | {"identity_fields": fields})
    assert row["Decoding"].startswith(f"greedy, at most {told}")
