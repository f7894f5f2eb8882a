"""The prefix tree of prompts: a node for each token after one particular prefix.

So the number of nodes is the number of tokens to compute if no prefix is computed twice.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

#: A type of numpy for token ids: big-endian, so that bytes sort as the ids do.
ID_TYPE = ">u4"


def tree_tokens(prompts: Sequence[Sequence[int]]) -> int:
    """Nodes of the prefix tree of prompts, each (tokens,) ids: the fewest tokens that must be computed."""
    return sum(map(len, prompts)) - sum(shared_with_previous(sorted(map(as_bytes, prompts))))


def as_array(prompt: Sequence[int]) -> "np.ndarray":
    """Token ids (tokens,) as `ID_TYPE`."""
    import numpy as np

    return np.asarray(prompt, ID_TYPE)


def as_bytes(prompt: Sequence[int]) -> bytes:
    """Token ids as bytes that sort as the ids do."""
    return as_array(prompt).tobytes()


def shared_with_previous(ordered: Sequence[bytes]) -> list[int]:
    """For each prompt, the number of leading tokens that it shares with the previous one; 0 for the first.

    In sorted order no earlier prompt shares more.
    """
    import numpy as np

    prompts = [np.frombuffer(prompt, ID_TYPE) for prompt in ordered]
    return [0, *(common_tokens(*pair) for pair in pairwise(prompts))] if prompts else []


def common_tokens(first: "np.ndarray", second: "np.ndarray") -> int:
    """Length of the longest common prefix of two prompts, in tokens."""
    length = min(len(first), len(second))
    differ = first[:length] != second[:length]
    return int(differ.argmax()) if differ.any() else length


def tree_order(prompts: Mapping[int, Sequence[int]]) -> tuple[list[int], list[int]]:
    """Prompt numbers in the order of their token ids, and the tokens that each shares with the previous prompt."""
    keys = {name: as_bytes(prompt) for name, prompt in prompts.items()}
    order = sorted(keys, key=keys.__getitem__)
    return order, shared_with_previous([keys[name] for name in order])
