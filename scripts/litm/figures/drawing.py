"""A figure of any kind, from what there is to show in it."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from litm.accuracy import accuracy_table
from litm.analysis.position_means import means_of_cells, position_means
from litm.figures.by_position import position_curve
from litm.figures.by_size import size_curve
from litm.figures.by_target import target_bars

BY_POSITION, BY_TARGET, MEAN_BY_SIZE = "accuracy_by_position", "accuracy_by_target", "mean_accuracy_by_size"
RECALL_COLUMNS = ["questions", "corpus", "retriever", "k", "n", "recall", "ci_low", "ci_high"]


def rows_of_sweep(scores: pd.DataFrame, figure: Mapping) -> pd.DataFrame:
    """What a figure shows of one sweep's scores: accuracy by cell, or its mean over the positions."""
    is_mean = figure["kind"] == MEAN_BY_SIZE and scores["experiment"].isin(figure["experiments"]).all()
    return position_means(scores) if is_mean else accuracy_table(scores)


def rows_of_cells(accuracy: pd.DataFrame, figure: Mapping) -> pd.DataFrame:
    """The same of rows of the accuracy table, without single answers."""
    if figure["kind"] != MEAN_BY_SIZE:
        return accuracy
    is_shown = accuracy["experiment"].isin(figure["experiments"])
    return pd.concat([means_of_cells(accuracy[is_shown]), accuracy[~is_shown]])


def draw_figure(
    figure: Mapping, accuracy: pd.DataFrame, recall: pd.DataFrame | None = None, published: pd.DataFrame | None = None
) -> Figure:
    """The figure that its settings describe.

    accuracy, published: rows of `rows_of_sweep` or `rows_of_cells`; recall: rows of `recall.recall_rows`.
    """
    if figure["kind"] == BY_POSITION:
        return position_curve(accuracy, figure, published)
    if figure["kind"] == BY_TARGET:
        return target_bars(accuracy, figure)
    searches = pd.DataFrame(columns=RECALL_COLUMNS) if recall is None else recall
    return size_curve(accuracy, searches, figure, published)
