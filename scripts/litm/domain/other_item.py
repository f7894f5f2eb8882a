"""The other items of a context: those that a prompt does not ask for, read back from its text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OtherItem:
    """An item that has no answer. position: in the context, from 0; text: as the prompt has it; value: what a wrong
    answer may give of it in place of the answer, None for a document, which has many.
    """

    position: int
    text: str
    value: str | None = None
