"""docs/fidelity.md: the figures, tables and experiments of the sources, what makes them, and what differs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from litm.analysis.paper_tables import LAYOUTS
from litm.analysis.published import PublishedAccuracy, PublishedTokens
from litm.base.messages import UserError
from litm.config.experiments import ExperimentEntry
from litm.config.figures import FigureEntry
from litm.config.recorded_models import RecordedEntry

#: The corpus of all of Wikipedia.
WIKIPEDIA = "wikipedia_2018"


@dataclass(frozen=True)
class Item:
    """A row of resources/published/fidelity.csv.

    entries: name of a figure or an experiment in the catalogues, number of a table of the paper, or name of a table;
    stated: what the source expects, '' if published values are recorded; differs: '' if nothing does.
    """

    item: str
    kind: Literal["figure", "table", "experiment"]
    entries: str
    stated: str
    differs: str


@dataclass(frozen=True)
class Sources:
    """entries: checked catalogue entries by kind and name; accuracies and tokens: the published ones."""

    entries: Mapping[str, Mapping[str, Any]]
    accuracies: tuple[PublishedAccuracy, ...]
    tokens: tuple[PublishedTokens, ...]


@dataclass(frozen=True)
class _Made:
    """What makes an item: models (those of the paper), experiments, published values, and a link or a name."""

    by: str
    models: tuple[str, ...]
    experiments: tuple[str, ...]
    printed: int
    is_of_tokens: bool = False


def fidelity_page(items: Iterable[Item], sources: Sources) -> str:
    """The page in Markdown; `UserError` for an item whose figure, table or experiment does not exist."""
    rows = [_row(one, _made(one, sources), sources.entries) for one in items]
    lines = ["| of the sources | made by | public material | printed or expected | what differs |", "|" + "---|" * 5]
    return f"{HEADER}\n" + "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


HEADER = """# Fidelity

<!-- Written by `make reference` from resources/published/fidelity.csv, the catalogues and the published values. -->

Figures and tables of the paper, and experiments of the suite. Figures are entries of
[config/figures.yaml](../config/figures.yaml), tables are files in `results/tables`, experiments are entries of
[config/experiments.yaml](../config/experiments.yaml). Figures 2 to 4 and 7 to 9 of the paper show prompts
([resources/prompts](../resources/prompts)) and have no row.

"Public material" names what you must supply, or a large download; "yes" means that data and weights are downloaded.
"Printed or expected" is the number of published values of these models, or what the suite's description expects.
`published_comparison.csv` compares a run with the accuracies. The paper's models have not been run with this workflow,
so there are no verdicts on them. [paper.md](paper.md#comparison-with-the-published-values) has what holds for all
figures.
"""


def _made(item: Item, sources: Sources) -> _Made:
    if item.kind == "experiment":
        _entry(item, sources.entries["experiments"])
        return _Made(f"`{item.entries}`", (), (item.entries,), 0)
    if item.kind == "figure":
        figure: FigureEntry = _entry(item, sources.entries["figures"])
        experiments = (*figure.experiments, *figure.references)
        shown = {
            (one.model, one.experiment, one.size, one.placement)
            for one in sources.accuracies
            if one.model in (figure.models or ())
            and (one.experiment in figure.references or one.experiment in figure.experiments)
            and (one.experiment in figure.references or one.size in (figure.sizes or (one.size,)))
        }
        return _Made(f"`{item.entries}`", tuple(figure.models or ()), experiments, len(shown))
    if item.entries == "pbi":
        return _Made(f"`{item.entries}.csv`", (), (), 0)
    layout = _entry(item, {str(number): one for number, one in LAYOUTS.items()})
    values = [one for one in (sources.tokens if layout.is_of_tokens else sources.accuracies) if one.source == item.item]
    return _Made(
        f"`paper/table{item.entries}.csv`",
        tuple(dict.fromkeys(one.model for one in values)),
        tuple(dict.fromkeys(group.experiment for group in layout.groups)),
        len(values),
        layout.is_of_tokens,
    )


def _entry(item: Item, named: Mapping[str, Any]) -> Any:
    if item.entries not in named:
        raise UserError(f"resources/published/fidelity.csv: {item.item}: there is no {item.kind} {item.entries}")
    return named[item.entries]


def _row(item: Item, made: _Made, entries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    printed = f"{made.printed} values" if made.printed else "no values"
    return [item.item, made.by, _material(made, entries), item.stated or printed, item.differs]


def _material(made: _Made, entries: Mapping[str, Mapping[str, Any]]) -> str:
    """What must be supplied before all of an item can be made, and large downloads; "yes" for neither."""
    recorded = [entries["models"][name] for name in made.models if isinstance(entries["models"][name], RecordedEntry)]
    needs = []
    if retired := [one for one in recorded if one.is_to_supply]:
        needs.append(f"responses of {len(retired)} of {len(made.models)} models")
    named = [name for one in made.experiments for name in _datasets(entries["experiments"][one])]
    if made.is_of_tokens:
        named += [one.tokenizer for one in recorded if one.tokenizer]
    missing = [name for name in named if name in entries["datasets"] and entries["datasets"][name].is_to_supply]
    needs += [f"`{name}`" for name in dict.fromkeys(missing)]
    if any(name in entries["candidates"] and entries["candidates"][name].corpus == WIKIPEDIA for name in named):
        needs.append("all of Wikipedia (a download)")
    return ", ".join(needs) or "yes"


def _datasets(experiment: ExperimentEntry) -> list[str]:
    return [*experiment.named_datasets, *filter(None, [experiment.subset])]
