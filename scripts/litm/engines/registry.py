"""The registry of engines: modules of the folder `modules`, here or of an extension, found by their names."""

from collections.abc import Callable
from typing import Any

from litm.base.extensions import Registry, file_of, load, shown
from litm.base.messages import UserError
from litm.engines import modules
from litm.engines.interface import Engine, EngineFacts, EngineSettings

#: The full name of each engine's module, by the name of the engine; modules are imported when they are asked.
ENGINES = Registry("engines", lambda module: {module.rpartition(".")[2]: module}, package=modules)


def engine_names(having: Callable[[EngineFacts], bool] | None = None) -> list[str]:
    """Names of all engines, or of the engines whose facts satisfy `having`, sorted."""
    names = sorted(ENGINES)
    return names if having is None else [name for name in names if having(engine_facts(name))]


def engine_facts(name: str) -> EngineFacts:
    """The facts that an engine declares; `UserError` for a module that is no engine."""
    module = load(ENGINES[name])
    has_classes = hasattr(module, "Engine") and hasattr(getattr(module, "Settings", None), "keys")
    if not isinstance(getattr(module, "ENGINE", None), EngineFacts) or not has_classes:
        file = shown(file_of(ENGINES[name]))
        raise UserError(
            f"{file}: an engine has 'ENGINE', an EngineFacts, and the classes 'Settings', with the keys of its models, "
            "and 'Engine': add what is missing"
        )
    return module.ENGINE


def settings_class(name: str) -> Any:
    """The class of the entries of an engine's models; `UserError` as of `engine_facts`."""
    engine_facts(name)
    return load(ENGINES[name]).Settings


def engines_with(key: str) -> list[str]:
    """Names of the engines whose models have a key, sorted."""
    return [name for name in engine_names() if key in settings_class(name).keys]


def audit_engine(engine: str) -> str:
    """The engine that audits the answers of `engine`; an API audits itself."""
    return engine_facts(engine).audited_with or engine


def load_engine(name: str, settings: EngineSettings[Any], **options: Any) -> Engine:
    """An engine by the name of its module. options: further arguments of its class."""
    return load(ENGINES[name]).Engine(settings, **options)
