"""Plan of tables: the tables of a study, and their inputs.

A table names its inputs and settings; this module resolves the names. A study has the tables whose inputs it has.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litm.analysis.table import Table
from litm.config.api_models import ApiModel
from litm.config.conditions import compared_pairs, find_comparisons
from litm.config.experiments import Experiment
from litm.config.study import Study

TABLES = "results/tables"


@dataclass(frozen=True)
class Sources:
    """Inputs for tables of a study, apart from its sweeps.

    counted: models whose tokens can be counted; audited: models that can be audited; examples: experiment and example
    file for each size of each experiment; recalls, candidates, gold_passages: files of the retrievers, candidates and
    questions that the study uses; published, published_models: the published accuracies and their models;
    data_versions: by experiment and size, see `litm.analysis.published.comparison.measured_cells`.
    """

    counted: Collection[str]
    audited: Collection[str]
    examples: Sequence[tuple[str, str]]
    recalls: Sequence[str]
    candidates: Sequence[str]
    gold_passages: Sequence[str]
    published: str
    published_models: str
    data_versions: Mapping[str, Mapping[int, str | None]]


def table_inputs(study: Study, sources: Sources) -> dict[str, list[str]]:
    """The files for each name that tables list as `inputs`, in the order of the config; empty if the study has none."""
    sweeps = study.sweeps
    run = study.run
    with_positions = [pair for pair, experiment in run.items() if experiment.has_positions]
    with_sizes = [pair for pair in with_positions if _has_several_sizes(run[pair])]
    models_of = Counter((name, size) for (_, name), one in run.items() for size in {cell.size for cell in one.cells})
    shared = {pair for pair, one in run.items() if any(models_of[pair[1], cell.size] > 1 for cell in one.cells)}
    with_references = [
        (model, name, experiment.closed_book, experiment.oracle)
        for model, name in sweeps
        for experiment in [study.experiments[name]]
        if {(model, experiment.closed_book), (model, experiment.oracle)} <= set(sweeps)
    ]
    compared = compared_sweeps(study)
    return {
        "condition_scores": _scores(pair for pair in sweeps if pair in compared),
        "remedy_scores": _scores(pair for pair in sweeps if pair[1] in study.conditions),
        "scores": _scores(sweeps),
        "accuracies": _files("results/accuracy/{}/{}.csv", sweeps),
        "curve_scores": _scores(with_positions),
        "sized_scores": _scores(with_sizes),
        "compared_scores": _scores(pair for pair in sweeps if pair in shared),
        "gold_scores": _scores((model, name) for model, name, _, _ in with_references),
        "closed_book": _scores((model, str(name)) for model, _, name, _ in with_references),
        "oracle": _scores((model, str(name)) for model, _, _, name in with_references),
        "position_bias": [f"{TABLES}/position_bias.csv"] if with_positions else [],
        "accuracy": [f"{TABLES}/accuracy.csv"],
        "token_counts": _files("results/token_counts/{}/{}.csv", (p for p in sweeps if p[0] in sources.counted)),
        "audits": _files("results/audits/{}/{}.csv", (pair for pair in sweeps if pair[0] in sources.audited)),
        "manifests": _files("results/responses/{}/{}.manifest.json", sweeps),
        "examples": [path for _, path in sources.examples],
        "recalls": list(sources.recalls),
        "candidates": list(sources.candidates),
        "gold_passages": list(sources.gold_passages),
        "published": [sources.published],
        "published_models": [sources.published_models],
    }


def _has_several_sizes(experiment: Experiment) -> bool:
    """Whether it has curves of several sizes, of one gold item at a time."""
    return not experiment.asks_several and len({curve.size for curve in experiment.curves}) > 1


def table_settings(study: Study, sources: Sources) -> dict[str, Any]:
    """The value for each name that tables list as `settings`."""
    return {
        "seed": study.seed,
        "example_experiments": [experiment for experiment, _ in sources.examples],
        "data_versions": sources.data_versions,
        "comparisons": [one.to_json() for one in find_comparisons(study.experiments)],
        "conditions": [one.to_json() for one in study.conditions.values()],
        "prices": prices(study),
        "tuned_models": tuned_models(study),
        "base_models": base_models(study),
        "references": {
            name: {"closed_book": one.closed_book, "oracle": one.oracle} for name, one in study.experiments.items()
        },
    }


def prices(study: Study) -> dict[str, dict | None]:
    """Prices of models on servers, None if the config has none."""
    return {
        name: model.prices and dict(model.prices) for name, model in study.models.items() if isinstance(model, ApiModel)
    }


def tuned_models(study: Study) -> list[tuple[str, str]]:
    """(tuned model, its base) of the selected models."""
    about = study.relations["models"]
    pairs = [(name, about.get(name, {}).get("tuned_from")) for name in study.models]
    return [(name, str(base)) for name, base in pairs if base in study.models]


def base_models(study: Study) -> list[str]:
    """The selected models that other models of the catalogue were tuned from."""
    bases = {about.get("tuned_from") for about in study.relations["models"].values()}
    return [name for name in study.models if name in bases]


def compared_sweeps(study: Study) -> set[tuple[str, str]]:
    """The sweeps that another sweep, or another of their own sizes, can be compared with."""
    pairs = compared_pairs(study.run, tuned_models(study))
    return {sweep for pair in pairs for sweep in pair}


def made(tables: Iterable[Table], inputs: Mapping[str, Sequence[str]]) -> list[Table]:
    """The tables that `make_table.py` can make from these inputs, in order."""
    return [table for table in tables if table.inputs and all(inputs[name] for name in table.inputs)]


def files_of(tables: Iterable[Table]) -> list[str]:
    """All files of these tables: CSV, and Markdown for tables that have it."""
    return [
        f"{TABLES}/{table.name}.{ending}"
        for table in tables
        if table.is_default
        for ending in (("csv", "md") if table.has_markdown else ("csv",))
    ]


def _scores(sweeps: Iterable[tuple[str, str]]) -> list[str]:
    return _files("results/scores/{}/{}.parquet", sweeps)


def _files(pattern: str, sweeps: Iterable[tuple[str, str]]) -> list[str]:
    return [pattern.format(model, experiment) for model, experiment in sweeps]
