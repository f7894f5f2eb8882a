"""Progress in a log: lines that continue within a long step."""

import sys
import time
from types import SimpleNamespace

import pytest
from waiting import wait_until

from litm.base import progress
from litm.base.messages import note


@pytest.fixture(autouse=True)
def _every_moment(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)


def test_what_is_being_done_is_shown_with_the_first_line_and_while_no_step_ends(capsys):
    asked: list[None] = []

    def state() -> str:
        asked.append(None)
        return f"{len(asked)} tokens"

    with progress.progress_bar(3, "sweep", "prompts") as bar, progress.showing(bar, state):
        assert "0/3" in (said := capsys.readouterr().err) and "1 tokens" in said
        wait_until(lambda: len(asked) > 3)
    lines = [line for line in capsys.readouterr().err.splitlines() if "tokens" in line]
    # The last line has the state of the end.
    assert len(lines) >= 2 and lines[0] != lines[-1] and f"{len(asked)} tokens" in lines[-1]


def test_nothing_is_shown_after_the_end_of_an_interrupted_step(capsys):
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117
        with progress.progress_bar(3, "sweep", "prompts") as bar, progress.showing(bar, lambda: "at work"):
            raise KeyboardInterrupt
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_line_is_not_repeated_for_a_new_rate_alone(capsys):
    lines = progress._Lines(sys.stderr)
    for bar in ("1/3 [00:01<00:02, 1.0 prompts/s, 4,155 tokens", "1/3 [00:01<00:02, 1.1 prompts/s, 4,155 tokens"):
        lines.write(f"\rsweep: 33%|##  | {bar} read]")
    lines.write("\rsweep: 33%|## | 1/3 [00:01<00:02, 1.1 prompts/s, 4,156 tokens read]\n")
    lines.write("\rsweep: 67%|## | 2/3 [00:01<00:02, 1.1 prompts/s, 4,156 tokens read]\n")
    assert [line.split()[3] for line in capsys.readouterr().err.splitlines()] == ["1/3", "1/3", "2/3"]


def test_a_long_step_is_said_soon_and_then_again_with_its_seconds_and_a_short_one_is_not(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(progress, "note", said.append)
    for seconds, is_said in ((0.02, True), (100, False)):
        monkeypatch.setattr(progress, "SECONDS_TO_FIRST_LINE", seconds)
        with progress.waiting("reading"):
            if is_said:
                wait_until(lambda: len(said) > 1)
        assert ([line.partition(": ")[0] for line in said[:2]] == ["reading"] * 2) == is_said
        said.clear()


def test_a_note_is_one_write_so_that_no_line_of_another_thread_can_join_it(monkeypatch):
    writes: list[str] = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=writes.append, flush=lambda: None))
    note("a line")
    assert writes == ["a line\n"]
