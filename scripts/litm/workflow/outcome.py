"""Outcome of a run, printed at its end."""

import csv
from collections.abc import Iterator
from pathlib import Path

from litm.analysis.run_summary import run_summary
from litm.workflow.plan import Plan

ACCURACY, BIAS, ADVICE = (Path(f"results/tables/{name}.csv") for name in ("accuracy", "position_bias", "advice"))


def outcome(plan: Plan, since: float) -> Iterator[str]:
    """Accuracies by position, and paths of figures, tables and report; no lines if no table was made since then.

    since: time of the start, in seconds since the epoch.
    """
    if ACCURACY.exists() and ACCURACY.stat().st_mtime >= since:
        yield from run_summary(_rows(ACCURACY), _rows(BIAS))
        if "advice" in plan.tables.names:
            yield from (row["advice"] for row in _rows(ADVICE) if row["advice"])
        figures = [path for path in plan.figures.files if path.endswith(".png") and Path(path).exists()]
        if figures:
            yield f"figures: {', '.join(figures[:3])}{f' and {len(figures) - 3} more' if len(figures) > 3 else ''}"
        yield "tables: results/tables/"
        if Path(plan.report.file).exists():
            yield f"report: {plan.report.file}, to open in a browser"
        yield from plan.tables.gold_passages_found()
    yield from plan.sweeps.cut_answers()


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if the file is missing."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
