"""Outcome of a run, printed at its end."""

from collections.abc import Iterator
from pathlib import Path

from litm.analysis.run_summary import run_summary
from litm.base.messages import UserError
from litm.base.records import read_result_rows
from litm.config.items import item_noun
from litm.workflow.plan import Plan

ACCURACY, BIAS, ADVICE = (Path(f"results/tables/{name}.csv") for name in ("accuracy", "position_bias", "advice"))


def outcome(plan: Plan, since: float) -> Iterator[str]:
    """Accuracies by position, and paths of figures, tables and report; no lines if no table was made since then.

    The last line names a table that is damaged and ends the outcome.
    since: time of the start, in seconds since the epoch.
    """
    try:
        yield from _made(plan, since)
        yield from plan.sweeps.cut_answers()
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def _made(plan: Plan, since: float) -> Iterator[str]:
    if ACCURACY.exists() and ACCURACY.stat().st_mtime >= since:
        experiments = plan.study.experiments.values()
        units = {one.name: "tokens" if one.tokens_of else f"{item_noun([one])}s" for one in experiments}
        yield from run_summary(_rows(ACCURACY), _rows(BIAS), units)
        if "advice" in plan.tables.names:
            yield from (row["advice"] for row in _rows(ADVICE) if row["advice"])
        figures = [path for path in plan.figures.files if path.endswith(".png") and Path(path).exists()]
        if figures:
            yield f"figures: {', '.join(figures[:3])}{f' and {len(figures) - 3} more' if len(figures) > 3 else ''}"
        yield "tables: results/tables/"
        if Path(plan.report.file).exists():
            yield f"report: {plan.report.file}, to open in a browser"
        yield from plan.tables.gold_passages_found()


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if the file is missing."""
    return read_result_rows(path) if path.exists() else []
