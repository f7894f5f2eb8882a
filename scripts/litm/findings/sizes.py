"""What a model loses at the larger sizes of an experiment."""

from collections.abc import Container, Iterable, Iterator, Mapping

from litm.findings.record import Finding, Kind, Number, Strength

KINDS = {
    "size": Kind(
        "What a model loses at a size of an experiment against the smallest one: shown if more than 10 points are "
        "shown to be lost at this and all larger sizes; not shown if less is, at this and all smaller sizes; "
        "uninformative if no position of the smallest size has more than 10 points to lose.",
        numbers={
            "loss": "accuracy at the best position of the smallest size minus that at the worst position of this one; "
            "limits corrected for all pairs of positions and the models of the experiment"
        },
        facts={"smallest": "the smallest size", "effective_length": "as in effective_length.csv"},
    )
}
#: By `verdict` of effective_length.csv; `litm.claims.effective_length`, which has these words, needs numpy.
STRENGTHS = {"shown beyond": Strength.SHOWN, "shown within": Strength.NOT_SHOWN, "not shown": Strength.CANNOT_TELL}


def size_findings(rows: Iterable[Mapping], stand_ins: Container[str] = ()) -> Iterator[Finding]:
    """A finding for each size above the smallest one with questions to compare; rows: of effective_length.csv."""
    for row in rows:
        if row["size"] == row["size_smallest"] or row["loss"] is None or row["model"] in stand_ins:
            continue
        yield Finding(
            "size",
            (row["model"],),
            (row["experiment"],),
            row["size"],
            n=row["n"],
            strength=STRENGTHS[row["verdict"]] if row["accuracy_best"] > row["margin"] else Strength.UNINFORMATIVE,
            numbers={"loss": Number.of_row(row, "loss", "")},
            facts={"smallest": row["size_smallest"], "effective_length": row["effective_length"]},
        )
