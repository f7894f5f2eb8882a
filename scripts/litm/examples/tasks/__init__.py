"""Tasks, found in the modules of this folder and of extensions by their names; `litm.examples.task` describes them."""

import sys

from litm.base.extensions import Registry, load
from litm.examples.task import Task


def _tasks_in(module: str) -> dict[str, Task]:
    return {task.name: task for task in vars(load(module)).values() if isinstance(task, Task)}


TASKS = Registry("tasks", _tasks_in, package=sys.modules[__name__])


def task_names() -> list[str]:
    """Names of all tasks, sorted."""
    return sorted(TASKS)


def load_task(name: str) -> Task:
    """The task of that name."""
    return TASKS[name]


def module_of(task: str) -> str:
    """The full name of the module that a task is in."""
    return TASKS.module_of(task)
