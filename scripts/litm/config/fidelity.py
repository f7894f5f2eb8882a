"""The table of docs/fidelity.md: figures, tables and experiments of the sources, what makes them, and what differs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from litm.analysis.paper_tables import LAYOUTS
from litm.analysis.published import PublishedAccuracy, PublishedTokens
from litm.base.messages import UserError
from litm.config.catalogue import Entries
from litm.config.recorded_models import RecordedModel

#: The corpus of all of Wikipedia.
WIKIPEDIA = "wikipedia_2018"
HEADINGS = ("item", "made by", "public material", "printed or expected", "what differs")


def fidelity_table(
    rows: Iterable[Mapping[str, str]],
    entries: Entries,
    accuracies: Sequence[PublishedAccuracy],
    tokens: Sequence[PublishedTokens],
) -> str:
    """The table in Markdown; `UserError` for an item whose figure, table or experiment does not exist.

    rows: of resources/published/fidelity.csv: item; kind; entries (a figure or an experiment of the catalogues, the
    number of a table of the paper, or the name of a table); stated (what the source expects, '' if published values are
    recorded); differs. entries: of the catalogues. accuracies, tokens: the published ones.
    """
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for row in rows:
        by, models, experiments, printed, counts = _made(row, entries, accuracies, tokens)
        stated = row["stated"] or (f"{printed} values" if printed else "no values")
        material = _material(models, experiments, counts, entries)
        lines.append("| " + " | ".join([row["item"], by, material, stated, row["differs"]]) + " |")
    return "\n".join(lines)


def _made(
    row: Mapping[str, str], entries: Entries, accuracies: Sequence[Any], tokens: Sequence[Any]
) -> tuple[str, list[str], list[str], int, bool]:
    """What makes an item: a link or a name, models of the paper, experiments, the number of published values, and
    whether these are of tokens.
    """
    kind, name = row["kind"], row["entries"]
    named = {"figure": entries["figures"], "experiment": entries["experiments"], "table": {"pbi": None}}[kind]
    layout = LAYOUTS.get(int(name)) if kind == "table" and name.isdigit() else None
    if layout is None and name not in named:
        raise UserError(f"resources/published/fidelity.csv: {row['item']}: there is no {kind} {name}")
    if layout is not None:
        values = [one for one in (tokens if layout.is_of_tokens else accuracies) if one.source == row["item"]]
        experiments = [group.experiment for group in layout.groups]
        return f"`paper/table{name}.csv`", [one.model for one in values], experiments, len(values), layout.is_of_tokens
    if kind == "figure":
        figure = named[name]
        shown = {
            (one.model, one.experiment, one.size, one.placement)
            for one in accuracies
            if figure.models
            and figure.shows(one.model)
            and (
                one.experiment in figure.references
                or (one.experiment in figure.experiments and one.size in (figure.sizes or [one.size]))
            )
        }
        return f"`{name}`", [*(figure.models or ())], [*figure.shown], len(shown), False
    return (f"`{name}`", [], [name], 0, False) if kind == "experiment" else (f"`{name}.csv`", [], [], 0, False)


def _material(models: Iterable[str], experiments: Iterable[str], counts: bool, entries: Entries) -> str:
    """What must be supplied before all of an item can be made, and large downloads; "yes" for neither.

    counts: whether the tokens of the models' prompts are counted.
    """
    models, needs = list(dict.fromkeys(models)), []
    recorded = [one for name in models if isinstance(one := entries["models"][name], RecordedModel)]
    if retired := [one for one in recorded if one.is_to_supply]:
        needs.append(f"responses of {len(retired)} of {len(models)} models")
    asked = [entries["experiments"][name] for name in dict.fromkeys(experiments)]
    named = [name for one in asked for name in (*one.named_datasets, one.subset)]
    named += [one.tokenizer for one in recorded if counts]
    missing = [name for name in named if name in entries["datasets"] and entries["datasets"][name].is_to_supply]
    needs += [f"`{name}`" for name in dict.fromkeys(missing)]
    if any(name in entries["candidates"] and entries["candidates"][name].corpus == WIKIPEDIA for name in named):
        needs.append("all of Wikipedia (a download)")
    return ", ".join(needs) or "yes"
