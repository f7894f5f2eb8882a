"""Configs of tests: the toy config with changes."""

import yaml
from conftest import ROOT

DEFAULT = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())


def config(**changes) -> dict:
    return {**DEFAULT, **changes}


def define(kind: str, **entries) -> dict:
    return {"define": {kind: entries}}


KV = {"task": "kv_retrieval", "examples": 3, "positions": {4: [0, 3]}}
