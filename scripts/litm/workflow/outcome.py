"""How a run ended: its accuracies, the files that it made, what a reader has to know, or why it failed."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from litm.analysis.questions_to_check import check_sentences, gold_sentences
from litm.analysis.run_summary import compared_lines, labelled, run_summary
from litm.analysis.sentences import answer_sentences, cluster_sentences, remedies_in_words, tag_sentences, to_know_first
from litm.base.json_files import read_json
from litm.base.messages import UserError, first_of
from litm.base.table_files import plain_rows
from litm.config.study import Study
from litm.questions.released_format import filled_sentences
from litm.records.measures import ANSWER
from litm.tables.table import tables as all_tables

TABLES = Path("results/tables")


def outcome(
    study: Study,
    files: Container[str],
    accuracies: Iterable[str],
    results: Iterable[str],
    filled: Mapping[str, Mapping[str, tuple[str, str]]],
    since: float,
) -> Iterator[str]:
    """The answers, accuracies by position, paths of figures, tables and report, documents that were filled in, and
    answers that were cut or may be to other prompts; no lines on results if no table, figure or report was made since
    then.

    files: results that the run made or needed, and which are therefore up to date: no others are read; accuracies:
    those of each sweep; results: figures and the report; filled: see `SweepInputs`; since: time of the start, in
    seconds since the epoch. The last line names a table that is damaged and ends the outcome.
    """
    sweeps = study.sweeps_of(ANSWER)
    scores = {sweep.experiment.name: Path(sweep.files.scores) for sweep in sweeps}
    scores = {name: path for name, path in scores.items() if path.exists()}
    try:
        existing = [path for path in results if path in files and Path(path).exists()]
        if any(path.stat().st_mtime >= since for path in [*TABLES.glob("*.csv"), *map(Path, existing)]):
            yield from _result_lines(study, files, existing)
            yield from cluster_sentences((experiment.settings() for experiment in study.experiments.values()), scores)
            yield from filled_sentences(filled)
        read = all_tables()["accuracy"].read
        rows = [row for path in accuracies if path in files and Path(path).exists() for row in plain_rows(read(path))]
        answered = [Path(sweep.files.manifest) for sweep in sweeps]
        manifests = [read_json(path) for path in answered if path.exists()]
        yield from (*tag_sentences(manifests), *answer_sentences(rows, manifests))
        yield from _readings(study, files)
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def _result_lines(study: Study, files: Container[str], results: list[str]) -> Iterator[str]:
    # Experiments that only differ by a remedy are rows of one table.
    units = {name: experiment.unit for name, experiment in study.experiments.items() if experiment.is_plain}
    yield from _answers(study, files, units)
    accuracies = [_under_condition(row, study) for row in _rows("accuracy", files)]
    yield from run_summary(accuracies, _rows("position_bias", files), units)
    if figures := [path for path in results if path.endswith(".png")]:
        yield f"figures: {first_of(figures, 3)}"
    yield "tables: results/tables/"
    yield from (f"report: {path}, to open in a browser" for path in results if path.endswith(".html"))
    yield from gold_sentences(_table("gold_passages", files))
    yield from check_sentences(_rows("answer_checks", files))


def _under_condition(row: dict[str, Any], study: Study) -> dict[str, Any]:
    """The row of an experiment with remedies as one of the experiment without, named by model and remedies."""
    condition = study.conditions.get(row["experiment"])
    if condition is None or sum(other.study == condition.study for other in study.conditions.values()) == 1:
        return row
    remedies = ", ".join(remedies_in_words(condition))
    model = f"{row['model']}, {remedies}" if len(study.models) > 1 else remedies
    return {**row, "experiment": condition.study, "model": model}


def _readings(study: Study, files: Container[str]) -> list[str]:
    """Conclusions that depend on how much of the answers is read."""
    if (table := _table("reading_sensitivity", files)) is None:
        return []
    from litm.analysis.cells import reading_warnings

    models = [name for name, entry in study.models.items() if entry.is_local]
    stops = {(model, experiment): entry.stop for model in models for experiment, entry in study.experiments.items()}
    return reading_warnings(table[~table["model"].isin(study.stand_ins)], stops)


def _answers(study: Study, files: Container[str], experiments: Container[str]) -> Iterator[str]:
    """What a reader wants to know first; experiments: those in which models are compared."""
    settings = [experiment.settings() for experiment in study.experiments.values()]
    first = to_know_first(lambda name: _rows(name, files), settings, study.stand_ins)
    yield from (*first.useless, *first.able, *first.probable)
    pairs = labelled(_rows("model_pairs", files), _rows("accuracy", files))
    yield from compared_lines(pairs, experiments, study.stand_ins, first.silent)
    for headline, details in first.advice:
        yield headline
        yield from [f"  {details}"] if details else []


def _table(name: str, files: Container[str]) -> Any:
    """One of these tables as a data frame; None if it is missing."""
    path = TABLES / f"{name}.csv"
    return all_tables()[name].read(path) if str(path) in files and path.exists() else None


def _rows(name: str, files: Container[str]) -> list[dict[str, Any]]:
    """The rows of one of these tables; none if it is missing."""
    table = _table(name, files)
    return [] if table is None else plain_rows(table)


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
