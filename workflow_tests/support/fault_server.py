"""A local server with both protocols, OpenAI's and Anthropic's, that answers, or fails as faults.yaml says."""

import gzip
import hashlib
import json
import random
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import yaml
from local_http import Handler, Served

Fault = Mapping[str, Any]
PROTOCOLS = ("openai", "anthropic")
#: Why an answer ended, in the words of both protocols.
ENDS = {
    "stop": ("stop", "end_turn"),
    "length": ("length", "max_tokens"),
    "refused": ("content_filter", "refusal"),
    "aborted": ("abort", "abort"),
}


def _bomb(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(b" " * 2**20) for _ in range(300)) + packer.flush()


#: Changes of a reply's bytes, which are no text.
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda data: data[: len(data) // 2],
    "half a chunk": lambda data: b"%x\r\n%s" % (len(data), data[: len(data) // 2]),
    "a byte less": lambda data: data[:-1],
    "a NUL more": lambda data: data + b"\0",
    "twice": lambda data: data * 2,
    "a list": lambda data: b"[%s]" % data,
    "many digits": lambda data: data.replace(b"{", b'{"n": ' + b"9" * 5000 + b", ", 1),
    "not UTF-8": lambda data: data.replace(b'"choices"', b'"ch\xff\xfeices"').replace(b'"content"', b'"c\xff"'),
    "not whole UTF-8": lambda data: data[:-2] + b"\xf0\x9f",
    "gzip": gzip.compress,
    "gzip cut": lambda data: gzip.compress(data)[:-12],
    "zlib": zlib.compress,
    "bomb": _bomb,
}


def filled(one: Any, words: Mapping[str, Any]) -> Any:
    """A value of a fault in which names are replaced by their words; a name alone becomes the word itself."""
    if isinstance(one, dict):
        return {filled(key, words): filled(value, words) for key, value in one.items()}
    if isinstance(one, list):
        return [filled(value, words) for value in one]
    if isinstance(one, str):
        for name, word in words.items():
            if one == f"{{{name}}}":
                return word
            one = one.replace(f"{{{name}}}", str(word))
    return one


def _members(faults: Mapping[str, Fault]) -> Iterator[tuple[str, Fault]]:
    """All faults, those of families too."""
    for name, fault in faults.items():
        if "values" not in fault:
            yield name, fault
        for value in fault.get("values", ()):
            yield name.replace("{}", repr(value)).replace("{value}", str(value)), filled(fault, {"value": value})


_GROUPS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8"))
#: Faults after which the same request is answered.
PASSING = list(_GROUPS["passing"])
#: The faults of each protocol by their names.
FAULTS = {one: dict(_members(_GROUPS["passing"] | _GROUPS["both"] | _GROUPS[one])) for one in PROTOCOLS}


def answer_to(prompt: str) -> str:
    """The server's answer, different for every prompt."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:20]


def seeded_faults(seed: int, share: float, kinds: Sequence[str], at_most: int) -> Callable[[str, int], str | None]:
    """Faults for a share of the requests, up to a number per prompt; equal seeds give equal faults."""

    def fault(prompt: str, attempt: int) -> str | None:
        draw = random.Random(f"{seed} {prompt} {attempt}")
        return draw.choice(kinds) if attempt <= at_most and draw.random() < share else None

    return fault


@dataclass
class FaultServer(Served):
    """See `Served`.

    fault: function from a prompt and the number of its request, from 1, to a fault; answer: function from a prompt to
    its answer; tokens: number of tokens of a prompt; nats: of the tokens of a given text and of the one generated after
    it; elsewhere: target of redirects. Recorded: `asked`, (seconds, prompt, fault) of each request; `answered`, answers
    per prompt; `bodies`, `headers` and `keys` of requests.
    """

    fault: Callable[[str, int], str | None] = lambda prompt, attempt: None
    answer: Callable[[str], str] = answer_to
    tokens: Callable[[str], int] = len
    nats: Callable[[list[int]], list[float | None]] = lambda ids: [None, *[-1.0] * len(ids)]
    asked: list[tuple[float, str, str | None]] = field(default_factory=list)
    answered: Counter = field(default_factory=Counter)
    bodies: list[dict] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    elsewhere: str = "http://elsewhere.invalid"
    lock: Any = field(default_factory=threading.Lock)
    closing: threading.Event = field(default_factory=threading.Event)
    _attempts: Counter = field(default_factory=Counter)

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        super().__exit__()

    def register(self, prompt: str, body: dict, headers: dict[str, str]) -> tuple[str | None, str]:
        """Record a request; returns its fault and its key."""
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        with self.lock:
            self._attempts[prompt] += 1
            fault = self.fault(prompt, self._attempts[prompt])
            self.asked.append((time.monotonic(), prompt, fault))
            self.bodies.append(body)
            self.headers.append(headers)
            self.keys.append(key)
        return fault, key


class FaultHandler(Handler):
    def do_POST(self) -> None:
        server: FaultServer = self.owner
        body = json.loads(self.body())
        prompt = body["prompt"] if "prompt" in body else "|".join(message["content"] for message in body["messages"])
        # Of token ids where a text is given and measured.
        prompt = prompt if isinstance(prompt, str) else json.dumps(prompt)
        name, key = server.register(prompt, body, {name.lower(): value for name, value in self.headers.items()})
        text = server.answer(prompt)
        words = {"key": key, "text": text, "first": text[:7], "rest": text[7:], "now": formatdate(usegmt=True)}
        words |= {"path": self.path, "elsewhere": server.elsewhere}
        protocol = PROTOCOLS[self.path.endswith("/messages")]
        fault = filled(FAULTS[protocol][name], words) if name else {}
        # A client may have gone.
        with suppress(ConnectionError):
            if "raw" in fault:
                self._send_raw(fault)
            else:
                self._send(fault, self._data(fault, name, self._reply(fault, body, prompt, text)))
        if name is None:
            with server.lock:
                server.answered[prompt] += 1

    def _reply(self, fault: Fault, body: dict, prompt: str, text: str, path: str | None = None) -> dict:
        """The reply in its protocol, with the fault's text, end and values in it. path: another than the request's."""
        path = path or self.path
        tokens = int(self.owner.tokens(prompt) * fault.get("tokens", 1))
        text, end = fault.get("text", text), fault.get("end", "stop")
        of_openai, of_anthropic = ENDS.get(end, (end, end))
        usage = {"prompt_tokens": tokens, "completion_tokens": len(str(text))}
        if path.endswith("/messages"):
            # Tokens from a cache are counted separately.
            usage = {"input_tokens": tokens - 1, "cache_read_input_tokens": 1, "output_tokens": len(str(text))}
            answer = {"content": [{"type": "text", "text": text}], "stop_reason": of_anthropic}
        elif path.endswith("/chat/completions"):
            answer = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": of_openai}]}
        elif body.get("echo"):
            # In any order, as a server may answer.
            found = [{"token_logprobs": self.owner.nats(ids)} for ids in body["prompt"]]
            answer = {"choices": [{"index": number, "logprobs": one} for number, one in enumerate(found)][::-1]}
        else:
            answer = {"choices": [{"text": text, "finish_reason": of_openai}]}
        reply = {"model": f"{body['model']}-0613", **answer, "usage": usage}
        for place, value in fault.get("set", {}).items():
            holder, key = place_in(reply, place)
            holder |= dict.fromkeys(list(holder) if key == "*" else [key], value)
        if "drop" in fault:
            holder, key = place_in(reply, fault["drop"])
            del holder[key]
        return reply

    def _data(self, fault: Fault, name: str | None, reply: object) -> bytes:
        """The bytes of what is sent."""
        if "body" in fault:
            return text_of(fault["body"]).encode()
        if "error" in fault:
            error = {"message": f"{name}, says the server", "type": "some_error", "code": None, **fault["error"]}
            reply = {"type": "error", "error": error}
        data = json.dumps(fault.get("json", reply), ensure_ascii="encoding" not in fault)
        return BYTES.get(fault.get("bytes", ""), bytes)(data.encode(fault.get("encoding", "utf-8")))

    def _send(self, fault: Fault, data: bytes) -> None:
        time.sleep(fault.get("wait", 0))
        headers = {name: value and text_of(value) for name, value in fault.get("headers", {}).items()}
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(data) + fault.get("length", 0)),
            **headers,
        }
        self.send(fault.get("status", 200), data, fault.get("reason"), **headers)
        self.close_connection |= fault.get("close", False)

    def _send_raw(self, fault: Fault) -> None:
        """Send bytes that are no response, some again and again until the client or the server ends."""
        self.close_connection = True
        self.wfile.write(text_of(fault["raw"]).encode())
        while "again" in fault and not self.owner.closing.wait(0.1):
            self.wfile.write(fault["again"].encode())


def text_of(one: str | Mapping[str, int]) -> str:
    """A text, or the parts of one and how many times each stands there, as the tables of attacks have it."""
    return one if isinstance(one, str) else "".join(part * times for part, times in one.items())


def place_in(reply: Any, place: str) -> tuple[Any, Any]:
    """What holds a place such as choices.0.message, and its key in there."""
    *path, key = [int(word) if word.isdigit() else word for word in place.split(".")]
    for word in path:
        reply = reply[word]
    return reply, key


FaultServer.handler = FaultHandler
