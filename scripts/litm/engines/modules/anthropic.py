"""The engine anthropic: Anthropic's Messages API."""

import json
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from math import inf
from typing import Any, ClassVar, NamedTuple

from litm.base.json_files import checked_field
from litm.engines.interface import Cached, EngineFacts, PromptCache, Provider
from litm.engines.model_entries import BatchKeys
from litm.engines.served_models import ServedModel, ServedSettings
from litm.prompting.prompt_format import as_messages
from litm.prompting.tool_messages import for_anthropic
from litm.records.examples import Content
from litm.records.responses import LENGTH, REFUSED, STOP
from litm.servers.batches import WAS_CANCELLED, BatchEngine, BatchInterface, OutThere, failed_result
from litm.servers.replies import Reply, joined_text, known_reason, optional_text, refused_for, reported_tokens
from litm.servers.retrying import Unanswered

#: Fields of a request that carry the prompt.
PROMPT_FIELDS = ("messages", "system")


def sent_fields(base_url: str | None, endpoint: str, max_new_tokens: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request, except model and prompt. Fields of the model's `request` override them; null removes a
    field. A null that removes a field of the prompt is kept.
    """
    fields = {"temperature": 0, "max_tokens": max_new_tokens, **request}
    return {name: value for name, value in fields.items() if value is not None or name in PROMPT_FIELDS}


#: Tokens of the shortest beginning that is cached, see `PromptCache`.
LEAST = {
    "": 1024, "claude-opus-5": 512, "claude-fable-5": 512, "claude-mythos-5": 512, "claude-opus-4-7": 2048,
    "claude-opus-4-6": 4096, "claude-opus-4-5": 4096, "claude-haiku-4-5": 4096, "claude-3-5-haiku": 2048,
    "claude-3-haiku": 2048,
}  # fmt: skip
#: The path of the interface for batches.
BATCHES_PATH = "/v1/messages/batches"
#: Types of errors that may pass; others are of the request.
PASSING_TYPES = {"api_error", "overloaded_error", "rate_limit_error", "timeout_error"}


async def submit(send: Callable[..., Awaitable[dict[str, Any]]], name: str, items: Sequence[bytes]) -> dict[str, Any]:
    """Submit requests as a batch; returns what describes it. Nothing of it has a place for the name."""
    options = {"headers": {"Content-Type": "application/json"}}
    return await send("post", BATCHES_PATH, content=b'{"requests":[' + b",".join(items) + b"]}", options=options)


def read_batch(body: dict[str, Any]) -> OutThere:
    """A batch in what describes it; LookupError, TypeError or AttributeError if it is none.

    Results are read at the server's own address: with another one in 'results_url', the key would go there.
    """
    id, has_ended = checked_field(body, "id", str), checked_field(body, "processing_status", str) == "ended"
    problem = WAS_CANCELLED if body.get("cancel_initiated_at") else ""
    results = (f"{BATCHES_PATH}/{id}/results",) if body.get("results_url") else ()
    return OutThere(id, None, sum(body["request_counts"].values()), has_ended, False, problem, results)


def read_result(read: Callable[[dict[str, Any]], Reply], result: dict[str, Any]) -> Reply:
    """The reply in a line of results; errors as in `BatchInterface`."""
    outcome = result["result"]
    if outcome["type"] == "errored":
        error = outcome["error"].get("error", outcome["error"])
        if refused := refused_for(error):
            return refused
        raise failed_result(500 if error["type"] in PASSING_TYPES else 400, f"{error['type']}, {error['message']}")
    if outcome["type"] != "succeeded":
        raise Unanswered(f"it is {outcome['type']}")
    return read(outcome["message"])


def batch_item(key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A request in a batch."""
    return {"custom_id": key, "params": body}


#: At most 256 MB, with what stands around the requests.
BATCHES = BatchInterface(BATCHES_PATH, "after_id", 100_000, 255_999_980, batch_item, submit, read_batch, read_result)
PROVIDER = Provider(
    url="https://api.anthropic.com",
    key_variable="ANTHROPIC_API_KEY",
    variables="ANTHROPIC_",
    models_path="/v1/models?limit=1000",
    headers={"x-api-key": "{key}", "anthropic-version": "2023-06-01"},
    sent_fields=sent_fields,
    template_is_public=False,
    # For a life of 5 minutes; by pages about Anthropic's documentation, November 2026, which differ for Opus 4.7.
    cache=PromptCache(least=LEAST, write=1.25, read=0.1, marks=4),
    batches=BATCHES,
)
ENGINE = EngineFacts(about="Anthropic's Messages API", packages=("anthropic",), provider=PROVIDER)
#: Finish reasons: the protocol's and ours.
REASONS = {
    "end_turn": STOP,
    "stop_sequence": STOP,
    "tool_use": STOP,
    "pause_turn": LENGTH,
    "max_tokens": LENGTH,
    "model_context_window_exceeded": LENGTH,
    "refusal": REFUSED,
}
#: Counts that add up to the prompt's tokens: computed, written to the cache, read from the cache.
PROMPT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
#: The mark at the end of a block up to which a prompt is cached.
MARK = {"type": "ephemeral"}


def request_fields(settings: ServedSettings, content: Content) -> dict[str, Any]:
    """The fields of a request, except the model. Fields of the model's `request` override them; null removes a field.

    The system prompt is a field of its own, not a message.
    """
    messages = as_messages(content)
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    turns, tools = for_anthropic([message for message in messages if message["role"] != "system"])
    fields = {
        "messages": turns,
        "system": system or None,
        **tools,
        **sent_fields(settings.base_url, settings.keys.endpoint, settings.max_new_tokens, settings.keys.request),
    }
    return {name: value for name, value in fields.items() if value is not None}


def read(body: dict[str, Any]) -> Reply:
    """What a response says; LookupError, TypeError or AttributeError if it is none."""
    text = joined_text(block for block in checked_field(body, "content", list) if block["type"] == "text")
    return Reply(
        text=text,
        finish_reason=known_reason(REASONS, body["stop_reason"], text),
        prompt_tokens=reported_tokens(body, *PROMPT_TOKENS),
        response_tokens=reported_tokens(body, "output_tokens"),
        served=optional_text(body, "model"),
        cache_write=reported_tokens(body, "cache_creation_input_tokens"),
        cache_read=reported_tokens(body, "cache_read_input_tokens"),
        end=body["stop_reason"],
    )


class Placed(NamedTuple):
    """A block of a request."""

    message: int
    """The number of its message."""
    block: dict[str, Any]
    text: str
    """Its text. That of another block has no place where `cut_place` cuts, because only a text can be divided."""
    start: int
    """Its place in all texts, in the order of the cache: tools, system prompt, messages, each with its role."""


def in_order(body: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The system prompt and the messages of a request; None for a prompt of another form."""
    system = [{"role": "system", "content": body["system"]}] if "system" in body else []
    messages = [*system, *(body.get("messages") or ())]
    return messages if all(isinstance(message.get("content"), str | list) for message in messages) else None


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a message, whose content may be one text."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _uncut(value: Any) -> str:
    return json.dumps(value).replace(" ", "_")


def placed_blocks(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Iterator[Placed]:
    """The blocks of the messages of a request."""
    start = len(_uncut(body.get("tools"))) + 1
    for number, message in enumerate(messages):
        start += len(message["role"]) + 1
        for block in blocks_of(message):
            text = block["text"] if block["type"] == "text" else _uncut(block)
            yield Placed(number, block, text, start)
            start += len(text) + 1


def divided(placed: Placed, ends: Iterable[int], marks: Container[int]) -> Iterator[dict[str, Any]]:
    """A block, divided at these places of its text, and marked where a part ends at a mark."""
    text = placed.text
    # The protocol has no blocks of blanks.
    cuts = [end for end in sorted(ends) if text[:end].strip() and text[end:].strip()]
    for begin, end in pairwise([0, *cuts, len(text)]):
        part = {**placed.block, "text": text[begin:end]} if cuts else placed.block
        yield {**part, "cache_control": MARK} if end in marks else part


class Settings(BatchKeys, ServedModel):
    """Keys of `engine: anthropic`."""


class Engine(BatchEngine):
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

    def cached_text(self, body: Mapping[str, Any]) -> str | None:
        """The tools, the system prompt and the messages, each with its role."""
        if (messages := in_order(body)) is None:
            return None
        texts = [[f"{message['role']}\n"] for message in messages]
        for placed in placed_blocks(body, messages):
            texts[placed.message].append(f"{placed.text}\n")
        return "".join([f"{_uncut(body.get('tools'))}\n", *chain.from_iterable(texts)])

    def for_cache(self, body: dict[str, Any], cached: Cached) -> dict[str, Any]:
        """The request with its texts divided at the planned places and marked; joined they are as before."""
        if (messages := in_order(body)) is None:
            return body
        contents: list[list[dict[str, Any]]] = [[] for _ in messages]
        blocks = [*placed_blocks(body, messages)]
        for placed, following in zip(blocks, [*(block.start for block in blocks[1:]), inf], strict=True):
            # A place between two texts is the end of the first.
            ends, marks = (
                {min(place - placed.start, len(placed.text)) for place in places if placed.start < place <= following}
                for places in (cached.places, cached.marks)
            )
            contents[placed.message] += divided(placed, ends, marks)
        turns = [
            message if content == blocks_of(message) else {**message, "content": content}
            for message, content in zip(messages, contents, strict=True)
        ]
        system = {"system": turns.pop(0)["content"]} if "system" in body else {}
        return {**body, **system, "messages": turns}
