"""Engines: their interface (settings, prompts in, responses out), their declared facts, their registry, and what those
that run a model in this process share.

An engine is a module of the folder `engines`, here or of an extension, found by its name. It has `ENGINE`, an
`EngineFacts` with all facts that other code needs, and `Engine`, a class with the interface `Engine` below: usually a
`LocalEngine`, or an `ApiEngine` (see `api_engine`) if it asks a server. Functions import slow packages when they need
them, so that the facts of all engines are always readable. Nothing about an engine stands in any other module.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from litm.prompting.prompt_format import PromptFormat
from litm.prompting.reasoning import Reasoning
from litm.records.bills import Usage
from litm.records.examples import Content
from litm.records.responses import Response

T = TypeVar("T")
#: The `Settings` of an engine, or a base of several.
KeysT = TypeVar("KeysT", covariant=True)
#: The stop rule that ends an answer after its first non-blank line; without it only end tokens end an answer.
FIRST_LINE = "first_line"
#: Quantization of weights: as stored, 4 bits (NF4 with double quantisation), 8 bits.
NO_QUANTIZATION, NF4, INT8 = "none", "nf4", "int8"
#: The implementation of attention that has the scores of all pairs of tokens in memory at once.
EAGER = "eager"
#: Tokens of a prompt computed at a time where attention compares each with all before it in memory.
PIECE = 1024
#: API endpoints: the next message of a chat, or the text after a prompt.
CHAT_ENDPOINT, COMPLETIONS_ENDPOINT = "chat", "completions"


def listed_models(body: Any) -> list[str]:
    """The names in a list of models as OpenAI and many others write it; LookupError or TypeError for any other body."""
    return [model["id"] for model in body["data"]]


@dataclass(frozen=True)
class PromptCache:
    """A provider's cache of the beginnings of prompts."""

    least: Mapping[str, int]
    """The fewest tokens of a beginning, by the first letters of a model's name; the longest match counts; ""
    for all others.
    """
    write: float
    """Price of a token written, in prices of a token of input, for models that the table of prices does not know."""
    read: float
    """Price of a token read, in the same unit."""
    marks: int = 0
    """The most marks of a request; 0 for a cache without marks."""
    step: int = 1
    """Tokens by which a cached beginning grows."""

    def all_prices(self, prices: Mapping[Any, float], usual: Mapping[str, float] | None) -> dict[Any, Any]:
        """The prices of a model's entry, with those of the cache that it leaves out and that differ from `input`.

        usual: the model's prices at its provider by the table, None if they are not known.
        """
        factors = {"cache_write": self.write, "cache_read": self.read}
        if usual and usual["input"]:
            factors = {name: round(usual.get(name, usual["input"]) / usual["input"], 6) for name in factors}
        return {**{name: prices["input"] * factor for name, factor in factors.items() if factor != 1}, **prices}


def by_name(values: Mapping[str, T], model: str) -> T:
    """The value for a model by the first letters of its name, see `PromptCache`."""
    return values[max((name for name in values if model.startswith(name)), key=len)]


@dataclass(frozen=True)
class Provider:
    """The default server of an API engine, and its protocol."""

    url: str
    """Address of the server."""
    sent_fields: Callable[[str | None, str, int, Mapping[str, Any]], dict[str, Any]]
    """A function from a model's base_url, endpoint, max_new_tokens and request to the fields of a request, except model
    and prompt (a prompt's field is included if the model's request replaces or removes it).
    """
    models_path: str
    """The path of its list of models, relative to the address."""
    model_names: Callable[[Any], Sequence[str]] = listed_models
    """The names in that list's JSON; errors as in `listed_models`."""
    key_variable: str | None = None
    """The environment variable with the key, None if it needs none."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of a request with a key, where `{key}` stands for it."""
    variables: str | None = None
    """The prefix of all environment variables that its SDK reads, None without an SDK."""
    template_is_public: bool = True
    """Whether a chat can be rendered as the model reads it, given the tokenizer."""
    cache: PromptCache | None = None
    """Its cache of prompts, None if it is not known."""
    batches: Any = None
    """Its interface for batches, a `batches.BatchInterface`, None if it has none."""


@dataclass(frozen=True)
class EngineFacts:
    """An engine's declaration of its needs and abilities; reading it imports none of `packages`."""

    about: str
    """One line on what it runs."""
    packages: tuple[str, ...] = ()
    """Distributions that it needs, which the doctor looks for."""
    provider: Provider | None = None
    """The server that it asks, None for an engine that runs a model here."""
    shares_prefixes: bool = False
    """Whether it computes common prefixes once."""
    measures_log_probability: bool = False
    """Whether it has `measure`."""
    audited_with: str | None = None
    """The engine that the audit uses instead, None for the engine itself."""
    version: int | None = None
    """Of an engine without a model, the version of its answers, part of their identity; None with a model."""

    @property
    def has_model(self) -> bool:
        """Whether there is a model, with weights and a tokenizer, here or on a server."""
        return self.version is None


@dataclass(frozen=True)
class EngineSettings(Generic[KeysT]):
    """Settings of an engine; decoding is always greedy."""

    location: str
    """A folder, a model of the hub, or a server's name for a model."""
    revision: str | None
    """The commit of a model of the hub."""
    tokenizer: str | None
    """Folder of the tokenizer, None if it is the model's."""
    prompt_template: str
    """See `PromptFormat`; so is `template`."""
    template: str | None
    """The text of a named prompt template."""
    max_new_tokens: int
    """The most tokens of an answer."""
    stop: str
    """The rule that ends an answer, see `FIRST_LINE`."""
    keys: KeysT
    """Keys of the model's entry that change an answer or how the engine runs, see `AskedModel.from_settings`."""
    reasoning: Reasoning = field(default_factory=Reasoning)
    """Treatment of the text before the answer."""
    gpus: int = 0
    """GPUs of a model that runs here; 0 for none."""
    share_prefixes: bool = True
    """Whether a model that runs here may compute common prefixes once."""
    base_url: str | None = None
    """Address of a model on a server, None for the provider's own."""
    api_key_variable: str | None = None
    """The environment variable with the key of a server, None for the provider's usual one."""
    spent: float = 0.0
    """US dollars of `keys.budget` that earlier runs have spent."""

    def form(self, tokenizer: Any) -> PromptFormat:
        """How prompts are written for the model's tokenizer, which only chat templates need."""
        return PromptFormat(tokenizer, self.prompt_template, self.template)


@dataclass(frozen=True)
class Cached:
    """How one prompt is asked."""

    billed: Usage
    """The expected tokens of the prompt."""
    after: int | None = None
    """The index of the prompt whose answer it waits for, None for none."""
    places: tuple[int, ...] = ()
    """Numbers of characters after which its text is divided, the same in all prompts that share them."""
    marks: tuple[int, ...] = ()
    """The places up to which it is written or read."""


@dataclass(frozen=True)
class Prepared:
    """A prompt in the form that an engine asks."""

    content: Content
    """The text, or the messages of a chat."""
    ids: Sequence[int] | None
    """Token ids as the model reads them, never truncated; None where only a server knows them."""
    answers: Sequence[Sequence[int]] = ()
    """Token ids of each accepted answer, where these are measured."""
    cached: Cached | None = None
    """The plan for a provider's cache, if there is one."""

    @property
    def tokens(self) -> int | None:
        """Number of tokens that the model reads; None if unknown."""
        return None if self.ids is None else len(self.ids)

    @property
    def answer_tokens(self) -> int:
        """Tokens of the longest answer that is measured; 0 where none is."""
        return max(map(len, self.answers), default=0)


class Engine(Protocol):
    """Made cheaply (tokenizer, no weights); loads its model when the first prompt is asked."""

    #: Prompt tokens computed by `generate` so far, fewer than were asked if prompts share prefixes;
    #: None where only a server knows.
    computed_tokens: int | None
    #: Whether the next answers wait for the model to be loaded; for progress only.
    is_loading: bool

    def __init__(self, settings: EngineSettings[Any]) -> None: ...

    def prepare(self, contents: Sequence[Content], answers: Sequence[Sequence[str]] | None = None) -> list[Prepared]:
        """Each prompt in the model's template, with its accepted answers if these are measured."""
        ...

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, one at least; yields a batch at a time, as (index of the prompt, response).

        A prompt whose index is never yielded has no answer (its request failed, say); the model's `on_failure` decides
        what happens then. An empty answer is an answer and is yielded.
        """
        ...

    def measure(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Measure the log-probability of each accepted answer after its prompt, as `measured_response` has it, without
        generating any token; yields as `generate` does. Only of engines that declare `measures_log_probability`.
        """
        ...


#: on_failure, for prompts without an answer: stop with an error, or record them as `FAILED` and count them.
STOP, COUNT = "stop", "count"
#: on_overflow, for prompts that do not fit: leave their questions out and count them, or stop with an error.
LEAVE_OUT, FAIL = "leave_out", "fail"


def prepared(
    form: PromptFormat, contents: Sequence[Content], answers: Sequence[Sequence[str]] | None, apart: bool = False
) -> list[Prepared]:
    """Prompts with the token ids that a tokenizer gives them, and their answers if there are any.

    apart: see `PromptFormat.encode_answers`.
    """
    ids = form.encode(contents)
    after = form.encode_answers(zip(contents, ids, strict=True), answers, apart) if answers else [()] * len(ids)
    return [Prepared(*parts) for parts in zip(contents, ids, after, strict=True)]
