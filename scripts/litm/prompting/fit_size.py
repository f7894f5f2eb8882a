"""Context size in items for a requested prompt length in tokens."""

from collections.abc import Callable

from litm.base.messages import UserError


def most_items(limit: int, tokens_of: Callable[[int], int], fewest: int) -> int:
    """The largest number of items whose prompts have at most `limit` tokens; `tokens_of(items)` counts them.

    By doubling and halving, in about 2·log₂(items) calls. If the count sometimes falls as items are added, the result
    still satisfies `limit`, but may not be the largest. Raises `UserError` if the minimum of `fewest` items is too
    long.
    """
    low, high = fewest, 2 * fewest
    least = tokens_of(low)
    if least > limit:
        raise UserError(f"a prompt of {low} items has {least} tokens already, more than the {limit} asked for")
    while tokens_of(high) <= limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tokens_of(middle) <= limit else (low, middle)
    return low
