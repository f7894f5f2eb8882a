"""Tasks: how questions of a kind are made, how a context of them is written, and how their answers are judged.

A task is a `Task` in a module of `litm.examples.tasks`. To add one, add it to a module there, or add a module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
#: The task of verdicts from elsewhere, whose prompts are not known.
RECORDED_SCORES = "recorded_scores"
#: Words of generated questions. PLAIN: this project's; SUITE: those of the suite's description.
PLAIN, SUITE = "plain", "suite"


@dataclass(frozen=True)
class ExampleSettings:
    """The settings of an experiment that change its examples, apart from size, placement and prompt file."""

    examples: int | None
    """The number of questions, None for the whole dataset (a generator needs a number)."""
    seed: int | None
    """The seed of all random choices, None if there are none."""
    distractor_order: str
    """The order of distractors: 'ranked' as in the dataset, 'random', shuffled by seed and question, or 'authors', see
    `litm.examples.orders`.
    """
    selection: str = "first"
    """The choice of questions: the 'first' of the dataset, or 'random' ones, drawn by seed."""
    labels: str | None = None
    """The format of the file that says which questions to keep, None to keep all."""
    design: str = MOVE_THE_PAIR
    """The design: `MOVE_THE_PAIR`, or `ASK_ANOTHER_KEY` for tasks that support it."""
    cluster: str | None = None
    """The field of a question's record with its cluster, None for independent questions."""
    order: str = RANKED
    """The order of retrieved documents, see `litm.examples.orders`."""
    cut: Mapping[str, float] | None = None
    """The fields of the `Cut` that drops some of the retrieved documents, None to show all."""
    wording: str = PLAIN
    """The wording: `PLAIN`, or `SUITE` for tasks that have both."""
    fillers: str | None = None
    """The level of `litm.examples.fillers.FILLERS`, None for a task's usual distractors."""

    held_out: bool = False
    """Whether only the questions are asked that are in no curve of a measured order, see `measured_order`."""
    without_answer: bool = False
    """Whether retrieved documents that have the answer are taken out, and nothing is put in their place."""

    @property
    def limit(self) -> int | None:
        """Number of questions to read from the dataset, None for all."""
        is_beginning = self.selection == "first" and self.labels is None and not self.held_out
        return self.examples if is_beginning else None


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of questions and prompts. Experiments have its prompt, metric, stop and max_new_tokens by default."""

    name: str
    """The task's name in experiments."""
    asks: str
    """What the task asks, as the end of a sentence."""
    source: str = ""
    """The section of the paper that has the task."""
    prompt: str
    """The name of the prompt file, "" if prompts are not known."""
    metric: str
    """The metric of its answers."""
    max_new_tokens: int
    """The most tokens of an answer."""
    format_items: Callable[[Sequence[Item]], list[str]]
    """The function from a context's items to their texts."""
    stop: Literal["first_line", "end_token"] = "end_token"
    """The end of an answer."""
    separator: str = "\n"
    """The text that joins the texts of the items."""
    item: str = "item"
    """The noun for an item of the context, in labels of figures."""
    tokens_per_item: int = 175
    """The tokens of an item, rather too many, for estimates before prompts are made. By default those of a passage of
    100 words with its title.
    """
    golds: int = 1
    """The gold items per question, each with its own position."""
    in_any_order: bool = False
    """Whether its gold items need not keep their order, so that positions may descend."""
    stem: str = ""
    """The name in ids and seeds of generated questions, if other tasks ask about the same contexts; "" for its own."""
    is_chain: bool = False
    """Whether a gold item has an answer of another one in it, so that answers are outside their items."""
    parts: tuple[str, ...] = ()
    """The tasks that ask for each of its gold items alone, about the same contexts."""
    read: Callable[[str, int, ExampleSettings], Iterator[Question]] | None = None
    """The function from a dataset, a size and settings to the questions of a file, if the task has them from files."""
    generate: Callable[[str, int, Random, str], Question] | None = None
    """The function from an id, a size, a random generator and a wording to a question with the items for a context of
    that size, if the task makes them.
    """
    has_suite_words: bool = False
    """Whether there are two wordings."""
    fillers: tuple[str, ...] = ()
    """The levels of `litm.examples.fillers.FILLERS` that it has."""
    fill: Callable[[Question, str, Random], tuple[Item, ...]] | None = None
    """The function from a generated question, a level of `fillers` and a random generator to as many distractors."""
    fixed_cells: tuple[tuple[int, str], ...] | None = None
    """The (size, placement) cells of a task whose contexts never change, else None."""
    placement: str | None = None
    """The only placement of a task whose contexts differ only in size, else None."""
    as_messages: Callable[[Sequence[Item], str], list[dict]] | None = None
    """The function from items and a question to chat messages, if a context is a conversation."""
    other_items: Callable[[str, Target], Sequence[OtherItem]] | None = None
    """The function from a prompt and its target to the items that were not asked for, if a wrong answer can be traced
    to an item.
    """
    chance: Callable[[str, Target], float | None] | None = None
    """The function from a prompt and its target to the share of right answers of a reader that gives any one of the
    values of the asked kind, None if the prompt has no other; without it the questions are open.
    """
    value: str | None = None
    """The regular expression of a value, by default a UUID or a code. A wrong answer with a value that is nowhere in
    the prompt is `invented`.
    """
    repeats: str = ""
    """The task whose contexts it has twice, "" for none."""
    asks_for_programs: bool = False
    """Whether a program is an answer like others, and no kind of wrong answers."""
    ask_another_key: Callable[[Question, int, str], Question] | None = None
    """The function from a question, a size and a placement to the same context with another question, if items are all
    alike, see `ASK_ANOTHER_KEY`.
    """

    def __post_init__(self) -> None:
        """Raise `TypeError` that names the task and its field, for a value of another type."""
        for name, hint in get_type_hints(Task).items():
            kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
            wanted = get_args(hint) if get_origin(hint) is Literal else [get_origin(kind) or kind for kind in kinds]
            value = getattr(self, name)
            if not any(value == kind if isinstance(kind, str) else isinstance(value, kind) for kind in wanted):
                allowed = " or ".join(kind if isinstance(kind, str) else kind.__name__ for kind in wanted)
                raise TypeError(f"the task {self.name}: '{name}' must be {allowed}, found {quoted(value)}")

    @property
    def sentence(self) -> str:
        """What it asks, for the report."""
        return f"The task {self.name}{f' ({self.source})' if self.source else ''}: {self.asks}"

    @property
    def has_prompts(self) -> bool:
        """Whether there are prompts: without them, verdicts are recorded, and there is nothing to ask."""
        return bool(self.prompt)

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
            id_ = f"{self.stem or self.name}/{size}/{index}"
            rng = Random(f"{settings.seed}/{id_}")
            question = self.generate(id_, size, rng, settings.wording)
            if settings.fillers is not None:
                assert self.fill is not None, "the configuration checks that the task has fillers"
                rng = Random(f"{settings.seed}/{id_}/fillers/{settings.fillers}")
                question = replace(question, distractors=self.fill(question, settings.fillers, rng))
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


def any_of(others: Callable[[str, Target], Sequence[OtherItem]]) -> Callable[[str, Target], float | None]:
    """The chance of a reader that gives the value of any item. others: `Task.other_items`, whose items have values."""

    def chance(prompt: str, target: Target) -> float | None:
        number = len(others(prompt, target))
        return 1 / (number + 1) if number else None

    return chance


def one_gold(id_: str, text: str, item: Item, answer: str, others: Iterable[Item]) -> Question:
    """A question with one gold item and one accepted answer."""
    return Question(id_, text, (Gold("gold", item, (answer,)),), tuple(others))
