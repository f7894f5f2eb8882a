"""Faults of API servers: retries, errors that end a run, and kept answers."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from socket import EAI_NONAME, gaierror
from ssl import SSLCertVerificationError
from types import SimpleNamespace

import pytest
from api_engines import HASTE, SHORT, answers, make_engine
from echo_engine import ask, planned
from fault_server import PASSING, FaultServer, answer_to, seeded_faults
from httpx2 import HTTPStatusError, Request, Response
from openai import APIConnectionError, APIStatusError
from programs import refused
from sweeps import ANSWERS, answer_records

from litm.base.messages import UserError
from litm.engines.interface import FAIL
from litm.inference.prompts import Fit
from litm.records.responses import OVERFLOW
from litm.records.responses import Response as Answer
from litm.servers.api_engine import ApiEngine
from litm.servers.retrying import TURNS, Patience, Unanswered, as_they_finish, failure_of
from litm.servers.server_errors import asked_wait


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_prompts_are_answered_once_each_through_mixed_faults(protocol, count, tmp_path):
    prompts = [f"question {number} of many" for number in range(count)]
    with FaultServer(seeded_faults(seed=1, share=0.35, kinds=PASSING, at_most=4)) as server:
        found = ask(tmp_path / "j", *prompts, engine=make_engine(protocol, server, concurrency=32), fit=Fit(None, 50))
    assert not found.outcome.failed and found.texts == [answer_to(prompt) for prompt in prompts]
    faults = Counter(fault for _, _, fault in server.asked)
    assert set(faults) == {None, *PASSING} and faults[None] == count
    assert server.answered == Counter(prompts)
    kept = Counter(line["key"] for line in answer_records(tmp_path / "j" / ANSWERS))
    assert kept == Counter(prompt.key for prompt in planned(*prompts))


@pytest.mark.parametrize(
    ("fault", "times", "patience", "said"),
    [
        *((fault, 2, HASTE, "") for fault in PASSING),
        ("hang", 2, replace(SHORT, total=HASTE.total), ""),
        *(
            (f"{what} never end{s}", 1, replace(SHORT, timeout=HASTE.timeout), "was not whole after 1 seconds ('requ")
            for what, s in (("body that", "s"), ("headers that", ""))
        ),
        ("nested 100,000 deep", 1, HASTE, "not whole JSON"),
        ("503 in hex", 1, HASTE, ""),
    ],
)
def test_a_passing_fault_is_followed_by_another_attempt(protocol, fault, times, patience, said, capsys):
    with FaultServer(lambda prompt, attempt: fault if attempt <= times else None) as server:
        assert answers(make_engine(protocol, server, patience), ["why?"])[0].text == answer_to("why?")
    # A busy machine may be too late with a good answer.
    assert [fault for _, _, fault in server.asked][: times + 1] == [*[fault] * times, None]
    assert patience is not HASTE or len(server.asked) == times + 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("fault", ["401", "403", "404", "stream", "quota", "later", "deep error"])
def test_a_permanent_error_ends_the_run_with_the_providers_message_and_keeps_all_answers(protocol, fault):
    prompts = [f"{number:02}" for number in range(20)]
    kept: dict[int, Answer] = {}
    with FaultServer(lambda prompt, attempt: fault if prompt == "05" else None) as server:
        engine = make_engine(protocol, server, concurrency=2)
        said = refused(
            lambda: kept.update(pair for batch in engine.generate(engine.prepare(prompts)) for pair in batch)
        )
    known = {"deep error": "the API refused a request: ", "stream": "the server sent a stream of events instead of"}
    assert known.get(fault, f"{fault}, says the server") in said
    assert len(said) < 800 and Counter(prompt for _, prompt, _ in server.asked)["05"] == 1
    assert {prompts[index] for index in kept} == set(server.answered) >= {"00", "01", "02", "03", "04"}


def test_a_prompt_that_the_server_refuses_as_too_long_is_left_out_and_asked_by_the_next_run(protocol, tmp_path, capsys):
    with FaultServer(lambda prompt, attempt: "too long" if prompt == "b" and attempt < 4 else None) as server:
        fails, work = (
            partial(
                ask, tmp_path / name, *"abc", engine=partial(make_engine, protocol, server), fit=Fit(None, 50, FAIL)
            )
            for name in "kj"
        )
        assert "the server refused 1 prompts as too long" in refused(fails)
        found = work(fit=Fit(None, 50))
        assert found.texts == [answer_to("a"), None, answer_to("c")]
        assert found.counts("asked", "reused", "overflow", "failed") == (3, 0, 1, 0)
        said = "the server refused 1 prompts as too long (the first: "
        assert said in capsys.readouterr().err
        assert said in refused(work, fit=Fit(None, 50, FAIL))
        found = work(fit=Fit(None, 50, FAIL))
        assert found.texts == [answer_to(prompt) for prompt in "abc"]
        assert found.counts("asked", "reused", "overflow") == (1, 2, 0)
        # What was under way when the other sweep failed is kept.
        assert fails().counts("asked", "reused") == (1, 2)


def test_an_engine_without_an_sdk_leaves_out_a_prompt_that_is_too_long():
    async def send(*_, **__):
        response = Response(400, text="maximum context length is 5", request=Request("POST", "http://a"))
        raise UserError("400") from HTTPStatusError("400", request=response.request, response=response)

    reply = asyncio.run(ApiEngine.post(SimpleNamespace(send=send), None, "/api/generate", {}, None))
    assert reply.finish_reason == OVERFLOW


def test_a_sweep_whose_prompts_are_all_refused_as_too_long_ends_with_the_servers_words(protocol, tmp_path):
    with FaultServer(lambda prompt, attempt: "too long") as server:
        said = refused(
            lambda: ask(tmp_path / "j", *"ab", engine=partial(make_engine, protocol, server), fit=Fit(None, 9))
        )
    assert "refused 2 prompts as too long" in said and "all that were sent. Lower the limit of an answer" in said


def test_a_page_instead_of_a_reply_is_waited_for_once_the_server_has_replied():
    with FaultServer(lambda prompt, attempt: "a page" if prompt == "b" and attempt < 5 else None) as server:
        found = answers(make_engine("openai", server, HASTE, concurrency=1), ["a", "b"])
    assert [response.text for response in found.values()] == [answer_to("a"), answer_to("b")]


@pytest.mark.parametrize(("fault", "times"), [("a page", 3), ("only []", 3), ("choices None", 3), ("error in it", 6)])
def test_a_whole_response_that_is_none_is_not_asked_for_many_times(fault, times):
    with FaultServer(lambda prompt, attempt: fault) as server:
        engine = make_engine("openai", server, replace(HASTE, prompts=2), concurrency=1)
        said = refused(answers, engine, ["a", "b", "c"])
    assert "no answer to 2 prompts" in said and len(server.asked) == 2 * times
    assert fault != "a page" or "not JSON: <html><body>Welcome to the hotel's network" in said


async def asked(
    send: Callable[[int], Awaitable[int]], count: int, at_once: int, patience: Patience = HASTE
) -> list[int]:
    """The numbers of the requests that `send` answered."""
    return [number async for batch in as_they_finish(send, range(count), at_once, patience) for number, _ in batch]


def test_a_request_that_is_always_one_too_many_fails_although_others_are_answered():
    tries: Counter[int] = Counter()

    async def send(number: int) -> int:
        tries[number] += 1
        await asyncio.sleep(0.001)
        if number == 0:
            raise Unanswered("too large for a minute", wait=0.0, for_all=True)
        return number

    assert sorted(asyncio.run(asked(send, 600, 2))) == [*range(1, 600)]
    assert HASTE.attempts < tries[0] <= TURNS * HASTE.attempts


@pytest.mark.parametrize("seed", range(40))
def test_no_request_is_sent_after_a_permanent_error(seed):
    # How many times the loop turns until each request is answered: which of them come in the same turn is by chance.
    turns = random.Random(seed).choices(range(4), k=30)
    late: list[int] = []
    refused = asyncio.Event()

    async def send(number: int) -> int:
        if refused.is_set():
            late.append(number)
        for _ in range(turns[number]):
            await asyncio.sleep(0)
        if number == 10:
            refused.set()
            raise UserError("no")
        return number

    with pytest.raises(UserError, match="no"):
        asyncio.run(asked(send, 30, 4))
    assert not late


def test_a_server_that_answers_nothing_ends_the_run(protocol):
    with FaultServer(lambda prompt, attempt: "503") as server:
        engine = make_engine(protocol, server, replace(HASTE, attempts=2, prompts=4), concurrency=2)
        said = refused(answers, engine, [str(number) for number in range(100)])
    assert re.search("no answer to 4 prompts one after the other.*503", said) and len(server.asked) <= 4 * 2 + 2


def test_a_server_that_was_never_there_ends_the_run_at_once(protocol, capsys):
    with FaultServer() as server:
        engine = make_engine(protocol, server)
    with pytest.raises(UserError, match=r"there is no server: http://127.0.0.1:\d+/.* refused .* 'base_url'"):
        answers(engine, list("abcdef"))
    # No word of another try.
    assert capsys.readouterr().err == ""


def test_a_server_that_has_answered_and_is_gone_is_waited_for(capsys):
    sent = []

    async def send(number: int) -> int:
        sent.append(number)
        if number:
            raise Unanswered("refused", no_server=True)
        return number

    with pytest.raises(UserError, match="no answer to 2 prompts one after the other"):
        asyncio.run(asked(send, 6, 1, replace(HASTE, attempts=3, prompts=2)))
    assert sent == [0, 1, 1, 1, 2, 2, 2]
    said = capsys.readouterr().err
    assert said.count("It is sent again in") == 1 and "it is sent up to 3 times" in said


def test_prompts_without_an_answer_among_others_are_left_out_after_the_last_attempt_and_do_not_end_the_run(
    protocol, capsys
):
    prompts = [f"{number:02}" for number in range(12)]
    with FaultServer(lambda prompt, attempt: "500" if int(prompt) % 2 else None) as server:
        found = answers(make_engine(protocol, server, replace(HASTE, attempts=2, prompts=3), concurrency=1), prompts)
    assert set(found) == {0, 2, 4, 6, 8, 10}
    assert Counter(prompt for _, prompt, _ in server.asked) == {prompt: 1 + int(prompt) % 2 for prompt in prompts}
    assert "got no answer, the last time because: Error code: 500" in capsys.readouterr().err


def test_an_entry_sets_the_timeout_and_the_attempts_of_a_request(protocol, capsys):
    with FaultServer(lambda prompt, attempt: "hang") as server:
        engine = make_engine(protocol, server, None, request_timeout=0.5, request_attempts=2)
        assert not answers(engine, ["a"])
    assert len(server.asked) <= 2
    assert "it is sent up to 2 times" in capsys.readouterr().err


def test_the_first_retry_is_reported_with_its_waiting_time(protocol, capsys):
    with FaultServer(lambda prompt, attempt: "500" if attempt < 4 else None) as server:
        answers(make_engine(protocol, server), ["a", "b"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "a request got no answer: Error code: 500" in line
    assert "it is sent up to 6 times, with waits that grow to 0.0 minutes in all" in line
    assert Patience(600.0, 10).longest_waits == 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 + 60


def test_a_request_waits_where_the_server_says_so(protocol):
    with FaultServer(lambda prompt, attempt: "429, wait 600 milliseconds" if attempt == 1 else None) as server:
        answers(make_engine(protocol, server), ["a"])
    (told, *_), (again, *_) = server.asked
    assert again - told >= 0.6


class TimelessLoop(asyncio.SelectorEventLoop):
    """An event loop that jumps to the next timer instead of waiting for it. For tasks without input or output."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self._selector.select = 0.0, self._pass

    def time(self) -> float:
        return self.now

    def _pass(self, timeout: float | None) -> list:
        self.now += timeout or 1e-6
        return []


def test_all_requests_wait_where_the_server_says_so():
    sent: list[tuple[float, int]] = []

    async def send(number: int) -> int:
        sent.append((asyncio.get_running_loop().time(), number))
        # Four at a time: the tenth is refused while three others are on their way.
        await asyncio.sleep(1 + 0.1 * (number % 4))
        if number == 10 and [n for _, n in sent].count(10) == 1:
            raise Unanswered("busy", wait=600.0, for_all=True)
        return number

    with asyncio.Runner(loop_factory=TimelessLoop) as runner:
        found = runner.run(asked(send, 40, 4))
    assert sorted(found) == list(range(40))
    told = next(when for when, number in sent if number == 10) + 1.2
    assert not [when for when, _ in sent if told < when < told + 600]
    assert len([when for when, _ in sent if when >= told + 600]) > 20


def test_no_more_requests_are_under_way_than_are_allowed(protocol):
    with FaultServer() as server:
        engine = make_engine(protocol, server, concurrency=3)
        batches = engine.generate(engine.prepare([str(number) for number in range(20)]))
        first = next(batches)
        # While an answer is being written down, at most the others that were allowed can be lost.
        time.sleep(0.2)
        assert len(first) <= len(server.asked) <= 3
        batches.close()


def test_the_wait_is_read_from_every_form_of_the_header():
    now, day = datetime(2026, 11, 21, 12, tzinfo=UTC), "Sat, 21 Nov 2026"
    dates = {f"{day} 12:00:40 GMT": 40, f"{day} 12:00:40 -0000": 40, f"{day} 11:58:40 GMT": 0}
    for said, wait in {"7": 7, "0.5": 0.5, **dates, "soon": None, "nan": None, "": None}.items():
        assert asked_wait({"retry-after": said}, "", now) == wait
    assert asked_wait({"retry-after-ms": "250", "retry-after": "1"}, "Please try again in 9s.", now) == 0.25


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("Limit 3, Used 3. Please try again in 20s. Visit 2 pages", 20),
        ("Please try again in 6m0s.", 360),
        ("Please try again in 300ms.", 0.3),
        ("Please try again in 1h2m3.5s", 3723.5),
        ("Quota exceeded, limit: 12. Please retry in 34.5s.", 34.5),
        ('[{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}]', 34),
        ("Please retry after 30 seconds or 5 calls", 30),
        ("Please try again in a while", None),
        ("Please try again in 5 apples", None),
        ("Limit 3 in 20s", None),
    ],
)
def test_the_wait_is_read_from_the_body_where_no_header_has_it(said, wait):
    assert asked_wait({}, said, datetime.now(UTC)) == wait


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, '[{"error": {"code": 400, "message": "too many tokens", "status": "BAD"}}]', "400 - too many tokens. If"),
        (400, '{"detail": "Prompt too long"}', "400 - Prompt too long. If it"),
        (422, '{"detail": [{"loc": ["body", "seed"], "msg": "no"}]}', '422 - {"loc": ["body", "seed"], "msg": "no"}. '),
        (422, '{"error": "Input is wrong", "error_type": "validation"}', "422 - Input is wrong. If"),
        (400, "context exceeded\nby < 20 tokens >", "400 - context exceeded by < 20 tokens >. If"),
        (403, "<html><title>Blocked</title>\n<p class=a>by a proxy</html>", "403 - Blocked by a proxy. Check the key"),
        (400, "", "400. If it is"),
        (400, '{"error": {"message": "Your credit balance is too low."}}', "too low. Raise the limit, or pay"),
        (400, f'{{"error": "{"a" * 370} my-secret"}}', "aa. If"),
        (400, '{"error": "my\\u002dsecret is no key"}', "400 - *** is no key"),
    ],
)
def test_a_refusal_has_the_servers_own_words_in_any_form(status, body, said):
    response = Response(status, text=body, request=Request("POST", "http://host/v1"))
    told = str(failure_of(APIStatusError(f"Error code: {status}", response=response, body=None), "my-secret"))
    assert said in told and "my-sec" not in told and len(told) < 700


@pytest.mark.parametrize(
    ("cause", "kind", "said"),
    [
        (gaierror(EAI_NONAME, "Name not known"), Unanswered, r"v1: Connection error. \(gaierror: .* not known\)$"),
        (SSLCertVerificationError("CERTIFICATE_VERIFY_FAILED"), UserError, "CERTIFICATE_VERIFY_FAILED.*SSL_CERT_FILE"),
        (TimeoutError(), Unanswered, r"Connection error. \(TimeoutError\)"),
    ],
)
def test_a_failed_connection_is_told_with_its_first_cause_and_a_certificate_ends_the_run(cause, kind, said):
    error = APIConnectionError(request=Request("POST", "http://host/v1"))
    error.__cause__ = cause
    failure = failure_of(error)
    assert type(failure) is kind and re.search(said, str(failure))
    assert getattr(failure, "no_server", None) == {gaierror: True, TimeoutError: False}.get(type(cause))


@pytest.mark.parametrize("names_the_wait", [True, False])
@pytest.mark.parametrize(("at_once", "allowed", "seconds"), [(1, 12, 60), (32, 12, 60), (32, 1, 5)])
def test_a_limit_of_requests_in_a_time_ends_no_run(names_the_wait, at_once, allowed, seconds):
    times: list[float] = []

    async def send(number: int) -> int:
        now = asyncio.get_running_loop().time()
        opens = times[-allowed] + seconds if len(times) >= allowed else 0.0
        if now < opens:
            raise Unanswered("busy", wait=opens - now if names_the_wait else None, for_all=True)
        times.append(now)
        await asyncio.sleep(0.4)
        return number

    with asyncio.Runner(loop_factory=TimelessLoop) as runner:
        found = runner.run(asked(send, 300, at_once, Patience(600.0, 10)))
    assert sorted(found) == list(range(300)) and times[-1] < 1.5 * 300 / allowed * seconds


def test_waits_grow_up_to_the_longest_and_differ():
    patience = Patience(600.0, 10, first_wait=1.0, longest_wait=60.0)
    for attempt, most in ((1, 1), (2, 2), (5, 16), (7, 60), (30, 60)):
        waits = [patience.wait(attempt) for _ in range(2000)]
        assert 0 <= min(waits) < 0.05 * most and 0.95 * most < max(waits) <= most
