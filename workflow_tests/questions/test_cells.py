"""Cells as other programs write them."""

import json

import numpy as np
import pandas as pd
import pytest
from programs import refused

from litm.questions.cells import ALTERED, HABITS, TRUTH, answers_in, habit_of, is_missing, parsed, written

TEXTS = ["it's", 'say "x"', "both ' and \"", "a\\b", "two\nlines", "a|b", "é", "dtype", "a, b"]


@pytest.mark.parametrize(
    "value",
    [
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        [np.array(TEXTS, dtype=object)],
        {"text": np.array(TEXTS, dtype=object), "answer_start": np.array([1, 2], dtype=np.int32)},
        {"text": TEXTS},
        [np.str_(text) for text in TEXTS],
        tuple(TEXTS),
        [[text] for text in TEXTS],
        [text.encode() for text in TEXTS],
    ],
)
def test_texts_that_numpy_and_python_write_are_read_back(value):
    for cell in (str(value), repr(value)):
        assert list(answers_in(written(cell, "f"), "f")) == TEXTS


def test_lists_that_pandas_writes_to_a_table_are_read_back(tmp_path):
    lists = [["a"], ["it's", "b"], [f"an answer of several words, number {number}" for number in range(40)]]
    pd.DataFrame({"answers": [np.array(one, dtype=object) for one in lists]}).to_csv(tmp_path / "q.csv", index=False)
    cells = pd.read_csv(tmp_path / "q.csv")["answers"]
    assert [parsed(cell) for cell in cells] == lists


def test_a_list_that_numpy_shortens_is_refused():
    for many in (np.array(["a"] * 2000), np.arange(2000), np.arange(2000.0)):
        assert "has been shortened" in refused(written, str(many), "f, line 2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ada",
        "f(x)",
        "print('a')",
        "Index (book)",
        "[object]",
        "[main]",
        "(1999)",
        "('tis so)",
        "{x}",
        "[...]",
        "c(x)",
        "[a] (b)",
        "'a'",
        "1",
    ],
)
def test_other_texts_are_no_lists(text):
    assert parsed(text) is None and written(text, "f") is None


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("np.float64(3.5)", [3.5]),
        ("np.int64(0)", [0]),
        ("Decimal('3.50')", ["3.50"]),
        ("frozenset({'b', 'a'})", ["a", "b"]),
        ("dict_values(['a', 'b'])", ["a", "b"]),
        ("Index(['a', 'b'], dtype='object')", ["a", "b"]),
        ("tensor([1, 2])", [1, 2]),
    ],
)
def test_values_with_the_name_of_their_type_are_read(text, answers):
    assert list(answers_in(written(text, "f"), "f")) == answers


@pytest.mark.parametrize(
    "text",
    [
        "datetime.date(2020, 1, 1)",
        "[Timestamp('2020-01-01 00:00:00')]",
        "OrderedDict([('text', ['a'])])",
        "WrappedArray(a, b)",
        "<map object at 0x7f8b8c>",
        "[object Object]",
        str(pd.Series(["a", "b"])),
        json.dumps(json.dumps(["a", "b"])),
    ],
)
def test_objects_as_programs_show_them_are_refused(text):
    assert "looks like a list or an object" in refused(written, text, "f, line 2")


@pytest.mark.parametrize("text", ["3.0999999046325684", "\u00c3\u2030cole", "Z\u00c3\u00bcrich", "1,23457E+12"])
def test_numbers_and_letters_that_a_program_has_altered_are_told(text):
    assert ALTERED.fullmatch(text)
    assert not any(map(ALTERED.fullmatch, ["3.14159265", "S\u00c3O PAULO", "IRM\u00c3\u2019", "1e5", "Jan 5"]))


def test_a_habit_is_one_of_all_cells_of_a_column():
    assert habit_of(["1.0", "", None, "nan", "2.0"], HABITS) is HABITS[0]
    assert habit_of([1.0, 2.0], HABITS) is HABITS[0]
    for values in (["1", "2"], ["1.0", "2.5"], ["1.0", "version 2.0"], ["1.00"], ["1,000"], [], ["nan"]):
        assert habit_of(values, HABITS) is None
    assert habit_of(["TRUE", "false"], [TRUTH]) is TRUTH and habit_of(["True", "Ada"], [TRUTH]) is None


def test_marks_of_missing_values_are_whole_cells():
    assert all(map(is_missing, ["nan", " NaN ", "None", "NA", "<NA>", "#N/A", float("nan")]))
    assert not any(map(is_missing, ["none", "Nan Goldin", "NASA", "Na", "", None, 0, ["NA"]]))
