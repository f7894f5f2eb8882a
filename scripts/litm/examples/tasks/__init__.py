"""The tasks, one module each, found by name. `litm.examples.task` says what a task's module has."""

import importlib
import pkgutil
from typing import cast

from litm.base.errors import UserError
from litm.examples.task import Task


def task_names() -> list[str]:
    """Names of all tasks, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_task(name: str) -> Task:
    """The task's module, by its name; `UserError` if it lacks something that a task has."""
    module = importlib.import_module(f"{__name__}.{name}")
    missing = [part for part in ("DEFAULTS", "SEPARATOR", "questions", "format_items") if not hasattr(module, part)]
    if missing:
        raise UserError(f"task {name}: its module {module.__file__} lacks {', '.join(missing)}")
    return cast(Task, module)
