"""The engine anthropic: Anthropic's Messages API."""

from collections.abc import Mapping
from typing import Any, ClassVar

from litm.inference.api_engine import (
    ApiEngine,
    Reply,
    field,
    joined_text,
    known_reason,
    optional_text,
    reported_tokens,
)
from litm.inference.engine import EngineFacts, EngineSettings, Provider
from litm.prompting.prompt_format import as_messages
from litm.records import LENGTH, REFUSED, STOP, Content

#: Fields of a request that carry the prompt.
PROMPT_FIELDS = ("messages", "system")


def sent_fields(base_url: str | None, endpoint: str, max_new_tokens: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request, except model and prompt. Fields of the model's `request` override them; null removes a
    field. A null that removes a field of the prompt is kept.
    """
    fields = {"temperature": 0, "max_tokens": max_new_tokens, **request}
    return {name: value for name, value in fields.items() if value is not None or name in PROMPT_FIELDS}


PROVIDER = Provider(
    url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    variables="ANTHROPIC_",
    models_path="/v1/models?limit=1000",
    headers={"x-api-key": "{key}", "anthropic-version": "2023-06-01"},
    sent_fields=sent_fields,
    template_is_public=False,
)
ENGINE = EngineFacts(about="Anthropic's Messages API", packages=("anthropic",), provider=PROVIDER)
#: Finish reasons: the protocol's and ours.
REASONS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "refusal": REFUSED,
}
#: Counts that add up to the prompt's tokens: computed, written to the cache, read from the cache.
PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def request_fields(settings: EngineSettings, content: Content) -> dict[str, Any]:
    """The fields of a request, except the model. Fields of the model's `request` override them; null removes a field.

    The system prompt is a field of its own, not a message.
    """
    messages = as_messages(content)
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    fields = {
        "messages": [message for message in messages if message["role"] != "system"],
        "system": system or None,
        **sent_fields(settings.base_url, settings.endpoint, settings.max_new_tokens, settings.request),
    }
    return {name: value for name, value in fields.items() if value is not None}


def read(body: dict[str, Any]) -> Reply:
    """What a response says; LookupError, TypeError or AttributeError if it is none."""
    return Reply(
        text=joined_text(block for block in field(body, "content", list) if block["type"] == "text"),
        finish_reason=known_reason(REASONS, body["stop_reason"]),
        prompt_tokens=reported_tokens(body, *PROMPT_TOKENS),
        response_tokens=reported_tokens(body, "output_tokens"),
        served=optional_text(body, "model"),
    )


class Engine(ApiEngine):
    """The endpoint /v1/messages, which applies a template that is not public."""

    provider = PROVIDER
    sdk = "anthropic"
    client_class = "AsyncAnthropic"
    # Traces would send prompts and extra headers to wherever the environment points.
    client_options: ClassVar = {"open_telemetry": False}
    read = staticmethod(read)

    def request(self, content: Content) -> tuple[str, dict[str, Any]]:
        """A conversation, or a text as the user's only message."""
        return "/v1/messages", {"model": self.settings.location, **request_fields(self.settings, content)}
