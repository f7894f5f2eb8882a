"""The catalogues: entries by kind and name, including those that a config defines."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.schema import Entry, Variants, read_entry, read_variant
from litm.base.yaml_files import read_yaml
from litm.config.api_models import ApiModel
from litm.config.config import Config, Kind
from litm.config.corpora import CorpusEntry, QuestionSetEntry
from litm.config.datasets import Dataset
from litm.config.experiments import ExperimentEntry
from litm.config.figures import FigureEntry
from litm.config.models import Model
from litm.config.recorded_models import RECORDED, RecordedEntry
from litm.config.rerankers import RERANKERS
from litm.config.retrieval import RETRIEVERS, CandidatesEntry
from litm.inference.engines import engine_facts, engine_names


def class_of(engine: str) -> type[Model] | type[ApiModel]:
    """The class of an engine's models: `Model` runs here, `ApiModel` on a server."""
    return Model if engine_facts(engine).provider is None else ApiModel


MODELS = Variants("engine", {**{engine: class_of(engine) for engine in engine_names()}, RECORDED: RecordedEntry})
#: Class of the entries of each kind.
CATALOGUES: dict[Kind, type[Entry] | Variants] = {
    "models": MODELS,
    "experiments": ExperimentEntry,
    "figures": FigureEntry,
    "datasets": Dataset,
    "corpora": CorpusEntry,
    "retrievers": RETRIEVERS,
    "questions": QuestionSetEntry,
    "candidates": CandidatesEntry,
    "rerankers": RERANKERS,
}


def read_catalogues(
    config: Config, root: Path, added: Mapping[str, Mapping[str, dict]] | None = None
) -> dict[str, dict[str, Any]]:
    """All checked entries by kind and name: from `root`/config, from `added` and from the config, with its defaults."""
    return {kind: read_catalogue(kind, config, root, (added or {}).get(kind) or {}) for kind in CATALOGUES}


def read_catalogue(kind: Kind, config: Config, root: Path, added: Mapping[str, dict]) -> dict[str, Any]:
    """The checked entries of one kind, by name."""
    own = string_keys(read_yaml(root / "config" / f"{kind}.yaml"))
    entries = merge_catalogue({**own, **added}, (config.define or {}).get(kind) or {})
    if kind == "models" and config.model_defaults:
        defaults = config.model_defaults.model_dump(exclude_unset=True)
        entries = {name: _with_defaults(entry, defaults) for name, entry in entries.items()}
    return {name: read_catalogue_entry(kind, name, entry) for name, entry in entries.items()}


def read_catalogue_entry(kind: Kind, name: str, value: Mapping) -> Entry:
    """A checked entry of a catalogue; `UserError` for the first mistake, and for a name that no file can have."""
    _check_name(name, kind)
    entries = CATALOGUES[kind]
    where = f"{kind}.{name}"
    return read_variant(entries, value, where) if isinstance(entries, Variants) else read_entry(entries, value, where)


def merge_catalogue(entries: Mapping[str, dict], additions: Mapping[str, dict]) -> dict[str, dict]:
    """The catalogue with a config's additions: new names are added, keys of existing entries are replaced singly."""
    changed = {name: {**entries.get(name, {}), **entry} for name, entry in additions.items()}
    return {**entries, **changed}


def string_keys(value: Any) -> Any:
    """A nested value with all mapping keys as strings: YAML reads sizes as numbers, JSON as strings."""
    if isinstance(value, Mapping):
        return {str(key): string_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [string_keys(item) for item in value]
    return value


def _with_defaults(entry: Mapping, defaults: Mapping) -> dict:
    """A model's entry with those of the config's defaults that its kind has."""
    engine = entry.get("engine")
    # Reading the entry refuses any other value.
    kind = MODELS.classes.get(engine) if isinstance(engine, str) else None
    own = kind.key_names() if kind else []
    return {**{key: value for key, value in defaults.items() if key in own}, **entry}


def _check_name(name: str, where: str) -> None:
    """Raise `UserError` for a name that cannot be a file name or a word of a command line."""
    if name.endswith((".zip", ".json")):
        raise UserError(f"{where}: the name '{name}' is not allowed; it would be taken for a file")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(
            f"{where}: the name '{name}' is not allowed; use letters, digits, dots, hyphens and underscores"
        )
