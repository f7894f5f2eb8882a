"""Progress in a log: lines that continue within a long step."""

import time

import pytest

from litm.base import progress


@pytest.fixture(autouse=True)
def _every_moment(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)


def test_what_is_being_done_is_shown_while_no_step_ends(capsys):
    read = iter(range(1, 10_000))
    with progress.progress_bar(3, "sweep", "prompts") as bar, progress.showing(bar, lambda: f"{next(read)} tokens"):
        time.sleep(0.2)
    lines = [line for line in capsys.readouterr().err.splitlines() if "tokens" in line]
    assert len(lines) >= 2 and "0/3" in lines[0] and lines[0] != lines[-1]


def test_nothing_is_shown_after_the_end_of_an_interrupted_step(capsys):
    with pytest.raises(KeyboardInterrupt):  # noqa: SIM117
        with progress.progress_bar(3, "sweep", "prompts") as bar, progress.showing(bar, lambda: "at work"):
            raise KeyboardInterrupt
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""
