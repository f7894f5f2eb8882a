"""What the prompts of a sweep have in common: the prefix tree of their token ids.

A node of the tree is a token behind one particular beginning, so the number of nodes is how many tokens must be
computed to read all prompts if nothing is computed twice.
"""

from collections.abc import Sequence
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


def as_bytes(prompt: Sequence[int]) -> bytes:
    """Token ids as bytes that sort as the ids do."""
    return np.asarray(prompt, ID_TYPE).tobytes()


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
