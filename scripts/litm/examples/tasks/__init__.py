"""Tasks, found in the modules of this folder by their names; `litm.examples.task` describes them."""

import importlib
import pkgutil
from functools import cache

from litm.base.messages import UserError
from litm.examples.task import Task


@cache
def _tasks() -> dict[str, tuple[Task, str]]:
    """Each task with the name of its module, by its name; `UserError` for one that is written wrongly."""
    found = {}
    for _, name, _ in pkgutil.iter_modules(__path__):
        try:
            module = importlib.import_module(f"{__name__}.{name}")
        except TypeError as error:
            raise UserError(f"litm/examples/tasks/{name}.py: {error}") from error
        found.update({task.name: (task, name) for task in vars(module).values() if isinstance(task, Task)})
    return found


def task_names() -> list[str]:
    """Names of all tasks, sorted."""
    return sorted(_tasks())


def load_task(name: str) -> Task:
    """The task of that name."""
    return _tasks()[name][0]


def module_of(task: str) -> str:
    """The name of the module that a task is in."""
    return _tasks()[task][1]
