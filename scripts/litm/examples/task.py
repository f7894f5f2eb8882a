"""Interface of tasks: building prompts and judging answers.

A task is a module of `litm.examples.tasks` with

- `DEFAULTS`: a `TaskDefaults`, what an experiment gets unless it says otherwise;
- `questions(size, settings, dataset) -> Iterator[Question]`: the base items, before any placement;
- `format_items(items) -> list[str]` and `SEPARATOR`: how the items of a context are written;
- if a context is a conversation, `as_messages(items, question) -> list[dict]`: the same as chat messages;
- if a wrong answer can be traced to an item, `other_items(prompt, target) -> list[OtherItem]`: the items that were not
  asked for, see `litm.records.OtherItem`;
- if its items are all alike, `ask_another_key(question, size, placement) -> Question`: see `ASK_ANOTHER_KEY`;
- if its words are of two sources, `WORDINGS: dict[str, Wording]`, with `PLAIN` and `SUITE`.

To add a task, add a module: it is found by its name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from litm.base.messages import UserError
from litm.records import RANKED, Item, Question

#: Meaning of a position. MOVE_THE_PAIR: the place that the gold item moves to, with a fixed question (the paper's).
#: ASK_ANOTHER_KEY: the item of a fixed context that the question asks for.
MOVE_THE_PAIR, ASK_ANOTHER_KEY = "move_the_pair", "ask_another_key"
#: Words of generated questions. PLAIN: this project's; SUITE: those of the suite's description.
PLAIN, SUITE = "plain", "suite"
#: Form of a code: `?` is a random letter, `#` a random digit.
FORM = "???-####"


@dataclass(frozen=True)
class Wording:
    """Words of a generated task, with fields in braces that `fill` fills in.

    item: the gold item; other: another item; code: the form of codes, see `random_codes`. A field in double braces is
    filled in by `format_items` of the task, because it belongs to the slot of the context.
    """

    item: Item
    question: str
    other: Item = ("{text}",)
    code: str = FORM


def fill(item: Item, **values: object) -> Item:
    """The item with its fields filled in."""
    return tuple(part.format(**values) for part in item)


@dataclass(frozen=True)
class TaskDefaults:
    """The defaults of an experiment of the task.

    fixed_cells: (size, placement) of a task whose contexts never change, else None; placement: the only placement of a
    task whose contexts differ only in size, else None.
    needs_dataset: whether questions come from a file; otherwise they are generated.
    golds: gold items per question, each with its own position.
    item: the noun for an item of the context, in labels of figures.
    """

    prompt: str
    metric: str
    stop: str
    max_new_tokens: int
    needs_dataset: bool
    golds: int = 1
    fixed_cells: tuple[tuple[int, str], ...] | None = None
    placement: str | None = None
    item: str = "item"


@dataclass(frozen=True)
class ExampleSettings:
    """The settings of an experiment that change its examples (apart from size, placement and prompt file).

    examples: number of questions, None for the whole dataset (a generator needs a number).
    seed: of all random choices, None if there are none.
    distractor_order: 'ranked' as in the dataset, or 'random', shuffled by seed and question.
    selection: the 'first' questions of the dataset or 'random' ones, drawn by seed.
    labels: format of the file that says which questions to keep, None to keep all.
    design: `MOVE_THE_PAIR` or `ASK_ANOTHER_KEY`, for tasks that support it.
    cluster: field of a question's record with its cluster, None for independent questions.
    order: of retrieved documents, see `litm.examples.orders`; cut: fields of the `Cut` that drops some of them, None to
    show all.
    wording: `PLAIN` or `SUITE`, for tasks that have both.
    """

    examples: int | None
    seed: int | None
    distractor_order: str
    selection: str = "first"
    labels: str | None = None
    design: str = MOVE_THE_PAIR
    cluster: str | None = None
    order: str = RANKED
    cut: Mapping[str, float] | None = None
    wording: str = PLAIN

    @property
    def limit(self) -> int | None:
        """Number of questions to read from the dataset, None for all."""
        return self.examples if self.selection == "first" and self.labels is None else None


class Task(Protocol):
    """Interface of a task's module."""

    DEFAULTS: TaskDefaults
    SEPARATOR: str

    def questions(self, size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]: ...

    def format_items(self, items: Sequence[Item]) -> list[str]: ...


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
