"""Tables in LaTeX, in the style of the package booktabs."""

import re
from collections.abc import Iterable

import pandas as pd

ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, ESCAPES)))


def latex_table(text: pd.DataFrame, caption: str) -> str:
    """A table of texts, the first column to the left and the others to the right, with a caption; needs booktabs."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(text.columns) - 1)}}}",
        r"\toprule",
        _row(text.columns),
        r"\midrule",
        *map(_row, text.to_numpy()),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """The text with all that means something to LaTeX written out."""
    return _SPECIAL.sub(lambda match: ESCAPES[match[0]], text)


def _row(cells: Iterable) -> str:
    return " & ".join(escape(str(cell)) for cell in cells) + r" \\"
