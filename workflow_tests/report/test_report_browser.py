"""The report in a real browser: no errors, and all controls work by pointer and by keyboard."""

import json
import re
from itertools import pairwise

import pandas as pd
import pytest
from browser import Browser, find_browser
from report_contents import FIGURE, MODELS, contents, contents_with_wrong_answers, records, responses
from report_contents import page as report_page

from litm.report.charts import chart

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium (Debian: apt-get install chromium)")

#: Number of pairs of texts in panels that overlap.
OVERLAPS = """[...document.querySelectorAll('.panel svg')].flatMap((svg) => {
    const boxes = [...svg.querySelectorAll('text')].map((one) => one.getBoundingClientRect());
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
}).length"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Browser(str(PROGRAM), tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.fixture
def page(browser, report):
    """The report, open in a wide window; fails at the end if the page had an error."""
    browser.open(report, 1280)
    browser.wait_for("document.querySelector('#sample-verdicts button')")
    yield browser
    assert browser.problems == []


def text(page, selector: str) -> str:
    return page.run(f"document.querySelector('{selector}').innerText")


def test_pointing_at_a_mark_shows_model_position_accuracy_interval_and_n(page):
    page.hover(".series:nth-of-type(2) .mark:last-child")
    assert text(page, ".tip") == f"{MODELS[1]}\n6th: 100.0 % [91.2, 100.0], n = 40"


@pytest.mark.parametrize("width", [1280, 400])
def test_parts_of_wrong_answers_have_their_share_and_interval_by_pointer_and_by_keyboard(browser, tmp_path, width):
    (tmp_path / "report.html").write_text(report_page(whole=contents_with_wrong_answers()))
    browser.open(tmp_path / "report.html", width)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    panel = "[data-chart=kv_wrong] .panel:nth-child(2)"
    of_the_wrong = "100.0 % [91.2, 100.0] of the wrong answers, n = 40"
    browser.hover(f"{panel} rect")
    assert text(browser, f"{panel} .tip") == f"{MODELS[1]}, Other\n4th: {of_the_wrong}"
    browser.run(f"document.querySelector('{panel} svg[role=img]').focus()")
    browser.press("Escape")
    for key, words in (("ArrowDown", of_the_wrong), ("ArrowDown", "1st: 0.0 % [0.0, 8.8], n = 40")):
        browser.press(key)
        assert words in text(browser, f"{panel} .tip")
    assert browser.run("document.querySelectorAll('[data-chart=kv_wrong] .legend button').length") == 0
    assert browser.problems == []


def test_arrow_keys_go_along_a_curve_and_to_the_next_one(page):
    page.run("document.querySelector('.panel svg').focus()")
    for keys, words in ((["ArrowDown"], "1st"), (["ArrowRight"], "4th"), (["ArrowDown"], f"{MODELS[1]}\n4th: 0.0 %")):
        for key in keys:
            page.press(key)
        assert words in text(page, ".tip")
    page.press("Escape")
    assert page.run("document.querySelector('.tip').hidden")


def test_the_legend_switches_a_model_off_and_on(page):
    button, curve = f'.legend [data-key="model {MODELS[0]}"]', ".panel .series"
    for pressed, display in (("false", "none"), ("true", "inline")):
        page.click(button)
        assert page.run(f"document.querySelector({button!r}).getAttribute('aria-pressed')") == pressed
        assert page.run(f"getComputedStyle(document.querySelector('{curve}')).display") == display


def test_a_click_on_a_verdict_shows_the_prompt_with_the_gold_item_marked_and_the_answers(page):
    record = records()[0]
    page.click("#sample-verdicts tbody tr:nth-child(2) td:nth-of-type(2) button")
    cell = record["cells"][1]
    prompt = "".join(record["pieces"][piece] for piece in cell["prompt"])
    start, end = cell["targets"][0]["span"]
    assert page.run("document.querySelector('#sample-prompt').textContent") == prompt
    assert text(page, "mark") == prompt[start:end]
    answers = {(one.id, one.placement): one.text for one in responses(MODELS[1])}
    assert text(page, ".answer.chosen") == f"{MODELS[1]}: wrong\n{answers[record['id'], cell['placement']]}"


@pytest.mark.parametrize("element", ["#sample-prompt", ".answer pre"])
def test_arabic_or_hebrew_lines_begin_at_the_right(page, element):
    ends = page.run(f"""(() => {{
        const box = document.querySelector('{element}'), line = document.createRange();
        box.replaceChildren('Ask:\\n', 'من؟', '\\nא?');
        return [...box.childNodes].map((node) => {{
            line.selectNodeContents(node);
            const drawn = [...line.getClientRects()].findLast((one) => one.width);
            return drawn.left + drawn.right > 2 * box.getBoundingClientRect().left + box.clientWidth;
        }});
    }})()""")
    assert ends == [False, True, True]


def test_questions_can_be_stepped_through(page):
    first = page.run("document.querySelector('#sample-question').value")
    page.click("#sample-next")
    second = page.run("document.querySelector('#sample-question').value")
    assert [first, second] == [record["id"] for record in records()[:2]]


def choose(page, name: str, value: str, event: str = "change") -> None:
    page.run(f"""(() => {{
        const field = document.querySelector('#sample-{name}');
        field.value = {value!r};
        field.dispatchEvent(new Event({event!r}));
    }})()""")


def test_questions_are_filtered_by_their_verdicts_and_by_a_text(page):
    counts = {}
    expected = {"all": 5, "mixed": 5, "wrong": 1, "right": 4, "cut": 0, "empty": 0, "taken": 0, "unscored": 0}
    for kind in expected:
        choose(page, "filter", kind)
        counts[kind] = int(text(page, "#sample-count").split()[0])
    assert counts == expected
    choose(page, "filter", "all")
    choose(page, "search", records()[2]["cells"][0]["targets"][0]["answers"][0].upper(), "input")
    assert text(page, "#sample-count") == "1 of the 5 questions in the sample."


def test_a_link_opens_its_question_at_its_position_and_each_question_has_one(page, report):
    record = records()[3]
    page.open(report, 1280)
    page.run(f"location.hash = '#question=kv/{record['size']}/{record['id']}/gold_at_5'")
    page.wait_for(f"document.querySelector('#sample-question').value === {record['id']!r}")
    page.wait_for("document.querySelector('#sample-prompt-title').textContent.endsWith('6th item')")
    page.click("#sample-verdicts tbody tr:nth-child(1) td:nth-of-type(2) button")
    page.wait_for("location.hash.endsWith('/gold_at_3')")
    page.click(".card a")
    page.wait_for(f"document.querySelector('#sample-question').value === {records()[0]['id']!r}")


def test_the_prompt_can_be_shown_exactly_as_the_model_was_asked(page):
    page.click("#sample-verdicts tbody tr:nth-child(2) td:nth-of-type(1) button")
    page.click("#sample-exact")
    shown = page.run("document.querySelector('#sample-prompt').textContent")
    assert shown.startswith("<user>") and shown.endswith("<end>")
    page.click("#sample-verdicts tbody tr:nth-child(1) td:nth-of-type(1) button")
    assert "prompt format is not known" in text(page, "#sample-format")


def test_clickable_elements_have_a_name_and_are_reachable_by_keyboard(page):
    names = """[...document.querySelectorAll('button, select, input, a, summary, [tabindex]')]
        .filter((one) => one.checkVisibility() && !one.disabled)
        .filter((one) => one.tabIndex < 0 ||
            !(one.innerText || one.getAttribute('aria-label') || one.labels?.[0]?.innerText || '').trim())
        .map((one) => one.outerHTML.slice(0, 80))"""
    assert page.run(names) == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_narrow_and_wide_windows_light_and_dark(page, report, width, dark):
    page.open(report, width, dark=dark)
    page.wait_for("document.querySelector('#sample-verdicts button')")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    lightness = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
    assert (int(lightness) < 128) == dark
    assert page.run(OVERLAPS) == 0


@pytest.mark.parametrize("width", [1280, 400])
def test_reference_lines_have_their_intervals_in_a_named_column_with_the_models_apart(browser, tmp_path, width):
    table = contents().tables["accuracy"]
    oracle = table[table["position"] == 0].assign(experiment="oracle", size=1, position=None)
    figure = FIGURE | {"references": {"oracle": "gold document alone"}}
    titles = [{**contents().experiments[0], "name": name} for name in ("kv", "oracle")]
    html = report_page({"accuracy": pd.concat([table, oracle])}, figures=[figure], experiments=titles)
    (tmp_path / "report.html").write_text(html)
    browser.open(tmp_path / "report.html", width)
    labels = browser.run("[...document.querySelectorAll('.panel text')].map((one) => one.textContent)")
    assert {"gold", "document", "alone"} < set(labels) and browser.run(OVERLAPS) == 0
    places = "[...document.querySelectorAll('.reference .interval')].map((one) => one.getBoundingClientRect())"
    first, second = browser.run(f"{places}.map(({{left, right}}) => [left, right])")
    shade = browser.run("(({left, right}) => [left, right])(document.querySelector('.shade').getBoundingClientRect())")
    assert shade[0] < first[0] < second[0] < second[1] < shade[1]
    right = "[...document.querySelectorAll('.curve .mark')].map((one) => one.getBoundingClientRect().right)"
    assert max(browser.run(right)) < shade[0] and browser.problems == []


def test_a_line_has_a_gap_at_a_position_without_a_scored_question(browser, tmp_path):
    table = contents().tables["accuracy"]
    table = table.assign(n=table["n"].where((table["model"] != MODELS[0]) | (table["position"] != 3), 0))
    (tmp_path / "report.html").write_text(report_page({"accuracy": table}))
    browser.open(tmp_path / "report.html", 1280)
    lines = browser.run("[...document.querySelectorAll('.curve .line')].map((one) => one.getAttribute('d'))")
    assert [(line.count("M"), line.count("L")) for line in lines] == [(2, 0), (1, 2)] and browser.problems == []


def test_labels_of_neighbouring_positions_that_would_overlap_are_turned(browser, tmp_path):
    table = contents().tables["accuracy"]
    moved = table.assign(position=table["position"].replace({3: 14, 5: 15}))
    (tmp_path / "report.html").write_text(report_page({"accuracy": moved}))
    browser.open(tmp_path / "report.html", 1280)
    turned = "[...document.querySelectorAll('.panel text[transform]')].map((one) => one.textContent)"
    assert browser.run(turned) == ["1st", "15th", "16th"] and browser.problems == []


def test_without_a_script_there_are_the_pictures(browser, report):
    browser.open(report, 1280, scripts=False)
    assert browser.run("[...document.images].map((one) => one.naturalWidth > 100)") == [True]
    assert browser.run("document.querySelector('.panel') === null")


def page_of_many(models: int, kind: str = "accuracy_by_position") -> str:
    """The page with a chart of this many models of nearly equal accuracy at three positions."""
    accuracy = contents().tables["accuracy"]
    of_one, names = accuracy[accuracy["model"] == MODELS[0]], [f"m{number}" for number in range(models)]
    rows = [of_one.assign(model=name, accuracy=0.4 + number / 100) for number, name in enumerate(names)]
    whole = contents()
    drawn = chart(FIGURE | {"kind": kind}, {**whole.tables, "accuracy": pd.concat(rows)})
    data = json.dumps({"models": names, "charts": [drawn]})
    return re.sub(r'(<script[^>]*id="charts"[^>]*>).*?(</script>)', rf"\g<1>{data}\g<2>", report_page(), flags=re.S)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("models", "panels"), [(2, 1), (4, 1), (5, 5), (18, 18)])
def test_more_than_four_models_have_a_panel_each_in_text_that_a_phone_shows(browser, tmp_path, models, panels, width):
    (tmp_path / "report.html").write_text(page_of_many(models))
    browser.open(tmp_path / "report.html", width)
    counts = browser.run("""['.panel', '.panel:first-child .behind', '.legend [data-key^="model "]'].map(
        (one) => document.querySelectorAll(`[data-chart=kv] ${one}`).length)""")
    assert counts == ([panels, 0, models] if panels == 1 else [models, models - 1, 0])
    points = browser.run("""Math.min(...[...document.querySelectorAll('[data-chart=kv] .panel svg[role=img]')].map(
        (one) => 0.75 * 12 * one.getBoundingClientRect().width / one.viewBox.baseVal.width))""")
    assert points >= 8 and browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run(OVERLAPS) == 0 and browser.problems == []


def test_marks_and_intervals_of_four_models_in_a_chart_do_not_touch(browser, tmp_path):
    (tmp_path / "report.html").write_text(page_of_many(4))
    browser.open(tmp_path / "report.html", 1280)
    marks = browser.run("""[...document.querySelectorAll('[data-chart=kv] .curve .mark')].map(
        (one) => one.getBBox().width * one.transform.baseVal[1].matrix.a / 2).concat()""")
    places = sorted(
        browser.run("""[...document.querySelectorAll('[data-chart=kv] .curve .interval')].map(
        (one) => Number(one.getAttribute('x1')))""")
    )
    assert min(b - a for a, b in pairwise(places)) >= max(marks)
    assert len(places) == 12
