"""The tiers of the tests: what pytest runs by itself, and what runs because the command line names it."""

from pathlib import Path
from types import SimpleNamespace

import conftest
import pytest

DEFAULT = "not study and not slow"


@pytest.mark.parametrize(
    ("names", "given", "used"),
    [
        (["workflow_tests"], DEFAULT, DEFAULT),
        (["workflow_tests/figures", "workflow_tests/a/test_b.py"], DEFAULT, DEFAULT),
        (["a/test_b.py"], DEFAULT, conftest.MARKS_IN_A_NAMED_FILE),
        (["a/test_b.py::test_c", "a/test_d.py"], DEFAULT, conftest.MARKS_IN_A_NAMED_FILE),
        (["a/test_b.py::test_c[1]"], DEFAULT, ""),
        (["a/test_b.py::test_c"], "not long", "not long"),
    ],
)
def test_named_tests_are_not_deselected_unless_the_command_line_says_so(names, given, used):
    option = SimpleNamespace(markexpr=given)
    conftest.pytest_configure(SimpleNamespace(args=names, option=option, getini=lambda _: ["-m", DEFAULT]))
    assert option.markexpr == used


@pytest.mark.parametrize(
    ("folder", "fixtures", "marks"),
    [
        ("checks", ["tmp_path", "bench", "new_project"], ["study"]),
        ("golden", [], ["study"]),
        ("attacks", [], ["study"]),
        ("checks", ["tmp_path"], []),
    ],
)
def test_a_test_with_a_workbench_and_those_of_golden_files_and_attacks_are_of_the_full_tier(folder, fixtures, marks):
    given: list = []
    path = Path(folder) / "test_it.py"
    conftest.pytest_itemcollected(SimpleNamespace(path=path, fixturenames=fixtures, add_marker=given.append))
    assert given == marks


def test_files_of_studies_are_first_and_golden_files_before_them():
    def item(name: str, *marks: str) -> SimpleNamespace:
        return SimpleNamespace(path=Path(name), get_closest_marker=lambda mark: mark in marks)

    quick, other = item("a/test_quick.py"), item("b/test_both.py")
    study, golden = item("b/test_both.py", "study"), item("golden/test_golden.py", "study")
    items = [quick, other, study, golden]
    conftest.pytest_collection_modifyitems(items)
    assert items == [golden, other, study, quick]
