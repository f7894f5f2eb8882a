"""Does a model answer worse than another one, or than before, on the same questions?

Exit status: 0 if it is shown not to be worse than the margin at any judged position, 3 if it is shown to be worse at
some, 4 if the questions are too few to tell or a position of both cannot be compared, 5 if all answers look recorded,
not asked again; 1 for an error, 2 for a wrong option. Rules and error rates: docs/regression.md.

results: the study's results folder; two, if `against` is a model of another study: that of `model` comes first
model: the model to judge; by default the only one of the first folder
against: the model to compare it with; by default the one of the same name in the second folder
worse_than: the margin in points of accuracy: a model that is worse by less is good enough (5)
experiments: the experiments to judge; by default all that both models answered
means_only: judge the mean of the positions of each size, not each position
output: a CSV file for the numbers, columns as in results/README.md
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from litm.analysis.regression import NOT_WORSE, OPEN, WORSE, outcome, regression_rows
from litm.analysis.studies import FACTS, Sweep, check_verdicts, differing
from litm.base.cli import program
from litm.base.groups import grouped
from litm.base.messages import UserError, counted, few_clusters, first_of, in_columns, note, points
from litm.base.table_files import write_csv
from litm.notebook import Results
from litm.records.responses import read_responses
from litm.scoring.doubts import curve_doubt, doubt_in_words
from litm.studies import how_made, manifest_of
from litm.tables.table import tables

#: Exit status by outcome; 1 and 2 are errors.
STATUS = {NOT_WORSE: 0, WORSE: 3, OPEN: 4}
#: Exit status if no answer shows that it was asked again.
SAME_ANSWERS = 5
_ARE_SAME = "have the same key and text on both sides, as recorded answers that were not asked again have"
ASK_AGAIN = "to ask a hosted model again, give its entry another `revision` (docs/regression.md)"
#: Experiments of a line, at most.
NAMED = 3
TABLE = tables()["regression"]
#: Columns of the printed table that are words, or begin like these.
LEFT = 5


@program
def main(
    results: tuple[Path, ...],
    model: str | None = None,
    worse_than: float = 5.0,
    against: str | None = None,
    experiments: tuple[str, ...] = (),
    means_only: bool = False,
    output: str | None = None,
) -> None:
    if not 0 <= worse_than < 100:
        raise UserError(f"--worse-than {worse_than:g}: give points of accuracy from 0 to 100, such as 5")
    model = model or _only_model(results)
    sides = _sides(results, model, against or model)
    names = list(dict.fromkeys(name for study, _ in sides for name in study.experiments))
    if unknown := [name for name in experiments if name not in names]:
        raise UserError(f"--experiments: no '{unknown[0]}'; there are {', '.join(names)}")
    judged = [*dict.fromkeys(experiments or names)]
    scores = {name: of_both for name in judged if (of_both := _scores(sides, name)) is not None}
    rows = regression_rows(pd.concat(scores.values()), worse_than / 100, means_only) if scores else []
    shown = list(dict.fromkeys(row["experiment"] for row in rows if row["n"]))
    for name in judged:
        only = f"{name}: not compared: only one of the two answered it"
        for line in _not_compared(sides, rows, scores[name]) if name in scores else [only]:
            if experiments and name not in shown:
                raise UserError(f"--experiments: {line}")
            note(line)
    if not shown:
        raise UserError("no question that both answered: compare models that were asked the same prompts")
    for differ, alike in grouped(shown, lambda name: _differing(sides, name)).items():
        if differ:
            note(f"the two sides differ in {differ} on {first_of(alike, NAMED)}")
    for line in _doubts(sides, [scores[name] for name in shown]):
        note(line)
    repeated, answers = (sum(counts) for counts in zip(*(_repeated(sides, name) for name in shown), strict=True))
    if 0 < repeated < answers:
        note(f"{repeated:,} of {counted(answers, 'answer')} {_ARE_SAME}; {ASK_AGAIN}")
    if most := max(row["n_left_out"] for row in rows if row["n"]):
        note(f"left out: up to {most:,} questions of a position that only one of the two has scores of, see 'Left out'")
    frame = TABLE.frame(rows)
    if output:
        write_csv(output, frame, p_values=TABLE.p_values)
    headings = [TABLE.columns[name].heading for name in TABLE.report]
    is_same = 0 < repeated == answers
    if is_same:
        print(f"nothing compared: all {answers:,} answers {_ARE_SAME}; {ASK_AGAIN}")
    else:
        print(
            in_columns([headings, *TABLE.cells(frame, TABLE.report)], LEFT), *_outcome_lines(rows, worse_than), sep="\n"
        )
    sys.exit(SAME_ANSWERS if is_same else STATUS[outcome(rows)])


def _only_model(results: tuple[Path, ...]) -> str:
    """The model of the first study; `UserError` if it has several."""
    models = Results(results[0]).models
    if len(models) > 1:
        raise UserError(f"compare: name one with --model: {results[0]} has {', '.join(models)}")
    return models[0]


def _sides(results: tuple[Path, ...], model: str, against: str) -> list[tuple[Results, str]]:
    """Study and model of each side."""
    if len(results) > 2 or (len(results) == 1 and model == against):
        raise UserError("compare: give --against another model of the same results folder, or two results folders")
    sides = [(Results(results[0]), model), (Results(results[-1]), against)]
    for study, name in sides:
        if name not in study.models:
            raise UserError(f"{study.folder}: no model '{name}'; there are {', '.join(study.models)}")
        if not (study.folder / "scores" / name).is_dir():
            raise UserError(f"{study.folder}/scores: no folder '{name}', and single answers are compared in pairs")
    return sides


def _scores(sides: list[tuple[Results, str]], experiment: str) -> pd.DataFrame | None:
    """The scores of both sides, with `a` and `b` as their models; None unless both answered the experiment."""
    if not all(study.has_scores(name, experiment) for study, name in sides):
        return None
    read = [study.scores(name, experiment) for study, name in sides]
    if sides[0][0] != sides[1][0]:
        # Ids are those of one study's questions; of two studies only the prompts tell, in the cells that both have.
        a, b = ({*zip(scores["size"], scores["placement"], strict=True)} for scores in read)
        read = [study.scores_by_prompt(name, experiment, a & b) for study, name in sides]
        check_verdicts(read)
    return pd.concat([scores.assign(model=side) for scores, side in zip(read, "ab", strict=True)])


def _not_compared(sides: list[tuple[Results, str]], rows: Sequence[Mapping], scores: pd.DataFrame) -> Iterator[str]:
    """A line for each reason why cells of an experiment are not compared; scores: of both sides."""
    name = scores["experiment"].iloc[0]
    lacking = {(row["size"], row["placement"]): 0 for row in rows if row["experiment"] == name and not row["n"]}
    cells = {cell: cell_scores for cell, cell_scores in scores.groupby(["size", "placement"]) if cell in lacking}
    for why, alike in grouped(lacking, lambda cell: _reason(sides, cells[cell])).items():
        where = first_of([f"{placement} of size {size}" for size, placement in alike], NAMED)
        yield f"{name}: {counted(len(alike), 'position')} not compared ({where}): {why}"


def _reason(sides: list[tuple[Results, str]], scores: pd.DataFrame) -> str:
    """Why these rows of both sides, of one cell, have no common question."""
    by_side = [scores[scores["model"] == side] for side in "ab"]
    for (study, name), rows in zip(sides, by_side, strict=True):
        if (rows["excluded"] | rows["correct"].isna()).all():
            ends = ", ".join(sorted(rows["finish_reason"].unique()))
            why = f"has no scored answer there ({ends})" if ends else "was not asked there"
            return f"{name} in {study.folder} {why}"
    for key in ("task", "metric", "target"):
        values = [", ".join(sorted({*rows[key]})) for rows in by_side]
        if values[0] != values[1]:
            return f"the {key} differs ({' | '.join(values)})"
    if {*by_side[0]["id"]} & {*by_side[1]["id"]}:
        return "no question is scored on both sides"
    differ = _differing(sides, scores["experiment"].iloc[0])
    return f"no question has the same prompts on both sides{differ and f', which differ in {differ}'}"


def _doubts(sides: list[tuple[Results, str]], scores: list[pd.DataFrame]) -> Iterator[str]:
    """Lines on recorded answers without prompts, and on experiments with few clusters; scores: by experiment."""
    names = [str(table["experiment"].iloc[0]) for table in scores]
    for study, name in sides:
        if unknown := sum(manifest_of(study, name, experiment).get("not_compared", 0) for experiment in names):
            yield (
                f"{unknown:,} recorded answers of {name} in {study.folder} do not say which prompts they answer (no "
                "prompt_sha256): the comparison is valid only if the prompts were those of the study"
            )
    for experiment, table in zip(names, scores, strict=True):
        for (side, size), rows in table.groupby(["model", "size"]):
            if doubt := curve_doubt(rows):
                study, name = sides["ab".index(str(side))]
                yield (
                    f"{experiment}, size {size}: the answers of {name} in {study.folder} say nothing, and so does "
                    f"their comparison: {doubt_in_words(doubt)}"
                )
        if "cluster" in table:
            scored = table[table["correct"].notna()]
            both = scored[scored.groupby(["size", "placement", "id"])["model"].transform("nunique") == 2]
            sizes = [rows["cluster"] for _, rows in both.drop_duplicates(["size", "id"]).groupby("size")]
            # The size whose clusters are worth least, see `few_clusters`.
            least = max(sizes, key=lambda clusters: (clusters.value_counts(normalize=True) ** 2).sum(), default=None)
            if least is not None and (few := few_clusters(least)):
                yield f"{experiment}: {counted(least.nunique(), 'cluster')}{few}"


def _differing(sides: list[tuple[Results, str]], experiment: str) -> str:
    """The settings in which the two sides differ, see `studies.differing`; "" for none."""
    sweeps = []
    for study, name in sides:
        settings = study.experiments[experiment]
        row = dict.fromkeys(FACTS) | {key: settings[key] for key in ("task", "metric")}
        sweeps.append([Sweep({**row, **how_made(study, name, experiment)}, settings, None)])
    return differing(sweeps)


def _repeated(sides: list[tuple[Results, str]], experiment: str) -> tuple[int, int]:
    """How many answers to prompts of both sides have the same key and text, and the number of these prompts.

    Equal keys are equal prompts under equal identities; answers that other software computed were asked for again.
    """
    a, b = (_answers(study, name, experiment) for study, name in sides)
    software = [manifest_of(study, name, experiment).get("made_with", {}) for study, name in sides]
    both = a.keys() & b.keys()
    is_again = all(software) and not software[0].keys() & software[1].keys()
    return 0 if is_again else sum(a[prompt] == b[prompt] for prompt in both), len(both)


def _answers(study: Results, model: str, experiment: str) -> dict[tuple, tuple]:
    """Key and text of each answer, by its prompt; {} for a study without responses."""
    path = study.folder / "responses" / model / f"{experiment}.jsonl.gz"
    read = read_responses(path) if path.exists() else ()
    return {
        (response.size, response.placement, response.prompt_sha256): (response.key, response.text)
        for response in read
        if response.text is not None
    }


def _outcome_lines(rows: Sequence[Mapping], margin: float) -> Iterator[str]:
    """The outcome in words."""
    judged = [row for row in rows if "verdict" in row and row["n"]]
    without = len([row for row in rows if not row["n"]])
    lacking = f"; {counted(without, 'position')} not compared" if without else ""
    verdict, by = outcome(rows), f"than {margin:g} points"
    if verdict == NOT_WORSE:
        all_ = counted(len(judged), "difference")
        yield f"not worse: none of {all_} is worse {by}, with an error rate of 5 %{lacking}"
    elif verdict == WORSE:
        shown = [_where(row, judged) for row in judged if row["verdict"] == WORSE]
        yield f"worse: by more {by} at {'; '.join(shown)}, with an error rate of 5 % over {len(judged)} differences"
    elif not (open_ := [row for row in judged if row["verdict"] == OPEN]):
        yield f"cannot tell: none of {counted(len(judged), 'difference')} is worse {by}{lacking}"
    else:
        needed = [row["n_needed"] for row in open_]
        most = "more than ten million" if None in needed else f"about {max(needed):,}"
        would = f"{most} questions would tell, with a chance of 80 % if there is no difference"
        yield (
            f"cannot tell: {len(open_)} of {len(judged)} differences are neither shown to be worse {by} nor shown not "
            f"to be; {would if margin else 'at a margin of 0, no number of questions tells if there is no difference'}"
            + lacking
        )


def _where(row: Mapping, judged: Iterable[Mapping]) -> str:
    """A judged row in words, with its target if its placement has several."""
    targets = {other["target"] for other in judged if other["placement"] == row["placement"]}
    target = f" {row['target']}" if len(targets) > 1 else ""
    return f"{row['experiment']}, size {row['size']}, {row['placement']}{target} ({points(row['difference'])})"
