"""Anthropic's Messages API."""

from typing import Any, ClassVar

import anthropic

from litm.apis.answers import Reply, known_reason, read_reply
from litm.apis.engine import ApiEngine
from litm.apis.failures import failure_of
from litm.domain.finish_reason import LENGTH, REFUSED, STOP
from litm.engines import EngineSettings
from litm.prompt_format import Content, as_messages

#: Why answers end, in the words of the protocol, and in ours.
REASONS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "refusal": REFUSED,
}
#: Tokens of a prompt: those that were computed, and those that a cache was given, or had.
PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Engine(ApiEngine):
    """The endpoint /v1/messages, which applies a template that is not public."""

    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    home: ClassVar[str] = "https://api.anthropic.com"
    software: ClassVar[str] = f"anthropic {anthropic.__version__}"
    counts_exactly = False

    def connect(self) -> anthropic.AsyncAnthropic:
        """The SDK's client, which sends nothing again by itself."""
        return anthropic.AsyncAnthropic(
            api_key=self.key, base_url=self.url, max_retries=0, timeout=self.patience.timeout
        )

    async def ask(self, client: anthropic.AsyncAnthropic, content: Content) -> Reply:
        """The answer to one request."""
        fields = request_fields(self.settings, content)
        # Not read by the SDK, which makes an answer with gaps of a response that is cut.
        messages: Any = client.messages.with_raw_response
        try:
            response = await messages.create(
                model=self.settings.location,
                max_tokens=fields.pop("max_tokens"),
                messages=fields.pop("messages"),
                extra_body=fields,
            )
        except anthropic.APIError as error:
            raise failure_of(error, self.key) from error
        return read_reply(response.http_response.text, read)


def request_fields(settings: EngineSettings, content: Content) -> dict[str, Any]:
    """The fields of a request beside the model; those of the model's `request` come last, and null leaves one out.

    What the system says is a field of its own, not a message.
    """
    messages = as_messages(content)
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    fields = {
        "temperature": 0,
        "max_tokens": settings.max_new_tokens,
        "messages": [message for message in messages if message["role"] != "system"],
        "system": system or None,
        **settings.request,
    }
    return {name: value for name, value in fields.items() if value is not None}


def read(body: dict[str, Any]) -> Reply:
    """What a response says."""
    usage = body.get("usage") or {}
    prompt_tokens = [usage[name] for name in PROMPT_TOKENS if usage.get(name) is not None]
    return Reply(
        text="".join(block["text"] for block in body["content"] if block["type"] == "text"),
        finish_reason=known_reason(REASONS, body["stop_reason"]),
        prompt_tokens=sum(prompt_tokens) if prompt_tokens else None,
        response_tokens=usage.get("output_tokens"),
        served=body.get("model"),
    )
