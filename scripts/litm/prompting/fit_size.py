"""How many items a context may have so that its prompt is as long, in tokens, as was asked for."""

from collections.abc import Callable

from litm.base.errors import UserError


def most_items(limit: int, tokens_of: Callable[[int], int], fewest: int) -> int:
    """The largest number of items whose prompts have at most `limit` tokens; `tokens_of(items)` counts them.

    By doubling and halving, so it is called about 2·log₂(items) times. Where it falls now and then as items are added,
    the result still has at most `limit`, but may not be the very largest. Raises
    `UserError` if the `fewest` items that there must be are too many.
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
