"""The engine openai: servers that speak OpenAI's protocol (OpenAI, vLLM, llama.cpp, transformers and many others)."""

from collections.abc import Mapping
from typing import Any

from litm.inference.api_engine import (
    ApiEngine,
    Reply,
    field,
    joined_text,
    known_reason,
    optional_text,
    reported_tokens,
    server_text,
)
from litm.inference.engine import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT, EngineFacts, EngineSettings, Provider
from litm.prompting.prompt_format import as_messages
from litm.records import LENGTH, REFUSED, STOP, Content

#: Fields that limit an answer. OpenAI's chat endpoint requires the newer; other servers may know only the older.
OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"


def sent_fields(base_url: str | None, endpoint: str, max_new_tokens: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request, except model and prompt. Fields of the model's `request` override them; null removes a
    field.
    """
    limit = OLD_LIMIT if base_url or endpoint != CHAT_ENDPOINT else NEW_LIMIT
    if NEW_LIMIT in request:
        limit = NEW_LIMIT
    fields = {"temperature": 0, limit: max_new_tokens, **request}
    return {name: value for name, value in fields.items() if value is not None}


PROVIDER = Provider(
    url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    variables="OPENAI_",
    models_path="/models",
    headers={"Authorization": "Bearer {key}"},
    sent_fields=sent_fields,
    endpoints=(CHAT_ENDPOINT, COMPLETIONS_ENDPOINT),
)
ENGINE = EngineFacts(
    about="servers that are compatible with OpenAI's API: its own, vLLM's, llama.cpp's and many others",
    packages=("openai",),
    provider=PROVIDER,
)
#: Finish reasons: the protocol's and ours.
REASONS = {"stop": STOP, "length": LENGTH, "content_filter": REFUSED}
#: Types of message parts that do not belong to the answer, such as those of Mistral's reasoning models.
THOUGHTS = ("thinking", "reasoning")


def request_fields(settings: EngineSettings) -> dict[str, Any]:
    """`sent_fields` for an engine's settings."""
    return sent_fields(settings.base_url, settings.endpoint, settings.max_new_tokens, settings.request)


def read(body: dict[str, Any]) -> Reply:
    """The reply in a response of either endpoint; LookupError, TypeError or AttributeError for any other body."""
    if body.get("object") == "error":
        raise LookupError("an error instead of a reply")
    # The one with the lowest index, because servers may list several in any order.
    choice = sorted(field(body, "choices", list), key=lambda choice: choice.get("index") or 0)[0]
    reason = known_reason(REASONS, choice["finish_reason"])
    if "message" in choice:
        message = choice["message"]
        refusal = optional_text(message, "refusal")
        text, reason = (refusal, REFUSED) if refusal else (content_text(message), reason)
    else:
        text = field(choice, "text", str)
    return Reply(
        text=text,
        finish_reason=reason,
        prompt_tokens=reported_tokens(body, "prompt_tokens"),
        response_tokens=reported_tokens(body, "completion_tokens"),
        served=optional_text(body, "model"),
    )


def content_text(message: dict[str, Any]) -> str:
    """The text of a message: "" for null; for a list of parts, their texts without thoughts."""
    if isinstance(message["content"], list):
        return joined_text(part for part in message["content"] if part["type"] not in THOUGHTS)
    return "" if message["content"] is None else field(message, "content", str)


class Engine(ApiEngine):
    """The endpoints /chat/completions and /completions."""

    provider = PROVIDER
    sdk = "openai"
    client_class = "AsyncOpenAI"
    read = staticmethod(read)

    def request(self, content: Content) -> tuple[str, dict[str, Any]]:
        """A chat as messages, or the text of a prompt."""
        model, fields = {"model": self.settings.location}, request_fields(self.settings)
        if self.settings.endpoint == CHAT_ENDPOINT:
            return "/chat/completions", {**model, "messages": as_messages(content), **fields}
        return "/completions", {**model, "prompt": server_text(self.tokenizer, self.settings, content), **fields}
