"""Numbers of tokens, and the limit of an answer's."""

from collections.abc import Mapping
from typing import Any, TypeGuard

#: Tokens: upper limit of a count, so that a million counts sum to a 64-bit integer.
MOST_TOKENS = 10**12


def is_token_count(value: object) -> TypeGuard[int]:
    """Whether a JSON value is a number of tokens: an integer from 0 to `MOST_TOKENS`."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


#: Fields of a model's `request` that limit the tokens of an answer in place of `max_new_tokens`.
LIMITS = ("max_tokens", "max_completion_tokens")


def answer_limit(request: Mapping[str, Any] | None, max_new_tokens: int) -> tuple[int, str]:
    """The most tokens of an answer, 0 if nothing is generated, and the key that sets them: `max_new_tokens`, or the
    field of `request` with the larger value.
    """
    sent = {name: value for name in LIMITS if isinstance(value := (request or {}).get(name), int | float)}
    limits = [(int(value), name) for name, value in sent.items() if 0 <= value <= MOST_TOKENS]
    return max(limits, default=(max_new_tokens, "max_new_tokens")) if max_new_tokens else (0, "max_new_tokens")


def read_token_count(record: dict, name: str) -> int:
    value: Any = record[name]
    if not is_token_count(value):
        raise TypeError(f"'{name}' must be a whole number from 0 to {MOST_TOKENS}, found {value!r:.40}")
    return value
