"""The horizontal axis of costs: tokens or US dollars, logarithmic."""

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

#: Label of an axis in dollars.
DOLLARS = "US dollars for 1,000 questions"


def as_cost_axis(ax: Axes) -> None:
    """Make the horizontal axis logarithmic, with plain numbers at 1, 2 and 5 times each power of ten."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.08)
