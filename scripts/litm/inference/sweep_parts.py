"""Shards of a sweep: its questions in parts, each asked by its own job with its own journal."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.inference.journal import journal_files
from litm.inference.prompt import Prompt


@dataclass(frozen=True)
class Shard:
    """One of `count` shards, by its number from 1."""

    number: int
    count: int

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


def shard_journal(path: str | Path, part: Shard) -> Path:
    """The path of a shard's journal; path: the journal of the whole sweep."""
    return Path(path).with_suffix("") / f"{part.name}.jsonl"


def other_journals(path: str | Path, own: Path) -> list[Path]:
    """The journals of the sweep at `path` (whole and shards), except `own`."""
    return [file for file in journal_files(path) if file != own]
