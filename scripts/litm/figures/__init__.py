"""Figures: accuracy by position, by size and by target, and the Position Bias Index; a module for each."""

from litm.figures.by_position import position_curve
from litm.figures.by_size import size_curve
from litm.figures.by_target import target_bars
from litm.figures.drawing import draw_figure, rows_of_cells, rows_of_sweep
from litm.figures.forest import bias_forest
from litm.figures.style import save_figure

__all__ = [
    "bias_forest",
    "draw_figure",
    "position_curve",
    "rows_of_cells",
    "rows_of_sweep",
    "save_figure",
    "size_curve",
    "target_bars",
]
