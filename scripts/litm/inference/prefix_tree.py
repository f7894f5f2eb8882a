"""What the prompts of a sweep have in common: the prefix tree of their token ids.

A node of the tree is a token behind one particular beginning, so the number of nodes is how many tokens must be
computed to read all prompts if nothing is computed twice.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

#: Big-endian, so that bytes sort as the ids do.
ID_TYPE = np.dtype(">u4")


def tree_tokens(prompts: Sequence[Sequence[int]]) -> int:
    """Tokens of all prompts, each (tokens,) ids, that repeat no other's beginning: the fewest that must be computed."""
    return sum(map(len, prompts)) - sum(shared_with_previous(sorted(map(as_bytes, prompts))))


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
