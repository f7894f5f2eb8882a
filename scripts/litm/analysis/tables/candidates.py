"""Table of candidates for contexts."""

from typing import TYPE_CHECKING

from litm.analysis.table import INTEGER, TEXT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "candidates", "kind", "documents", "n", "n_left_out", "n_filled", "n_gold_without_answer", "n_answer_in_others_dpr",
    "n_answer_in_others_metric",
)  # fmt: skip
TABLE = Table(
    name="candidates",
    title="Candidates",
    doc=(
        "Candidates: questions kept and left out, and questions with an answer in a document other than the gold one, "
        "by each check."
    ),
    order=70,
    inputs=("candidates",),
    note=(
        "Documents per question, with the gold document; questions left out because they have fewer; and questions "
        "with an answer in a document other than the gold one, by DPR's check (consecutive tokens) and by the metric."
    ),
    columns={
        "candidates": Column(TEXT, "name of the candidates", "Candidates"),
        "kind": Column(TEXT, "how they were made", "Kind"),
        "distractor_check": Column(TEXT, "the check that distractors passed"),
        "documents": Column(INTEGER, "documents per question, with the gold document", "Documents"),
        "n": Column(INTEGER, "questions", "Questions"),
        "n_left_out": Column(INTEGER, "questions with fewer documents", "Left out"),
        "n_filled": Column(
            INTEGER, "questions that were filled up with random passages (`too_few: fill`)", "Filled up"
        ),
        "n_gold_without_answer": Column(
            INTEGER, "questions whose gold document lacks all answers, by DPR's check", "Gold without answer"
        ),
        "n_answer_in_others_dpr": Column(
            INTEGER,
            "questions with an answer in a document other than the gold one (for `as_retrieved` in any document), by "
            "DPR's check",
            "Answer elsewhere (DPR)",
        ),
        "n_answer_in_others_metric": Column(INTEGER, "the same by the metric", "Answer elsewhere (metric)"),
    },
    report=_REPORT,
)


def rows(candidates: "Files") -> "pd.DataFrame":
    """The rows that `make_candidates.py` wrote, in the order of the files."""
    return candidates.joined(TABLE.dtypes)
