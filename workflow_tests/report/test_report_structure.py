"""Structure of the report: order, tables, links and labels, without a browser."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest
from report_contents import FIGURE, MODELS, SIZE, SOURCES, WORDS, contents, contents_with_wrong_answers, page

from litm.analysis.shapes import MEANINGS, TWO_POSITIONS
from litm.base.store import text_sha256
from litm.report.page import SCRIPTS
from litm.report.page_tables import (
    MOST_CHARACTERS,
    NOTED,
    accuracy_files,
    accuracy_tables,
    overview_table,
    packed_files,
    table_files,
)
from litm.report.phrases import OPEN, SizeNames, first_answers, named_briefly, verdicts
from litm.tables.table import tables
from litm.workflow.result_files import REPORT_FILES as FILES


class Elements(HTMLParser):
    """All start tags with their attributes, in their order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def of(self, *tags: str) -> list[dict]:
        return [attributes for tag, attributes in self.found if tag in tags]


@pytest.fixture(scope="module")
def whole():
    return contents()


@pytest.fixture(scope="module")
def html():
    return page()


def test_the_curves_come_first_and_statistics_in_words_after_the_numbers(html):
    sections = [one["id"] for one in Elements(html).of("section")]
    numbers = ["measured", "accuracy", "bias", "statistics"]
    assert sections == ["curves", *numbers, "questions", "tables", "tokens", "provenance"]


def test_each_curve_has_its_word_with_what_it_means_before_the_chart(html):
    start = html[html.index('id="curves"') : html.index("data-chart")]
    for model, word in zip(MODELS, WORDS, strict=True):
        assert re.search(rf"<li>{model} \(n = \d+\): <strong>{word}</strong>, {MEANINGS[word]}\.</li>", start)
    header = html[: html.index("<main>")]
    assert f"<b>Models:</b> {'; '.join(MODELS)}. <b>Experiments:</b> Key-value retrieval." in header


#: A row of utilisation.csv of a model that the document does not help.
USELESS = {"experiment": "kv", "n": 9, "utilisation": None} | {
    f"accuracy_{of}{end}": 0.1 for of in ("oracle", "closed_book") for end in ("", "_ci_low", "_ci_high")
}


def test_warnings_are_ordered_by_their_meaning_and_three_are_open_and_none_is_about_a_stand_in(whole):
    accuracy = whole.tables["accuracy"].assign(n_cut=2)
    gold = [{"questions": name, "how": how} for name, how in (("a", "file"), ("b", "none")) for _ in range(4)]
    tables = {
        "accuracy": accuracy, "utilisation": pd.DataFrame([USELESS | {"model": model} for model in MODELS]),
        # As the table is read.
        "gold_passages": pd.DataFrame(gold).astype({"questions": "string", "how": "string"}),
    }  # fmt: skip
    first = first_answers(tables, whole.manifests, whole.experiments, [], ["rag: of the documents"])
    open_ones = [*first["useless"], *first["warnings"]]
    shown = [*open_ones, *first["more_warnings"]]
    assert [len(first["useless"]), len(open_ones), len(shown)] == [2, OPEN, 6]
    assert all("cannot show an effect" in one for one in shown[:2]) and all("were cut" in one for one in shown[4:])
    assert shown[3] == "rag: of the documents."
    # Questions that all have the passage that their file names are as they should be.
    assert shown[2].startswith("b: 0 of 4 questions have a gold passage")
    thinking = [one | {"with_reasoning": 2, "with_text": 9} for one in whole.manifests]
    first = first_answers(tables, thinking, whole.experiments, [])
    assert first["warnings"][0].startswith(f"{MODELS[0]}: many answers contain <think>")
    first = first_answers(tables, whole.manifests, whole.experiments, MODELS[:1])
    assert not any(MODELS[0] in one for one in [*first["useless"], *first["warnings"], *first["more_warnings"]])


def test_the_report_counts_gold_passages_by_the_way_they_were_found():
    hows, found_in = ["file", "none", "file"], [2, 0, 1]
    gold = [{"questions": "mine", "how": how, "n_with_answer": n} for how, n in zip(hows, found_in, strict=True)]
    shown = page({"gold_passages": tables()["gold_passages"].frame([*gold[:2], gold[2] | {"note": "look"}])})
    table = shown[shown.index(tables()["gold_counts"].title) :].partition("</table>")[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[1:]]
    assert [row for row in cells if row] == [["mine", "file", "2", "1", "1"], ["mine", "none", "1", "0", "0"]]


def test_the_first_screen_says_how_models_compare_and_an_advice_once(whole):
    pair = {
        "experiment": "kv", "n_sizes": 1, "model_a": MODELS[0], "model_b": MODELS[1], "n": 40, "difference": 0.3,
        "ci_low": 0.2, "ci_high": 0.4,
    }  # fmt: skip
    middle = pair | {"quantity": "accuracy", "place": "middle", "p_holm": 0.01}
    even = pair | {"quantity": "pbi", "place": "", "p_holm": 0.4}
    advice = {"model": MODELS[0], "remedies_of": "rag", "advice": "pass 5 documents.", "advice_details": "Why: so."}
    silent = advice | {"model": MODELS[1]}
    useless = USELESS | {"model": MODELS[1]}
    rows = {"model_pairs": [middle, even], "advice": [advice, silent], "utilisation": [useless]}
    tables = {"accuracy": whole.tables["accuracy"]} | {name: pd.DataFrame(some) for name, some in rows.items()}
    experiments = [{"name": "kv", "closed_book": "book"}, {"name": "rag", "closed_book": "book"}]
    first = first_answers(tables, [], experiments, [])
    assert first["answers"] == [
        f"{MODELS[0]} and {MODELS[1]} on kv, n = 40: {MODELS[0]} is better in the middle by 30.0 points [20.0, 40.0]; "
        f"PBIs are not compared, because positions show nothing about {MODELS[1]}."
    ]
    graded = tables | {"accuracy": whole.tables["accuracy"].assign(metric="token_f1")}
    (told,) = first_answers(graded | {"model_pairs": pd.DataFrame([even, even])}, [], experiments, [])["answers"]
    assert "on kv, n = 40, Token F1: no difference in Token F1 is shown (" in told
    # The other model's advice is silent, because the document does not help it.
    assert first["advice"] == [("pass 5 documents.", "Why: so.")]


def test_long_lists_are_shortened():
    assert named_briefly([str(n) for n in range(10)]) == "0; 1; 2; 3; 4; 5; 6; 7; and 2 more"


def test_links_lead_to_sections_and_every_scrolling_region_can_be_reached_and_has_a_name(html):
    elements = Elements(html)
    ids = [one["id"] for _, one in elements.found if "id" in one]
    assert len(set(ids)) == len(ids)
    links = [one["href"] for one in elements.of("a")]
    assert {link[1:] for link in links if not link.startswith("#question=")} <= set(ids)
    assert "#question=kv/6/" in " ".join(links)
    regions = [one for one in elements.of("div", "pre") if one.get("role") == "region"]
    assert regions and all(one.get("aria-label") and one.get("tabindex") == "0" for one in regions)
    assert all(one.get("alt") for one in elements.of("img"))
    assert all(one.get("scope") for one in elements.of("th"))


def test_headings_leave_out_no_level(html):
    levels = [int(tag[1]) for tag, _ in Elements(html).found if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))


def test_the_rule_passes_all_contents_of_the_page():
    assert sorted(FILES) == sorted(SOURCES)
    assert set(SCRIPTS) == {name for name in FILES if name.endswith(".js")}


def test_each_experiment_and_model_is_described_with_an_example(html, whole):
    measured = html[html.index('<section id="measured">') : html.index('<section id="accuracy">')]
    record = whole.samples["kv"][0]
    cell = record["cells"][0]
    asked = [whole.experiments[0]["asks"], cell["question"], cell["targets"][0]["answers"][0]]
    for text in (*asked, "family letters, 0.5 billion parameters", "2,048 tokens", "no facts in its entry"):
        assert text in measured


def test_wrong_answers_have_a_section_that_explains_the_kinds_that_occur():
    html = page(whole=contents_with_wrong_answers())
    assert [one["href"] for one in Elements(html).of("a")][:2] == ["#curves", "#wrong"]
    section = html[html.index('<section id="wrong">') : html.index('<section id="measured">')]
    assert re.findall(r"<dt>(.+)</dt><dd>the answer (.+)</dd>", section) == [("Other", "is none of these")]
    assert 'data-chart="kv_wrong"' in section and "results/README.md" not in section


# --- accuracies


def test_positions_are_columns_with_intervals_and_rows_mention_lost_questions(whole):
    counts = pd.DataFrame({"model": ["a"], "experiment": ["kv"], "size": [SIZE], "tokens_mean": [395.0]})
    sizes = SizeNames([FIGURE], token_counts=counts)
    (table,) = accuracy_tables(whole.tables["accuracy"], whole.titles, sizes)
    assert table["title"] == "Key-value retrieval, 6 pairs, about 400 tokens"
    assert table["headings"] == ["1st", "4th", "6th"]
    first, second = table["rows"]
    assert (first["name"], first["n"], first["noted"]) == (MODELS[0], "39", "3 left out")
    assert [cell["value"] for cell in second["cells"]] == ["100.0", "0.0", "100.0"]
    assert second["cells"][0]["limits"] == "[91.2, 100.0]"
    (table,) = accuracy_tables(whole.tables["accuracy"].assign(n_cut=1, n_empty=2, n_refused=1), whole.titles, sizes)
    noted = "3 cut, 6 empty (cut and refused ones included), 3 refused, 3 left out"
    assert table["rows"][0]["noted"] == noted


def test_sizes_without_positions_are_columns_and_several_gold_items_are_too():
    row = {
        "model": "a", "experiment": "e", "placement": "no_gold", "position": None, "target": "gold", "n": 9,
        "metric": "exact_code", "accuracy": 0.5, "ci_low": 0.2, "ci_high": 0.8, **dict.fromkeys(NOTED.values(), 0),
        "depth": None,
    }  # fmt: skip
    sizes = [row | {"size": size} for size in (5, 1000)]
    targets = [row | {"size": 9, "placement": "gold_at_0_8", "target": one} for one in ("early", "late")]
    near = [row | {"size": 9, "target": one, "depth": depth} for one, depth in (("start", 0), ("middle", 1 / 8))]
    of_targets = ((targets, ["early", "late"], "a, 1st, 9th"), (near, ["1st item", "2nd item"], "a, no gold"))
    for rows, headings, name in ((sizes, ["size 5", "size 1,000"], "a"), *of_targets):
        (table,) = accuracy_tables(pd.DataFrame(rows), {"e": "E"}, SizeNames([]))
        assert table["headings"] == headings and table["rows"][0]["name"] == name


def test_means_of_a_graded_metric_have_its_label_and_not_the_name_accuracy(whole):
    graded = whole.tables["accuracy"].assign(metric="token_f1")
    headings = ["<h2>Token F1 by position</h2>", "Token F1 in per cent:", "Token F1 at the edges", "Points of Token F1"]
    shown = page({"accuracy": graded})
    assert [text for text in [*headings, ">Key-value retrieval (Token F1)<br>"] if text not in shown] == []
    mixed = pd.concat([whole.tables["accuracy"], graded])
    assert "<h2>Accuracy and Token F1 by position</h2>" in page({"accuracy": mixed})
    pairs = pd.DataFrame({"experiment": "kv", "quantity": ["accuracy", "pbi"]})
    files = table_files([tables()["model_pairs"]], {"accuracy": graded, "model_pairs": pairs})
    assert (
        "kv & Token F1 \\\\\nkv & pbi " in files["model_pairs.tex"]
        and "kv,accuracy\nkv,pbi" in files["model_pairs.csv"]
    )
    files = accuracy_files(accuracy_tables(graded, whole.titles, SizeNames([FIGURE])))
    assert files["accuracy_by_position_1.tex"].startswith("% Key-value retrieval (Token F1), 6 pairs\n")


def test_the_overview_has_a_column_for_each_model_and_the_word_of_its_curve(whole):
    accuracy, bias = (whole.tables[name] for name in ("accuracy", "position_bias"))
    grid = overview_table(accuracy, bias, whole.titles, SizeNames([FIGURE]))
    (row,) = grid["rows"]
    assert grid["models"] == list(MODELS) and row["what"] == "6 pairs"
    assert row["cells"][1] == {"text": "0.0 (4th) to 100.0 (1st), n = 40", "word": "U"}
    (level,) = overview_table(accuracy.assign(accuracy=0.25), bias, whole.titles, SizeNames([FIGURE]))["rows"]
    assert level["cells"][1]["text"] == "25.0 everywhere, n = 40"
    # Several gold items of one prompt are a curve for each placement.
    placed = [bias.assign(placement=f"gold_at_{at}", shape=word) for at, word in (("0_2_5", "rising"), ("0_3_5", "U"))]
    for curves, words in ((placed[:1], "rising"), (placed, "rising; U"), ([*placed, placed[0]], "rising; U")):
        (row,) = overview_table(accuracy, pd.concat(curves), whole.titles, SizeNames([FIGURE]))["rows"]
        assert row["cells"][1]["word"] == words


def test_a_length_has_two_digits_and_a_range_where_models_differ():
    counts = pd.DataFrame({"model": ["a", "b"], "experiment": "e", "size": 3, "tokens_mean": [397.5, 16_240]})
    assert SizeNames([], token_counts=counts).length("e", 3) == "about 400 to 16,000 tokens"
    assert SizeNames([], token_counts=counts).with_length("e", 4) == SizeNames([]).with_length("e", 4) == "size 4"


def test_a_curve_without_a_word_says_why(whole):
    bias = whole.tables["position_bias"].head(1).assign(shape=None)
    floor = {"verdict": "no_information", "reason": "floor"}
    for changes, meaning in (({"n_positions": 2}, TWO_POSITIONS), (floor, "no information on position (floor)")):
        (one,) = verdicts(FIGURE, bias.assign(**changes), SizeNames([FIGURE]), several=False)
        assert one["says"] == [{"word": "", "meaning": meaning, "of": "n = 39"}]
    ((said,),) = (
        one["says"]
        for one in verdicts(FIGURE, whole.tables["position_bias"].tail(1), SizeNames([FIGURE]), several=False)
    )
    assert said["word"] == "U" and said["of"].startswith("against the middle: start +100.0 points [")
    assert ", end +100.0 points [" in said["of"] and said["of"].endswith("; n = 40")
    for other in ({"sizes": [7]}, {"kind": "wrong_answers"}):
        assert verdicts(FIGURE | other, bias, SizeNames([FIGURE]), several=False) == []


# --- files


def test_every_table_is_in_the_page_as_csv_and_latex_with_the_numbers_of_the_table(html, whole):
    packed = re.search(r'id="files" data-left-out="">([^<]+)<', html).group(1)
    files = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert {one["data-file"] for one in Elements(html).of("button") if "data-file" in one} == set(files)
    csv = files["accuracy.csv"].splitlines()
    assert csv[0].split(",") == list(whole.tables["accuracy"].columns) and len(csv) == len(whole.tables["accuracy"]) + 1
    assert (
        r"model-b & 100.0 [91.2, 100.0] & 0.0 [0.0, 8.8] & 100.0 [91.2, 100.0] & 40 \\"
        in files["accuracy_by_position_1.tex"]
    )


def test_files_too_large_for_the_page_are_named(monkeypatch):
    monkeypatch.setattr("litm.report.page_tables.MOST_CHARACTERS", 300)
    noise = "".join(text_sha256(str(number)) for number in range(40))
    assert packed_files({"small.csv": "a\n", "large.csv": noise})[1] == ["large.csv"]
    assert MOST_CHARACTERS < 5_000_000
