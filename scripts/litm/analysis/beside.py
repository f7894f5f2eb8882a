"""The study's models against the models beside them: beside.csv."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from litm.analysis.differences import model_pair_rows
from litm.analysis.grid import Files, read_grids

if TYPE_CHECKING:
    from litm.tables.beside import BesideRow


def beside_table(beside_scores: Files, beside: Mapping[str, Mapping[str, str]]) -> "Iterator[BesideRow]":
    """Rows of each pair of a model of the study and one beside it, see `model_pair_rows`.

    beside: by model and experiment, what differs in words.
    """
    grids = read_grids(beside_scores.scores())
    for row in model_pair_rows(grids, lambda a, b: a not in beside and b in beside):
        yield {**row, "differs": beside[str(row["model_b"])][row["experiment"]]}
