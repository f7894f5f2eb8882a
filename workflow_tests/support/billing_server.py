"""A local imitation of two providers that cache prompts, limit rates and bill: Anthropic's messages, OpenAI's chats.

Written from their public documentation (billing_server.yaml), and not from our client: it has its own rules for what a
cache holds, its own tokens and its own bill.
"""

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import yaml
from local_http import Handler, Served

FACTS = yaml.safe_load(Path(__file__).with_name("billing_server.yaml").read_text(encoding="utf-8"))
#: Keys of blocks, by their types.
KEYS = {"text": {"text"}, "tool_use": {"id", "name", "input"}, "tool_result": {"tool_use_id", "content"}}
COUNTERS = ("input", "cache_write", "cache_read", "output")
#: A provider's words for a request that it refuses, by status.
KINDS = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


def pieces(text: str) -> list[int]:
    """Tokens of a text: up to four letters, up to three digits, or one other character."""
    return [hash(piece) for piece in re.findall(r" ?[^\W\d]{1,4}|\d{1,3}|.", text, re.DOTALL)]


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass
class BillingServer(Served):
    """See `Served`.

    tokens: the tokens of a text; answer: to a prompt, cut at the request's limit; clock: seconds; frame: tokens that a
    message has besides its text; unknown: a field that it refuses wherever it stands; limit: requests after which one
    is too many, so that a test needs no clock, 0 for none; seconds: that an answer takes. Recorded: `bodies` and
    `usages` of answered requests, and `refused` statuses.
    """

    tokens: Callable[[str], Sequence[int]] = pieces
    answer: Callable[[str], str] = lambda prompt: "word " * 4096
    clock: Callable[[], float] = time.monotonic
    frame: int = 4
    unknown: str = ""
    limit: int = 0
    seconds: float = 0.0
    bodies: list[dict] = field(default_factory=list)
    usages: list[tuple[str, dict[str, int]]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)
    #: Seconds of the last use of each cached prefix, by its hash.
    _cache: dict[str, float] = field(default_factory=dict)
    _count: int = 0

    @property
    def dollars(self) -> Decimal:
        """The bill, exactly."""
        prices = {name: one for facts in FACTS.values() for name, one in facts["prices"].items()}
        each = (
            Decimal(str(price)) * usage[counter]
            for model, usage in self.usages
            for counter, price in zip(COUNTERS, prices[model], strict=True)
        )
        return sum(each, Decimal(0)) / Decimal(10**6)

    def total(self, counter: str) -> int:
        """All tokens of a kind that were billed."""
        return sum(usage[counter] for _, usage in self.usages)

    def respond(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> dict[str, Any]:
        """The response to a request; `Refusal` for one that it does not answer."""
        protocol = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai"}.get(path)
        if protocol is None:
            raise Refusal(404, f"no such address: {path}")
        if not (headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")):
            raise Refusal(401, "no key")
        with self.lock:
            self._count += 1
            if self.limit and self._count > self.limit:
                self._count = 0
                raise Refusal(429, "too many requests", retry_after="0.01")
        return (self._message if protocol == "anthropic" else self._chat)(body, FACTS[protocol])

    def _message(self, body: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Anthropic: a prefix is cached up to each mark, and found from a mark at an earlier one's place."""
        if "max_tokens" not in body:
            raise Refusal(400, "max_tokens: Field required")
        least = self._known(body, facts)
        blocks = [("system", block) for block in _blocks(body.get("system", []))]
        for number, message in enumerate(body["messages"]):
            if message["role"] not in ("user", "assistant"):
                raise Refusal(400, f"messages.{number}.role: Input should be 'user' or 'assistant'")
            blocks += [(f"{number}.{message['role']}", block) for block in _blocks(message["content"])]
        marks = [place for place, (_, block) in enumerate(blocks) if "cache_control" in block]
        if len(marks) > (most := facts["marks"]):
            raise Refusal(400, f"A maximum of {most} blocks with cache_control may be provided. Found {len(marks)}.")
        # A prefix is the same if all its blocks are.
        unmarked = (
            (owner, {key: value for key, value in block.items() if key != "cache_control"}) for owner, block in blocks
        )
        parts = [json.dumps([body.get("tools"), owner, block]) for owner, block in unmarked]
        hashes = [_hash(body["model"], *parts[: place + 1]) for place in range(len(parts))]
        texts = list(accumulate(_text(block) for _, block in blocks))

        @cache
        def count(place: int) -> int:
            frames = self.frame * len({owner for owner, _ in blocks[: place + 1]})
            return len(self.tokens(texts[place])) + frames if place >= 0 else 0

        with self.lock:
            found = [
                place
                for mark in marks
                for place in range(max(0, mark - facts["lookback"] + 1), mark + 1)
                if self._is_cached(hashes[place], facts["life"])
            ]
            read_to = max(found, default=-1)
            if found:
                self._cache[hashes[read_to]] = self.clock()
        written = [place for place in marks if place > read_to and count(place) >= least]
        read = count(read_to)
        write = count(written[-1]) - read if written else 0
        text, output, is_cut = self._answer(texts[-1], body["max_tokens"])
        rest = count(len(blocks) - 1) - read - write
        # Only what has been answered can be read.
        usage = {"input": rest, "cache_write": write, "cache_read": read, "output": output}
        self._keep(body, usage, [hashes[place] for place in written])
        return {
            "id": f"msg_{len(self.usages)}", "type": "message", "role": "assistant", "model": body["model"],
            "content": [{"type": "text", "text": text}], "stop_sequence": None,
            "stop_reason": "max_tokens" if is_cut else "end_turn",
            "usage": {
                "input_tokens": rest, "cache_creation_input_tokens": write, "cache_read_input_tokens": read,
                "cache_creation": {"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output, "service_tier": "standard",
            },
        }  # fmt: skip

    def _chat(self, body: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
        """OpenAI: the longest beginning of an earlier prompt on the same machine, in steps."""
        least, step = self._known(body, facts), facts["step"]
        texts = ["".join(block["text"] for block in _blocks(message["content"])) for message in body["messages"]]
        ids: list[int] = []
        for message, text in zip(body["messages"], texts, strict=True):
            ids += [hash(message["role"])] * self.frame + [*self.tokens(text)]
        machine = _hash(body["model"], body.get("prompt_cache_key", ""), *map(str, ids[: facts["routed"]]))
        lengths = range(least, len(ids) + 1, step)
        hashes = {length: _hash(machine, *map(str, ids[:length])) for length in lengths}
        with self.lock:
            read = max((n for n, name in hashes.items() if self._is_cached(name, facts["life"])), default=0)
        limit = body.get("max_completion_tokens", body.get("max_tokens", 4096))
        text, output, is_cut = self._answer("\n".join(texts), limit)
        usage = {"input": len(ids) - read, "cache_write": 0, "cache_read": read, "output": output}
        self._keep(body, usage, hashes.values())
        message = {"role": "assistant", "content": text, "refusal": None}
        return {
            "id": f"chatcmpl-{len(self.usages)}", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}],
            "usage": {
                "prompt_tokens": len(ids), "completion_tokens": output, "total_tokens": len(ids) + output,
                "prompt_tokens_details": {"cached_tokens": read, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }  # fmt: skip

    def _known(self, body: Mapping[str, Any], facts: Mapping[str, Any]) -> int:
        """The shortest prefix that is cached for a known model; `Refusal` for another one, and for an unknown field."""
        if self.unknown and f'"{self.unknown}":' in json.dumps(body):
            raise Refusal(400, f"{self.unknown}: Extra inputs are not permitted")
        if body["model"] not in facts["least"]:
            raise Refusal(404, f"model: {body['model']}")
        return facts["least"][body["model"]]

    def _answer(self, prompt: str, limit: int) -> tuple[str, int, bool]:
        time.sleep(self.seconds)
        words = re.findall(r"\s*\S+", self.answer(prompt))
        while len(self.tokens("".join(words))) > limit and len(words) > 1:
            words = words[: max(1, min(len(words) - 1, limit))]
        text = "".join(words)
        # A server that stops at its limit bills exactly that.
        is_cut = len(text) < len(self.answer(prompt).rstrip())
        return text, limit if is_cut else len(self.tokens(text)), is_cut

    def _is_cached(self, name: str, life: float) -> bool:
        return self.clock() - self._cache.get(name, float("-inf")) < life

    def _keep(self, body: dict, usage: dict[str, int], names: Any) -> None:
        with self.lock:
            self._cache |= dict.fromkeys(names, self.clock())
            self.bodies.append(body)
            self.usages.append((body["model"], usage))


def _text(block: dict[str, Any]) -> str:
    return block.get("text") or block.get("content") or json.dumps(block["input"])


def _blocks(content: Any) -> list[dict[str, Any]]:
    """The blocks of a content, which may be one text; `Refusal` for those that are none."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks:
        if (keys := KEYS.get(block.get("type"))) is None or not block.keys() >= keys:
            raise Refusal(400, "content: Input should be a block of text, or of a tool")
        if block.get("text", "x").strip() == "":
            raise Refusal(400, "text content blocks must be non-empty")
        if not keys | {"cache_control"} >= block.keys() - {"type"}:
            raise Refusal(400, "content: Extra inputs are not permitted")
        if "cache_control" in block and block["cache_control"] != {"type": "ephemeral"}:
            raise Refusal(400, "cache_control: Input should be 'ephemeral'")
    return blocks


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class _Handler(Handler):
    def do_POST(self) -> None:
        server: BillingServer = self.owner
        body = json.loads(self.body())
        status, headers = 200, {}
        try:
            reply = server.respond(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        except Refusal as refusal:
            server.refused.append(refusal.status)
            status, headers = refusal.status, refusal.headers
            reply = {"type": "error", "error": {"type": KINDS[status], "message": str(refusal), "code": None}}
        # A client may have gone.
        with suppress(ConnectionError):
            self.send(status, json.dumps(reply).encode(), **{"Content-Type": "application/json", **headers})


BillingServer.handler = _Handler
