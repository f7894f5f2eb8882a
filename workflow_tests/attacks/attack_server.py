"""A server with the faults of `fault_server.py`, and with replies that are hard to read."""

import gzip
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fault_server import FaultHandler, FaultServer, answer_to

#: Changes of a reply's JSON, given the body in the protocol and the text of the answer.
Change = Callable[[dict[str, Any], str], Any]
Send = Callable[["_AttackHandler", bytes], None]
HALF = "\ud83d"


def _usage(value: object) -> Change:
    return lambda body, text: {**body, "usage": dict.fromkeys(body["usage"], value)}


def _choice(**fields: object) -> Change:
    return lambda body, text: {**body, "choices": [{**body["choices"][0], **fields}]}


def _message(**fields: object) -> Change:
    def change(body: dict[str, Any], text: str) -> dict[str, Any]:
        return _choice(message={**body["choices"][0]["message"], **fields})(body, text)

    return change


def _field(name: str, value: object) -> Change:
    return lambda body, text: {**body, name: value}


def _without(name: str) -> Change:
    return lambda body, text: {key: value for key, value in body.items() if key != name}


def _two_parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text[:7]}, {"type": "text", "text": text[7:]}]


#: Bodies for both protocols. The kept answer is the same, except those in `ANSWERS`.
BODIES: dict[str, Change] = {
    **{
        f"usage {value!r}": _usage(value) for value in ("12", 12.5, 1e30, 10**30, -1, True, None, [1], {}, float("nan"))
    },
    **{f"usage is {value!r}": _field("usage", value) for value in (None, [], "12", 5)},
    "no usage": _without("usage"),
    **{f"model {value!r}": _field("model", value) for value in (None, 5, {}, [HALF])},
    "half a character in the model": _field("model", f"m{HALF}"),
    "no model": _without("model"),
    "a list": lambda body, text: [body],
    **{f"only {value!r}": lambda body, text, value=value: value for value in (None, [], {}, "text", 5, True)},
    "an error and an answer": _field("error", {"message": "no luck"}),
    "an error of text": _field("error", "no luck"),
    "a field that nobody knows": _field("more", [1]),
}
OF_CHATS: dict[str, Change] = {
    **{
        f"content {value!r}": _message(content=value)
        for value in (5, True, {}, [5], [[]], [{}], [{"type": "text"}], [{"type": "image"}])
    },
    "content in parts": lambda body, text: _message(content=_two_parts(text))(body, text),
    "content in parts, with thoughts": lambda body, text: _message(
        content=[{"type": "thinking", "thinking": "hm"}, *_two_parts(text)]
    )(body, text),
    "content null": _message(content=None),
    "half a character": lambda body, text: _message(content=f"{text}{HALF}")(body, text),
    "no content": lambda body, text: _choice(message={"role": "assistant"})(body, text),
    **{f"refusal {value!r}": _message(refusal=value) for value in (5, {}, [])},
    "refusal": _message(content=None, refusal="I will not"),
    **{f"message {value!r}": _choice(message=value) for value in (None, 5, "text", [])},
    **{f"choices {value!r}": _field("choices", value) for value in (None, [], {}, "text", [None], [5], [[]])},
    "no choices": _without("choices"),
    **{
        f"ends for {value!r}": _choice(finish_reason=value)
        for value in (None, 5, "", "abort", "error", "tool_calls", ["stop"])
    },
}
OF_MESSAGES: dict[str, Change] = {
    **{
        f"content {value!r}": _field("content", value)
        for value in (None, 5, "text", {}, [None], [5], [[]], [{}], [{"type": "text"}], [{"type": "text", "text": 5}])
    },
    "content in parts": lambda body, text: {**body, "content": _two_parts(text)},
    "content in parts, with thoughts": lambda body, text: {
        **body,
        "content": [{"type": "thinking", "thinking": "hm"}, *_two_parts(text)],
    },
    "half a character": lambda body, text: {**body, "content": [{"type": "text", "text": f"{text}{HALF}"}]},
    "no content": _without("content"),
    **{
        f"ends for {value!r}": _field("stop_reason", value)
        for value in (None, 5, "", "pause_turn", "tool_use", ["end_turn"])
    },
}
#: Answers that are not the server's own text, of faults that leave an answer.
ANSWERS: Mapping[str, Callable[[str], str]] = {
    "half a character": lambda prompt: f"{answer_to(prompt)}\ufffd",
    "content null": lambda prompt: "",
    "refusal": lambda prompt: "I will not",
    "refused": lambda prompt: "",
    "filtered prompt": lambda prompt: "",
}


def _texts(change: Callable[[bytes], bytes]) -> Send:
    return lambda handler, data: handler.reply(200, change(data))


def _head(*headers: tuple[str, str], status: int = 200) -> Callable[["_AttackHandler"], None]:
    def send(handler: "_AttackHandler") -> None:
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()

    return send


def _headers(*headers: tuple[str, str], change: Callable[[bytes], bytes] = bytes) -> Send:
    def send(handler: "_AttackHandler", data: bytes) -> None:
        body = change(data)
        _head(*headers, ("Content-Length", str(len(body))))(handler)
        handler.wfile.write(body)

    return send


def _drip_body(handler: "_AttackHandler", data: bytes) -> None:
    _head(("Content-Length", "1000000"))(handler)
    handler.drip(b" ")


def _drip_headers(handler: "_AttackHandler", data: bytes) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    handler.drip(b"X-More: 1\r\n")


def _drip_chunks(handler: "_AttackHandler", data: bytes) -> None:
    _head(("Transfer-Encoding", "chunked"))(handler)
    handler.drip(b"1\r\n \r\n")


def _raw(data: bytes) -> Send:
    """These bytes instead of a response, and the end of the connection."""

    def send(handler: "_AttackHandler", body: bytes) -> None:
        handler.wfile.write(data)
        handler.close_connection = True

    return send


def _torn_chunk(handler: "_AttackHandler", data: bytes) -> None:
    _head(("Transfer-Encoding", "chunked"))(handler)
    handler.wfile.write(b"%x\r\n%s" % (len(data), data[: len(data) // 2]))
    handler.close_connection = True


def _short_length(handler: "_AttackHandler", data: bytes) -> None:
    _head(("Content-Length", str(len(data) - 9)))(handler)
    handler.wfile.write(data)
    handler.close_connection = True


def _slow(handler: "_AttackHandler", data: bytes) -> None:
    time.sleep(0.3)
    handler.reply(200, data)


def _bomb(handler: "_AttackHandler", data: bytes) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(b" " * 2**20) for _ in range(300)) + packer.flush()
    _headers(("Content-Encoding", "gzip"), change=lambda _: packed)(handler, data)


#: What is sent instead of the reply, or how the reply is sent.
SENDING: dict[str, Send] = {
    "key in a status": lambda handler, data: handler.reply(401, b'{"error": "%s"}' % handler.key().encode()),
    "whitespace": _texts(lambda data: b" \n"),
    "a page": _texts(lambda data: b"<html><body>Welcome to the hotel's network</body></html>"),
    "a byte less": _texts(lambda data: data[:-1]),
    "two replies": _texts(lambda data: data + data),
    "nested 100,000 deep": _texts(lambda data: b"[" * 100_000 + b"]" * 100_000),
    "an integer of 5,000 digits": _texts(lambda data: data.replace(b"{", b'{"n": ' + b"9" * 5000 + b", ", 1)),
    "not UTF-8": _texts(lambda data: data.replace(b'"choices"', b'"ch\xff\xfeices"').replace(b'"content"', b'"c\xff"')),
    "not whole UTF-8": _texts(lambda data: data[:-2] + b"\xf0\x9f"),
    "a NUL at the end": _texts(lambda data: data + b"\0"),
    "gzip": _headers(("Content-Encoding", "gzip"), change=gzip.compress),
    "gzip that is cut": _headers(("Content-Encoding", "gzip"), change=lambda data: gzip.compress(data)[:-12]),
    "gzip that is none": _headers(("Content-Encoding", "gzip")),
    "gzip of 300 MB": _bomb,
    "an encoding that nobody knows": _headers(("Content-Encoding", "x-none"), change=zlib.compress),
    "another content type": _headers(("Content-Type", "text/html")),
    "no content type": _headers(),
    "a character set that nobody knows": _headers(("Content-Type", "application/json; charset=x-none")),
    "a cookie": _headers(("Set-Cookie", "a=b")),
    "length shorter than the reply": _short_length,
    "a chunk that is torn": _torn_chunk,
    "no HTTP": _raw(b"what?\r\n\r\n"),
    "a status that is no number": _raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "headers alone": _raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
    "headers that are torn": _raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "100,000 headers": _raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n"),
    "slow": _slow,
    "body that never ends": _drip_body,
    "chunks that never end": _drip_chunks,
    "headers that never end": _drip_headers,
    "elsewhere 307": lambda handler, data: handler.redirect(307),
    "elsewhere 308": lambda handler, data: handler.redirect(308),
    "elsewhere 302": lambda handler, data: handler.redirect(302),
    "a redirect to nowhere": lambda handler, data: handler.reply(307, b""),
    **{
        f"status {status}": lambda handler, data, status=status: handler.reply(
            status, b"" if status in (204, 304) else data
        )
        for status in (
            *(201, 204, 206, 304, 400, 402, 405, 406, 410, 411, 412, 413, 415, 418, 421, 422, 423, 425, 431, 451),
            *(501, 502, 504, 505, 507, 508, 511, 520, 522, 524, 599),
        )
    },
    **{
        f"429, wait {value!r}": lambda handler, data, value=value: handler.reply(429, b"{}", {"Retry-After": value})
        for value in ("0.01", "-5", "nan", "inf", "soon", "", "Mon, 01 Jan 2001 00:00:00 GMT", "9" * 400)
    },
}
#: Faults that redirect a request; no client may follow them.
ELSEWHERE = {name for name in SENDING if name.startswith("elsewhere")}
ENDLESS = {name for name in SENDING if name.endswith("never ends") or name.endswith("never end")}


class AttackServer(FaultServer):
    """A context manager, see `FaultServer`. elsewhere: where it redirects requests to."""

    elsewhere = "http://127.0.0.1:9"

    def __enter__(self) -> "AttackServer":
        super().__enter__()
        self._http.RequestHandlerClass = _AttackHandler
        return self


class _AttackHandler(FaultHandler):
    fault: str | None = None

    def do_POST(self) -> None:
        self.fault = None
        with suppress(ConnectionError):
            super().do_POST()

    def _reply(self, body: dict, prompt: str, fault: str | None) -> Any:
        self.fault = fault
        reply = super()._reply(body, prompt, fault)
        own = OF_MESSAGES if self.path.endswith("/messages") else OF_CHATS
        change = {**BODIES, **own}.get(fault or "")
        return change(reply, self.server.faults.answer(prompt)) if change else reply

    def _send(self, status: int, data: bytes, headers: dict | None = None) -> None:
        if self.fault in SENDING:
            SENDING[self.fault](self, data)
        else:
            self.reply(status, data, headers)

    def reply(self, status: int, data: bytes, headers: dict | None = None) -> None:
        """Send a response."""
        super()._send(status, data, headers)

    def key(self) -> str:
        """The key of the request."""
        return self.headers.get("x-api-key") or self.headers.get("Authorization", "")

    def redirect(self, status: int) -> None:
        """Send the request to another host."""
        self.reply(status, b"", {"Location": f"{self.server.faults.elsewhere}{self.path}"})

    def drip(self, data: bytes) -> None:
        """Send a few bytes again and again, until the client or the server ends."""
        self.close_connection = True
        while not self.server.faults.closing.wait(0.1):
            self.wfile.write(data)
            self.wfile.flush()
