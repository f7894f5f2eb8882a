"""`my_data` without questions: catalogue entries for made-up facts in a user's own text.

They are those of resources/my_haystack.yaml, filled in, as `my_data` with questions fills in its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import fmean

from litm.base.messages import UserError
from litm.config.my_data import (
    CORPUS,
    TOKENS_BESIDE,
    TOKENS_OF_LABEL,
    MyData,
    MyEntries,
    look_at,
    text_notes,
    token_counter,
)
from litm.config.yaml_files import read_yaml
from litm.engines.model_entries import AnyModel

#: Lengths of contexts if the config has none, as shares of the smallest window; that of a model whose window is not
#: known, in tokens. The last share leaves room for the answer, and for passages longer than the mean.
SHARES, USUAL_WINDOW = (0.06, 0.12, 0.25, 0.5, 0.9), 8192
#: Depths of the fact in each context, and passages of the smallest context, for a start, a middle and an end.
DEPTHS, FEWEST = 5, 3
#: Tokens of a text without a tokenizer, as a share of the most that it may have. SmolLM2's are 0.66 to 0.73 of the most
#: in English documentation, agents' sessions and Chinese, but all of it in German, which it hardly knows.
OF_MOST = 0.8
#: Passages read at each start, for their number and their mean length.
LOOKED_AT = 3000


@dataclass(frozen=True)
class Window:
    """A model's window and the length of the user's passages in its tokens."""

    model: str
    """Name of the model."""
    tokens: int
    """The window in tokens, `USUAL_WINDOW` if it is not known."""
    is_known: bool
    """Whether it is known."""
    passage_tokens: float
    """Mean tokens of a passage with its label."""


def read_haystack(as_written: MyData, models: Mapping[str, AnyModel], root: Path) -> MyEntries:
    """The entries for made-up facts in a user's documents, and the choices made.

    models: the selected ones by name. Raises `UserError` for the first mistake in the first documents, and for too few.
    """
    mine = as_written.placed("config.my_data").located(root, {})
    texts = look_at(mine, as_written, LOOKED_AT)
    windows = [window_of(name, model, texts.first, root) for name, model in models.items()]
    window = min(windows, key=attrgetter("tokens"))
    lengths = lengths_in_tokens(mine.lengths, window)
    sizes = passages_of_lengths(lengths, window, len(texts.first))
    entries = read_yaml(root / "resources" / "my_haystack.yaml")
    whole = {"passage_words": None} if texts.are_whole else {}
    entries["corpora"][CORPUS] = {"source": texts.source, "path": str(texts.path), **whole}
    for questions in entries["questions"].values():
        questions["documents"] = max(sizes)
    for experiment in entries["experiments"].values():
        if experiment["task"] == "multi_document_qa":
            experiment.setdefault("positions", {str(size): positions(size) for size in sizes})
    entries["figures"]["my_facts_by_length"]["windows"] = {
        known.model: known.tokens for known in windows if known.is_known
    }
    notes = [
        *text_notes(texts, LOOKED_AT),
        "my_data: no questions: made-up facts are put into the passages, and asked for",
        *([] if window.is_known else [unknown_window(window.model)]),
        *lengths_left_out(mine.lengths or SHARES, sizes, "passages"),
        f"my_data: contexts of {_sizes_in_words(sizes, window)}",
    ]
    return MyEntries(entries, tuple(notes), experiments=tuple(entries["experiments"]))


def window_of(name: str, model: AnyModel, texts: Sequence[str], root: Path) -> Window:
    """A model's window, with the mean tokens of these passages as it counts them; `USUAL_WINDOW` if it is not known."""
    window, count = token_counter(model, root, OF_MOST)
    tokens = fmean(count(texts)) + TOKENS_OF_LABEL if texts else 0.0
    return Window(name, window or USUAL_WINDOW, window is not None, tokens)


def lengths_in_tokens(wanted: Sequence[float] | None, window: Window) -> list[int]:
    """Lengths in tokens that do not exceed the window, if it is known: shares (up to 1) are of it; `UserError` if all
    exceed it.
    """
    lengths = [round(length * window.tokens) if length <= 1 else round(length) for length in wanted or SHARES]
    fitting = [length for length in lengths if length <= window.tokens or not window.is_known]
    if not fitting:
        raise UserError(
            f"config.my_data.lengths: {min(lengths):,} tokens exceed the window of {window.model}, "
            f"{window.tokens:,} tokens; give shorter ones, or shares such as 0.5"
        )
    return fitting


def passages_of_lengths(lengths: Sequence[int], window: Window, available: int) -> list[int]:
    """Numbers of passages that have about these lengths with the rest of a prompt, ascending; at most all passages.

    Raises `UserError` if none has a start, a middle and an end.
    """
    sizes = {min(available, int((length - TOKENS_BESIDE) / window.passage_tokens)) for length in lengths}
    kept = sorted(size for size in sizes if size >= FEWEST)
    if not kept:
        raise UserError(
            f"config.my_data: a context needs {FEWEST} passages or more; the text has {available} with about "
            f"{window.passage_tokens:.0f} tokens each, and the longest context {max(lengths):,} tokens: add documents, "
            "or raise 'lengths'"
        )
    return kept


def positions(size: int) -> list[int]:
    """Positions at `DEPTHS` equal steps from the first to the last of a context."""
    return sorted({round(step * (size - 1) / (DEPTHS - 1)) for step in range(DEPTHS)})


def _sizes_in_words(sizes: Sequence[int], window: Window) -> str:
    """The sizes with their lengths and shares of the window."""
    tokens = [TOKENS_BESIDE + size * window.passage_tokens for size in sizes]
    return contexts_in_words(sizes, tokens, "passages", window.model, window.tokens)


def contexts_in_words(sizes: Sequence[int], tokens: Sequence[float], unit: str, model: str, window: int) -> str:
    """Sizes with their tokens: `13 passages (about 3,900 tokens, 48 % of the window), 25 (...); the window of ...`."""
    lengths = [f"about {length:,.0f} tokens, {100 * length / window:.0f} % of the window" for length in tokens]
    named = [f"{size} {unit if not place else ''}".strip() for place, size in enumerate(sizes)]
    shown = ", ".join(f"{name} ({length})" for name, length in zip(named, lengths, strict=True))
    return f"{shown}; the window of {model} has {window:,} tokens"


def lengths_left_out(lengths: Sequence[float], sizes: Sequence[int], unit: str) -> list[str]:
    """A sentence on the lengths without a size of their own, if there are any."""
    lacking = len(lengths) - len(sizes)
    why = f"they exceed the window, hold fewer than {FEWEST} {unit}, or as many as another"
    return [f"my_data: lengths: {lacking} of {len(lengths)} are left out, because {why}"] if lacking else []


def unknown_window(model: str) -> str:
    """A sentence on a window that is not known."""
    return (
        f"my_data: the window of {model} is not known: {USUAL_WINDOW:,} tokens are assumed; set the model's "
        "'context_window' (litm check: --window), or 'lengths' in tokens"
    )
