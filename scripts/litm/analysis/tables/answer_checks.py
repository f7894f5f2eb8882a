"""Gold answers that need care."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, SIZE
from litm.analysis.table import INTEGER, Column, Table

if TYPE_CHECKING:
    from litm.analysis.grid import Files

TABLE = Table(
    name="answer_checks",
    title="Gold answers to be careful with",
    doc=(
        "Questions whose gold answers need care: symbols only, two characters or fewer, or contained in the question "
        "or in a distractor."
    ),
    order=60,
    inputs=("examples",),
    settings=("example_experiments",),
    note=(
        "Symbols only: a gold answer that is empty after normalisation, so it is searched for as written. In the "
        "question, or in a distractor: a model can be right by repeating it."
    ),
    columns={
        "experiment": EXPERIMENT,
        "size": SIZE,
        "n": Column(INTEGER, "questions", "Questions"),
        "n_symbols_only": Column(
            INTEGER,
            "questions with a gold answer that is empty after normalisation; it is searched for as written",
            "Symbols only",
        ),
        "n_short": Column(INTEGER, "questions with a gold answer of at most two characters", "Two characters or fewer"),
        "n_in_question": Column(INTEGER, "questions with a gold answer that the question contains", "In the question"),
        "n_in_distractors": Column(
            INTEGER,
            "questions with a gold answer in an item other than the gold one, by the metric",
            "In a distractor",
        ),
    },
    report=("experiment", "size", "n", "n_symbols_only", "n_short", "n_in_question", "n_in_distractors"),
)


def rows(examples: "Files", example_experiments: Sequence[str]) -> Iterator[dict]:
    """One row per experiment and size; examples: one file of each; example_experiments: experiment of each file."""
    from litm.examples.checks import answer_check_row

    for experiment, records in zip(example_experiments, examples.examples(), strict=True):
        yield answer_check_row(experiment, records[0].size, records)
