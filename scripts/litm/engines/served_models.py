"""Models of the configuration that a server runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from litm.base.schema import Answer, Made, NoPassword, NotNegative, PathTo, Place, Positive, Run, Workflow, choose
from litm.engines.interface import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, EngineSettings
from litm.engines.model_entries import AskedModel, Policy, ReasoningKeys, RequestKeys, Tags, only_strip
from litm.engines.model_files import check_tokenizer
from litm.engines.registry import engine_facts
from litm.prompting.prompt_format import CHAT, RAW
from litm.records.price_table import looked_up

#: Fields of a request that the workflow sets itself or relies on when it reads the response, each with the reason.
REQUEST_FIELDS = {
    "model": "set 'api_model'",
    "messages": "they are the prompt",
    "prompt": "it is the example's",
    "stream": "responses are read whole",
    "n": "one answer is scored",
    "best_of": "one answer is scored",
    **dict.fromkeys(
        ("api_key", "apikey", "authorization", "access_token", "auth_token", "password", "secret"),
        "requests are part of identities and reports; a key is read from the variable that 'api_key_variable' names",
    ),
}


def check_has_no_query(url: object) -> object:
    """The same address; ValueError, which does not repeat it, if it has a query."""
    if isinstance(url, str) and "?" in url:
        raise ValueError(
            "has a query ('?...'), which may contain a key and cannot be sent: leave it out. Azure needs no "
            "api-version at https://NAME.openai.azure.com/openai/v1/"
        )
    return url


NoQuery = BeforeValidator(check_has_no_query)


class ServedModel(ReasoningKeys, RequestKeys, AskedModel):
    """A model that a server runs.

    A change of api_model, revision, endpoint, request or prompt_template sends all prompts again. So does a change of
    base_url without a revision, and of the tokenizer's chat template if the workflow applies it (endpoint completions,
    prompt_template chat).
    """

    is_local: ClassVar[Literal[False]] = False
    is_served: ClassVar[Literal[True]] = True
    is_recorded: ClassVar[Literal[False]] = False
    has_weights: ClassVar[Literal[False]] = False
    #: What a job that asks a server takes here, and into how many jobs a sweep is divided.
    threads: ClassVar[int] = 1
    used_gpus: ClassVar[int] = 0
    gpu_model: ClassVar[None] = None
    shards: ClassVar[int] = 1
    api_model: Annotated[str, Field(min_length=1), Place("the server's name for the model", counts=True)]
    """The server's name for the model, such as gpt-4o-mini-2024-07-18."""
    base_url: Annotated[
        Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), NoPassword, NoQuery] | None,
        Place(
            "if there is no `revision`; a final slash, the protocol's port, and `localhost` for `127.0.0.1` "
            "make no difference",
            counts=True,
        ),
    ] = None
    """The server's address, such as http://localhost:8000/v1. If omitted, the provider's own."""
    revision: Annotated[str | None, Place("your name for the version on the server", counts=True)] = None
    """Your own name for the current version of the model on the server (a commit, a date). base_url may then change."""
    # Of the identity, whether the engine has the keys or not.
    endpoint: Made[Annotated[str, Answer("as written")]] = CHAT_ENDPOINT
    batch: Made[Annotated[bool, Run("another way to the same answer", is_sparse=True)]] = False
    prompt_template: Annotated[
        str,
        Answer(
            "with `endpoint: completions`: the name, the text of a named template, and for `chat` the "
            "tokenizer's chat template with its special tokens"
        ),
    ] = CHAT
    """chat (the prompt is the user's message) or raw (the same; the default with `endpoint: completions`, which also
    accepts a file of resources/prompt_templates).
    """
    tokenizer: Annotated[
        str | None,
        PathTo(check_tokenizer, unless="datasets"),
        Workflow("it counts tokens; if it formats chats (`completions`, `chat`), its chat template is part of the key"),
    ] = None
    """Tokenizer that counts tokens beforehand: a tokenizer.json file, a folder, or the name of a dataset with one. It
    changes no answer, unless its chat template makes the prompts (`endpoint: completions` with `prompt_template:
    chat`). A change of the tokenizer then sends them again.
    """
    policy: Annotated[
        Policy,
        only_strip("is a setting of the server, give it in 'request'"),
        Workflow("replies are kept whole; the reasoning is cut off when responses are written"),
    ] = Field(None, alias="reasoning")
    """strip: only the text after the reasoning (between `<think>` and `</think>`) is scored. The recorded response
    stays whole, and the experiment's `max_new_tokens` limits both together. If the reasoning never ends, the answer is
    empty and counts as cut. If omitted, reasoning is part of the answer. Not needed for servers that return reasoning
    separately, or whose `request` turns it off.
    """
    reasoning_tags: Annotated[Tags | None, Workflow("as `reasoning`")] = None
    """The opening and closing tags of the reasoning, if they are not `<think>` and `</think>`."""
    request: Annotated[
        dict[str, Any],
        Answer(
            "the fields that are sent; a default that is written out makes no difference (`temperature: 0`, the "
            "answer's limit)"
        ),
    ] = Field({})
    """Further fields for the body of each request, such as {seed: 1, reasoning_effort: low}. null removes a default
    field, as in {temperature: null}. The workflow sets model, messages, prompt, stream, n and best_of, so these are not
    allowed.
    """
    api_key_variable: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None, Place("the account that pays")
    ] = None
    """The environment variable that holds the API key. If omitted, OPENAI_API_KEY or ANTHROPIC_API_KEY."""
    prompt_caching: Annotated[bool, Run("the price of a prompt")] = True
    """Whether shared prefixes of prompts are read from the provider's cache if that costs less. `engine: anthropic`
    marks where prompts branch. `engine: openai` sends the first prompt with each prefix alone and, to OpenAI's own
    servers, a key that leads to the same cache. The texts stay the same.
    """
    prices: Annotated[
        dict[Literal["input", "output", "cache_write", "cache_read", "batch"], NotNegative] | None,
        Run("for the estimate, the bill and `budget`"),
    ] = None
    """US dollars per million tokens of prompts (input), of answers (output), and of prompt tokens that the provider
    writes to its cache (cache_write) or reads from it (cache_read). batch multiplies all four for answers from a batch.
    If omitted, the prices of the package genai-prices for the model at this address, with those of long prompts, if it
    knows them. The default for the cache is `input` times the provider's usual factors for the model's name by the same
    package, or else (for Claude) 1.25 and 0.1. The default for batch is 0.5.
    """
    budget: Annotated[Positive | None, Run("it only stops a run")] = None
    """US dollars, by `prices`, that all sweeps of this model may cost together, including those of earlier runs. Before
    a request could exceed the budget, the run stops with an error, and all answers are kept. With a budget, the model's
    sweeps run one after another. Requests under way when a run is interrupted or killed may be billed, but no later run
    counts them.
    """

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        endpoint = value.get("endpoint", cls.model_fields["endpoint"].default) if isinstance(value, dict) else None
        return {"prompt_template": RAW, **value} if endpoint == COMPLETIONS_ENDPOINT else value

    @field_validator("request")
    @classmethod
    def _check_request(cls, request: dict) -> dict:
        for field in sorted(REQUEST_FIELDS.keys() & request):
            raise ValueError(f"{field!r} is not allowed in a request: {REQUEST_FIELDS[field]}")
        return request

    @field_validator("prices")
    @classmethod
    def _check_prices(cls, prices: dict | None) -> dict | None:
        for key in ("input", "output"):
            if prices is not None and key not in prices:
                raise ValueError(f"'{key}' is missing: give both, {{input: 0, output: 0}} if it costs nothing")
        return prices

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if self.budget is not None and (self.all_prices is None or self.batch):
            yield "'budget' needs 'prices', and no 'batch', which is billed whole"
        if (self.prompt_template, self.endpoint, self.tokenizer) == (CHAT, COMPLETIONS_ENDPOINT, None):
            yield f"'prompt_template: {CHAT}' with 'endpoint: {COMPLETIONS_ENDPOINT}' needs 'tokenizer'"

    @property
    def not_measured(self) -> str | None:
        """As of other models; a server gives it for token ids alone."""
        if self.endpoint != COMPLETIONS_ENDPOINT:
            return super().not_measured or f"a chat endpoint cannot; set 'endpoint: {COMPLETIONS_ENDPOINT}'"
        return super().not_measured or (None if self.tokenizer else "its 'tokenizer' is not set")

    @property
    def not_counting(self) -> str | None:
        """See `AnyModel.not_counting`."""
        return None if self.tokenizer is not None else "is run by a server: set the model's 'tokenizer'"

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with its tokenizer's path; `UserError` for an unknown template or a missing tokenizer."""
        chats = self.endpoint == CHAT_ENDPOINT
        allowed = [CHAT, RAW] if chats else entries["prompt_templates"]
        hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chats else ""
        choose([self.prompt_template], allowed, f"{self.where}.prompt_template", hint)
        return super().located(root, entries)

    def run_settings(self) -> dict:
        """As of other models, with the prices that the entry leaves out."""
        return {**super().run_settings(), "prices": self.all_prices}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """As of other models; prices of the table have parts that an entry cannot have."""
        entry = super().from_settings({name: value for name, value in settings.items() if name != "prices"})
        return entry.model_copy(update={"prices": settings.get("prices")})

    @property
    def all_prices(self) -> dict[Any, Any] | None:
        """`prices`, or else those of the table for the model at this address, see `looked_up`; with the usual ones of
        the provider's cache. None if none are known.
        """
        provider = engine_facts(self.engine).provider
        url = self.base_url or (provider.url if provider else "")
        prices: Mapping[Any, Any] | None = looked_up(self.api_model, url) if self.prices is None else self.prices
        if prices is None or provider is None or provider.cache is None:
            return None if prices is None else {**prices}
        return provider.cache.all_prices(prices, looked_up(self.api_model, provider.url))

    def location(self) -> dict:
        """The model's address, as `identify_model.py` takes it."""
        return self.of_role(Place)


#: Settings of any engine that asks a server.
ServedSettings = EngineSettings[ServedModel]
