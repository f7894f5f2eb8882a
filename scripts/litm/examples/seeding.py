"""Generated questions, each with a random generator of its own."""

from collections.abc import Callable, Iterator
from random import Random

from litm.base.errors import UserError
from litm.domain.question import Question
from litm.examples.task import ExampleSettings


def seeded_questions(
    task: str,
    size: int,
    settings: ExampleSettings,
    dataset: str | None,
    generate: Callable[[str, int, Random], Question],
) -> Iterator[Question]:
    """As many questions as the settings ask for, `generate(id, size, rng)` each.

    A question depends on nothing but the seed, the task, the size and its index: raising the number of examples
    keeps the earlier ones. The id says which question of the task it is, not of which seed. Raises `UserError` if a
    dataset is given: there is nothing to take from it.
    """
    if dataset is not None:
        raise UserError(f"the task {task} makes its own questions: remove 'dataset' ({dataset}) from its experiment")
    assert settings.examples is not None, "the configuration asks for a number of examples where there is no dataset"
    for index in range(settings.examples):
        yield generate(f"{task}/{size}/{index}", size, Random(f"{settings.seed}/{task}/{size}/{index}"))
