"""How a run ended: what it shows, the files that it made, what a reader has to know, or why it failed."""

import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from litm.analysis.sentences import remedies_in_words
from litm.analysis.table import tables as all_tables
from litm.base.json_files import read_json
from litm.base.messages import UserError, first_of
from litm.base.table_files import plain_rows, read_parquet
from litm.config.study import Study
from litm.findings.console import Texts, console_lines, texts_of
from litm.findings.console_tables import Terminal
from litm.findings.first_screen import FirstScreen, ModelRow, WarningGroup, first_screen
from litm.findings.question_warnings import read_clusters
from litm.findings.record import Finding
from litm.findings.study import findings_of
from litm.findings.warnings import concerns
from litm.questions.released_format import filled_shares
from litm.records.measures import ANSWER
from litm.workflow.sweep_inputs import prices

TABLES = Path("results/tables")
#: Columns of a terminal whose size is not known, such as a file.
COLUMNS = 100


@dataclass(frozen=True)
class Results:
    """Files of results that are up to date; no others are read."""

    files: Container[str]
    accuracies: tuple[str, ...]
    """Those of each sweep, for a study without its table."""

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table; none if it is missing."""
        path, read = TABLES / f"{name}.csv", all_tables()[name].read
        paths = [path] if str(path) in self.files and path.exists() else []
        if name == "accuracy" and not paths:
            paths = [Path(other) for other in self.accuracies if other in self.files and Path(other).exists()]
        return [row for path in paths for row in plain_rows(read(path))]


def outcome(
    study: Study,
    files: Container[str],
    accuracies: Iterable[str],
    results: Iterable[str],
    filled: Mapping[str, Mapping[str, tuple[str, str]]],
    since: float,
) -> Iterator[str]:
    """The first screen, with the paths of figures, tables and report; the warnings alone if no table, figure or report
    was made since then.

    files: results that the run made or needed, and which are therefore up to date: no others are read; accuracies:
    those of each sweep; results: figures and the report; filled: see `SweepInputs`; since: time of the start, in
    seconds since the epoch. A table that is damaged is one line.
    """
    try:
        existing = [path for path in results if path in files and Path(path).exists()]
        is_made = any(path.stat().st_mtime >= since for path in [*TABLES.glob("*.csv"), *map(Path, existing)])
        screen, texts = screen_of(study, Results(files, tuple(accuracies)), filled if is_made else {}, is_made)
        places = _places(existing) if is_made else []
        yield from console_lines(screen, texts, units_of(study), places, terminal_of(sys.stderr))
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def terminal_of(stream: Any) -> Terminal:
    """What lines on a stream are for."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return Terminal(get_terminal_size((COLUMNS, 0)).columns, not encoding.lower().startswith("utf"))


def units_of(study: Study) -> dict[str, str]:
    """The units of the sizes of each experiment."""
    return {name: experiment.unit for name, experiment in study.experiments.items()}


def _places(existing: Collection[str]) -> list[str]:
    figures = [path for path in existing if path.endswith(".png")]
    return [
        *([f"figures: {first_of(figures, 3)}"] if figures else []),
        "tables: results/tables/",
        *(f"report: {path}, to open in a browser" for path in existing if path.endswith(".html")),
    ]


def screen_of(
    study: Study, results: Results, filled: Mapping[str, Mapping[str, tuple[str, str]]], is_made: bool = True
) -> tuple[FirstScreen, Texts]:
    """The first screen of a study with its sentences; filled: see `SweepInputs`; is_made: False for the warnings about
    answers alone.
    """
    sweeps = study.sweeps_of(ANSWER)
    manifests = [read_json(path) for sweep in sweeps if (path := Path(sweep.files.manifest)).exists()]
    settings = [experiment.settings() for experiment in study.experiments.values()]
    scores = {sweep.experiment.name: path for sweep in sweeps if (path := Path(sweep.files.scores)).exists()}
    findings = findings_of(
        results.rows,
        settings,
        models=tuple(study.models),
        plain=[name for name, experiment in study.experiments.items() if experiment.is_plain],
        stand_ins=study.stand_ins,
        manifests=manifests,
        clusters=read_clusters(settings, scores) if is_made else {},
        filled=filled_shares(filled),
        advice=_advice(study) if is_made and results.rows("advice") else (),
    )
    screen = first_screen(findings)
    texts = texts_of(screen, findings)
    if not is_made:
        return FirstScreen((), (), (), screen.warnings, ()), Texts(warnings=texts.warnings)
    return _with_remedies(screen, study, findings.of_kind("accuracy")), texts


def _advice(study: Study) -> list[Finding]:
    """The advice for each model and study of remedies."""
    from litm.findings.advice_table import advice_findings

    sweeps = [sweep.files for sweep in study.sweeps_of(ANSWER) if sweep.experiment.name in study.conditions]
    scores = (read_parquet(Path(files.scores)) for files in sweeps if Path(files.scores).exists())
    return advice_findings(scores, [asdict(condition) for condition in study.conditions.values()], prices(study))


def _with_remedies(screen: FirstScreen, study: Study, accuracies: Iterable[Finding]) -> FirstScreen:
    """The screen with a row for each remedy below those of the models without, named by its model and remedies."""
    rows: dict[tuple, list[ModelRow]] = {}
    for finding in accuracies:
        condition = study.conditions.get(finding.experiments[0])
        if condition and not condition.is_plain:
            name = ", ".join([*finding.models, *remedies_in_words(condition)])
            row = _remedied(finding, name, screen.warnings)
            rows.setdefault((condition.study, finding.size), []).append(row)
    tables = [
        replace(
            table,
            sizes=tuple(
                replace(size, rows=(*size.rows, *rows.get((table.experiment, size.size), ()))) for size in table.sizes
            ),
        )
        for table in screen.tables
    ]
    return replace(screen, tables=tuple(tables))


def _remedied(finding: Finding, name: str, warnings: Iterable[WarningGroup]) -> ModelRow:
    """The row of an accuracy with a remedy."""
    nothing = dict.fromkeys(("closed_book", "oracle", "start", "middle", "end", "pbi", "strength", "needed"))
    cell = (*finding.models, *finding.experiments, finding.size)
    marks = tuple(
        group.number for group in warnings if group.number and any(concerns(one, *cell) for one in group.findings)
    )
    numbers = {"n": finding.n or 0, "overall": finding.numbers["overall"], **nothing}
    return ModelRow(model=name, is_tied=False, shape="", curve=(), marks=marks, **numbers)  # type: ignore[arg-type]


def error_messages(folder: str | Path, since: float, models: Collection[str] = ()) -> Iterator[str]:
    """The last line of each log written after `since` that ends in an error message, with the log, sorted by its name;
    and how to get the results of the models that have no such log.

    since: seconds since the epoch; models: of the study.
    """
    others, root = list(models), Path(folder)
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= since:
            yield f"{path}:\n  {last}"
            _, model, *_ = (*path.relative_to(root).with_suffix("").parts, "")
            # A job that is of no model fails for all.
            others = [name for name in others if name != model] if model in models else []
    if 0 < len(others) < len(models):
        yield f"results of the other models alone: --config models='[{', '.join(others)}]'"
