"""The outcome of a run, printed at its end."""

from types import SimpleNamespace
from typing import Any

from litm.workflow.console import ACCURACY, outcome

PLAN: Any = SimpleNamespace(study=SimpleNamespace(experiments={}), sweeps=SimpleNamespace(cut_answers=list))


def test_a_damaged_table_is_one_line_with_its_remedy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(outcome(PLAN, since=0)) == []
    ACCURACY.parent.mkdir(parents=True)
    ACCURACY.write_text("model,experiment,size,n\nm,e,5,4\nm,e")
    (line,) = outcome(PLAN, since=0)
    assert line.startswith(f"error: {ACCURACY}: its last line is incomplete: remove it and run the same command")
