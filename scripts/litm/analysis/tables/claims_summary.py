"""Table with a summary of each claim, made by `make_claims_table.py`."""

from litm.analysis.table import INTEGER, TEXT, Column, Table

#: Columns that the report shows.
_REPORT = (
    "statement", "section", "n_supported", "n_contradicted", "n_not_enough_data", "finding", "status", "contested_by",
)  # fmt: skip

TABLE = Table(
    name="claims_summary",
    title="The paper's claims",
    doc="Summary of each claim of the paper over its cases: one row per claim, in the paper's order.",
    order=41,
    note=(
        "The paper's claims, tested on each model, experiment and size here that allows it: numbers of cases that "
        "support it, contradict it, or do not decide. The tables below have the single cases."
    ),
    columns={
        "statement": Column(TEXT, "the claim in a sentence", "Claim"),
        "section": Column(TEXT, "section of the paper", "Section"),
        "n_supported": Column(
            INTEGER, "cases that support it, without exploratory ones, which only the sentence mentions", "Supported"
        ),
        "n_contradicted": Column(INTEGER, "cases that contradict it", "Contradicted"),
        "n_not_enough_data": Column(INTEGER, "cases that do not decide", "Not enough data"),
        "finding": Column(TEXT, "the same in a sentence", "What was found"),
        "status": Column(TEXT, "later status of the claim: `supported` or `contested`", "Status"),
        "contested_by": Column(TEXT, "the works that contest it", "By"),
    },
    report=_REPORT,
    section="claims",
)
