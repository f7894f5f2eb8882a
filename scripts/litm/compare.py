"""Does a model answer worse than another one, or than before, on the same questions?

Exit status: 0 if it is shown not to be worse than the margin at any judged position, 3 if it is shown to be worse at
some, 4 if the questions are too few to tell, 5 if all answers look recorded, not asked again; 1 for an error, 2 for a
wrong option. Rules and error rates: docs/regression.md.

results: the study's results folder; two, if `against` is a model of another study: that of `model` comes first
model: the model to judge
against: the model to compare it with; by default the one of the same name in the second folder
worse_than: the margin in points of accuracy: a model that is worse by less is good enough
experiments: the experiments to judge; by default all that both models answered
means_only: judge the mean of the positions of each size, not each position
output: a CSV file for the numbers, columns as in results/README.md
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from litm.analysis.regression import NOT_WORSE, OPEN, WORSE, outcome, regression_rows
from litm.analysis.studies import FACTS, Sweep, differing
from litm.analysis.table import tables
from litm.base.cli import program
from litm.base.formats import grouped, write_csv
from litm.base.messages import UserError, counted, first_of, in_columns, note, points
from litm.notebook import Results
from litm.records import read_responses
from litm.studies import how_made, manifest_of

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
    model: str,
    worse_than: float,
    against: str | None = None,
    experiments: tuple[str, ...] = (),
    means_only: bool = False,
    output: str | None = None,
) -> None:
    if not 0 <= worse_than < 100:
        raise UserError(f"--worse-than {worse_than:g}: give points of accuracy from 0 to 100, such as 5")
    sides = _sides(results, model, against or model)
    names = list(dict.fromkeys(name for study, _ in sides for name in study.experiments))
    if unknown := [one for one in experiments if one not in names]:
        raise UserError(f"--experiments: no '{unknown[0]}'; there are {', '.join(names)}")
    judged = [*dict.fromkeys(experiments or names)]
    scores = [of_both for one in judged if (of_both := _scores(sides, one)) is not None]
    rows = regression_rows(pd.concat(scores), worse_than / 100, means_only) if scores else []
    for one in judged:
        if one not in {row["experiment"] for row in rows}:
            told = f"{one}: not compared: only one of the two answered it, or prompts or metric differ"
            if experiments:
                raise UserError(f"--experiments: {told}")
            note(told)
    if not rows:
        raise UserError("no question that both answered: compare models that were asked the same prompts")
    shown = list(dict.fromkeys(row["experiment"] for row in rows))
    for differ, of in grouped(shown, lambda one: _differing(sides, one)).items():
        if differ:
            note(f"the two sides differ in {differ} on {first_of(of, NAMED)}")
    repeated, answers = (sum(counts) for counts in zip(*(_repeated(sides, one) for one in shown), strict=True))
    if 0 < repeated < answers:
        note(f"{repeated:,} of {counted(answers, 'answer')} {_ARE_SAME}; {ASK_AGAIN}")
    if most := max(row["n_left_out"] for row in rows):
        note(f"left out: up to {most:,} questions of a position that only one of the two has scores of, see 'Left out'")
    frame = TABLE.frame(rows)
    if output:
        write_csv(output, frame, p_values=TABLE.p_values)
    headings = [TABLE.columns[name].heading for name in TABLE.report]
    is_same = 0 < repeated == answers
    nothing = f"nothing compared: all {answers:,} answers {_ARE_SAME}; {ASK_AGAIN}"
    last = [nothing] if is_same else _told(rows, worse_than)
    print(in_columns([headings, *TABLE.cells(frame, TABLE.report)], LEFT), *last, sep="\n")
    sys.exit(SAME_ANSWERS if is_same else STATUS[outcome(rows)])


def _sides(results: tuple[Path, ...], model: str, against: str) -> list[tuple[Results, str]]:
    """Study and model of each side."""
    if len(results) > 2 or (len(results) == 1 and model == against):
        raise UserError("compare: give --against another model of the same results folder, or two results folders")
    sides = [(Results(results[0]), model), (Results(results[-1]), against)]
    for study, name in sides:
        if name not in study.models:
            raise UserError(f"{study.folder}: no model '{name}'; there are {', '.join(study.models)}")
        if not (study.folder / "scores" / name).is_dir():
            raise UserError(
                f"{study.folder}/scores: no folder '{name}', and only single answers can be compared in pairs"
            )
    return sides


def _scores(sides: list[tuple[Results, str]], experiment: str) -> pd.DataFrame | None:
    """The scores of both sides, with `a` and `b` as their models; None unless both answered the experiment."""
    if not all(study.has_scores(name, experiment) for study, name in sides):
        return None
    # Ids are those of one study's questions; of two studies only the prompts tell.
    is_one = sides[0][0] == sides[1][0]
    read = [
        study.scores(name, experiment) if is_one else study.scores_by_prompt(name, experiment) for study, name in sides
    ]
    return pd.concat([scores.assign(model=side) for scores, side in zip(read, "ab", strict=True)])


def _differing(sides: list[tuple[Results, str]], experiment: str) -> str:
    """The settings in which the two sides differ, see `studies.differing`; "" for none."""
    made = []
    for study, name in sides:
        settings = study.experiments[experiment]
        row = dict.fromkeys(FACTS) | {key: settings[key] for key in ("task", "metric")}
        made.append([Sweep(row | how_made(study, name, experiment), settings, None)])
    return differing(made)


def _repeated(sides: list[tuple[Results, str]], experiment: str) -> tuple[int, int]:
    """How many answers to prompts of both sides have the same key and text, and the number of these prompts.

    Equal keys are equal prompts under equal identities; answers that other software computed were asked for again.
    """
    a, b = (_answers(study, name, experiment) for study, name in sides)
    made = [manifest_of(study, name, experiment).get("made_with", {}) for study, name in sides]
    both = a.keys() & b.keys()
    is_again = all(made) and not made[0].keys() & made[1].keys()
    return 0 if is_again else sum(a[one] == b[one] for one in both), len(both)


def _answers(study: Results, model: str, experiment: str) -> dict[tuple, tuple]:
    """Key and text of each answer, by its prompt; {} for a study without responses."""
    path = study.folder / "responses" / model / f"{experiment}.jsonl.gz"
    read = read_responses(path) if path.exists() else ()
    return {(one.size, one.placement, one.prompt_sha256): (one.key, one.text) for one in read if one.text is not None}


def _told(rows: list[dict], margin: float) -> Iterator[str]:
    """The outcome in words."""
    judged = [row for row in rows if "verdict" in row]
    told, by = outcome(rows), f"than {margin:g} points"
    if told == NOT_WORSE:
        yield f"not worse: none of {counted(len(judged), 'difference')} is worse {by}, with an error rate of 5 %"
    elif told == WORSE:
        shown = [_where(row) for row in judged if row["verdict"] == WORSE]
        yield f"worse: by more {by} at {'; '.join(shown)}, with an error rate of 5 % over {len(judged)} differences"
    else:
        open_ = [row for row in judged if row["verdict"] == OPEN]
        needed = [row["n_needed"] for row in open_]
        most = "more than ten million" if None in needed else f"about {max(needed):,}"
        yield (
            f"cannot tell: {len(open_)} of {len(judged)} differences are neither shown to be worse {by} nor shown not "
            f"to be; {most} questions would tell, with a chance of 80 % if there is no difference"
        )


def _where(row: Mapping) -> str:
    return f"{row['experiment']}, size {row['size']}, {row['placement']} ({points(row['difference'])})"
