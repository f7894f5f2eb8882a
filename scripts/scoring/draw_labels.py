"""Draw the answers to an experiment that a person is to label, without model, position and verdict.

number: the number of answers
seed: of the draw
scores: of the judged sweeps
responses: of the same sweeps, in the same order
output: output: a CSV file, in whose column `right` the person writes yes or no
"""

from litm.base.cli import program
from litm.records.examples import read_examples
from litm.records.responses import read_responses


@program
def main(
    experiment: str,
    number: int,
    seed: int,
    examples: tuple[str, ...],
    scores: tuple[str, ...],
    responses: tuple[str, ...],
    output: str,
) -> None:
    import pandas as pd

    from litm.base.table_files import read_parquet, write_csv
    from litm.scoring.judging import LABEL_COLUMNS
    from litm.scoring.label_drawing import drawn_names, label_rows

    sweeps = [read_parquet(path) for path in scores]
    names = [*drawn_names(sweeps, number, seed)]
    wanted = {*names}
    texts = {
        (model, answer.name): answer.scored_text or ""
        for sweep, path in zip(sweeps, responses, strict=True)
        for model in [str(sweep["model"].iloc[0])]
        for answer in read_responses(path)
        if (model, answer.name) in wanted
    }
    rows = label_rows(experiment, names, texts, read_examples(*examples))
    write_csv(output, pd.DataFrame(rows, columns=list(LABEL_COLUMNS)))
