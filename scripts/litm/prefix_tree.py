"""What the prompts of a sweep have in common: the prefix tree of their token ids.

A node of the tree is a token behind one particular beginning, so the number of nodes is how many tokens must be
computed to read all prompts if nothing is computed twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

#: Big-endian, so that bytes sort as the ids do.
ID_TYPE = np.dtype(">u4")


def tree_tokens(prompts: Sequence[Sequence[int]], page: int = 1) -> int:
    """Tokens of all prompts that do not repeat the beginning of another one, each (tokens,) ids.

    page: what an engine can share, whole pages of so many tokens; 1 gives the lower bound for any engine.
    """
    shared = shared_with_previous(sorted(map(as_bytes, prompts)))
    return sum(map(len, prompts)) - sum(tokens // page * page for tokens in shared)


def as_array(prompt: Sequence[int]) -> np.ndarray:
    """Token ids (tokens,) as `ID_TYPE`."""
    return np.asarray(prompt, ID_TYPE)


def as_bytes(prompt: Sequence[int]) -> bytes:
    """Token ids as bytes that sort as the ids do."""
    return as_array(prompt).tobytes()


def shared_with_previous(ordered: Sequence[bytes]) -> list[int]:
    """For each prompt, how many tokens at its beginning are those of the one before it; 0 for the first.

    In sorted order no earlier prompt has more of them in common.
    """
    prompts = [np.frombuffer(prompt, ID_TYPE) for prompt in ordered]
    return [0, *(common_tokens(*pair) for pair in pairwise(prompts))] if prompts else []


def common_tokens(one: np.ndarray, other: np.ndarray) -> int:
    """Length of the longest beginning that two prompts share."""
    length = min(len(one), len(other))
    differ = one[:length] != other[:length]
    return int(differ.argmax()) if differ.any() else length


def tree_order(prompts: Mapping[int, Sequence[int]]) -> tuple[list[int], list[int]]:
    """The names of the prompts in the order of their token ids, and how many tokens each shares with the one before."""
    keys = {name: as_bytes(prompt) for name, prompt in prompts.items()}
    order = sorted(keys, key=keys.__getitem__)
    return order, shared_with_previous([keys[name] for name in order])


@dataclass(frozen=True)
class ReadingPlan:
    """How to read prompts so that an engine which shares whole pages finds them filled.

    order: names of the prompts, those with a common beginning together; followers: by the name of a prompt, those that
    must wait until it has been read, because it is the first to fill their last common page.
    """

    order: Sequence[int]
    followers: Mapping[int, Sequence[int]]

    @property
    def first(self) -> list[int]:
        """The prompts that wait for no other, in their order."""
        waiting = {name for some in self.followers.values() for name in some}
        return [name for name in self.order if name not in waiting]


def reading_plan(prompts: Mapping[int, Sequence[int]], page: int) -> ReadingPlan:
    """The plan for prompts by their names, each (tokens,) ids, and pages of so many tokens.

    Followers are after their leader in the order. The path to the last prompt is kept as the pages that each earlier
    prompt was the first to fill.
    """
    order, shared = tree_order(prompts)
    followers: dict[int, list[int]] = {}
    path: list[tuple[int, int]] = []
    for name, tokens in zip(order, shared, strict=True):
        pages, leader = tokens // page, None
        while path and (not pages or (len(path) > 1 and path[-2][0] >= pages)):
            path.pop()
        if path:
            _, leader = path.pop()
            path.append((pages, leader))
            followers.setdefault(leader, []).append(name)
        path.append((len(prompts[name]) // page, name))
    return ReadingPlan(order, followers)
