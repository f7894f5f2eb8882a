"""Retrieval methods, one module each, found by name: `find(task, questions) -> Found`."""

import importlib
from typing import cast

from litm.retrieval.method import Method


def load_method(name: str) -> Method:
    """The module of a method, by its name."""
    return cast(Method, importlib.import_module(f"{__name__}.{name}"))
