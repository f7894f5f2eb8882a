"""How a run ended: what it shows, the files that it made, what a reader has to know, or why it failed."""

import sys
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from litm.base.json_files import read_json
from litm.base.messages import UserError, first_of
from litm.base.table_files import plain_rows
from litm.config.study import Study
from litm.examples.orders import remedies_in_words
from litm.findings.console import Texts, console_lines, texts_of
from litm.findings.console_tables import Terminal
from litm.findings.first_screen import FirstScreen, ModelRow, WarningGroup, first_screen
from litm.findings.question_warnings import read_clusters
from litm.findings.record import Finding, StudyFindings
from litm.findings.study import NOTHING, findings_of
from litm.findings.warnings import concerns
from litm.questions.released_format import filled_shares
from litm.records.measures import ANSWER
from litm.tables.table import tables as all_tables
from litm.workflow.report_files import FINDINGS

TABLES = Path("results/tables")
#: Columns of a terminal whose size is not known, such as a file.
COLUMNS = 100


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
    existing = [path for path in results if path in files and Path(path).exists()]
    is_made = any(path.stat().st_mtime >= since for path in [*TABLES.glob("*.csv"), *map(Path, existing)])
    rest = next((path for path in existing if path.endswith(".html")), f"{TABLES}/")
    try:
        findings = findings_in(study, files, accuracies, filled if is_made else {})
        yield from screen_lines(study, findings, terminal_of(sys.stderr, rest), _places(existing), is_made)
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def terminal_of(stream: Any, rest: str) -> Terminal:
    """What lines on a stream are for; rest: where everything is that has no room."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return Terminal(get_terminal_size((COLUMNS, 0)).columns, not encoding.lower().startswith("utf"), rest)


def _places(existing: Collection[str]) -> list[str]:
    figures = [Path(path) for path in existing if path.endswith(".png")]
    return [
        *([f"figures: {figures[0].parent}/: {first_of([path.name for path in figures], 3)}"] if figures else []),
        "tables: results/tables/",
        *(f"report: {path}, to open in a browser" for path in existing if path.endswith(".html")),
    ]


def findings_in(
    study: Study,
    files: Container[str],
    accuracies: Iterable[str] = (),
    filled: Mapping[str, Mapping[str, tuple[str, str]]] = NOTHING,
) -> StudyFindings:
    """The findings that a run made; without results/findings.json, those of its tables, which have no advice.

    See `outcome`; the accuracies of each sweep are read for a run without their table.
    """
    if FINDINGS in files and Path(FINDINGS).exists():
        return StudyFindings.from_json(read_json(FINDINGS))

    def rows(name: str) -> list[dict[str, Any]]:
        paths = [str(TABLES / f"{name}.csv")]
        if name == "accuracy" and paths[0] not in files:
            paths = [*accuracies]
        read = all_tables()[name].read
        return [row for path in paths if path in files and Path(path).exists() for row in plain_rows(read(path))]

    sweeps = study.sweeps_of(ANSWER)
    settings = [experiment.settings() for experiment in study.experiments.values()]
    scores = {sweep.experiment.name: path for sweep in sweeps if (path := Path(sweep.files.scores)).exists()}
    return findings_of(
        rows,
        settings,
        models=tuple(study.models),
        plain=[name for name, experiment in study.experiments.items() if experiment.is_plain],
        stand_ins=study.stand_ins,
        manifests=[read_json(path) for sweep in sweeps if (path := Path(sweep.files.manifest)).exists()],
        clusters=read_clusters(settings, scores),
        filled=filled_shares(filled),
    )


def screen_lines(
    study: Study,
    findings: StudyFindings,
    terminal: Terminal,
    places: Sequence[str] = (),
    is_made: bool = True,
    with_positions: bool = True,
) -> list[str]:
    """The lines of the first screen; the warnings alone if nothing `is_made`; with_positions: see `console_lines`."""
    screen = first_screen(findings)
    texts = texts_of(screen, findings)
    if not is_made:
        return console_lines(replace(screen, tables=()), Texts(warnings=texts.warnings), {}, [], terminal)
    units = {name: experiment.unit for name, experiment in study.experiments.items()}
    with_remedies = _with_remedies(screen, study, findings.of_kind("accuracy"))
    return console_lines(with_remedies, texts, units, places, terminal, with_positions)


def _with_remedies(screen: FirstScreen, study: Study, accuracies: Iterable[Finding]) -> FirstScreen:
    """The screen with a row for each remedy below those of the models without, named by its model and remedies; of one
    model by the remedies alone.
    """
    rows: dict[tuple, list[ModelRow]] = {}
    for finding in accuracies:
        condition = study.conditions.get(finding.experiments[0])
        if condition and not (condition.is_plain or condition.lacks_answer):
            models = finding.models if len(study.models) > 1 else ()
            row = _remedied(finding, ", ".join([*models, *remedies_in_words(condition)]), screen.warnings)
            rows.setdefault((condition.study, finding.size), []).append(row)
    with_remedies = {name for name, _ in rows}
    tables = []
    for table in screen.tables:
        condition = study.conditions.get(table.experiment)
        is_alone = condition and table.experiment in with_remedies and len(study.models) == 1
        name = ", ".join(remedies_in_words(condition)) if condition and is_alone else None
        sizes = [
            (
                size,
                [replace(row, model=name or row.model) for row in size.rows],
                rows.get((table.experiment, size.size)),
            )
            for size in table.sizes
        ]
        tables.append(
            replace(table, sizes=tuple(replace(size, rows=(*first, *(more or ()))) for size, first, more in sizes))
        )
    return replace(screen, tables=tuple(tables))


def _remedied(finding: Finding, name: str, warnings: Iterable[WarningGroup]) -> ModelRow:
    """The row of an accuracy with a remedy."""
    others = ("closed_book", "oracle", "n_references", "start", "middle", "end", "pbi", "strength", "needed")
    (model,), (experiment,) = finding.models, finding.experiments
    marks = tuple(
        group.number
        for group in warnings
        if group.number and any(concerns(warning, model, experiment, finding.size) for warning in group.findings)
    )
    numbers = {"n": finding.n or 0, "overall": finding.numbers["overall"], **dict.fromkeys(others)}
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
