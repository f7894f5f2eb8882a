"""The interface of engines: what they are made with, what they answer, and what they declare of themselves."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from litm.prompting.reasoning import Reasoning

if TYPE_CHECKING:
    from litm.domain.example import Content
    from litm.domain.response import Response

#: The stop rule that ends an answer after its first line that is not blank; without it only end tokens do.
FIRST_LINE = "first_line"

#: The weights as they are stored, in 4 bits (NF4 with double quantisation), or in 8.
NO_QUANTIZATION, NF4, INT8 = "none", "nf4", "int8"

#: What a server is asked: for the next message of a chat, or for the text after a prompt.
CHAT_ENDPOINT, COMPLETIONS_ENDPOINT = "chat", "completions"


@dataclass(frozen=True)
class Provider:
    """The server of an API engine where a model names none, and how its protocol is spoken.

    url: its address; key_variable: the environment variable with the key; variables: how the names of all environment
    variables begin that its SDK reads; models_path: where it lists its models,
    behind the address; headers: of a request with a key, in which `{key}` stands for it; endpoints: those that the
    protocol has; template_is_public: whether a chat can be rendered as the model reads it, given the tokenizer;
    sent_fields: the fields of a request beside the model and the prompt, given a model's base_url, endpoint,
    max_new_tokens and request; a prompt's own field is among them if the model's request replaces it or leaves it out.
    """

    url: str
    key_variable: str
    variables: str
    models_path: str
    headers: Mapping[str, str]
    sent_fields: Callable[[str | None, str, int, Mapping[str, Any]], dict[str, Any]]
    endpoints: tuple[str, ...] = (CHAT_ENDPOINT,)
    template_is_public: bool = True


@dataclass(frozen=True)
class EngineFacts:
    """What an engine declares of itself; reading it imports none of `packages`.

    about: one line on what it runs; packages: distributions that it needs, which the doctor looks for; provider: of an
    engine that asks a server, None for one that runs a model here; shares_prefixes: whether it computes what prompts
    have in common at their beginnings once; budgets_reasoning: whether it can end a model's reasoning after a number
    of tokens; reads_gguf: whether it runs models in GGUF files; audited_with: the engine that the audit asks in its
    place, None for itself; version: of what an engine answers that has no model, part of the identity of its answers.
    """

    about: str
    packages: tuple[str, ...] = ()
    provider: Provider | None = None
    shares_prefixes: bool = False
    budgets_reasoning: bool = False
    reads_gguf: bool = False
    audited_with: str | None = None
    version: int | None = None

    @property
    def has_model(self) -> bool:
        """Whether there is a model, with weights and a tokenizer, here or on a server."""
        return self.version is None


@dataclass(frozen=True)
class EngineSettings:
    """What an engine is made with.

    location, revision: a folder or a hub model and its commit, or the name that a server has for a model; tokenizer:
    another place for the tokenizer; prompt_template, template: see `prompt_format.render_prompts`; max_new_tokens,
    stop: decoding, always greedy; reasoning: what is done about what a model writes before its answer.

    Of a model that is run here, dtype; quantization: `NO_QUANTIZATION`, `NF4` or `INT8`; attention; config: values that
    replace those of its own configuration; trust_remote_code: whether code that comes with it runs; and, as they must
    not change an answer, device, gpus, batch_tokens, and share_prefixes: whether what prompts have in common at their
    beginning may be computed once.

    Of a model that a server runs, base_url: its address, None for the provider's own; endpoint: `CHAT_ENDPOINT` or
    `COMPLETIONS_ENDPOINT`; request: more fields of each request; api_key_variable: the environment variable with the
    key, None for the provider's usual one; concurrency: requests at a time; request_timeout: seconds without a sign of
    life after which one is given up; request_total_timeout: seconds that one may take as a whole, None for the usual;
    request_attempts: requests for one prompt, after which it stays without an answer.
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
    trust_remote_code: bool = False
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
    request_total_timeout: float | None = None
    request_attempts: int = 10


@dataclass(frozen=True)
class Prepared:
    """A prompt as an engine is to ask it.

    ids: token ids as the model reads them, never truncated; None where only a server knows them.
    """

    content: "Content"
    ids: Sequence[int] | None

    @property
    def tokens(self) -> int | None:
        """How many tokens the model reads; None if that is not known."""
        return None if self.ids is None else len(self.ids)


def with_ids(contents: Iterable["Content"], ids: Iterable[Sequence[int]]) -> list[Prepared]:
    """Prompts with the token ids of each."""
    return [Prepared(content, own) for content, own in zip(contents, ids, strict=True)]


def token_ids(prompts: Sequence[Prepared]) -> list[Sequence[int]]:
    """The token ids of prompts that all have them."""
    return [prompt.ids for prompt in prompts if prompt.ids is not None]


class Engine(Protocol):
    """Made cheaply (tokenizer, no weights); loads its model when the first prompt is asked."""

    #: Prompt tokens computed by `generate` so far, which are fewer than asked where prompts share their beginnings;
    #: None where only a server knows.
    computed_tokens: int | None

    def __init__(self, settings: EngineSettings) -> None: ...

    def prepare(self, contents: Sequence["Content"]) -> list[Prepared]:
        """Each prompt in the model's template."""
        ...

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, "Response"]]]:
        """Answer all prompts; yields a batch at a time, as (index of the prompt, response).

        A prompt whose index never comes has no answer (its request failed, say): the model's `on_failure` decides what
        becomes of it. An empty answer is an answer, and is yielded.
        """
        ...
