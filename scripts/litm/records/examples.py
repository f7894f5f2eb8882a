"""Examples: the prompts of an experiment, and their files with one JSON object per line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litm.base.json_files import optional_field, read_jsonl, typed_field, write_jsonl
from litm.base.messages import UserError
from litm.base.store import canonical_json, text_sha256


@dataclass(frozen=True, slots=True)
class OtherItem:
    """An item that has no answer."""

    position: int
    """Place in the context, from 0."""
    text: str
    """The item as the prompt has it."""
    value: str | None = None
    """What a wrong answer may give of it in place of the answer, None for a document, which has many."""


#: The content of a prompt: a text, or chat messages {role, content}.
Content = str | list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Target:
    """A thing that a prompt asks for: a gold item and its answers.

    Position, depth and span are None if no item is known to have the answer.
    """

    name: str
    """Name of the target among those of the prompt."""
    position: int | None
    """Place of the item in the context, from 0."""
    depth: float | None
    """The position as a fraction of the context, 0 to 1."""
    span: tuple[int, int] | None
    """Offsets in the prompt of the item's first character and the one after its last."""
    answers: tuple[str, ...]
    """The accepted answers."""

    @classmethod
    def from_json(cls, record: object, where: str) -> "Target":
        """The target of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        answers = typed_field(record, "answers", list, where)
        span = optional_field(record, "span", list, where)
        if span is not None and not (len(span) == 2 and all(isinstance(end, int) for end in span)):
            raise UserError(f"{where}: 'span' must be two whole numbers, found {span}")
        if not all(isinstance(answer, str) for answer in answers):
            raise UserError(f"{where}: 'answers' must be strings")
        return cls(
            name=typed_field(record, "name", str, where),
            position=optional_field(record, "position", int, where),
            depth=optional_field(record, "depth", float, where),
            span=None if span is None else (span[0], span[1]),
            answers=tuple(answers),
        )

    def to_json(self) -> dict:
        """The JSON object."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def text_in(self, prompt: str) -> str:
        """The item's text in its prompt, "" if no item is known to have the answer."""
        return "" if self.span is None else prompt[slice(*self.span)]


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt of an experiment."""

    id: str
    """Name of the question, the same at all positions."""
    size: int
    """Items in the context, or tokens if the experiment's sizes are tokens (then `items` counts the items)."""
    placement: str
    """Where the gold items are."""
    question: str
    """The question in the prompt."""
    answer_in_distractors: bool
    """Whether an item other than the gold ones contains an accepted answer, or a gold item occurs twice."""
    prompt: str
    """The text to ask."""
    targets: tuple[Target, ...]
    """What the prompt asks for."""
    messages: list[dict[str, str]] | None = None
    """The prompt as chat messages {role, content}, for tasks with conversations."""
    items: int | None = None
    """Items in the context, None where `size` counts them."""
    cluster: str | None = None
    """The question's group of dependent questions, None if the experiment does not use it."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Other fields of the record, which are kept."""

    @classmethod
    def from_json(cls, record: dict, where: str = "example") -> "Example":
        """The example of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        targets = typed_field(record, "targets", list, where)
        needed = {name: typed_field(record, name, kind, where) for name, kind in NEEDED.items()}
        optional = {name: optional_field(record, name, kind, where) for name, kind in GIVEN.items() if name in record}
        return cls(
            **needed,
            **optional,
            targets=tuple(Target.from_json(target, f"{where}, targets[{n}]") for n, target in enumerate(targets)),
            extra={name: value for name, value in record.items() if name not in _NAMES},
        )

    def to_json(self) -> dict:
        """The JSON object, without absent `messages`, `items` and `cluster`."""
        targets = [target.to_json() for target in self.targets]
        record = {name: targets if name == "targets" else getattr(self, name) for name in _NAMES}
        return {name: value for name, value in record.items() if value is not None} | self.extra

    @property
    def name(self) -> tuple[int, str, str]:
        """Size, placement and question id, which identify a prompt within an experiment."""
        return self.size, self.placement, self.id

    @property
    def answers(self) -> list[str]:
        """The accepted answers to all targets."""
        return list(dict.fromkeys(answer for target in self.targets for answer in target.answers))

    @property
    def context_items(self) -> int:
        """The number of items in the context."""
        return self.size if self.items is None else self.items

    @property
    def prompt_sha256(self) -> str:
        """The sha256 (64 hex digits) of the content before any prompt template, the same for every model.

        Of the prompt in UTF-8, or, with chat messages, of the canonical JSON of [prompt, messages].
        """
        return text_sha256(self.prompt if self.messages is None else canonical_json([self.prompt, self.messages]))

    def content(self, as_chat: bool) -> Content:
        """The content to ask: the messages, if there are any and the model takes a chat, else the prompt."""
        return (self.messages if as_chat else None) or self.prompt


#: Fields of each example besides its targets, and those that it may lack, with their types.
NEEDED = {"id": str, "size": int, "placement": str, "question": str, "answer_in_distractors": bool, "prompt": str}
GIVEN = {"messages": list, "items": int, "cluster": str}
#: Fields with attributes of their own in their order in files; all others are `extra`.
_NAMES = (*NEEDED, "messages", "targets", "items", "cluster")


def read_examples(*paths: str | Path) -> Iterator[Example]:
    """Yield the examples of files, in order; `UserError` names file and line."""
    for path in paths:
        for number, record in read_jsonl(path):
            yield Example.from_json(record, f"{path}, line {number}")


def write_examples(path: str | Path, examples: Iterable[Example]) -> None:
    """Write examples, one per line; equal examples give equal bytes."""
    write_jsonl(path, (example.to_json() for example in examples))
