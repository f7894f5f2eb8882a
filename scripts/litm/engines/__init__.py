"""Engines: what answers prompts, one module each, behind one small interface.

An engine is a module of this package with a class `Engine`. It is found by its name, nothing else changes.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from litm.journal import Response
from litm.prompt_format import Content, encode_prompts
from litm.reasoning import Reasoning

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: The stop rule that ends an answer after its first line that is not blank; without it only end tokens do.
FIRST_LINE = "first_line"

#: The weights as they are stored, in 4 bits (NF4 with double quantisation), or in 8.
NO_QUANTIZATION, NF4, INT8 = "none", "nf4", "int8"

#: The engine without a model, which has neither weights nor a tokenizer.
DUMMY = "dummy"

#: What a server is asked: for the next message of a chat, or for the text after a prompt.
CHAT_ENDPOINT, COMPLETIONS_ENDPOINT = "chat", "completions"


@dataclass(frozen=True)
class EngineSettings:
    """What an engine is made with.

    location, revision: a folder or a hub model and its commit, or the name that a server has for a model; tokenizer:
    another place for the tokenizer; prompt_template, template: see `prompt_format.render_prompts`; max_new_tokens,
    stop: decoding, always greedy; reasoning: what is done about what a model writes before its answer.

    Of a model that is run here, dtype; quantization: `NO_QUANTIZATION`, `NF4` or `INT8`; attention; config: values that
    replace those of its own configuration; and, as they must
    not change an answer, device, gpus, batch_tokens, and share_prefixes: whether what prompts have in common at their
    beginning may be computed once.

    Of a model that a server runs, base_url: its address, None for the provider's own; endpoint: `CHAT_ENDPOINT` or
    `COMPLETIONS_ENDPOINT`; request: more fields of each request; api_key_variable: the environment variable with the
    key, None for the provider's usual one; concurrency: requests at a time; request_timeout: seconds without a sign of
    life after which one is given up; request_attempts: requests for one prompt, after which it stays without an answer.
    """

    location: str
    revision: str | None
    tokenizer: str | None
    prompt_template: str
    template: str | None
    max_new_tokens: int
    stop: str
    reasoning: Reasoning = field(default_factory=Reasoning)
    dtype: str = "auto"
    quantization: str = NO_QUANTIZATION
    attention: str = "sdpa"
    config: Mapping[str, Any] = field(default_factory=dict)
    device: str = "auto"
    gpus: int = 0
    batch_tokens: int = 16384
    share_prefixes: bool = True
    base_url: str | None = None
    endpoint: str = CHAT_ENDPOINT
    request: Mapping[str, Any] = field(default_factory=dict)
    api_key_variable: str | None = None
    concurrency: int = 8
    request_timeout: float = 600.0
    request_attempts: int = 10


@dataclass(frozen=True)
class Prepared:
    """A prompt as an engine is to ask it.

    ids: token ids as the model reads them, never truncated; None where only a server knows them.
    """

    content: Content
    ids: Sequence[int] | None

    @property
    def tokens(self) -> int | None:
        """How many tokens the model reads; None if that is not known."""
        return None if self.ids is None else len(self.ids)


def prepare_prompts(
    tokenizer: "PreTrainedTokenizerBase", settings: EngineSettings, contents: Sequence[Content]
) -> list[Prepared]:
    """Each prompt in the model's template, with its token ids."""
    prompts = encode_prompts(tokenizer, settings.prompt_template, settings.template, contents)
    return [Prepared(content, ids) for content, ids in zip(contents, prompts, strict=True)]


def token_ids(prompts: Sequence[Prepared]) -> list[Sequence[int]]:
    """The token ids of prompts that all have them, as `prepare_prompts` makes them."""
    return [prompt.ids for prompt in prompts if prompt.ids is not None]


class Engine(Protocol):
    """Made cheaply (tokenizer, no weights); loads its model when the first prompt is asked."""

    #: Prompt tokens computed by `generate` so far, which are fewer than asked where prompts share their beginnings;
    #: None where only a server knows.
    computed_tokens: int | None

    def __init__(self, settings: EngineSettings) -> None: ...

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt in the model's template."""
        ...

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
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
