"""A local provider with both interfaces for batches, OpenAI's and Anthropic's, after their public references.

Delays are counted in looks at a batch, not in time. What is computed is billed at once. Other requests: `FaultServer`.
"""

import json
import random
import re
from collections import Counter, namedtuple
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fault_server import FaultHandler, FaultServer

OPENAI, ANTHROPIC, FILES = "/v1/batches", "/v1/messages/batches", "/v1/files"
#: Ends of batches; FULL: refused because the account has too many tokens in batches.
DONE, LATE, CANCELLED, REFUSED, FULL = "completed", "expired", "cancelled", "failed", "full"
CODES, TOO_LONG = {FULL: "token_limit_exceeded", REFUSED: "invalid_json_line"}, "prompt is too long"
#: What a request got: an answer, nothing in time, an error that may pass, one that does not; or it is in no result.
ANSWERED, EXPIRED, OVERLOADED, INVALID, LOST = "answered", "expired", "overloaded", "invalid", "lost"
#: What happens to a batch. end: how it ends; looks: until then; share: of its requests that are answered; others: what
#: the others get; torn: reads of its results that end within a line.
Fate = namedtuple("Fate", "end looks share others torn", defaults=(DONE, 2, 1.0, EXPIRED, 0))
#: status: of the answer to a request; is_heard: whether what was asked is done; is_mute: no answer.
Fault = namedtuple("Fault", "status is_heard is_mute", defaults=(500, False, False))


class BatchHandler(FaultHandler):
    def do_POST(self) -> None:
        what = {FILES: "upload", OPENAI: "submit", ANTHROPIC: "submit_messages"}.get(self.path)
        if what is None:
            return super().do_POST()
        return self._answer(what[:6], getattr(self, f"_{what}"), self.body())

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        what = {"batches": "list", "content": "results", "results": "results"}.get(path.rpartition("/")[2], "look")
        self._answer(what, getattr(self, f"_{what}"), path)

    def _answer(self, what: str, work: Callable[[Any], Any], argument: Any) -> None:
        provider = self.owner
        with provider.lock:
            number, fault = provider.done.total(), provider.batch_fault(what, provider.done[what])
            provider.done[what] += 1
        try:
            provider.hear(number, "before")
            status, reply = 500, {"error": {"type": "server_error", "message": "no"}}
            if fault is None or fault.is_heard:
                with suppress(AssertionError, LookupError), provider.lock:
                    assert self.headers.get("x-api-key") or self.headers.get("Authorization"), "no key"
                    assert "/messages/" not in self.path or self.headers.get("anthropic-version"), "no version"
                    status, reply = 400, {"error": {"type": "invalid_request_error", "message": "not allowed"}}
                    status, reply = 200, work(argument)
            provider.hear(number, "after")
            if fault and fault.is_mute:
                raise ConnectionAbortedError
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send(fault.status if fault else status, data)
            provider.hear(number, "sent")
        except ConnectionError:
            self.close_connection = True

    def _upload(self, data: bytes) -> dict:
        form = message_from_bytes(b"Content-Type: " + self.headers["Content-Type"].encode() + b"\n\n" + data)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
        is_batch = parts["purpose"].get_payload(decode=True).strip() == b"batch"
        assert is_batch and parts["file"].get_filename().endswith(".jsonl"), "batches are .jsonl files for batch"
        files, id = self.owner.files, f"file-{len(self.owner.files):04}"
        files[id] = parts["file"].get_payload(decode=True)
        return {"id": id, "object": "file", "created_at": 1, "status": "processed", "purpose": "batch"}

    def _submit(self, data: bytes) -> dict:
        provider, body = self.owner, json.loads(data)
        requests = [json.loads(line) for line in provider.files[body["input_file_id"]].splitlines()]
        own = {request["custom_id"]: request["body"] for request in requests}
        assert body["completion_window"] == "24h", "'completion_window' must be 24h"
        assert all(len(name) <= 64 and len(value) <= 512 for name, value in body["metadata"].items()), "'metadata'"
        assert len(own) == len(requests) <= provider.most, "too many requests, or a custom_id is not unique"
        assert {(one["method"], one["url"]) for one in requests} == {("POST", body["endpoint"])}, "other endpoints"
        return self._described(provider.submit(OPENAI, body["metadata"], own))

    def _submit_messages(self, data: bytes) -> dict:
        provider, requests = self.owner, json.loads(data)["requests"]
        own = {request["custom_id"]: request["params"] for request in requests}
        assert 1 <= len(own) == len(requests) <= provider.most, "too many requests, or a custom_id is not unique"
        needed = {"model", "max_tokens", "messages"}
        assert all(re.fullmatch(r"[\w-]{1,64}", key) and needed <= params.keys() for key, params in own.items()), "form"
        return self._described(provider.submit(ANTHROPIC, None, own))

    def _list(self, path: str) -> dict:
        provider, query, shown = self.owner, parse_qs(urlsplit(self.path).query), []
        for batch in reversed([batch for batch in provider.batches.values() if batch.path == path]):
            shown += [batch] if batch.unlisted <= 0 else []
            batch.unlisted -= 1
        for after in query.get("after" if path == OPENAI else "after_id", []):
            shown = shown[[batch.id for batch in shown].index(after) + 1 :]
        page = [self._described(batch) for batch in shown[: provider.page]]
        return {"data": page, "has_more": len(page) < len(shown)}

    def _look(self, path: str) -> dict:
        batch = self.owner.batches[path.rpartition("/")[2]]
        batch.looks -= 1
        return self._described(batch)

    def _described(self, batch: SimpleNamespace) -> dict:
        ended, counts = batch.looks <= 0, Counter(batch.results.values())
        total, failed = len(batch.results), counts[OVERLOADED] + counts[INVALID] + counts[TOO_LONG]
        if batch.path == ANTHROPIC:
            numbers = {"succeeded": counts[ANSWERED], "errored": failed, "canceled": 0, "expired": 0, "processing": 0}
            numbers["canceled" if batch.end == CANCELLED else "expired"] = counts[EXPIRED] + counts[LOST]
            numbers = numbers if ended else {**dict.fromkeys(numbers, 0), "processing": total}
            cancelled = {"cancel_initiated_at": "2026-01-01T00:00:00Z" if batch.end == CANCELLED else None}
            results = {"results_url": f"{self.owner.url}{ANTHROPIC}/{batch.id}/results" if ended else None}
            state = {"processing_status": "ended" if ended else "in_progress", "request_counts": numbers}
            return {"id": batch.id, **state, **cancelled, **results}
        code, failed = CODES.get(batch.end), failed + counts[EXPIRED]
        end = (REFUSED if code else batch.end) if ended else "in_progress"
        errors = {"data": [{"code": code, "message": f"because of {code}"}]} if ended and code else None
        output = f"out-{batch.id}" if ended and counts[ANSWERED] else None
        error = f"err-{batch.id}" if ended and failed and not code else None
        files = {"output_file_id": output, "error_file_id": error, "metadata": batch.metadata, "errors": errors}
        numbers = {"total": total, "completed": counts[ANSWERED], "failed": failed}
        return {"id": batch.id, "object": "batch", "status": end, "request_counts": numbers, **files}

    def _results(self, path: str) -> bytes:
        *_, name, kind = path.split("/")
        batch = self.owner.batches[name.removeprefix("out-").removeprefix("err-")]
        line, lines = self._message if kind == "results" else self._response, []
        for key, result in batch.results.items():
            if result != LOST and (kind == "results" or (result == ANSWERED) == name.startswith("out-")):
                lines.append(json.dumps({"custom_id": key, **line(batch, key, result)}) + "\n")
        data, batch.torn = "".join(lines).encode(), batch.torn - 1
        return data if batch.torn < 0 else data[: len(data) * 2 // 3]

    def _computed(self, batch: SimpleNamespace, key: str, path: str) -> dict:
        prompt = prompt_of(batch.requests[key])
        return self._reply({}, batch.requests[key], prompt, self.owner.answer(prompt), path)

    def _message(self, batch: SimpleNamespace, key: str, result: str) -> dict:
        if result == ANSWERED:
            return {"result": {"type": "succeeded", "message": self._computed(batch, key, "/v1/messages")}}
        if result == EXPIRED:
            return {"result": {"type": "canceled" if batch.end == CANCELLED else "expired"}}
        error = {"type": "overloaded_error" if result == OVERLOADED else "invalid_request_error", "message": result}
        return {"result": {"type": "errored", "error": {"type": "error", "error": error}}}

    def _response(self, batch: SimpleNamespace, key: str, result: str) -> dict:
        if result == EXPIRED:
            return {"response": None, "error": {"code": "batch_expired", "message": "it was not run before its end"}}
        error = {"error": {"type": "some_error", "code": None, "message": result}}
        body = self._computed(batch, key, "/v1/chat/completions") if result == ANSWERED else error
        status = {ANSWERED: 200, OVERLOADED: 500}.get(result, 400)
        return {"response": {"status_code": status, "request_id": "req_1", "body": body}, "error": None}


def prompt_of(body: dict) -> str:
    return "|".join(message["content"] for message in body["messages"])


@dataclass
class BatchServer(FaultServer):
    """fate: function from the number of a batch to what happens to it; batch_fault: function from what is asked (list,
    upload, submit, look, results) and its number to a fault; hear: called with the number of a request of the
    interfaces, and before, after or sent; most: requests of a batch; lag: lists that lack a new batch; page: of a list.
    Recorded: `billed`, computed answers by prompt; `done`, numbers of what was asked; `batches`, in their order.
    """

    fate: Callable[[int], Fate] = lambda number: Fate()
    batch_fault: Callable[[str, int], Fault | None] = lambda what, number: None
    hear: Callable[[int, str], object] = lambda number, stage: None
    most: int = 50_000
    lag: int = 0
    page: int = 20
    billed: Counter = field(default_factory=Counter)
    done: Counter = field(default_factory=Counter)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, SimpleNamespace] = field(default_factory=dict)
    handler = BatchHandler

    def submit(self, path: str, metadata: dict | None, requests: dict[str, dict]) -> SimpleNamespace:
        number, fate = len(self.batches), self.fate(len(self.batches))
        answered = round(fate.share * len(requests)) if fate.end not in CODES else 0
        order = random.Random(number).sample(list(requests), len(requests))
        results = {key: ANSWERED if rank < answered else fate.others for rank, key in enumerate(order)}
        own = {"id": f"batch_{number:04}", "path": path, "metadata": metadata, "requests": requests, "results": results}
        self.billed.update(prompt_of(requests[key]) for key in order[:answered])
        self.batches[own["id"]] = SimpleNamespace(**own, **fate._asdict(), unlisted=self.lag)
        return self.batches[own["id"]]
