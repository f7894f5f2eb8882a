"""Shards: parts of a sweep, each asked by a job of its own."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

from litm.inference.prompts import Prompt


@dataclass(frozen=True)
class Shard:
    """A part of a sweep that is asked by itself."""

    number: int
    """The number of the shard, from 1."""
    count: int
    """The number of shards."""

    @property
    def name(self) -> str:
        """The shard's name in file paths."""
        return f"{self.number}_of_{self.count}"


def shard(text: str) -> Shard:
    """An argparse type: a shard by its name, such as 1_of_4."""
    match = re.fullmatch(r"(\d+)_of_(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no shard; the first of four is 1_of_4")
    return Shard(int(match[1]), int(match[2]))


def prompts_of_shard(prompts: Sequence[Prompt], part: Shard) -> list[Prompt]:
    """The prompts of every `count`-th question, in their order.

    A question stays whole: its prompts share most of their tokens and are compared with one another.
    """
    order = {id: number for number, id in enumerate(dict.fromkeys(prompt.id for prompt in prompts))}
    return [prompt for prompt in prompts if order[prompt.id] % part.count == part.number - 1]
