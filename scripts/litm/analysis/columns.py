"""Columns common to several tables."""

from litm.analysis.table import FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column

MODEL = Column(TEXT, "name of the model", "Model")
EXPERIMENT = Column(TEXT, "name of the experiment", "Experiment")
TASK = Column(TEXT, "the experiment's task")
METRIC = Column(TEXT, "the metric that judges the answers")
SIZE = Column(INTEGER, "items in the context; tokens if the experiment has `tokens_of`", "Size")
ITEMS = Column(INTEGER, "items in the context")
PLACEMENT = Column(TEXT, "where the gold item is, as in the names of the example files", "Placement")
POSITION = Column(INTEGER, "position of the gold item, from 0; empty without one")
DEPTH = Column(FLOAT, "position as a fraction, from 0 (first item) to 1 (last item)")
TARGET = Column(TEXT, "which of the prompt's gold items", "Target")

#: Columns that identify a cell and target of a sweep.
CELL = {
    "experiment": EXPERIMENT, "task": TASK, "metric": METRIC, "size": SIZE,
    "placement": PLACEMENT, "position": POSITION, "depth": DEPTH, "target": TARGET,
}  # fmt: skip
#: The same with the number of items, which is the size unless that is in tokens.
CELL_WITH_ITEMS = {
    "experiment": EXPERIMENT, "task": TASK, "metric": METRIC, "size": SIZE, "items": ITEMS,
    "placement": PLACEMENT, "position": POSITION, "depth": DEPTH, "target": TARGET,
}  # fmt: skip
#: Columns that identify a curve.
CURVE = {
    "model": MODEL, "experiment": EXPERIMENT, "task": TASK, "metric": METRIC, "size": SIZE, "items": ITEMS,
    "placement": Column(TEXT, "placement of the curve if its prompts have several gold items, else empty", "Placement"),
    "target": Column(TEXT, "the gold items of the curve"),
}  # fmt: skip
#: Columns of a paired difference of two sides, `a` - `b`.
DIFFERENCE = {
    "difference": Column(FLOAT, "`accuracy_a` - `accuracy_b`", "Difference", PERCENT),
    "ci_low": Column(FLOAT, "lower 95 % limit, paired by question", "95 % from", PERCENT),
    "ci_high": Column(FLOAT, "upper 95 % limit", "to", PERCENT),
    "n_right_only_a": Column(INTEGER, "questions right on side a alone"),
    "n_right_only_b": Column(INTEGER, "questions right on side b alone"),
    "p_value": Column(FLOAT, "exact McNemar test", "p", P_VALUE),
}
