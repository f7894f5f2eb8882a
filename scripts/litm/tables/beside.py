"""Tables of the models beside those of a study, which no other table has."""

from typing import Annotated

from litm.tables import columns as col
from litm.tables.accuracy import AccuracyRow, ModelPairsRow
from litm.tables.table import declare, shown


@declare(
    "beside",
    "Beside other models",
    inputs=("beside_scores",),
    settings=("beside",),
    rows="analysis.beside.beside_table",
    bases=(ModelPairsRow,),
    section="beside",
)
class BesideRow(ModelPairsRow, total=False):
    """Each model of the study (a) against each model of `beside` (b), as in model_pairs.csv: accuracies, primacy,
    recency and Position Bias Index on the same questions, with what differs between the two.

    The study's model a minus model b in points, on the questions that both scored at all positions, as means over the
    sizes. Others recorded the answers of model b, and this study's metric reads them. What else differs may explain a
    difference as well. p is corrected (Holm) over the accuracies, or over the other quantities, of these pairs and the
    experiment. No other table counts model b, and nothing else is concluded from it.
    """

    differs: Annotated[col.Text, shown("What else differs")]
    """how the recorded answers were asked, against those of the study"""


@declare("beside_accuracy", "Accuracy of the models beside", inputs=("beside_accuracies",), bases=(AccuracyRow,))
class BesideAccuracyRow(AccuracyRow, total=False):
    """Accuracy of each cell of the models of `beside`, with the columns of accuracy.csv.

    As the table of accuracies, of recorded answers to the questions of this study. Questions that others did not ask
    are not recorded.
    """
