"""The registry of engines: each is a module of this package, found by its name.

A module has `ENGINE`, an `EngineFacts`, which says all that others ask about the engine, and `Engine`, a class with the
interface `litm.inference.engine.Engine`. What is slow to import is imported by the functions that need it,
so that the facts of all engines can be read at any time.
"""

import importlib
import pkgutil
from collections.abc import Callable

from litm.inference.engine import Engine, EngineFacts, EngineSettings


def engine_names(having: Callable[[EngineFacts], bool] | None = None) -> list[str]:
    """Names of all engines, or of those `having` what they must declare, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return names if having is None else [name for name in names if having(engine_facts(name))]


def engine_facts(name: str) -> EngineFacts:
    """What an engine declares of itself."""
    return importlib.import_module(f"{__name__}.{name}").ENGINE


def audit_engine(engine: str) -> str:
    """The engine of the audit of a sweep that another engine answered; an API is asked again itself."""
    return engine_facts(engine).audited_with or engine


def load_engine(name: str, settings: EngineSettings) -> Engine:
    """An engine by the name of its module."""
    return importlib.import_module(f"{__name__}.{name}").Engine(settings)
