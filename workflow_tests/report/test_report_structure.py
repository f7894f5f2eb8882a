"""Structure of the report: order, tables, links and labels, without a browser."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pandas as pd
import pytest
from report_contents import FIGURE, MODELS, SIZE, SOURCES, contents, contents_with_wrong_answers, page

from litm.base.store import text_sha256
from litm.report.page import SCRIPTS
from litm.report.page_tables import MOST_CHARACTERS, NOTED, accuracy_files, accuracy_tables, packed_files, table_files
from litm.report.sizes import SizeNames
from litm.tables.table import tables
from litm.workflow.report_files import REPORT_FILES as FILES


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


def test_the_first_screen_comes_first_then_the_curves_and_statistics_in_words_after_the_numbers(html):
    sections = [section["id"] for section in Elements(html).of("section")]
    numbers = ["measured", "accuracy", "bias", "statistics"]
    assert sections[0] == "first" and sections[sections.index("curves") :] == [
        "curves", *numbers, "questions", "tables", "tokens", "provenance"
    ]  # fmt: skip
    header = html[: html.index("<main>")]
    assert f"<b>Models:</b> {'; '.join(MODELS)}. <b>Experiments:</b> Key-value retrieval." in header


def test_findings_in_words_are_folded_by_experiment_without_warnings_and_advice(html):
    section = html.partition('<section id="statistics">')[2].partition("</section>")[0]
    titles = re.findall(r"<summary>(.+?) <span", section)
    assert titles == ["All experiments", "Key-value retrieval"] and "<details open" not in section
    assert section.count(f"{MODELS[1]} on kv, size {SIZE}: best with the answer in the") == 1


def test_the_report_counts_gold_passages_by_the_way_they_were_found():
    hows, found_in = ["file", "none", "file"], [2, 0, 1]
    gold = [{"questions": "mine", "how": how, "n_with_answer": n} for how, n in zip(hows, found_in, strict=True)]
    shown = page({"gold_passages": tables()["gold_passages"].frame([*gold[:2], gold[2] | {"note": "look"}])})
    table = shown[shown.index(tables()["gold_counts"].title) :].partition("</table>")[0]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in table.split("<tr>")[1:]]
    assert [row for row in cells if row] == [["mine", "file", "2", "1", "1"], ["mine", "none", "1", "0", "0"]]


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
    links = [one["href"] for one in Elements(html).of("a")]
    assert links[:4] == ["#first", "#warnings", "#curves", "#wrong"]
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
    headings = ["<h2>Token F1 by position</h2>", "Token F1 at the edges", "Points of Token F1"]
    shown = page({"accuracy": graded})
    assert [text for text in headings if text not in shown] == []
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


def test_a_length_has_two_digits_and_a_range_where_models_differ():
    counts = pd.DataFrame({"model": ["a", "b"], "experiment": "e", "size": 3, "tokens_mean": [397.5, 16_240]})
    assert SizeNames([], token_counts=counts).length("e", 3) == "about 400 to 16,000 tokens"
    assert SizeNames([], token_counts=counts).with_length("e", 4) == SizeNames([]).with_length("e", 4) == "size 4"


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
