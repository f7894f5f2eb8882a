"""Plan of a sweep's requests for a provider's cache: which waits for which, and where prompts are marked.

In the prefix tree of the prompts' texts, a place where prompts branch is written to the cache by the first prompt that
passes it, and read by the others. A place counts if it is long enough for the cache and costs less that way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from litm.engines.interface import Cached, PromptCache, by_name
from litm.prompting.prefix_tree import ID_TYPE, common_tokens
from litm.records.bills import Prices, Usage

#: Characters of a token in English prose, and at least, in keys and numbers. Prompts without a tokenizer are asked by
#: the second, because a mark on a text that is too short for the cache costs nothing.
CHARACTERS, LEAST_CHARACTERS = 4, 2
#: Counters of a cache.
CACHE = ("cache_write", "cache_read")
#: Blocks of a text at most: from a mark, providers look for cached places in the 20 blocks before it.
MOST_BLOCKS = 16
#: Share of a common beginning that may be lost to cut it after a line; else it is cut before a word.
LOST_TO_LINE = 0.1


@dataclass(frozen=True)
class Plan:
    """A plan for asking prompts."""

    order: Sequence[int]
    """The order of the prompts, by their numbers."""
    prompts: Mapping[int, Cached]
    """How each prompt is asked, by its number."""

    @property
    def after(self) -> dict[int, int]:
        """The prompts that wait for another one, and for which."""
        return {number: cached.after for number, cached in self.prompts.items() if cached.after is not None}

    @property
    def shares(self) -> dict[str, float]:
        """The expected shares of the prompts' tokens that are written to the cache and read from it."""
        sums = Usage.sums((cached.billed for cached in self.prompts.values()), ())
        total = sum(usage.prompt for usage in sums)
        return {name: sum(getattr(usage, name) for usage in sums) / total for name in CACHE} if total else {}


@dataclass
class _Branch:
    """A place where prompts branch."""

    place: int
    """The number of characters before the place."""
    tokens: float
    """The number of tokens before the place."""
    end: int
    """The place in the order after its last prompt."""
    writer: int | None = None
    """The prompt that has written it, None if none has."""


def plan(texts: Sequence[str], tokens: Sequence[int], cache: PromptCache, model: str, prices: Prices) -> Plan:
    """The plan for prompts with these texts, as a server reads them, and numbers of tokens.

    A place's tokens are its share of the prompt's, by characters. `Cached.billed` assumes that nothing is cached
    before, and that answers come within the life of the cache.
    """
    order = sorted(range(len(texts)), key=texts.__getitem__)
    least, saved = by_name(cache.least, model), prices.input - prices.cache_read
    extra = prices.cache_write - prices.input
    branches: dict[int, list[_Branch]] = {}
    for begin, end, depth in _branches([texts[number] for number in order]):
        text = texts[order[begin]]
        place = cut_place(text, depth) if cache.marks else depth
        branch = _Branch(place, tokens[order[begin]] * place / len(text), end)
        if branch.tokens >= least and (end - begin - 1) * saved > max(extra, 0):
            branches.setdefault(begin, []).append(branch)
    planned: dict[int, Cached] = {}
    path: list[_Branch] = []
    for at, number in enumerate(order):
        path = [branch for branch in path if branch.end > at]
        # Of branches that are cut at one place, the one with all prompts.
        for branch in sorted(branches.get(at, ()), key=lambda branch: (branch.place, -branch.end)):
            if branch.place > (path[-1].place if path else 0) and len(path) < MOST_BLOCKS:
                path.append(branch)
        old = next((branch for branch in reversed(path) if branch.writer is not None), None)
        new = [branch for branch in path if branch.writer is None and (branch.end - at - 1) * saved > max(extra, 0)]
        new = new[: cache.marks or None]
        read = int(old.tokens // cache.step * cache.step) if old else 0
        write = round(new[-1].tokens) - read if new and cache.marks else 0
        if not cache.marks and extra > 0 and tokens[number] >= least:
            # Such a cache writes all prompts.
            write = tokens[number] // cache.step * cache.step - read
        # Providers look for cached places in few blocks before a mark, so the one that is read is marked too.
        marked = [*([old] if old and len(new) < cache.marks else []), *new] if cache.marks else []
        planned[number] = Cached(
            Usage(tokens[number] - read - write, write, read, 0),
            old.writer if old else None,
            tuple(branch.place for branch in path) if cache.marks else (),
            tuple(branch.place for branch in marked),
        )
        for branch in new:
            branch.writer = number
    return Plan(order, planned)


def cut_place(text: str, depth: int) -> int:
    """The place at which a text is cut so that its first `depth` characters are not exceeded: after a line, or before a
    word if that loses much. There tokens end anyway.
    """
    line = text.rfind("\n", 0, depth) + 1
    return line if line >= (1 - LOST_TO_LINE) * depth else max(line, text.rfind(" ", 0, depth))


def _branches(ordered: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """The places where sorted texts branch: first text, the one after the last, and common characters.

    The intervals of equal common prefixes of a sorted list (Abouelhoda, Kurtz and Ohlebusch, Replacing suffix trees
    with enhanced suffix arrays, Journal of Discrete Algorithms, 2004, section 3).
    """
    import numpy as np

    arrays = (np.frombuffer(text.encode("utf-32-be", "surrogatepass"), ID_TYPE) for text in ordered)
    shared = [common_tokens(*pair) for pair in pairwise(arrays)]
    open_ones: list[tuple[int, int]] = []
    for at, depth in enumerate([*shared, 0]):
        begin = at
        while open_ones and open_ones[-1][1] > depth:
            begin, deep = open_ones.pop()
            yield begin, at + 1, deep
        if depth and (not open_ones or open_ones[-1][1] < depth):
            open_ones.append((begin, depth))
