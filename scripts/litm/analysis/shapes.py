"""The words for the shape of a curve, and what each of them says; the same for tables, the console and the report."""

from collections.abc import Mapping

from litm.scoring.doubts import doubt_in_words, is_doubt

#: Verdicts on a curve in position_bias.csv.
MEASURED, NO_INFORMATION = "measured", "no_information"
#: Fraction: smaller differences are small. It is less than a quarter of the effect of position on GPT-3.5-Turbo (22
#: points, Table 6), and the bound at which the suite's weakest class of the Position Bias Index begins.
SMALL = 0.05
U, W, INVERTED = "U", "W", "inverted"
PRIMACY, RECENCY = "primacy alone", "recency alone"
PRIMACY_UNCLEAR, RECENCY_UNCLEAR = "recency, primacy unclear", "primacy, recency unclear"
START_LOWER, END_LOWER = "start lower", "end lower"
RISING, FALLING = "rising", "falling"
FLAT, UNEVEN, NONE = "flat", "uneven", "no difference shown"
#: Meaning of each word. "Above" and "below" are shown; "not shown" is no proof of the opposite.
MEANINGS = {
    U: "start and end are above the middle",
    W: "start and end are not below the middle, and the middle is above a position on either side",
    INVERTED: "start and end are below the middle",
    PRIMACY: "the start is above the middle, the end is not shown to differ from it",
    RECENCY: "the end is above the middle, the start is not shown to differ from it",
    RECENCY_UNCLEAR: "the start is above the middle, the end differs from it by its own 95 % interval alone",
    PRIMACY_UNCLEAR: "the end is above the middle, the start differs from it by its own 95 % interval alone",
    START_LOWER: "the start is below the middle, the end is not shown to differ from it",
    END_LOWER: "the end is below the middle, the start is not shown to differ from it",
    RISING: "start below middle below end; or only the end is shown to be above the start",
    FALLING: "start above middle above end; or only the end is shown to be below the start",
    FLAT: f"all positions are shown to be within {100 * SMALL:.0f} points of one another",
    UNEVEN: "positions differ, but not start, middle and end",
    NONE: "neither a difference nor its absence is shown",
}
#: Why a curve of two positions has no word.
TWO_POSITIONS = "no shape: two positions have no middle"


def word_of(row: Mapping) -> tuple[str, str]:
    """A curve's word and its meaning; '' and the reason for a curve without a word.

    row: of position_bias.csv.
    """
    if row["verdict"] == NO_INFORMATION:
        if is_doubt(row["reason"]):
            return "", f"no shape: {doubt_in_words(row['reason'])}"
        return "", f"no information on position ({row['reason']})"
    if row["shape"]:
        return row["shape"], MEANINGS[row["shape"]]
    return "", f"no shape: {row['reason']}" if row["reason"] else TWO_POSITIONS
