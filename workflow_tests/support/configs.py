"""The toy config with changes, and its study."""

import yaml
from conftest import ROOT

from litm.config.study import Study, load_study

DEFAULT = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())


def config(**changes) -> dict:
    return {**DEFAULT, **changes}


def study(**changes) -> Study:
    return load_study(config(**changes), ROOT)


def define(kind: str, **entries) -> dict:
    return {"define": {kind: entries}}


KV = {"task": "kv_retrieval", "examples": 3, "positions": {4: [0, 3]}}
