"""Comparison of measured with published accuracies: difference, interval, and verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis.grid import Files, interval_columns
from litm.analysis.published import (
    PublishedAccuracy,
    PublishedModel,
    first_of_cells,
    read_published,
    read_published_models,
)
from litm.analysis.statistics import unpaired_difference
from litm.base.intervals import binomial_interval
from litm.base.json_files import read_json
from litm.base.table_files import plain_rows

if TYPE_CHECKING:
    from litm.tables.claims import PublishedComparisonRow

CONSISTENT, DIFFERS, NOT_COMPARABLE = "consistent", "differs", "not comparable"


#: Name of a cell, measured or published: model, experiment, size, placement.
CellName = tuple[str, str, int, str]
#: What must be equal in a measured and a published cell.
COMPARED = ("n", "metric", "data_version", "weights", "prompt_format", "quantization")


def measured_cells(
    accuracy: pd.DataFrame, of_sweeps: Iterable[Mapping], data_versions: Mapping[str, Mapping[str, str | None]]
) -> dict[CellName, dict]:
    """Rows of the accuracy table by name, with the provenance of the cell.

    of_sweeps: manifests; data_versions: by experiment and size (as text). weights: origin of the model, see
    `weights_of`. quantization: format of quantised weights, here or as stored. data_version: as in
    datasets.schema.yaml, None for other data. prompt_format: the prompt template, None if unknown.
    """
    manifests = {(manifest["model"], manifest["experiment"]): manifest for manifest in of_sweeps}
    cells = {}
    for row in plain_rows(accuracy):
        model, experiment, size = row["model"], row["experiment"], row["size"]
        manifest = manifests[model, experiment]
        identity = manifest["identity_fields"]
        about = identity.get("model", {})
        cells[model, experiment, size, row["placement"]] = row | {
            "weights": weights_of(identity["source"]),
            "quantization": about.get("quantization") or manifest.get("weights"),
            "data_version": data_versions[experiment].get(str(size)),
            "prompt_format": about.get("prompt_template"),
        }
    return cells


def weights_of(source: Mapping) -> str | None:
    """The model's name on the hub or the API, from the `source` in an identity; '' for a folder, None for recorded
    responses, whose entry names the model.
    """
    return None if "recorded" in source else source.get("hub") or source.get("api_model") or ""


def comparison_rows(
    cells: Mapping[CellName, Mapping], published: Iterable[PublishedAccuracy], models: Mapping[str, PublishedModel]
) -> "list[PublishedComparisonRow]":
    """Rows of published_comparison.csv: one for each published value whose cell was measured, in their order.

    difference: measured minus published, with its 95 % interval for two independent proportions
    (`unpaired_difference`); it is wider than a paired interval, which would need the published single answers. The
    verdict is `consistent` if the interval contains 0, `differs` if not, and `not comparable` with a `reason` if the
    two measure different things.
    """
    measured = ((value, cells.get((value.model, value.experiment, value.size, value.placement))) for value in published)
    return [_row(cell, value, models.get(value.model)) for value, cell in measured if cell]


def obstacles(cell: Mapping, value: PublishedAccuracy, model: PublishedModel | None) -> list[str]:
    """Reasons why a measured and a published cell are not comparable; [] if they are."""
    n, metric, data, weights, prompt_format, quantization = (cell[name] for name in COMPARED)
    if not n:
        return ["no question was scored here"]
    theirs, their_format = (model.weights, model.prompt_format) if model else (weights, None)
    differ = {
        f"another metric ({metric} here, {value.metric} published)": metric != value.metric,
        f"other questions (n = {n:,} here, {value.n:,} published)": n != value.n,
        f"other data ({data or 'your own'} here, {value.data_version} published)": data != value.data_version,
        f"other weights ({weights or 'a folder'} here, {theirs} published)": weights not in (None, theirs),
        f"another prompt format ({prompt_format} here, {their_format} published)": (
            their_format and prompt_format not in (None, their_format)
        ),
        f"quantised here ({quantization})": quantization is not None,
    }
    return [words for words, is_so in differ.items() if is_so]


def _row(cell: Mapping, value: PublishedAccuracy, model: PublishedModel | None) -> "PublishedComparisonRow":
    reasons = obstacles(cell, value, model)
    about: dict = asdict(value)
    del about["data_version"]
    row: PublishedComparisonRow = {
        **about,
        "metric": cell["metric"],
        "n": cell["n"],
        "accuracy": cell["accuracy"],
        "n_published": value.n,
        "accuracy_published": value.accuracy,
        "verdict": NOT_COMPARABLE,
        "reason": "; ".join(reasons),
    }
    for end in ("", "_strict"):
        if (accuracy := cell[f"accuracy{end}"]) is not None:
            right, n = round(accuracy * cell["n"]), cell["n"]
            difference = unpaired_difference(right, n, round(value.accuracy * value.n), value.n)
            verdict = CONSISTENT if difference.low <= 0 <= difference.high else DIFFERS
            compared: dict = interval_columns(f"difference{end}", replace(difference, value=accuracy - value.accuracy))
            compared |= {f"accuracy{end}": accuracy, f"verdict{end}": NOT_COMPARABLE if reasons else verdict}
            row = {**row, **compared}
    return row


def published_table(values: Iterable[PublishedAccuracy]) -> pd.DataFrame:
    """One row per cell, with the columns of `accuracy.accuracy_table` that figures and tables read.

    ci_low, ci_high: 95 % limits (`binomial_interval`) for the integer number of right answers nearest to the accuracy,
    which is printed with three digits.
    """
    columns = ["model", "experiment", "size", "placement", "position", "n", "accuracy", "ci_low", "ci_high"]
    rows = []
    for value in first_of_cells(values):
        low, high = binomial_interval(round(value.accuracy * value.n), value.n)
        # By rounding, the accuracy may exceed a limit by half an answer.
        limits = {"ci_low": min(low, value.accuracy), "ci_high": max(high, value.accuracy)}
        rows.append(asdict(value) | limits)
    floats = dict.fromkeys(["accuracy", "ci_low", "ci_high"], "Float64")
    return pd.DataFrame(rows, columns=columns).astype({"position": "Int64", **floats})


def published_comparison_table(
    accuracy: Files,
    manifests: Files,
    published: Files,
    published_models: Files,
    data_versions: Mapping[str, Mapping[str, str | None]],
) -> "list[PublishedComparisonRow]":
    """One row per published value whose cell was measured; manifests: of all sweeps; data_versions: see
    `measured_cells`.
    """
    cells = measured_cells(accuracy.joined("accuracy"), map(read_json, manifests.paths), data_versions)
    return comparison_rows(cells, read_published(published.path), read_published_models(published_models.path))
