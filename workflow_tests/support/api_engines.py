"""Engines of both protocols, against a server next to the test."""

from dataclasses import replace
from importlib import import_module

import pytest
from engine_settings import changed_settings, engine_settings
from fault_server import FaultServer
from waiting import HANG

from litm.records.responses import Response
from litm.servers.retrying import Patience

PROTOCOLS = ("openai", "anthropic")
#: For a local server: the waits between requests are hundredths of seconds. Requests have their time, or a busy machine
#: would look like a fault.
HASTE = Patience(timeout=HANG, attempts=6, first_wait=0.01, longest_wait=0.05, prompts=10)
#: For servers that never end an answer. A busy machine may be too late with a good answer, which is then asked again.
SHORT = replace(HASTE, timeout=1.0, total=1.0, attempts=1000)
SETTINGS = engine_settings("openai", "some-model")


@pytest.fixture(params=PROTOCOLS)
def protocol(request) -> str:
    """Each protocol: a test that takes it is run with both."""
    return request.param


def make_engine(protocol: str, server: FaultServer, patience: Patience | None = HASTE, **changes: object):
    url = f"{server.url}/v1" if protocol == "openai" else server.url
    engine = import_module(f"litm.engines.modules.{protocol}").Engine
    return engine(changed_settings(SETTINGS, protocol, base_url=url, **changes), patience)


def answers(engine, prompts: list[str]) -> dict[int, Response]:
    """The responses by the number of the prompt, exactly one each."""
    pairs = [pair for batch in engine.generate(engine.prepare(prompts)) for pair in batch]
    assert len({index for index, _ in pairs}) == len(pairs)
    return dict(pairs)
