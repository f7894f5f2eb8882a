"""Models that a server runs: where they are asked, and how."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from litm.base.schema import NotNegative, choose
from litm.config.datasets import Dataset
from litm.config.models import AskedModel, RequestKeys, tokenizer_of
from litm.config.values import NoPassword, check_names, text_names
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, EngineFacts
from litm.inference.engines import engine_facts, engine_names
from litm.prompting.formats import CHAT, RAW
from litm.prompting.reasoning import OFF, STRIP

#: Fields of a request that the workflow sets from the entry and the prompt, or on which reading the response depends.
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

    A change of api_model, revision, endpoint, request or prompt_template asks its prompts again, one of base_url if
    there is no revision, and one of the tokenizer's chat template where that is applied here (endpoint completions,
    prompt_template chat).
    """

    api_model: str = Field(min_length=1, description="The server's name for the model, such as gpt-4o-mini-2024-07-18.")
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$"), NoPassword] | None = Field(
        None,
        description="The server's address, such as http://localhost:8000/v1; the provider's own if left out.",
    )
    endpoint: Literal["chat", "completions"] = Field(
        "chat",
        description="What an OpenAI-compatible server is asked for, the next message of a chat or the text after a "
        "prompt.",
    )
    prompt_template: str = Field(
        CHAT,
        description="chat (the prompt is the user's message) or raw (the same, and the default with `endpoint: "
        "completions`, which also takes a file of resources/prompt_templates).",
    )
    request: dict[str, Any] = Field(
        {},
        description="More fields of the body of each request, such as {seed: 1, reasoning_effort: low}; null takes out "
        "a field that is there otherwise, such as {temperature: null}. Not model, messages, prompt, stream, n and "
        "best_of, which the workflow sets.",
    )
    api_key_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = Field(
        None,
        description="The environment variable that has the key; OPENAI_API_KEY or ANTHROPIC_API_KEY if left out.",
    )
    prices: dict[Literal["input", "output"], NotNegative] | None = Field(
        None,
        description="US dollars for a million tokens of prompts (input) and of answers (output), for `snakemake "
        "estimate`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, value: Any) -> Any:
        completes = isinstance(value, dict) and value.get("endpoint") == COMPLETIONS_ENDPOINT
        return {"prompt_template": RAW, **value} if completes else value

    @field_validator("policy")
    @classmethod
    def _check_policy(cls, policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(
                f"{policy or OFF} is for the server to do, which is told in the 'request'; allowed: {STRIP}"
            )
        return policy

    @field_validator("request")
    @classmethod
    def _check_request(cls, request: dict) -> dict:
        for field in sorted(OWN_FIELDS.keys() & request):
            raise ValueError(f"{field!r} is not for a request to say: {OWN_FIELDS[field]}")
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
        """With the place of its tokenizer; `UserError` for an unknown template or a tokenizer that is not there."""
        chats = self.endpoint == CHAT_ENDPOINT
        allowed = [CHAT, RAW] if chats else [CHAT, RAW, *text_names(root / "resources" / "prompt_templates")]
        hint = f"others are for 'endpoint: {COMPLETIONS_ENDPOINT}'" if chats else ""
        choose([self.prompt_template], allowed, f"{self.where}.prompt_template", hint)
        check_names([self.prompt_template], f"{self.where}.prompt_template")
        return self.changed(tokenizer=tokenizer_of(self, datasets, root))

    def answer_settings(self) -> dict:
        """What changes a response, beside the model, the prompt template's text and the decoding."""
        return {
            "engine": self.engine,
            "endpoint": self.endpoint,
            "prompt_template": self.prompt_template,
            "request": dict(self.request),
            **self.reasoning.settings(),
        }

    def run_settings(self) -> dict:
        """How the server is asked, which changes no response: fields of `EngineSettings`."""
        return {key: getattr(self, key) for key in RequestKeys.model_fields}

    def location(self) -> dict:
        """Where the model is asked: what `identify_model.py` is given."""
        return {
            "api_model": self.api_model,
            "base_url": self.base_url,
            "revision": self.revision,
            "api_key_variable": self.api_key_variable,
        }


def _has_completions(facts: EngineFacts) -> bool:
    return facts.provider is not None and COMPLETIONS_ENDPOINT in facts.provider.endpoints
