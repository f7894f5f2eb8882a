"""Tasks: how questions of a kind are made, how a context of them is written, and how their answers are judged.

A task is a `Task` in a module of `litm.examples.tasks`. To add one, add it to a module there, or add a module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import UnionType
from typing import Literal, get_args, get_origin, get_type_hints

from litm.base.messages import UserError, quoted
from litm.records.conditions import RANKED
from litm.records.examples import OtherItem, Target
from litm.records.questions import Gold, Item, Question

#: Meaning of a position. MOVE_THE_PAIR: the place that the gold item moves to, with a fixed question (the paper's).
#: ASK_ANOTHER_KEY: the item of a fixed context that the question asks for.
MOVE_THE_PAIR, ASK_ANOTHER_KEY = "move_the_pair", "ask_another_key"
#: Words of generated questions. PLAIN: this project's; SUITE: those of the suite's description.
PLAIN, SUITE = "plain", "suite"


@dataclass(frozen=True)
class ExampleSettings:
    """The settings of an experiment that change its examples (apart from size, placement and prompt file).

    examples: number of questions, None for the whole dataset (a generator needs a number).
    seed: of all random choices, None if there are none.
    distractor_order: 'ranked' as in the dataset, 'random', shuffled by seed and question, or 'authors', see
    `litm.examples.orders`.
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


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of questions and prompts; experiments have its prompt, metric, stop and max_new_tokens by default.

    asks: what it asks, the end of a sentence; source: the section of the paper. item: the noun for an item of the
    context, in labels of figures; tokens_per_item: tokens of one, rather too many, for estimates before prompts are
    made (by default those of a passage of 100 words with its title).
    format_items: the texts of a context's items, which `separator` joins. as_messages: if a context is a conversation,
    the same with the question as chat messages.
    read(dataset, size, settings): the questions of a file, if the task has them from files.
    generate(id, size, rng, wording): a question with the items for a context of `size`, if the task makes them.
    golds: gold items per question, each with its own position. has_suite_words: whether there are two wordings.
    fixed_cells: (size, placement) of a task whose contexts never change, else None; placement: the only placement of a
    task whose contexts differ only in size, else None.
    other_items(prompt, target): if a wrong answer can be traced to an item, the items that were not asked for. value:
    the regular expression of a value, by default a UUID or a code: a wrong answer with one that is nowhere in the
    prompt is `invented`. asks_for_programs: whether a program is an answer like others, and no kind of wrong answers.
    ask_another_key(question, size, placement): if items are all alike, see `ASK_ANOTHER_KEY`.
    """

    name: str
    asks: str
    source: str = ""
    prompt: str
    metric: str
    max_new_tokens: int
    format_items: Callable[[Sequence[Item]], list[str]]
    stop: Literal["first_line", "end_token"] = "end_token"
    separator: str = "\n"
    item: str = "item"
    tokens_per_item: int = 175
    golds: int = 1
    read: Callable[[str, int, ExampleSettings], Iterator[Question]] | None = None
    generate: Callable[[str, int, Random, str], Question] | None = None
    has_suite_words: bool = False
    fixed_cells: tuple[tuple[int, str], ...] | None = None
    placement: str | None = None
    as_messages: Callable[[Sequence[Item], str], list[dict]] | None = None
    other_items: Callable[[str, Target], Sequence[OtherItem]] | None = None
    value: str | None = None
    asks_for_programs: bool = False
    ask_another_key: Callable[[Question, int, str], Question] | None = None

    def __post_init__(self) -> None:
        """Raise `TypeError` that names the task and its field, for a value of another type."""
        for name, hint in get_type_hints(Task).items():
            kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            wanted = get_args(hint) if get_origin(hint) is Literal else [get_origin(kind) or kind for kind in kinds]
            value = getattr(self, name)
            if not any(value == one if isinstance(one, str) else isinstance(value, one) for one in wanted):
                known = " or ".join(one if isinstance(one, str) else one.__name__ for one in wanted)
                raise TypeError(f"the task {self.name}: '{name}' must be {known}, found {quoted(value)}")

    @property
    def sentence(self) -> str:
        """What it asks, for the report."""
        return f"The task {self.name}{f' ({self.source})' if self.source else ''}: {self.asks}"

    @property
    def needs_dataset(self) -> bool:
        """Whether questions come from a file alone."""
        return self.generate is None

    def questions(self, size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
        """The questions of a file, or as many generated ones as the settings ask for, before any placement.

        A generated question depends only on seed, task, size and index: raising the number of examples keeps earlier
        ones. Its id consists of task, size and index, without the seed. Raises `UserError` for a dataset that the task
        does not use.
        """
        if dataset is not None:
            if self.read is None:
                remedy = f"remove 'dataset' ({dataset}) from its experiment"
                raise UserError(f"the task {self.name} makes its own questions: {remedy}")
            yield from self.read(dataset, size, settings)
            return
        assert self.generate is not None, "the configuration asks for a dataset"
        assert settings.examples is not None, "without a dataset the configuration asks for a number of examples"
        for index in range(settings.examples):
            id_, rng = f"{self.name}/{size}/{index}", Random(f"{settings.seed}/{self.name}/{size}/{index}")
            question = self.generate(id_, size, rng, settings.wording)
            items = [*(gold.item for gold in question.golds), *question.distractors]
            if len(items) != max(size, self.golds):
                raise UserError(f"the task {self.name}: 'generate' makes {len(items)} items for a context of {size}")
            if any(isinstance(item, str) for item in items):
                raise UserError(f"the task {self.name}: 'generate' must make items that are tuples, such as (text,)")
            yield question

    def written(self, items: Sequence[Item]) -> list[str]:
        """The texts of `format_items`; `UserError` unless there is one for each item."""
        texts = self.format_items(items)
        if not isinstance(texts, list) or len(texts) != len(items):
            raise UserError(f"the task {self.name}: 'format_items' must return a list with a text for each item")
        return texts


def one_gold(id_: str, text: str, item: Item, answer: str, others: Iterable[Item]) -> Question:
    """A question with one gold item and one accepted answer."""
    return Question(id_, text, (Gold("gold", item, (answer,)),), tuple(others))
