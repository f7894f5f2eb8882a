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
def test_named_tests_are_not_deselected_unless_the_command_line_says_so(monkeypatch, names, given, used):
    monkeypatch.setattr(conftest, "IS_WORKER", False)
    option = SimpleNamespace(markexpr=given)
    conftest.pytest_configure(SimpleNamespace(args=names, option=option, getini=lambda _: ["-m", DEFAULT]))
    assert option.markexpr == used


def marks(folder: str, **scopes: str) -> list[str]:
    """Names of the marks that a test of a folder gets. scopes: of the fixtures that it uses."""
    given: list = []
    fixtures = {name: [SimpleNamespace(scope=scope)] for name, scope in scopes.items()}
    path, info = Path(folder) / "test_it.py", SimpleNamespace(name2fixturedefs=fixtures)
    item = SimpleNamespace(path=path, fixturenames=[*scopes], _fixtureinfo=info, add_marker=given.append)
    conftest.pytest_collection_modifyitems([item])
    return [str(getattr(mark, "name", mark)) for mark in given]


def test_a_test_of_a_workbench_and_of_golden_files_and_attacks_is_of_the_full_tier():
    assert marks("checks", new_project="session", tmp_path="function") == ["study"]
    assert marks("golden") == marks("attacks") == ["study"]
    assert marks("checks", tmp_path="function") == []


def test_tests_that_share_a_module_s_fixture_are_a_group_of_one_worker():
    assert marks("checks", model="module") == ["xdist_group"]
    assert marks("golden", new_project="session", texts="module") == ["study", "xdist_group"]
