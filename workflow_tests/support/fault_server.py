"""A local server with both protocols, OpenAI's and Anthropic's, that answers or fails on command."""

import hashlib
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Temporary faults: name, status and headers of the reply.
STATUSES = {
    "429": (429, {}),
    "429 for 0 seconds": (429, {"Retry-After": "0"}),
    "429 for milliseconds": (429, {"retry-after-ms": "15"}),
    "429 until a date": (429, {"Retry-After": formatdate(usegmt=True)}),
    "408": (408, {}),
    "409": (409, {}),
    "500": (500, {}),
    "503": (503, {"Retry-After": "0"}),
    "529": (529, {}),
    "quota": (429, {"Retry-After": "0"}),
    "too long": (400, {}),
    "401": (401, {}),
    "403": (403, {}),
    "404": (404, {}),
    "filtered prompt": (400, {}),
    "later": (429, {"Retry-After": "7200"}),
}
#: Error codes of faults that need one.
CODES = {"quota": "insufficient_quota", "too long": "context_length_exceeded", "filtered prompt": "content_filter"}
#: Faults after which the same request is answered.
PASSING = [
    *("429", "429 for 0 seconds", "429 for milliseconds", "429 until a date", "408", "409", "500", "503", "529"),
    *("cut", "torn", "empty", "closed", "error in it", "aborted", "other form"),
]
REASONS = {
    "stop": ("stop", "end_turn"),
    "length": ("length", "max_tokens"),
    "refused": ("content_filter", "refusal"),
    "aborted": ("abort", "pause_turn"),
}


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
class FaultServer:
    """A context manager; `url`: its address.

    fault: function from a prompt and the number of its request, from 1, to a fault; answer: function from a prompt to
    its answer; tokens: number of tokens of a prompt; elsewhere: target of redirects. Recorded: `asked`, (seconds,
    prompt, fault) of each request; `answered`, complete answers per prompt; `bodies`, `headers` and `keys` of requests.
    """

    fault: Callable[[str, int], str | None] = lambda prompt, attempt: None
    answer: Callable[[str], str] = answer_to
    tokens: Callable[[str], int] = len
    asked: list[tuple[float, str, str | None]] = field(default_factory=list)
    answered: Counter = field(default_factory=Counter)
    bodies: list[dict] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    elsewhere: str = "http://elsewhere.invalid"

    def __enter__(self) -> "FaultServer":
        self._attempts: Counter = Counter()
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), FaultHandler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._http.faults = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def register(self, prompt: str, body: dict, key: str | None) -> str | None:
        """Record a request; returns its fault."""
        with self._lock:
            self._attempts[prompt] += 1
            fault = self.fault(prompt, self._attempts[prompt])
            self.asked.append((time.monotonic(), prompt, fault))
            self.bodies.append(body)
            self.keys.append(key)
            return fault

    def sent(self, prompt: str) -> None:
        """Record a complete answer."""
        with self._lock:
            self.answered[prompt] += 1


#: Status, body and headers instead of an answer.
INSTEAD: dict[str | None, tuple] = {
    "deep": (200, b"[" * 100_000 + b"]" * 100_000),
    "deep error": (400, b"[" * 100_000 + b"]" * 100_000),
    "empty": (200, b""),
    "503 in hex": (503, b'{"error": {"message": "busy"}}', {"Content-Type": "application/json; charset=hex"}),
    "error in it": (200, b'{"error": {"message": "no luck upstream"}}'),
}


class FaultHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Headers and body are two packets; the second would wait for the acknowledgement of the first.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        faults: FaultServer = self.server.faults
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["prompt"] if "prompt" in body else "|".join(message["content"] for message in body["messages"])
        key = self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
        fault = faults.register(prompt, body, key)
        faults.headers.append({name.lower(): value for name, value in self.headers.items()})
        if not self._send_instead(fault, key or ""):
            self._send_answer(body, prompt, fault, key or "")

    def _send_instead(self, fault: str | None, key: str) -> bool:
        """Send what a fault has instead of an answer; False for a fault that has none."""
        faults: FaultServer = self.server.faults
        if fault in STATUSES:
            status, headers = STATUSES[fault]
            error = {"message": f"{fault}, says the server", "type": "some_error", "code": CODES.get(fault)}
            self._send(status, json.dumps({"type": "error", "error": error}).encode(), headers)
        elif fault in INSTEAD:
            self._send(*INSTEAD[fault])
        elif fault == "hang":
            faults.closing.wait()
            self.close_connection = True
        elif fault in ("drip", "drip of headers"):
            self._drip(fault)
        elif fault == "elsewhere":
            self._send(307, b"", {"Location": f"{faults.elsewhere}{self.path}"})
        elif fault == "closed":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault in ("key in all of a failure", "key in all of a refusal"):
            status = 503 if fault == "key in all of a failure" else 401
            error = json.dumps({"error": {"message": f"no {key} here", "type": key, "code": key}}).encode()
            repeated = dict.fromkeys(("X-Request-Id", "Server-Says", "Retry-After"), key)
            self._send(status, error, repeated, reason=key)
        elif fault == "elsewhere with the key":
            self._send(307, b"", {"Location": f"http://{key}:{key}@elsewhere.invalid/?key={key}"})
        elif fault == "key in an error":
            self._send(200, json.dumps({"error": {"message": f"{'?' * 290} {key} is no key of ours"}}).encode())
        else:
            return False
        return True

    def _send_answer(self, body: dict, prompt: str, fault: str | None, key: str) -> None:
        """Send an answer, with the fault in it."""
        answer = self._reply(body, prompt, fault)
        if fault == "key as the model":
            answer["model"] = f"model of {key}"
        elif fault == "key in the answer":
            self._put_into_text(answer, key)
        elif fault == "key as the reason":
            answer["stop_reason"] = answer.get("choices", [{}])[0]["finish_reason"] = key
        reply = json.dumps(answer).encode()
        if fault == "cut":
            self._send(200, reply[: len(reply) // 2])
        elif fault == "torn":
            self._send(200, reply[: len(reply) // 2], {"Content-Length": str(len(reply))})
            self.close_connection = True
        elif fault in ("latin-1", "a mark of the byte order"):
            text = json.dumps(answer, ensure_ascii=False)
            self._send(200, text.encode("latin-1" if fault == "latin-1" else "utf-8-sig"))
        elif (fault or "").startswith("charset="):
            header = {"Content-Type": f"application/json; {fault}"}
            self._send(200, json.dumps(answer, ensure_ascii=False).encode(), header)
        else:
            self._send(200, reply)
            if fault not in ("aborted", "other form"):
                self.server.faults.sent(prompt)

    def _drip(self, fault: str) -> None:
        """Send a blank now and then, until the client or the server ends."""
        self.close_connection = True
        head, sign = (b"", b"X-Wait: 1\r\n") if fault == "drip of headers" else (b"Content-Length: 99999\r\n\r\n", b" ")
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + head)
            while not self.server.faults.closing.wait(0.1):
                self.wfile.write(sign)

    def _reply(self, body: dict, prompt: str, fault: str | None) -> dict:
        faults: FaultServer = self.server.faults
        text = {"refused": "", "other form": 5}.get(fault or "", faults.answer(prompt))
        tokens = faults.tokens(prompt) // (2 if fault == "truncated" else 1)
        of_openai, of_anthropic = REASONS.get(fault or "stop", REASONS["stop"])
        usage = {"prompt_tokens": tokens, "completion_tokens": len(str(text))}
        if self.path.endswith("/messages"):
            # Tokens from a cache are counted separately.
            usage = {"input_tokens": tokens - 1, "cache_read_input_tokens": 1, "output_tokens": len(str(text))}
            answer = {"content": [{"type": "text", "text": text}], "stop_reason": of_anthropic}
        elif self.path.endswith("/chat/completions"):
            answer = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": of_openai}]}
        else:
            answer = {"choices": [{"text": text, "finish_reason": of_openai}]}
        if fault == "wrong usage":
            usage = dict.fromkeys(usage, 12.5)
        return {"model": f"{body['model']}-0613", **answer, **({} if fault == "no usage" else {"usage": usage})}

    def _put_into_text(self, answer: dict, key: str) -> None:
        part = (
            answer["content"][0] if "content" in answer else answer["choices"][0].get("message", answer["choices"][0])
        )
        name = "text" if "text" in part else "content"
        part[name] = f"{part[name]} {key}"

    def _send(self, status: int, data: bytes, headers: dict | None = None, reason: str | None = None) -> None:
        self.send_response(status, reason)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        """No log: a test's own output names its failure."""
