"""The kinds of wrong answers in words."""

import pandas as pd

from litm.scoring.wrong_answers import HEADINGS, KINDS

#: Kind of the figures of wrong answers.
WRONG_KIND = "wrong_answers"


def kinds_told(table: pd.DataFrame | None) -> list[tuple[str, str]]:
    """Heading and meaning of each kind that occurs in wrong_answers.csv, in the order in which kinds are looked for."""
    occurring = [] if table is None else [kind for kind in KINDS if (table[f"share_{kind}"] > 0).any()]
    return [(HEADINGS[kind], KINDS[kind]) for kind in occurring]
