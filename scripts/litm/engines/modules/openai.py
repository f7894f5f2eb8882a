"""The engine openai: servers that speak OpenAI's protocol (OpenAI, vLLM, llama.cpp, transformers and many others)."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Annotated, Any, Literal

from litm.base.json_files import checked_field
from litm.base.messages import UserError
from litm.base.schema import Answer
from litm.base.store import canonical_json, text_sha256
from litm.engines.interface import CHAT_ENDPOINT, Cached, EngineFacts, Prepared, PromptCache, Provider
from litm.engines.model_entries import BatchKeys
from litm.engines.served_models import ServedModel, ServedSettings
from litm.prompting.prompt_format import as_messages
from litm.prompting.tool_messages import for_openai
from litm.records.examples import Content
from litm.records.responses import LENGTH, MEASURED, REFUSED, STOP, Response
from litm.servers.api_engine import is_of_provider, server_text
from litm.servers.batches import WAS_CANCELLED, BatchEngine, BatchInterface, OutThere, failed_result
from litm.servers.replies import (
    ErrorInReply,
    Reply,
    joined_text,
    known_reason,
    optional_text,
    refused_for,
    reported_tokens,
)

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


#: Tokens of the shortest beginning that is cached, see `PromptCache`.
LEAST = 1024
#: States of a batch that do not change any more; one of them is of a batch that is not run.
ENDED, FAILED, CANCELLED = {"completed", "failed", "expired", "cancelled"}, "failed", "cancelled"
#: The error code of an account with too many tokens in batches; the field of a batch's metadata with our name of it.
FULL, OUR_NAME = "token_limit_exceeded", "litm"


async def submit(send: Callable[..., Awaitable[dict[str, Any]]], name: str, items: Sequence[bytes]) -> dict[str, Any]:
    """Upload a file of requests and submit it as a batch; returns what describes the batch."""
    files = [("file", (f"{name}.jsonl", b"\n".join(items), "application/jsonl"))]
    options = {"headers": {"Content-Type": "multipart/form-data"}}
    file = await send("post", "/files", body={"purpose": "batch"}, files=files, options=options)
    asked = {"input_file_id": file["id"], "endpoint": json.loads(items[0])["url"], "completion_window": "24h"}
    return await send("post", "/batches", body={**asked, "metadata": {OUR_NAME: name}})


def read_batch(body: dict[str, Any]) -> OutThere:
    """A batch in what describes it; LookupError, TypeError or AttributeError if it is none."""
    status, errors = checked_field(body, "status", str), (body.get("errors") or {}).get("data") or []
    name, requests = (body.get("metadata") or {}).get(OUR_NAME), (body.get("request_counts") or {}).get("total")
    is_full = any(error.get("code") == FULL for error in errors)
    problem = f"it was refused: {errors[0].get('message') if errors else 'no reason given'}" if status == FAILED else ""
    end = (status in ENDED, is_full, WAS_CANCELLED if status == CANCELLED else problem)
    results = tuple(f"/files/{body[name]}/content" for name in ("output_file_id", "error_file_id") if body.get(name))
    return OutThere(checked_field(body, "id", str), name, requests, *end, results)


def read_result(read: Callable[[dict[str, Any]], Reply], result: dict[str, Any]) -> Reply:
    """The reply in a line of results; errors as in `BatchInterface`."""
    status, body = result["response"]["status_code"], result["response"]["body"]
    if status != 200:
        if refused := refused_for(body):
            return refused
        raise failed_result(status, json.dumps(body.get("error", body)))
    return read(body)


def batch_item(key: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A request in a batch."""
    return {"custom_id": key, "method": "POST", "url": f"/v1{path}", "body": body}


BATCHES = BatchInterface("/batches", "after", 50_000, 200_000_000, batch_item, submit, read_batch, read_result)
PROVIDER = Provider(
    url="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    variables="OPENAI_",
    models_path="/models",
    headers={"Authorization": "Bearer {key}"},
    sent_fields=sent_fields,
    # The prices of an unknown server are unknown: cached tokens cost as much as others.
    cache=PromptCache(least={"": LEAST}, write=1.0, read=1.0, step=128),
    batches=BATCHES,
)
ENGINE = EngineFacts(
    about="servers that are compatible with OpenAI's API: its own, vLLM's, llama.cpp's and many others",
    packages=("openai",),
    provider=PROVIDER,
    measures_log_probability=True,
)
#: Finish reasons: the protocol's and ours.
REASONS = {
    **dict.fromkeys(("stop", "eos", "eos_token", "stop_sequence", "tool_calls", "function_call"), STOP),
    **dict.fromkeys(("length", "model_length", "max_tokens", "MAX_TOKENS"), LENGTH),
    "content_filter": REFUSED,
}
#: Characters of a key to the cache.
KEY_LENGTH = 32
#: Nats: servers write this for a probability of 0, because JSON has no infinity.
IMPOSSIBLE = -9999.0
#: Types of message parts that do not belong to the answer, such as those of Mistral's reasoning models.
THOUGHTS = ("thinking", "reasoning")


def request_fields(settings: ServedSettings) -> dict[str, Any]:
    """`sent_fields` for an engine's settings."""
    return sent_fields(settings.base_url, settings.keys.endpoint, settings.max_new_tokens, settings.keys.request)


def read(body: dict[str, Any]) -> Reply:
    """The reply in a response of either endpoint; LookupError, TypeError or AttributeError for any other body."""
    if body.get("object") == "error":
        raise ErrorInReply("an error instead of a reply", body.get("message"))
    prompt, output, total = (reported_tokens(body, f"{name}_tokens") for name in ("prompt", "completion", "total"))
    # Gemini's and xAI's servers count reasoning in the total alone.
    if prompt is not None and total is not None and total >= prompt:
        output = max(output or 0, total - prompt)
    choices = checked_field(body, "choices", list)
    if not choices and (prompt or body.get("prompt_filter_results")):
        # A filter withheld the only one.
        choices = [{"text": "", "finish_reason": "content_filter"}]
    # The one with the lowest index, because servers may list several in any order.
    choice = sorted(choices, key=lambda choice: choice.get("index") or 0)[0]
    if choice.get("error"):
        raise ErrorInReply("an answer that a server did not complete", choice["error"])
    if "message" in choice:
        refusal = optional_text(choice["message"], "refusal")
        text = refusal or content_text(choice["message"])
    else:
        refusal, text = None, checked_field(choice, "text", str)
    reason = REFUSED if refusal else known_reason(REASONS, choice["finish_reason"], text)
    usage = body.get("usage")
    details = {"usage": usage.get("prompt_tokens_details") if isinstance(usage, dict) else None}
    write, read = (reported_tokens(details, name) for name in ("cache_write_tokens", "cached_tokens"))
    return Reply(text, reason, prompt, output, optional_text(body, "model"), write, read, end=choice["finish_reason"])


def content_text(message: dict[str, Any]) -> str:
    """The text of a message: "" for null, or if there is only a role, as where reasoning took all tokens; for a list of
    parts, their texts without thoughts.
    """
    if "content" not in message:
        checked_field(message, "role", str)
    content = message.get("content")
    if isinstance(content, list):
        return joined_text(part for part in content if part["type"] not in THOUGHTS)
    return "" if content is None else checked_field(message, "content", str)


def read_measured(prompt: Prepared, body: dict[str, Any]) -> Reply:
    """The log-probabilities of a prompt's answers, in a response with a choice for each; errors as in `read`.

    Raises `UserError` unless the server gives a value for each token of each prompt and answer.
    """
    choices = sorted(checked_field(body, "choices", list), key=lambda choice: choice["index"])
    if len(choices) != len(prompt.answers):
        raise LookupError(f"{len(choices)} choices for {len(prompt.answers)} texts")
    measured = []
    for answer, choice in zip(prompt.answers, choices, strict=True):
        values = (choice.get("logprobs") or {}).get("token_logprobs") or []
        tokens = (prompt.tokens or 0) + len(answer)
        of_answer = values[tokens - len(answer) : tokens]
        nulls = of_answer.count(None)
        # With the generated token, or without it.
        if len(values) not in (tokens, tokens + 1) or nulls:
            raise UserError(
                f"the server gave log-probabilities of {len(values)} tokens{f' ({nulls} are null)' if nulls else ''} "
                f"for a text of {tokens}: it does not give those of a given text ('echo' with 'logprobs'), or cuts "
                "prompts. Take log_probability out of 'measure', or use a server that does (vLLM's)"
            )
        nats = [number(value) for value in of_answer]
        measured.append([sum(nats) if min(nats, default=0.0) > IMPOSSIBLE else -inf, len(answer)])
    served = optional_text(body, "model")
    return Reply(canonical_json(measured), MEASURED, reported_tokens(body, "prompt_tokens"), None, served)


def number(value: object) -> float:
    """A JSON number; TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a log-probability must be a number, found {type(value).__name__}")
    return float(value)


class Settings(BatchKeys, ServedModel):
    """Keys of `engine: openai`."""

    endpoint: Annotated[Literal["chat", "completions"], Answer("as written")] = "chat"
    """What an OpenAI-compatible server generates: the next message of a chat, or the continuation of a prompt."""


class Engine(BatchEngine):
    """The endpoints /chat/completions and /completions."""

    provider = PROVIDER
    sdk = "openai"
    client_class = "AsyncOpenAI"
    read = staticmethod(read)

    def request(self, content: Content) -> tuple[str, dict[str, Any]]:
        """A chat as messages, or the text of a prompt."""
        model, fields = {"model": self.settings.location}, request_fields(self.settings)
        if self.settings.keys.endpoint == CHAT_ENDPOINT:
            return "/chat/completions", {**model, "messages": for_openai(as_messages(content)), **fields}
        return "/completions", {**model, "prompt": server_text(self.tokenizer, self.settings, content), **fields}

    def for_cache(self, body: dict[str, Any], cached: Cached) -> dict[str, Any]:
        """To OpenAI's own servers, with a key by which prompts of the same beginning reach the same cache."""
        if not is_of_provider(self.url, PROVIDER):
            return body
        # All that is long enough for the cache differs later: a token has a character at least.
        beginning = (self.cached_text(body) or "")[:LEAST]
        return {"prompt_cache_key": text_sha256(beginning)[:KEY_LENGTH], **body}

    def measure(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Measure all answers of all prompts; a request has the texts of a prompt with each of its answers.

        Raises `UserError` as `generate` and `read_measured` do.
        """
        yield from self.with_notes(self.answers(prompts, self._measure))

    async def _measure(self, client: Any, prompt: Prepared) -> Reply:
        # A token is generated and not used: 0 tokens are no limit to some servers.
        fields = {**request_fields(self.settings), "echo": True, "logprobs": 1, OLD_LIMIT: 1}
        fields.pop(NEW_LIMIT, None)
        texts = [[*(prompt.ids or []), *answer] for answer in prompt.answers]
        body = {"model": self.settings.location, "prompt": texts, **fields}
        return await self.post(client, "/completions", body, partial(read_measured, prompt))
