"""Nested asynchronous generators are closed from the outside in when their consumer ends."""

import asyncio
from contextlib import aclosing

import pytest

from litm.inference.retrying import Patience, as_they_finish, in_step


async def answer(number: int) -> int:
    if number:
        await asyncio.Event().wait()
    return number


async def numbers(ended: list[str]):
    """As an engine asks: a generator whose tasks are under way, in another."""
    batches = as_they_finish(answer, range(8), 4, Patience(timeout=1.0, attempts=1))
    try:
        async with aclosing(batches):
            async for batch in batches:
                yield batch
    finally:
        ended.append("engine")


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_end_between_two_answers_closes_all_without_a_word(end, caplog, capfd):
    for _ in range(20):
        ended: list[str] = []
        items = in_step(numbers(ended))
        assert next(items) == [(0, 0)]
        with pytest.raises(end):
            items.throw(end())
        assert ended == ["engine"]
    assert not caplog.records and not capfd.readouterr().err


def test_items_come_in_order_and_an_error_is_raised():
    async def three():
        for number in (1, 2):
            await asyncio.sleep(0)
            yield number
        raise ValueError("three")

    items = in_step(three())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="three"):
        next(items)
