"""What the paper claims, case by case; `make_claims_table.py` makes it."""

from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table

#: Columns that the report shows.
_REPORT = (
    "claim", "models", "experiment", "size", "verdict", "statistic", "value", "ci_low", "ci_high", "confidence",
    "n", "reason",
)  # fmt: skip

TABLE = Table(
    name="claims",
    title="Claims, case by case",
    doc=(
        "What the paper claims, asked of each model, experiment and size that was run: supported, contradicted or not "
        "enough data, with the statistic, the interval that decides, and why."
    ),
    order=40,
    note=(
        "Per cent and points. From and to: the interval that decides, at the confidence that the number of cases asks "
        "for (Holm's correction over all of a claim and an experiment)."
    ),
    columns={
        "claim": Column(TEXT, "name of the claim", "Claim"),
        "models": Column(TEXT, "the models that it is asked of", "Models"),
        "experiment": Column(TEXT, "the experiment that it is asked of; empty where there is none", "Experiment"),
        "size": Column(INTEGER, "the size, empty where it is asked of several", "Size"),
        "verdict": Column(TEXT, "`supported`, `contradicted` or `not enough data`", "Verdict"),
        "statistic": Column(TEXT, "what is measured", "Statistic"),
        "value": Column(FLOAT, "its value", "Value", PERCENT),
        "ci_low": Column(FLOAT, "lower limit of the interval that decides", "From", PERCENT),
        "ci_high": Column(FLOAT, "upper limit of the interval that decides", "To", PERCENT),
        "confidence": Column(FLOAT, "confidence of the interval", "Confidence", PERCENT),
        "n": Column(INTEGER, "questions", "n"),
        "reason": Column(TEXT, "why, in words", "Reason"),
        "section": Column(TEXT, "section of the paper as published in TACL"),
    },
    report=_REPORT,
)
