"""The toy config with changes, and its study."""

import yaml
from conftest import ROOT

from litm.config.study import Study, load_study

SELECTED = ("models", "experiments", "figures")
DEFAULT = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())


def config(**changes) -> dict:
    """The toy config with changes; entries of models, experiments or figures by name are defined and selected."""
    new = {kind: changes[kind] for kind in SELECTED if isinstance(changes.get(kind), dict)}
    given = changes.get("define") or {}
    define = given | {kind: {**given.get(kind, {}), **entries} for kind, entries in new.items()}
    return {**DEFAULT, **changes, **{kind: [*new[kind]] for kind in new}, **({"define": define} if define else {})}


def study(**changes) -> Study:
    return load_study(config(**changes), ROOT)


def define(kind: str, **entries) -> dict:
    return {"define": {kind: entries}}


def of_row(row: dict) -> dict:
    """The toy config with the changes of a row of a table; `kind.name` is an entry under `define`.

    The one experiment that a row defines is selected, unless the row selects others.
    """
    defined: dict = {}
    for key, value in row.items():
        kind, _, name = key.partition(".")
        if name:
            defined.setdefault(kind, {})[name] = value
    own = list(defined.get("experiments", {}))
    made = {"define": defined, **({"experiments": own} if len(own) == 1 else {})}
    return config(**made | {key: value for key, value in row.items() if "." not in key})


KV = {"task": "kv_retrieval", "examples": 3, "positions": {4: [0, 3]}}
