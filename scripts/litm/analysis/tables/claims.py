"""Table of the paper's claims by case, made by `make_claims_table.py`."""

from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, PERCENT, TEXT, Column, Table

#: Columns that the report shows.
_REPORT = (
    "claim", "models", "experiment", "size", "verdict", "changes_with_reading", "shape", "quantity", "value",
    "ci_low", "ci_high", "confidence", "n", "role", "paper_says", "status", "reason",
)  # fmt: skip

TABLE = Table(
    name="claims",
    title="Claims, case by case",
    doc=(
        "The paper's claims, tested on each model, experiment and size that was run: supported, contradicted or not "
        "enough data, with the statistic, the interval that decides, and the reason; also the paper's finding on the "
        "case and whether the claim is contested."
    ),
    order=40,
    note=(
        "Per cent and points. From and to: the interval that decides, at the confidence that the number of cases asks "
        "for: the chance of any wrong verdict among the cases of a claim, an experiment and a role is at most 5 % "
        "(Holm). Depends on reading: by the answers' first lines the verdict is another than by the whole answers, and "
        "the reason says which."
    ),
    columns={
        "claim": Column(TEXT, "name of the claim", "Claim"),
        "models": Column(TEXT, "the models of the case", "Models"),
        "experiment": Column(TEXT, "the experiment of the case; empty if the claim has no case", "Experiment"),
        "size": Column(INTEGER, "the size, empty for a case of several sizes", "Size"),
        "verdict": Column(TEXT, "`supported`, `contradicted` or `not enough data`", "Verdict"),
        "changes_with_reading": Column(
            BOOLEAN,
            "whether first lines and whole answers give different verdicts; empty for published accuracies",
            "Depends on reading",
        ),
        "verdict_first_line": Column(TEXT, "the verdict by the answers' first lines"),
        "verdict_full": Column(TEXT, "the verdict by the whole recorded answers"),
        "quantity": Column(
            TEXT, "what is measured; for a claim in several parts, such as a U, the part that decides", "Statistic"
        ),
        "value": Column(FLOAT, "its value", "Value", PERCENT),
        "ci_low": Column(FLOAT, "lower limit of the interval that decides", "From", PERCENT),
        "ci_high": Column(FLOAT, "upper limit of the interval that decides", "To", PERCENT),
        "confidence": Column(FLOAT, "confidence of the interval", "Confidence", PERCENT),
        "n": Column(INTEGER, "questions", "n"),
        "reason": Column(TEXT, "the reason for the verdict, in words", "Reason"),
        "section": Column(TEXT, "section of the paper as published in TACL, or another source of the claim"),
        "shape": Column(
            TEXT,
            "for claims about the shape of a curve: its word (docs/claims.md), in a family of its own",
            "Shape",
        ),
        "role": Column(
            TEXT,
            "`claim`, or `exploratory` for models that the claim is not about, in a family of their own",
            "Role",
        ),
        "family_size": Column(INTEGER, "cases that the verdict is corrected for"),
        "test": Column(
            TEXT,
            "`paired by question`, or `not paired`: published accuracies, with an interval that holds whatever the "
            "correlation of a model's answers is, and sizes with different questions",
        ),
        "evidence": Column(TEXT, "the kind of accuracies: `measured`, of `recorded` responses, or `published`"),
        "paper_says": Column(
            TEXT,
            "whether the claim holds for this case according to the paper; empty if it has no statement about this "
            "model, experiment and size",
            "The paper",
        ),
        "paper_text": Column(TEXT, "the paper's statement in this workflow's words, and its source"),
        "status": Column(TEXT, "later status of the claim: `supported` or `contested`", "Status"),
        "contested_by": Column(TEXT, "the works that contest it"),
    },
    report=_REPORT,
)
