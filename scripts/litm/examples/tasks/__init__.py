"""Tasks, one module each, found by name; `litm.examples.task` describes their interface."""

import importlib
import pkgutil
from typing import cast

from litm.base.messages import UserError
from litm.examples.task import Task


def task_names() -> list[str]:
    """Names of all tasks, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_task(name: str) -> Task:
    """The module of a task; `UserError` if it lacks a part of the interface."""
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [part for part in ("DEFAULTS", "SEPARATOR", "questions", "format_items") if not hasattr(module, part)]
    if missing:
        raise UserError(f"task {name}: its module {module.__file__} lacks {', '.join(missing)}")
    return cast(Task, module)
