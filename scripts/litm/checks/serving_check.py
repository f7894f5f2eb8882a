"""litm check --against: does one entry of a model answer worse than another, at any length and depth?

The study grows: after every look, it asks more questions at the lengths and depths that have no verdict yet. Only new
questions are sent.
"""

import argparse
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from litm.analysis.regression import NOT_COMPARED, NOT_WORSE, OPEN, WORSE
from litm.analysis.sequential import LOOKS, UNINFORMATIVE, looks, sequential_outcome, sequential_rows
from litm.base.messages import UserError, counted, first_of, in_columns, note, percent, points
from litm.base.table_files import read_parquet, write_csv
from litm.checks.first_check import agree, make, parser, say_plan, write_study
from litm.checks.first_study import Asked
from litm.checks.serving_study import (
    Asking,
    asking_study,
    best_rung,
    ladders,
    next_rung,
    pilot_of,
    two_entries,
    with_lengths,
)
from litm.compare import LEFT, SAME_ANSWERS, STATUS, TABLE
from litm.config.study import Study, load_study
from litm.config.yaml_files import read_layers, read_yaml
from litm.figures.curves import draw_differences, verdict_chart
from litm.figures.style import save_figure
from litm.inference.kept_answers import answer_files
from litm.records.responses import read_responses
from litm.scoring.doubts import doubt_in_words
from litm.workflow.start import ROOT

#: Exit status if the reference has too little to lose, or is at the ceiling; the others are those of `litm compare`.
UNINFORMATIVE_STATUS = 6
#: Points of accuracy that a model may lose.
MARGIN = 10.0
#: Doubts that a line names, at most.
NAMED = 4
Scores = dict[tuple[Hashable, ...], pd.DataFrame]


def main(words: Sequence[str]) -> NoReturn:
    """Judge a model against a reference, and end with the exit status of the outcome."""
    accepted = parser()
    accepted.description = (
        "Is a model worse than another entry or server of it, by more than a margin, at any length and depth?"
    )
    accepted.epilog = "Exit status: 0 not worse, 3 worse, 4 cannot tell, 5 nothing asked, 6 uninformative; 1, 2 errors."
    accepted.add_argument(
        "--against",
        metavar="NAME",
        required=True,
        help="the entry to judge against, or the address of the same model's other server",
    )
    accepted.add_argument(
        "--study",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="entries and experiments, put over config/serving_check.yaml",
    )
    accepted.add_argument("--worse-than", type=float, default=MARGIN, metavar="N", help="points that may be lost (10)")
    accepted.add_argument("--lengths", type=int, nargs="+", default=[], metavar="N", help="tokens of the contexts")
    sys.exit(_check_against(accepted.parse_args(words)))


def _check_against(options: argparse.Namespace) -> int:
    """Print and write what is shown; returns the exit status."""
    if not 0 < options.worse_than < 100:
        raise UserError(
            f"--worse-than {options.worse_than:g}: give points of accuracy above 0 and below 100, such as 10"
        )
    for unused in ("fake", "documents", "questions", "session"):
        if getattr(options, unused):
            raise UserError(
                f"--{unused} and --against do not go together: a check against an entry has its own questions"
            )
    folder: Path = options.folder
    config = read_layers([ROOT / "config" / name for name in ("config.yaml", "serving_check.yaml")] + options.study)
    entries = two_entries(
        options.model, options.url, options.against, config, read_yaml(ROOT / "config" / "models.yaml")
    )
    config = with_lengths(config, options.lengths)
    models = config.setdefault("define", {}).setdefault("models", {})
    shared = {"api_key_variable": options.key_variable} if options.key_variable else {}
    if options.prices:
        shared["prices"] = dict(zip(("input", "output"), options.prices, strict=True))
    models |= {name: {**entry, **shared} for name, entry in entries.items() if entry}
    config["models"] = [*entries]
    study = load_study(config, ROOT)
    lengths = ladders(study)
    model, reference = entries
    print(f"{model} against {reference}: is it worse by more than {options.worse_than:g} points? At most:")
    for name in entries:
        asked = Asked(name, models.get(name, {}), None, options.budget)
        hardest = [ladder[-1] for ladder in lengths]
        largest = asking_study(config, [name], hardest, max(_most(study, asking) for asking in hardest))
        agree(say_plan(load_study(largest, ROOT), asked), asked, options)
    chosen = _pilot(folder / "pilot", {**config, "seed": study.seed + 1}, reference, lengths)
    before = _answers(folder, model)
    most = max(_most(study, asking) for asking in chosen)
    scores: Scores = {}
    rows: Sequence[Mapping[str, Any]] = []
    for questions in looks(most):
        open_ = _open(chosen, rows)
        write_study(folder / "study.yaml", asking_study(config, entries, open_, questions))
        _ask(folder, entries, open_)
        _check_identities(folder, entries, open_)
        scores |= _read(folder, entries, open_)
        rows = sequential_rows(pd.concat(scores.values()), options.worse_than / 100)
        decided = [row for row in rows if row["verdict"] != OPEN]
        print(f"{counted(questions, 'question')}: {len(decided)} of {counted(len(rows), 'verdict')}", flush=True)
        if len(decided) == len(rows):
            break
    frame = TABLE.frame(rows)
    write_csv(folder / "serving_check.csv", frame, p_values=TABLE.p_values)
    picture = draw_differences(verdict_chart(rows, f"{model} minus {reference}"))
    save_figure(picture, folder / "serving_check.png")
    shown = [name for name in TABLE.report if name not in ("target", "n_left_out")]
    print(in_columns([[TABLE.columns[name].heading for name in shown], *TABLE.cells(frame, shown)], LEFT - 1))
    warnings = warning_lines(pd.concat(scores.values()), [*entries])
    print(*_outcome_lines(rows, options.worse_than, scores.values()), *warnings, sep="\n")
    print(f"table and picture: {folder}/serving_check.csv, {folder}/serving_check.png")
    if _answers(folder, model) == before:
        note(
            f"nothing was asked of {model}: all of its answers were kept from an earlier run. If it has changed since, "
            f"give its entry another `revision`, or name another --folder"
        )
        return SAME_ANSWERS
    return {**STATUS, UNINFORMATIVE: UNINFORMATIVE_STATUS}[sequential_outcome(rows)]


# --- What is asked -----------------------------------------------------------------------------------------------


def _pilot(
    folder: Path, config: Mapping[str, Any], reference: str, lengths: Sequence[Sequence[Asking]]
) -> list[Asking]:
    """The experiment of each length whose difficulty suits the reference, by prompts that the check does not ask."""
    tried: list[dict[int, float]] = [{} for _ in lengths]
    while trying := {
        place: rung
        for place, ladder in enumerate(lengths)
        if (rung := next_rung(tried[place], len(ladder))) is not None
    }:
        asked, numbers = zip(*(pilot_of(lengths[place][rung]) for place, rung in trying.items()), strict=True)
        write_study(folder / "study.yaml", asking_study(config, [reference], asked, max(numbers)))
        _ask(folder, [reference], asked)
        for (place, rung), asking in zip(trying.items(), asked, strict=True):
            scored = pd.concat(_read(folder, [reference], [asking]).values())["correct"].dropna()
            if scored.empty:
                raise UserError(f"{reference}: no answer of the pilot could be scored; see {folder}/results/responses")
            tried[place][rung] = accuracy = float(scored.mean())
            print(
                f"pilot, {asking.experiment}, size {asking.size}: {percent(accuracy)} % of {len(scored)} prompts",
                flush=True,
            )
    chosen = [ladder[best_rung(accuracies)] for ladder, accuracies in zip(lengths, tried, strict=True)]
    print("taken: " + "; ".join(f"{asking.experiment}, size {asking.size}" for asking in chosen))
    return chosen


def _most(study: Study, asking: Asking) -> int:
    """The largest number of questions."""
    return study.experiments[asking.experiment].examples or LOOKS[-1]


def _open(chosen: Iterable[Asking], rows: Iterable[Mapping[str, Any]]) -> list[Asking]:
    """What has no verdict yet."""
    decided = {(row["experiment"], row["size"], row["position"]) for row in rows if row["verdict"] != OPEN}
    left = [
        Asking(asking.experiment, asking.size, tuple(
            position for position in asking.positions if (asking.experiment, asking.size, position) not in decided
        ))
        for asking in chosen
    ]  # fmt: skip
    return [asking for asking in left if asking.positions]


def _ask(folder: Path, models: Iterable[str], asked: Iterable[Asking]) -> None:
    names = dict.fromkeys(asking.experiment for asking in asked)
    make(folder, [f"results/scores/{model}/{name}.parquet" for model in models for name in names])


def _read(folder: Path, models: Iterable[str], asked: Iterable[Asking]) -> Scores:
    """The scores of what was asked, by experiment, size and placement, with the models in turn as `a` and `b`."""
    sides = zip(models, "ab", strict=False)
    names = {asking.experiment for asking in asked}
    files = [
        (side, folder / "results" / "scores" / model / f"{name}.parquet") for model, side in sides for name in names
    ]
    table = pd.concat([read_parquet(path).assign(model=side) for side, path in files])
    wanted = {(asking.experiment, asking.size) for asking in asked}
    cells = table.groupby(["experiment", "size", "placement"], sort=False)
    return {cell: rows for cell, rows in cells if cell[:2] in wanted}


def _check_identities(folder: Path, models: Iterable[str], asked: Iterable[Asking]) -> None:
    """Raise `UserError` if the models share kept answers, which would make any two servers equal."""
    keys = []
    for model in models:
        paths = [folder / "results" / "responses" / model / f"{asking.experiment}.jsonl.gz" for asking in asked]
        keys.append({response.key for path in paths for response in read_responses(path)})
    if keys[0] & keys[1]:
        raise UserError(
            f"{' and '.join(models)} have one identity, so the answers of one are given to the other: give one of the "
            "entries another `revision`, or addresses without a `revision`"
        )


def _answers(folder: Path, model: str) -> int:
    """The number of kept answers that runs in this folder got from a model."""
    files = answer_files([folder / "results" / "answers"], f"{model}+*")
    return sum(path.read_bytes().count(b"\n") for path in files)


# --- What is shown -----------------------------------------------------------------------------------------------


def warning_lines(scores: pd.DataFrame, names: Sequence[str]) -> Iterator[str]:
    """What speaks against the verdicts; scores: of the models `a` and `b`, names: of these."""
    for side, name in zip("ab", names, strict=True):
        doubts = scores.loc[scores["model"] == side].get("doubt", pd.Series(dtype=object)).dropna()
        if len(doubts):
            reasons = first_of([doubt_in_words(value) for value in dict.fromkeys(doubts)], NAMED)
            yield f"warning: answers of {name} are in doubt, so its accuracy may say nothing of its context: {reasons}"
    tokens = scores.pivot_table("prompt_tokens", ["experiment", "size", "placement", "id"], "model").dropna()
    if tokens.shape[1] == 2 and (other := int((tokens["a"] != tokens["b"]).sum())):
        yield (
            f"warning: the servers count different tokens in {other} of {counted(len(tokens), 'prompt')}: one cuts "
            "prompts, or has another chat template or tokenizer, so a difference need not come from the change"
        )


def _outcome_lines(rows: Sequence[Mapping], margin: float, scores: Iterable[pd.DataFrame]) -> Iterator[str]:
    """The outcome in words, and what it took."""

    def where(verdict: str) -> str:
        cells: dict[str, list[str]] = {}
        for row in (row for row in rows if row["verdict"] == verdict):
            more = f" ({points(row['difference'])})" if verdict == WORSE else ""
            cells.setdefault(f"{row['experiment']}, size {row['size']}", []).append(row["placement"] + more)
        return "; ".join(f"{length}, {', '.join(places)}" for length, places in cells.items())

    number = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in (NOT_WORSE, UNINFORMATIVE, OPEN)}
    by = f"by more than {margin:g} points"
    yield {
        WORSE: f"worse: {by} at {where(WORSE)}",
        OPEN: f"cannot tell: {number[OPEN]} of {len(rows)} differences are not shown, to be worse {by} or not to be",
        NOT_WORSE: f"not worse: none of {number[NOT_WORSE]} differences is worse {by}",
        UNINFORMATIVE: (
            f"uninformative: at {number[UNINFORMATIVE]} of {len(rows)} lengths and depths the reference has less than "
            f"{margin:g} points to lose, or is at the ceiling: choose other lengths or harder or easier experiments"
        ),
    }[sequential_outcome(rows)]
    if number[UNINFORMATIVE] and sequential_outcome(rows) != UNINFORMATIVE:
        yield f"uninformative, because the reference is at the floor or at the ceiling: {where(UNINFORMATIVE)}"
    if lacking := where(NOT_COMPARED):
        yield f"not compared, because no prompt fits both models: {lacking}"
    prompts = sum(row["n"] for row in rows)
    tokens = pd.concat([*scores])["prompt_tokens"]
    read = f", {int(tokens.sum()):,} prompt tokens of both" if tokens.notna().all() else ""
    yield f"{counted(prompts, 'prompt')} for each{read}; the error rate of 5 % holds for all looks together"
