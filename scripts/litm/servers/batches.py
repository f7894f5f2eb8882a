"""Batches: the prompts of a sweep through a provider's interface for batches, each paid once wherever a run ends.

A batch has a file (`Named`) from before it is submitted until its answers are kept. A run looks at these files first:
it goes on with the batches that are out there, and looks for one without an id in the server's list. Prompts in a batch
that is out there are never submitted again.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any, TypeVar

from litm.base.messages import UserError, note
from litm.base.store import canonical_json, digest
from litm.engines.interface import Prepared
from litm.inference.kept_answers import Answers as KeptAnswers
from litm.inference.named_batches import Named, batch_file
from litm.records.responses import OVERFLOW, Response
from litm.records.served import IN_A_BATCH
from litm.servers.api_engine import ApiEngine, mask_logs
from litm.servers.replies import Reply, json_body, read_reply
from litm.servers.retrying import LONGEST_REASON, PASSING, Line, Unanswered, masked

T = TypeVar("T")
#: Answers by their keys, with their identity.
Answers = tuple[dict[str, Any], list[tuple[str, Response]]]
#: The problem of a batch that somebody cancelled.
WAS_CANCELLED = "it was cancelled; run the same command again to ask these"
#: Batches that a prompt is put into in one run, before it counts as failed; looks at the server's list, which may lag
#: behind, for a batch that may have been submitted; the factor of the seconds from one look at a batch to the next.
ROUNDS, LOOKS, GROWTH = 3, 3, 1.5


@dataclass(frozen=True)
class OutThere:
    """A batch as the server describes it."""

    id: str
    """The server's id of the batch."""
    name: str | None
    """Our name of the batch, None if the server keeps none."""
    requests: int | None
    """The number of requests, None if unknown."""
    has_ended: bool = False
    """Whether the server is done with the batch."""
    is_full: bool = False
    """Whether the batch was refused because the account has too many tokens in batches."""
    problem: str = ""
    """The reason why its requests without an answer are not to be asked again as they are, "" if they are."""
    results: tuple[str, ...] = ()
    """The paths of the files with its results."""


@dataclass(frozen=True)
class BatchInterface:
    """A provider's interface for batches."""

    path: str
    """The path of batches, relative to the server's address."""
    cursor: str
    """The field of the list's query with the id after which it goes on."""
    most_requests: int
    """The most requests of a batch."""
    most_bytes: int
    """The most bytes of a batch."""
    item: Callable[[str, str, dict[str, Any]], dict[str, Any]]
    """The function from a key, and the path and body of a request, to the request in a batch."""
    submit: Callable[[Callable[..., Awaitable[dict[str, Any]]], str, Sequence[bytes]], Awaitable[dict[str, Any]]]
    """The function from `send`, a name and the items, as JSON, to the body that describes the new batch, where `send`
    takes a method, a path and options of the SDK.
    """
    read: Callable[[dict[str, Any]], OutThere]
    """The function from such a body to a batch."""
    read_result: Callable[[Callable[[dict[str, Any]], Reply], dict[str, Any]], Reply]
    """The function from the reader of a response's body, and a line of results, to the reply in it. It raises
    `Unanswered` or `UserError` if there is none.
    """


def failed_result(status: int, message: object) -> Exception:
    """The failure of one request in a batch, by its HTTP status: `Unanswered` if it may pass."""
    return (Unanswered if status >= 500 or status in PASSING else UserError)(f"status {status}: {message}")


class BatchEngine(ApiEngine):
    """An engine whose provider has an interface for batches, `Provider.batches`."""

    def in_batches(self, *asked: Any) -> Iterator[Answers]:
        """The answers of batches as they end, each time with their identity and by their keys.

        asked: the fields of `_Batches` after the engine. Raises `UserError` if the server refuses a batch or a request,
        or if a batch was cancelled; what was answered is yielded before.
        """
        yield from self.with_notes(_Batches(self, *asked).answers())


@dataclass
class _Batches:
    """A run of `BatchEngine.in_batches`."""

    engine: BatchEngine
    """The engine that asks."""
    label: str
    """The sweep's name."""
    kept: KeptAnswers
    """The answers that are kept, to which those that are yielded are added."""
    out: list[Named]
    """The batches that are named in files."""
    identity: dict[str, Any]
    """The identity of its answers."""
    prompts: Mapping[str, Prepared]
    """The prompts, by the keys of their answers under `identity`."""
    submits: bool
    """Whether new batches are submitted, or only those that are out there are waited for."""

    def __post_init__(self) -> None:
        self.interface: BatchInterface = self.engine.provider.batches
        self.rounds, self.most, self.is_full = Counter[str](), self.interface.most_requests, False

    async def answers(self) -> AsyncGenerator[Answers, None]:
        """As `BatchEngine.in_batches`."""
        self.line = Line(self.engine.patience)
        async with self.engine.connect() as client:
            mask_logs(self.engine.secret)
            self.bytes = partial(self.engine.send, client)
            out = [resumed for named in self.out if (resumed := await self._found(named))]
            while True:
                await self._submit_missing(out)
                if not out:
                    break
                for named, batch in await self._ended(out):
                    answers, failures = self._read(named, await self._results(batch))
                    # Those that are too long are not kept, and not asked again.
                    refused = [key for key, answer in answers.items() if answer.finish_reason == OVERFLOW]
                    self.rounds.update(dict.fromkeys(refused, ROUNDS))
                    if new := [(key, answer) for key, answer in answers.items() if key not in self.kept]:
                        yield named.identity, new
                    # The consumer has kept the answers when it asks for more.
                    named.forget()
                    out.remove(named)
                    self._tell(named, batch, len(answers), failures)

    async def _submit_missing(self, out: list[Named]) -> None:
        """Submit the prompts that have no answer and are in no batch; while the account is full, a batch at a time."""
        taken = {key for named in out for key in named.tokens}
        missing = [key for key in self.prompts if key not in taken and self._may_be_asked(key)]
        for part in self._parts(sorted(missing, key=lambda key: canonical_json(self.prompts[key].content))):
            if self.is_full and out:
                break
            out.append(await self._submit(part))

    def _may_be_asked(self, key: str) -> bool:
        return self.submits and key in self.prompts and key not in self.kept and self.rounds[key] < ROUNDS

    def _parts(self, keys: Sequence[str]) -> Iterator[dict[str, bytes]]:
        """The requests of prompts by their keys, in parts within the limits of a batch."""
        part, size = dict[str, bytes](), 0
        for key in keys:
            item = json.dumps(self.interface.item(key, *self.engine.request(self.prompts[key].content))).encode()
            if part and (len(part) >= self.most or size + len(item) >= self.interface.most_bytes):
                yield part
                part, size = {}, 0
            part[key] = item
            size += len(item) + 1
        if part:
            yield part

    async def _submit(self, part: Mapping[str, bytes]) -> Named:
        newest = await anext(self._newer_than(None), None)
        tokens = {key: self.prompts[key].tokens for key in part}
        after = newest.id if newest else None
        name = digest({"after": after, "keys": sorted(part)})
        file = batch_file(self.kept.asking, name)
        named = Named(file, self.engine.url, self.identity, after, tokens, self.kept.name)
        named.keep()
        attempts = count()

        async def submitted() -> str:
            # A request without an answer may have been heard.
            if next(attempts) and (id := await self._look(named)):
                return id
            return self.interface.read(await self.interface.submit(self._json, name, list(part.values()))).id

        named = replace(named, id=await self._insisted(submitted))
        named.keep()
        self.rounds.update(part.keys())
        self._note(f"batch {named.id} with {len(part):,} prompts is out there; its answers may take hours")
        return named

    async def _found(self, named: Named) -> Named | None:
        """A batch with its id, which a run that was killed may not have kept; None if it was not submitted."""
        id = named.id or await self._look(named)
        if id is None:
            named.forget()
            return None
        named = replace(named, id=id)
        named.keep()
        self.rounds.update(named.tokens.keys())
        self._note(f"on with the batch {named.id} of {len(named.tokens):,} prompts, which is out there")
        return named

    async def _look(self, named: Named) -> str | None:
        """The id of a batch in the server's list: by its name, or by the keys of its results once it has ended."""
        for number in range(LOOKS):
            async for batch in self._newer_than(named.after):
                if batch.name == named.file.stem:
                    return batch.id
                if batch.name is None and batch.requests in (None, len(named.tokens)):
                    self._note(f"batch {batch.id} may be one that a killed run submitted: its end will show it")
                    ((_, ended),) = await self._ended([replace(named, id=batch.id)])
                    if (await self._results(ended)).keys() & named.tokens.keys():
                        return batch.id
            await self._pause(number)
        return None

    async def _newer_than(self, id: str | None) -> AsyncGenerator[OutThere, None]:
        """The server's batches that are newer than one, the newest first."""
        after, has_more = "", True

        async def page() -> tuple[list[OutThere], bool]:
            body = await self._json("get", f"{self.interface.path}{after}")
            return list(map(self.interface.read, body["data"])), bool(body["data"] and body.get("has_more"))

        while has_more:
            batches, has_more = await self._insisted(page, "'batch: true' needs the server's list of batches: ")
            for batch in batches:
                if batch.id == id:
                    return
                yield batch
                after = f"?{self.interface.cursor}={batch.id}"

    async def _ended(self, out: Sequence[Named]) -> list[tuple[Named, OutThere]]:
        """The batches that have ended, at least one."""
        number = 0
        while not (ended := [(named, batch) for named in out if (batch := await self._state(named)).has_ended]):
            await self._pause(number := number + 1)
        return ended

    async def _state(self, named: Named) -> OutThere:
        async def state() -> OutThere:
            return self.interface.read(await self._json("get", f"{self.interface.path}/{named.id}"))

        again = f"if it is gone, delete {named.file} to have its prompts asked, and billed, again"
        return await self._insisted(state, f"batch {named.id} ({again}): ")

    async def _pause(self, number: int) -> None:
        patience = self.engine.patience
        await asyncio.sleep(min(patience.longest_wait, patience.first_wait * GROWTH**number))

    async def _results(self, batch: OutThere) -> dict[str, bytes]:
        """The lines of the results of a batch that has ended, by the keys of the requests."""

        async def results() -> dict[str, bytes]:
            lines = [line for path in batch.results for line in (await self.bytes("get", path)).split(b"\n")]
            return {json.loads(line.decode(errors="replace"))["custom_id"]: line for line in lines if line.strip()}

        return await self._insisted(results)

    def _read(self, named: Named, results: Mapping[str, bytes]) -> tuple[dict[str, Response], dict[str, Exception]]:
        """The answers to a batch's prompts, and why the others have none."""
        answers, failures = dict[str, Response](), dict[str, Exception]()
        read = partial(self.interface.read_result, self.engine.read)
        for key, tokens in named.tokens.items():
            try:
                if key not in results:
                    raise Unanswered("its results do not have it")
                reply = self.engine.masked_reply(read_reply(results[key], read))
                answers[key] = self.engine.response(tokens, reply, IN_A_BATCH)
            except (Unanswered, UserError) as failure:
                failures[key] = type(failure)(self._shown(str(failure)))
        return answers, failures

    def _tell(self, named: Named, batch: OutThere, answers: int, failures: Mapping[str, Exception]) -> None:
        """Say which prompts of a batch have no answer; `UserError` if they are not to be asked again as they are."""
        prompts, refused = len(named.tokens), [error for error in failures.values() if isinstance(error, UserError)]
        summary = f"batch {batch.id} of {prompts:,} prompts: {answers:,} answers are kept, {len(failures):,} have none"
        if batch.is_full and prompts > 1:
            self.most, self.is_full = (prompts + 1) // 2, True
            self.rounds.subtract(named.tokens.keys())
            self._note(f"{summary}, as it is too much at once ({self._shown(batch.problem)}): halved")
        elif failures and (batch.problem or refused):
            why = batch.problem or f"{len(refused):,} of them were refused: {refused[0]}"
            raise UserError(f"{self.label}: {summary}, {self._shown(why)}")
        elif failures:
            again = sum(map(self._may_be_asked, failures))
            then = f"{again:,} are asked again" if again else f"not asked again after {ROUNDS} batches in one run"
            self._note(f"{summary} (the first: {next(iter(failures.values()))}); {then}")

    def _note(self, said: str) -> None:
        note(f"{self.label}: {said}")

    def _shown(self, text: str) -> str:
        return masked(text, self.engine.secret)[:LONGEST_REASON]

    async def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        return json_body((await self.bytes(method, path, **options)).decode(errors="replace"))

    async def _insisted(self, send: Callable[[], Awaitable[T]], what: str = "") -> T:
        """The answer to a request, with retries; `UserError` if there is none. what: its words there."""

        async def well_formed() -> T:
            try:
                return await send()
            except Unanswered as error:
                error.args = (self._shown(str(error)),)
                raise
            except (LookupError, TypeError, AttributeError, ValueError) as error:
                raise Unanswered(f"something of another form than the API's ({type(error).__name__})") from error

        try:
            return await self.line.insisted(well_formed)
        except Unanswered as error:
            raise UserError(f"{self.label}: no answer about batches: {error}. Run the same command again") from error
        except UserError as error:
            raise UserError(f"{self.label}: {what}{error}") from error
