"""Engines: what answers prompts, one module each, behind one small interface.

An engine is a module of this package with a class `Engine`. It is found by its name, nothing else changes.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from litm.journal import Response
from litm.prompt_format import Content
from litm.reasoning import Reasoning

#: The stop rule that ends an answer after its first line that is not blank; without it only end tokens do.
FIRST_LINE = "first_line"

#: The weights as they are stored, in 4 bits (NF4 with double quantisation), or in 8.
NO_QUANTIZATION, NF4, INT8 = "none", "nf4", "int8"


@dataclass(frozen=True)
class EngineSettings:
    """What an engine is made with.

    location, revision: a folder or a hub model and its commit; quantization: `NO_QUANTIZATION`, `NF4` or `INT8`;
    tokenizer: another place for the tokenizer;
    prompt_template, template: see `prompt_format.render_prompts`; max_new_tokens, stop: decoding, always
    greedy; reasoning: what is done about what a model writes before its answer; device, batch_tokens: how it is run,
    which must not change an answer.
    """

    location: str
    revision: str | None
    dtype: str
    quantization: str
    attention: str
    tokenizer: str | None
    prompt_template: str
    template: str | None
    max_new_tokens: int
    stop: str
    device: str
    batch_tokens: int
    reasoning: Reasoning = field(default_factory=Reasoning)


class Engine(Protocol):
    """Made cheaply (tokenizer, no weights); loads its model when the first prompt is asked."""

    def __init__(self, settings: EngineSettings) -> None: ...

    def encode(self, prompts: Sequence[Content]) -> list[list[int]]:
        """Token ids of each prompt in the model's template, never truncated."""
        ...

    def generate(self, prompts: Sequence[list[int]]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts; yields a batch at a time, as (index of the prompt, response).

        A prompt whose index never comes has no answer (its request failed, say): the model's `on_failure` decides what
        becomes of it. An empty answer is an answer, and is yielded.
        """
        ...


def engine_names() -> list[str]:
    """Names of all engines, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load_engine(name: str, settings: EngineSettings) -> Engine:
    """An engine by the name of its module."""
    return importlib.import_module(f"{__name__}.{name}").Engine(settings)
