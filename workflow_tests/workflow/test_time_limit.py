"""The time limit: a test that passes too slowly fails."""

from types import SimpleNamespace

import conftest
import pytest


def outcome(seconds: float, when: str = "call", outcome: str = "passed", slow: bool = False) -> str:
    """The outcome of a test that took `seconds`, as the hook leaves it."""
    item = SimpleNamespace(nodeid="test_x", get_closest_marker=lambda name: slow and name == "slow")
    call = SimpleNamespace(when=when, duration=seconds)
    report = SimpleNamespace(passed=outcome == "passed", outcome=outcome, longrepr=None)
    hook = conftest.pytest_runtest_makereport(item, call)
    next(hook)
    with pytest.raises(StopIteration) as end:
        hook.send(report)
    assert end.value.value is report
    assert (report.longrepr is not None) == (report.outcome != outcome)
    return report.outcome


def test_a_test_over_the_limit_fails_unless_it_is_marked_slow(monkeypatch):
    monkeypatch.delenv(conftest.LIMIT_VARIABLE, raising=False)
    assert outcome(29.0) == "passed"
    assert outcome(31.0) == "failed"
    assert outcome(31.0, slow=True) == "passed"
    assert outcome(31.0, outcome="skipped") == "skipped"


def test_what_fixtures_take_does_not_count(monkeypatch):
    monkeypatch.delenv(conftest.LIMIT_VARIABLE, raising=False)
    assert outcome(100.0, when="setup") == "passed"


def test_a_busy_machine_can_have_another_limit(monkeypatch):
    monkeypatch.setenv(conftest.LIMIT_VARIABLE, "60")
    assert (outcome(59.0), outcome(61.0)) == ("passed", "failed")
