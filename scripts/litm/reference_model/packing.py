"""Packing of lessons into tensors: a context once, then its queries, which attend to the context and to themselves.

A query has the positions that it would have directly after its context. Training therefore matches later use, at the
cost of one context for all its queries, and distances between a query and its source occur as often as later.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import torch
from tokenizers import Encoding
from transformers import PreTrainedTokenizerFast

from litm.reference_model.lessons import Lesson, Query

#: Roles of the heads that get hints, see `Hint`.
DOCUMENT, NAME, QUESTION, ANSWER = ROLES = ("document", "name", "question", "answer")
#: Tokens of a context, drawn at random, that get a hint about their document.
_DOCUMENT_HINTS = 96


@dataclass(frozen=True, slots=True)
class Hint:
    """A place where a head should attend: from one token of a sequence to another.

    Roles: a document's tokens attend to its number; the word after a name in a query attends to the end of that name in
    the context; the end of a query attends to that word; the token before each answer token attends to that token in
    the context.
    """

    role: str
    sequence: int
    row: int
    column: int


@dataclass(frozen=True)
class Batch:
    """B lessons of T tokens. All tensors (B, T), but mask (B, 1, T, T), True where a token is seen.

    labels: the next token; weights: of its loss, 0 for no loss; answers: number of the answer that the label belongs
    to, from 1, else 0; decides: whether the label is the first token that distinguishes this answer from others.
    """

    task: str
    size: int
    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    labels: torch.Tensor
    answers: torch.Tensor
    decides: torch.Tensor
    hints: tuple[Hint, ...]


@dataclass
class _Sequence:
    """Facts about each token, see `Batch`; groups: 0 in the context, then the number of the query."""

    tokens: list[int]
    positions: list[int]
    labels: list[int]
    answers: list[int]
    decides: list[int]
    groups: list[int]

    @classmethod
    def of_context(cls, tokens: Sequence[int]) -> "_Sequence":
        nothing = [0] * len(tokens)
        return cls(list(tokens), list(range(len(tokens))), *(list(nothing) for _ in range(4)))

    def add_query(self, start: int, prompt: Sequence[int], answer: Sequence[int], end: int, deciding: int) -> None:
        """Add a query at position `start`; `end` follows the answer, whose token `deciding` decides."""
        silent, group, spoken = len(prompt) - 1, self.groups[-1] + 1, len(answer) + 1
        self.tokens += [*prompt, *answer]
        self.positions += range(start, start + silent + spoken)
        self.labels += [0] * silent + [*answer, end]
        self.answers += [0] * silent + [group] * spoken
        self.decides += [0] * silent + [int(index == deciding) for index in range(spoken)]
        self.groups += [group] * (silent + spoken)


def pack(lessons: Sequence[Lesson], tokenizer: PreTrainedTokenizerFast, rng: Random) -> Batch:
    """One sequence per lesson, padded on the right; all lessons have one task and size. `rng` draws hints."""
    hints: list[Hint] = []
    sequences = [_pack_lesson(lesson, number, tokenizer, hints, rng) for number, lesson in enumerate(lessons)]
    tokens = _padded((one.tokens for one in sequences), tokenizer.pad_token_id)
    groups = _padded((one.groups for one in sequences), 0)
    length = tokens.shape[1]
    seen = (groups[:, :, None] == groups[:, None, :]) | (groups[:, None, :] == 0)
    return Batch(
        lessons[0].task,
        lessons[0].size,
        tokens,
        _padded((one.positions for one in sequences), 0),
        (seen & torch.ones(length, length, dtype=torch.bool).tril())[:, None],
        _padded((one.labels for one in sequences), 0),
        _padded((one.answers for one in sequences), 0),
        _padded((one.decides for one in sequences), 0).bool(),
        tuple(hints),
    )


def _padded(rows: Iterable[list[int]], filler: int) -> torch.Tensor:
    tensors = [torch.tensor(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=filler)


def _pack_lesson(
    lesson: Lesson, number: int, tokenizer: PreTrainedTokenizerFast, hints: list[Hint], rng: Random
) -> _Sequence:
    texts = [text for query in lesson.queries for text in (query.prompt, f" {query.answer}")]
    context, *encoded = tokenizer.backend_tokenizer.encode_batch([lesson.context, *texts])
    sequence = _Sequence.of_context(context.ids)
    hints += _document_hints(lesson, number, context, rng)
    for query, prompt, answer in zip(lesson.queries, encoded[::2], encoded[1::2], strict=True):
        hints += _query_hints(query, number, len(sequence.tokens), context, prompt, answer)
        # All values of a JSON object begin with a quotation mark.
        deciding = int(query.answer.startswith('"'))
        sequence.add_query(len(context.ids), prompt.ids, answer.ids, tokenizer.eos_token_id, deciding)
    return sequence


def _document_hints(lesson: Lesson, number: int, context: Encoding, rng: Random) -> list[Hint]:
    hints = []
    for start, end in lesson.documents:
        # "Document" is one token, the number and the text up to the title another; with more tokens, the first would
        # not distinguish documents.
        label = _token_at(context, start) + 1
        assert lesson.context[slice(*context.offsets[label])].endswith("(Title:")
        rows = range(label + 1, _token_at(context, end - 1) + 1)
        drawn = rng.sample(rows, min(len(rows), _DOCUMENT_HINTS // len(lesson.documents)))
        hints += [Hint(DOCUMENT, number, row, label) for row in drawn]
    return hints


def _query_hints(
    query: Query, number: int, offset: int, context: Encoding, prompt: Encoding, answer: Encoding
) -> list[Hint]:
    """offset: the first token of the query in its sequence."""
    cue, end = offset + _token_at(prompt, query.cue), offset + len(prompt.ids) - 1
    source = _token_at(context, query.source)
    return [
        Hint(NAME, number, cue, _token_at(context, query.match)),
        Hint(QUESTION, number, end, cue),
        *(Hint(ANSWER, number, end + index, source + index) for index in range(len(answer.ids))),
    ]


def _token_at(encoding: Encoding, place: int) -> int:
    """The token that contains the character at this offset."""
    token = encoding.char_to_token(place)
    assert token is not None
    return token
