"""Seeding of generated questions, each with its own random generator."""

from collections.abc import Callable, Iterator
from random import Random

from litm.base.messages import UserError
from litm.examples.task import ExampleSettings
from litm.records import Question


def seeded_questions(
    task: str,
    size: int,
    settings: ExampleSettings,
    dataset: str | None,
    generate: Callable[[str, int, Random], Question],
) -> Iterator[Question]:
    """The number of questions that the settings ask for, each made by `generate(id, size, rng)`.

    A question depends only on seed, task, size and index: raising the number of examples keeps earlier ones. Its id
    consists of task and index, without the seed. Raises `UserError` if a dataset is given, because the task does not
    use it.
    """
    if dataset is not None:
        raise UserError(f"the task {task} makes its own questions: remove 'dataset' ({dataset}) from its experiment")
    assert settings.examples is not None, "the configuration asks for a number of examples where there is no dataset"
    for index in range(settings.examples):
        yield generate(f"{task}/{size}/{index}", size, Random(f"{settings.seed}/{task}/{size}/{index}"))
