"""Token counts of a sweep's prompts, and token positions of the gold items."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from litm.base.groups import in_batches
from litm.base.messages import UserError
from litm.prompting.prompt_format import CHAT, CHUNK, PROMPT_FIELD, PromptFormat, as_messages, render_chats
from litm.prompting.tool_messages import as_texts
from litm.records.examples import Content, Example

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerBase

    from litm.tables.questions import TokenCountsRow

#: Columns and types of a file of positions, one row per prompt and target. Tokens count from 0; missing if there is no
#: gold item or its place is unknown.
POSITION_COLUMNS = {
    "model": "string", "experiment": "string", "size": "int64", "placement": "string", "id": "string",
    "target": "string", "position": "Int64", "prompt_tokens": "int64", "first_token": "Int64", "last_token": "Int64",
}  # fmt: skip
#: Pattern of the placeholder for a message's content, with its number.
_CONTENT = re.compile(r"__content_\d+__")


@dataclass(frozen=True)
class GoldTokens:
    """The tokens that contain characters of a gold item, counted from 0."""

    first: int
    """First token."""
    last: int
    """Last token."""


@dataclass(frozen=True)
class PromptTokens:
    """The token counts of a prompt, including its template and special tokens."""

    count: int
    """Number of tokens."""
    golds: tuple[GoldTokens | None, ...]
    """Tokens of each target's item; None if it has no item or its place is unknown."""
    unknown: int
    """Number of items with unknown place."""
    special: Mapping[str, int] = field(default_factory=dict)
    """Occurrences of each special token's text in question and documents."""


@dataclass(frozen=True)
class Segment:
    """A piece of an example's prompt in the tokenizer's input."""

    start: int
    """First character, in the prompt."""
    end: int
    """Character after the last one, in the prompt."""
    at: int
    """First character, in the tokenizer's input."""


def measure_prompts(form: PromptFormat, examples: Iterable[Example]) -> Iterator[tuple[Example, PromptTokens]]:
    """Each example with its prompt in tokens; errors as in `PromptFormat`.

    The place of a gold item is unknown if the tokenizer does not map tokens to characters (a slow tokenizer), or if the
    chat template changes a message beyond white space at its ends.
    """
    pattern = special_token_pattern(form.tokenizer)
    for batch in in_batches(examples, CHUNK):
        contents = [example.content(form.name == CHAT) for example in batch]
        texts = form.render(contents)
        encoded = form.tokenize(texts)
        encodings: Sequence[Encoding | None] = encoded.encodings or [None] * len(batch)
        if form.name == CHAT:
            segments = _segments_of_chats(form.tokenizer, batch, texts)
        else:
            at = 0 if form.template is None else form.template.index(PROMPT_FIELD)
            segments = [[Segment(0, len(example.prompt), at)] for example in batch]
        specials = [special_tokens_in(pattern, content) for content in contents]
        for example, ids, encoding, parts, special in zip(
            batch, encoded["input_ids"], encodings, segments, specials, strict=True
        ):
            spans = [target.span for target in example.targets]
            golds = tuple(gold_tokens(encoding, parts, *span) if span and encoding else None for span in spans)
            unknown = sum(span is not None and gold is None for span, gold in zip(spans, golds, strict=True))
            yield example, PromptTokens(len(ids), golds, unknown, special)


def gold_tokens(encoding: "Encoding", segments: Sequence[Segment], start: int, end: int) -> GoldTokens | None:
    """The tokens of characters [start, end) of a prompt; None if no segment or token contains any of them.

    A token counts if it contains any of the characters, even with others, such as the space before an item. White space
    at an end that belongs to no token is ignored.
    """
    shown = [(max(start, s.start) - s.start + s.at, min(end, s.end) - s.start + s.at) for s in segments]
    shown = [(a, b) for a, b in shown if a < b]
    if not shown:
        return None
    characters = range(shown[0][0], shown[-1][1])
    first = next((token for c in characters if (token := encoding.char_to_token(c)) is not None), None)
    if first is None:
        return None
    last = next(token for c in reversed(characters) if (token := encoding.char_to_token(c)) is not None)
    # A character of several bytes may have several tokens, and the first was found.
    while (span := encoding.token_to_chars(last + 1)) and span[0] < characters.stop and span[1] > characters.start:
        last += 1
    return GoldTokens(first, last)


def _segments_of_chats(
    tokenizer: "PreTrainedTokenizerBase", examples: Sequence[Example], texts: Sequence[str]
) -> list[list[Segment]]:
    """For each example with its rendered chat the segments of its prompt, empty if they are unknown."""
    chats = [as_texts(as_messages(example.content(as_chat=True))) for example in examples]
    roles = [tuple(message["role"] for message in messages) for messages in chats]
    gaps = {chat_roles: chat_gaps(tokenizer, chat_roles) for chat_roles in set(roles)}
    return [
        chat_segments(example.prompt, [message["content"] for message in messages], text, gaps[chat_roles])
        for example, messages, text, chat_roles in zip(examples, chats, texts, roles, strict=True)
    ]


def chat_gaps(tokenizer: "PreTrainedTokenizerBase", roles: Sequence[str]) -> list[str] | None:
    """The texts that a chat template writes before, between and after message contents, for these roles.

    One text more than roles; None if it does not write each content once and in order.
    """
    names = [f"__content_{index}__" for index in range(len(roles))]
    messages = [{"role": role, "content": name} for role, name in zip(roles, names, strict=True)]
    try:
        (text,) = render_chats(tokenizer, [messages])
    except UserError:
        # The template took the real contents, so it depends on them.
        return None
    return _CONTENT.split(text) if _CONTENT.findall(text) == names else None


def chat_segments(prompt: str, contents: Sequence[str], text: str, gaps: Sequence[str] | None) -> list[Segment]:
    """The segments of a chat's contents in the prompt and in the rendered text.

    gaps: see `chat_gaps`. Empty unless both places are certain.
    """
    if gaps is None or not text.startswith(gaps[0]):
        return []
    at, shown, places = len(gaps[0]), [], []
    for content, gap in zip(contents, gaps[1:], strict=True):
        part = next((part for part in (content, content.strip()) if text.startswith(part + gap, at)), None)
        if part is None:
            return []
        shown.append(part)
        places.append(at)
        at += len(part) + len(gap)
    starts = places_in_order(prompt, shown)
    if at != len(text) or starts is None:
        return []
    return [Segment(start, start + len(part), at) for start, part, at in zip(starts, shown, places, strict=True)]


def places_in_order(text: str, parts: Sequence[str]) -> list[int] | None:
    """The beginning of each part in a text that contains them in this order; None unless the match is unique."""
    leftmost, at = [], 0
    for part in parts:
        leftmost.append(text.find(part, at))
        if leftmost[-1] < 0:
            return None
        at = leftmost[-1] + len(part)
    rightmost, at = [], len(text)
    for part in reversed(parts):
        at = text.rfind(part, 0, at)
        rightmost.append(at)
    return leftmost if leftmost == rightmost[::-1] else None


def token_count_row(
    model: str, experiment: str, size: int, placement: str, prompts: Sequence[PromptTokens]
) -> "TokenCountsRow":
    """A cell of the token-count table.

    n, mean, sd (sample), min, max: number and lengths of prompts (paper, Tables 2 to 4); n_special_tokens: prompts
    whose question or documents contain the text of a special token. The rest covers the n_gold_located prompts whose
    gold items all have a known place, and is None if there are none: gold_first_token and gold_last_token are the mean
    first and last token of the gold item (with several, the first one's first and the last one's last), counted from 0.
    gold_depth_tokens is the mean depth of the midpoint between the two, in tokens: 0 is the prompt's first token, 1 its
    last. A gold item in the middle of its context is at 0.5 if as much text comes before the context as after it,
    including instruction, question and template.
    """
    counts = pd.Series([prompt.count for prompt in prompts], dtype="int64")
    located = [(prompt.count, [gold for gold in prompt.golds if gold]) for prompt in prompts if not prompt.unknown]
    golds = pd.DataFrame(
        [(count, min(g.first for g in golds), max(g.last for g in golds)) for count, golds in located if golds],
        columns=["count", "first", "last"],
        dtype="float64",
    )
    depths = (golds["first"] + golds["last"]) / 2 / (golds["count"] - 1).clip(lower=1)
    return {
        "model": model,
        "experiment": experiment,
        "size": size,
        "placement": placement,
        "n": len(counts),
        "tokens_mean": counts.mean(),
        "tokens_sd": counts.std(ddof=1) if len(counts) > 1 else 0.0,
        "tokens_min": int(counts.min()),
        "tokens_max": int(counts.max()),
        "n_special_tokens": sum(bool(prompt.special) for prompt in prompts),
        "n_gold_located": len(golds),
        "gold_first_token": golds["first"].mean() if len(golds) else None,
        "gold_last_token": golds["last"].mean() if len(golds) else None,
        "gold_depth_tokens": depths.mean() if len(golds) else None,
    }


def position_rows(model: str, experiment: str, example: Example, prompt: PromptTokens) -> Iterator[dict]:
    """A row of `POSITION_COLUMNS` for each target of a prompt."""
    for target, gold in zip(example.targets, prompt.golds, strict=True):
        places = (target.name, target.position, prompt.count, gold.first if gold else None, gold.last if gold else None)
        row = (model, experiment, example.size, example.placement, example.id, *places)
        yield dict(zip(POSITION_COLUMNS, row, strict=True))


def special_token_pattern(tokenizer: "PreTrainedTokenizerBase") -> re.Pattern[str] | None:
    """A pattern for the texts of special tokens, such as `<|endoftext|>`, longest first; None if there are none.

    Those in questions and documents are left unchanged, as in other evaluations: `transformers` reads them as special
    tokens unless told otherwise (`split_special_tokens`), and so do servers. Those of a chat template must be read that
    way, and replacing the others would change prompts. They are counted.
    """
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    texts = sorted({*added, *tokenizer.all_special_tokens} - {""}, key=lambda text: (-len(text), text))
    return re.compile("|".join(map(re.escape, texts))) if texts else None


def special_tokens_in(pattern: re.Pattern[str] | None, content: Content) -> Counter[str]:
    """Occurrences of each special token's text in a prompt or in chat messages, before any template."""
    if pattern is None:
        return Counter()
    return Counter(token for message in as_messages(content) for token in pattern.findall(message["content"]))


def most_items(limit: int, tokens_of: Callable[[int], int], fewest: int) -> int:
    """The largest number of items whose prompts have at most `limit` tokens; `tokens_of(items)` counts them.

    By doubling and halving, in about 2·log₂(items) calls. If the count sometimes falls as items are added, the result
    still satisfies `limit`, but may not be the largest. Raises `UserError` if the minimum of `fewest` items is too
    long.
    """
    low, high = fewest, 2 * fewest
    least = tokens_of(low)
    if least > limit:
        raise UserError(f"a prompt of {low} items has {least} tokens already, more than the {limit} asked for")
    while tokens_of(high) <= limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tokens_of(middle) <= limit else (low, middle)
    return low
