"""What a task is: a way to build prompts and judge answers.

A task is a module of `litm.examples.tasks` with

- `DEFAULTS`: a `TaskDefaults`, what an experiment gets unless it says otherwise;
- `questions(size, settings, dataset) -> Iterator[Question]`: the base items, before any placement;
- `format_items(items) -> list[str]` and `SEPARATOR`: how the items of a context are written;
- if a context is a conversation, `as_messages(items, question) -> list[dict]`: the same as chat messages;
- if a wrong answer can be traced to an item, `other_items(prompt, target) -> list[OtherItem]`: the items that were not
  asked for, see `litm.examples.other_items`;
- if its items are all alike, `ask_another_key(question, size, placement) -> Question`: see `ASK_ANOTHER_KEY`.

Adding a task is adding a module: it is found by its name, nothing else changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from litm.domain.condition import RANKED
from litm.domain.question import Item, Question

#: What a position is: where the gold item is moved to, while the question stays (the paper's); or which item of a
#: context that stays is asked for.
MOVE_THE_PAIR, ASK_ANOTHER_KEY = "move_the_pair", "ask_another_key"


@dataclass(frozen=True)
class TaskDefaults:
    """What an experiment of the task gets unless it says otherwise.

    fixed_cells: (size, placement) of a task whose contexts are always the same, else None; placement: the only
    one of a task whose contexts differ in size alone, else None.
    needs_dataset: whether its questions come from a file; if not, there is a generator.
    golds: gold items of a question, each with a position of its own.
    """

    prompt: str
    metric: str
    stop: str
    max_new_tokens: int
    needs_dataset: bool
    golds: int = 1
    fixed_cells: tuple[tuple[int, str], ...] | None = None
    placement: str | None = None


@dataclass(frozen=True)
class ExampleSettings:
    """The settings of an experiment that change its examples (beside size, placement and prompt file).

    examples: how many questions, None for all that the dataset has (a generator needs a number).
    seed: of everything random, None where nothing is.
    distractor_order: 'ranked' as in the dataset, or 'random', shuffled by seed and question.
    selection: which questions, the 'first' of the dataset or 'random' ones, drawn by seed.
    labels: format of the file that says which questions to keep, None to keep all.
    design: `MOVE_THE_PAIR` or `ASK_ANOTHER_KEY`, which is for tasks that have it.
    cluster: the field of the questions' records that says which belong together, None where nothing does.
    order: of documents as they were retrieved, see `litm.examples.orders`; cut: fields of the `Cut` that leaves out
    some of them, None to show all.
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

    @property
    def limit(self) -> int | None:
        """How many questions of the dataset have to be read, None for all."""
        return self.examples if self.selection == "first" and self.labels is None else None


class Task(Protocol):
    """What the module of a task offers."""

    DEFAULTS: TaskDefaults
    SEPARATOR: str

    def questions(self, size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]: ...

    def format_items(self, items: Sequence[Item]) -> list[str]: ...
