"""The paper's Tables 1 to 7 in its layout: one row per model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from litm.base.messages import in_range, percent
from litm.base.yaml_files import read_data
from litm.tables.table import IN_LATEX, as_latex

if TYPE_CHECKING:
    # The rules read the layouts at each start.
    import pandas as pd

    from litm.analysis.published import PublishedModel


@dataclass(frozen=True)
class Group:
    """Columns of one experiment and size under a heading; several positions have headings of their own."""

    heading: str
    experiment: str
    size: int


@dataclass(frozen=True)
class Layout:
    """A table of the paper: of accuracies, or of the lengths of prompts in tokens."""

    caption: str
    groups: tuple[Group, ...]
    is_of_tokens: bool = False

    @property
    def table(self) -> str:
        """The table of results, and the file of published values, that it is made of."""
        return "token_counts" if self.is_of_tokens else "accuracy"


LAYOUTS = {
    number: Layout(
        settings["caption"], tuple(Group(*group) for group in settings["groups"]), settings.get("is_of_tokens", False)
    )
    for number, settings in read_data(Path(__file__).with_suffix(".yaml")).items()
}
MISSING = "-"


@dataclass(frozen=True)
class PaperTable:
    """A table in the paper's layout."""

    caption: str
    values: "pd.DataFrame"
    """One row per model, numbers (fractions) with n and intervals in columns of their own."""
    text: "pd.DataFrame"
    """The same as printed, with the printed names of models and accuracies in per cent with one decimal."""


#: Columns of the rows that become numbers, by the ends of their names in `values`.
OF_ACCURACIES = {"": "accuracy", "_ci_low": "ci_low", "_ci_high": "ci_high", "_n": "n"}
OF_TOKENS = {"_mean": "tokens_mean", "_sd": "tokens_sd", "_max": "tokens_max"}


def paper_table(layout: Layout, rows: "pd.DataFrame", paper: "Mapping[str, PublishedModel]") -> PaperTable:
    """The table with all models that have a value in it, in the order of the rows.

    rows: for accuracies, of `scores.accuracy_rows` or `comparison.published_table`; for tokens, of token_counts.csv,
    measured or published. Positions only change the order of items, so the first position of a size gives its tokens.
    paper: the paper's models by name. A model is printed as the rows say, else as in the paper's tables, else by name.
    """
    import pandas as pd

    if not layout.is_of_tokens:
        rows = rows[rows["n"] > 0]
    columns = {heading: table for group in layout.groups for heading, table in _columns(group, rows, layout)}
    cells = [cell for table in columns.values() for cell in table.to_dict("records")]
    models = [model for model in dict.fromkeys(rows["model"]) if model in {cell["model"] for cell in cells}]
    printed = {name: model.printed_as for name, model in paper.items()}
    if "printed_as" in rows:
        printed |= {name: its for name, its in zip(rows["model"], rows["printed_as"], strict=True) if its}
    values = pd.DataFrame({"model": models})
    text = pd.DataFrame({"Model": [printed.get(model, model) for model in models]})
    for heading, table in columns.items():
        by_model = table.set_index("model").reindex(models)
        name = heading.lower().replace("-", "_").replace(" ", "_")
        for end, column in (OF_TOKENS if layout.is_of_tokens else OF_ACCURACIES).items():
            values[name + end] = by_model[column].astype("Int64" if end in ("_n", "_max") else "Float64").to_numpy()
        if layout.is_of_tokens:
            means, spreads = (_texts(by_model[name], "{:.1f}".format) for name in ("tokens_mean", "tokens_sd"))
            text[f"{heading}, mean ± SD"] = (means + " ± " + spreads).fillna(MISSING).to_numpy()
            text[f"{heading}, max"] = _texts(by_model["tokens_max"], "{:.0f}".format).fillna(MISSING).to_numpy()
        else:
            text[heading] = _texts(by_model["accuracy"], percent).fillna(MISSING).to_numpy()
    return PaperTable(layout.caption if layout.is_of_tokens else f"{layout.caption}; {_precision(cells)}", values, text)


def latex_table(table: PaperTable) -> str:
    """The table's text in LaTeX with its caption; needs the package booktabs."""
    headings, rows = [*table.text.columns], table.text.to_numpy().tolist()
    cells = as_latex(headings, [True, *(False for _ in headings[1:])], rows)
    caption = rf"\caption{{{table.caption.translate(IN_LATEX)}}}"
    return "\n".join([r"\begin{table}", r"\centering", caption, cells + r"\end{table}", ""])


def _texts(numbers: "pd.Series", write: Callable[[float], str]) -> "pd.Series":
    return numbers.map(write, na_action="ignore").astype("string")


def _columns(group: Group, rows: "pd.DataFrame", layout: Layout) -> "Iterator[tuple[str, pd.DataFrame]]":
    cells = rows[(rows["experiment"] == group.experiment) & (rows["size"] == group.size)]
    if layout.is_of_tokens or len(layout.groups) > 1:
        yield group.heading, cells.drop_duplicates("model")
        return
    for position in sorted(cells["position"].dropna().unique()):
        yield f"Index {position:.0f}", cells[cells["position"] == position]


def _precision(cells: Sequence[Mapping]) -> str:
    """A sentence on n and on the widest interval of the accuracies."""
    if not cells:
        return "no question was scored"
    n = in_range(cell["n"] for cell in cells)
    reach = max(max(cell["ci_high"] - cell["accuracy"], cell["accuracy"] - cell["ci_low"]) for cell in cells)
    return f"n = {n}, 95 % intervals reach at most {percent(reach)} points to either side"
