"""Registry of engines: each is a module of this package, found by its name.

A module has `ENGINE`, an `EngineFacts` with all facts that other code needs, and `Engine`, a class with the interface
`litm.inference.engine.Engine`. Functions import slow packages when they need them, so that the facts of all engines
are always readable.
"""

import importlib
import pkgutil
from collections.abc import Callable

from litm.inference.engine import Engine, EngineFacts, EngineSettings


def engine_names(having: Callable[[EngineFacts], bool] | None = None) -> list[str]:
    """Names of all engines, or of the engines whose facts satisfy `having`, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return names if having is None else [name for name in names if having(engine_facts(name))]


def engine_facts(name: str) -> EngineFacts:
    """The facts that an engine declares."""
    return importlib.import_module(f"{__name__}.{name}").ENGINE


def audit_engine(engine: str) -> str:
    """The engine that audits the answers of `engine`; an API audits itself."""
    return engine_facts(engine).audited_with or engine


def load_engine(name: str, settings: EngineSettings) -> Engine:
    """An engine by the name of its module."""
    return importlib.import_module(f"{__name__}.{name}").Engine(settings)
