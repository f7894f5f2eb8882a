"""The project's size: no part is larger than its budget, and each budget falls with its part."""

import budget as counted


def test_no_part_is_larger_than_its_budget_and_no_budget_is_larger_than_its_part_needs():
    found = counted.mistakes(counted.read_budget(), counted.sizes())
    assert not found, "\n".join(["workflow_tests/budget.yaml:", *found])


def test_no_module_is_too_long():
    assert not counted.too_long()


def test_a_part_above_its_budget_or_far_below_it_is_named():
    now = {"a": {"code": 100, "modules": 2}}
    assert counted.mistakes({"a": {"code": 102, "modules": 2}}, now) == []
    (above,) = counted.mistakes({"a": {"code": 99, "modules": 2}}, now)
    assert above.startswith("a: 100 code, and its budget is 99; make it smaller, or raise it by hand")
    assert counted.mistakes({"a": {"code": 103, "modules": 2}}, now) == [
        "a: 100 code, lower than its budget of 103: fine, `make budget` notes it"
    ]
    assert counted.mistakes({}, now) == ["a: it has no budget; add the line ''a': {code: 100, modules: 2}'"]
    assert counted.mistakes(now | {"b": {"code": 1}}, now) == ["b: it is gone; `make budget` removes its line"]


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""Two\nlines."""\n\n# Why.\ndef f():\n    """What."""\n    return """a\n    b"""  # so\n')
    assert counted.code_lines(path) == 3
    path.write_text('class A:\n    b: int = 1\n    """Of b."""\n    c = 2\n    """Text in no place for one."""\n')
    assert counted.code_lines(path) == 4


def test_the_file_is_rewritten_downwards_alone(tmp_path, monkeypatch):
    path = tmp_path / "budget.yaml"
    path.write_text("# Why.\n\n'a': {code: 9, modules: 1}  # goal: 5 in 1\n\n'b': {code: 3, modules: 1}\n")
    monkeypatch.setattr(counted, "BUDGET", path)
    monkeypatch.setattr(counted, "sizes", lambda: {"a": {"code": 7, "modules": 2}})
    counted.write_budget()
    assert path.read_text() == "# Why.\n\n'a': {code: 7, modules: 1}  # goal: 5 in 1\n"
