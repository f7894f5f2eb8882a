"""Models on a server: their address, request and limits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from litm.base.schema import NotNegative, choose
from litm.config.datasets import Dataset
from litm.config.model_keys import RequestKeys
from litm.config.models import AskedModel, tokenizer_of
from litm.config.values import NoPassword, check_names, text_names
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, EngineFacts
from litm.inference.engines import engine_facts, engine_names
from litm.prompting.formats import CHAT, RAW
from litm.prompting.reasoning import OFF, STRIP

#: Fields of a request that the workflow sets itself or relies on when it reads the response, each with the reason.
OWN_FIELDS = {
    "model": "set 'api_model'",
    "messages": "they are the prompt",
    "prompt": "it is the example's",
    "stream": "responses are read whole",
    "n": "one answer is scored",
    "best_of": "one answer is scored",
    **dict.fromkeys(
        ("api_key", "apikey", "authorization", "access_token", "auth_token", "password", "secret"),
        "requests are written into journals and reports; a key is read from the variable that 'api_key_variable' names",
    ),
}


class ApiModel(RequestKeys, AskedModel):
    """A model that a server runs.

    A change of api_model, revision, endpoint, request or prompt_template asks its prompts again. So does a change of
    base_url without a revision, and of the tokenizer's chat template if it is applied here (endpoint completions,
    prompt_template chat).
    """

    api_model: str = Field(min_length=1)
    """The server's name for the model, such as gpt-4o-mini-2024-07-18."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), NoPassword] | None = None
    """The server's address, such as http://localhost:8000/v1; if left out, the provider's own."""
    endpoint: Literal["chat", "completions"] = "chat"
    """What an OpenAI-compatible server generates: the next message of a chat, or the text after a prompt."""
    prompt_template: str = CHAT
    """chat (the prompt is the user's message) or raw (the same, and the default with `endpoint: completions`, which
    also takes a file of resources/prompt_templates).
    """
    request: dict[str, Any] = Field({})
    """Further fields of each request's body, such as {seed: 1, reasoning_effort: low}; null removes a default field, as
    in {temperature: null}. Not allowed: model, messages, prompt, stream, n and best_of, which the workflow sets.
    """
    api_key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable with the key; if left out, OPENAI_API_KEY or ANTHROPIC_API_KEY."""
    prices: dict[Literal["input", "output"], NotNegative] | None = None
    """US dollars per million tokens of prompts (input) and of answers (output), for `snakemake estimate`."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        completes = isinstance(value, dict) and value.get("endpoint") == COMPLETIONS_ENDPOINT
        return {"prompt_template": RAW, **value} if completes else value

    @field_validator("policy")
    @classmethod
    def _check_policy(cls, policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(f"{policy or OFF} is a setting of the server, give it in 'request'; allowed: {STRIP}")
        return policy

    @field_validator("request")
    @classmethod
    def _check_request(cls, request: dict) -> dict:
        for field in sorted(OWN_FIELDS.keys() & request):
            raise ValueError(f"{field!r} is not allowed in a request: {OWN_FIELDS[field]}")
        return request

    @field_validator("prices")
    @classmethod
    def _check_prices(cls, prices: dict | None) -> dict | None:
        for key in ("input", "output"):
            if prices is not None and key not in prices:
                raise ValueError(f"'{key}' is missing: give both, {{input: 0, output: 0}} if it costs nothing")
        return prices

    @model_validator(mode="after")
    def _check(self) -> "ApiModel":
        if "endpoint" in self.model_fields_set and not _has_completions(engine_facts(self.engine)):
            raise ValueError(f"'endpoint' is only for 'engine: {' or '.join(engine_names(_has_completions))}'")
        if (self.prompt_template, self.endpoint, self.tokenizer) == (CHAT, COMPLETIONS_ENDPOINT, None):
            raise ValueError(f"'prompt_template: {CHAT}' with 'endpoint: {COMPLETIONS_ENDPOINT}' needs 'tokenizer'")
        return self

    def located(self, datasets: Mapping[str, Dataset], root: Path) -> "ApiModel":
        """The entry with its tokenizer's path; `UserError` for an unknown template or a missing tokenizer."""
        chats = self.endpoint == CHAT_ENDPOINT
        allowed = [CHAT, RAW] if chats else [CHAT, RAW, *text_names(root / "resources" / "prompt_templates")]
        hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chats else ""
        choose([self.prompt_template], allowed, f"{self.where}.prompt_template", hint)
        check_names([self.prompt_template], f"{self.where}.prompt_template")
        return self.changed(tokenizer=tokenizer_of(self, datasets, root))

    def answer_settings(self) -> dict:
        """Settings that change a response, apart from the model, the prompt template's text and the decoding."""
        return {
            "engine": self.engine,
            "endpoint": self.endpoint,
            "prompt_template": self.prompt_template,
            "request": dict(self.request),
            **self.reasoning.settings(),
        }

    def run_settings(self) -> dict:
        """Settings that change no response: fields of `EngineSettings`."""
        return {key: getattr(self, key) for key in RequestKeys.model_fields}

    def location(self) -> dict:
        """The model's address, as `identify_model.py` takes it."""
        return {
            "api_model": self.api_model,
            "base_url": self.base_url,
            "revision": self.revision,
            "api_key_variable": self.api_key_variable,
        }


def _has_completions(facts: EngineFacts) -> bool:
    return facts.provider is not None and COMPLETIONS_ENDPOINT in facts.provider.endpoints
