"""What the cases of each claim come to; `make_claims_table.py` makes it."""

from litm.analysis.table import INTEGER, TEXT, Column, Table

TABLE = Table(
    name="claims_summary",
    title="The paper's claims",
    doc="What the cases of each claim of the paper come to: a row a claim, in the paper's order.",
    order=41,
    note=(
        "What the paper says, asked of each model, experiment and size here that it can be asked of: in how many cases "
        "the numbers support it, contradict it, or do not decide. One by one they are among the tables below."
    ),
    columns={
        "statement": Column(TEXT, "the claim in a sentence", "Claim"),
        "section": Column(TEXT, "section of the paper", "Section"),
        "supported": Column(INTEGER, "cases that support it; exploratory ones are in the sentence alone", "Supported"),
        "contradicted": Column(INTEGER, "cases that contradict it", "Contradicted"),
        "not_enough": Column(INTEGER, "cases that do not decide", "Not enough data"),
        "finding": Column(TEXT, "the same in a sentence", "What was found"),
        "status": Column(TEXT, "what became of the claim since: `supported` or `contested`", "Status"),
        "contested_by": Column(TEXT, "by whom", "By"),
    },
    report=("statement", "section", "supported", "contradicted", "not_enough", "finding", "status", "contested_by"),
    section="claims",
)
