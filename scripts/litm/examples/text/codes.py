"""Random codes: what the suite's tasks ask for, because nothing but reading can tell them."""

from random import Random

#: No vowels, so that no code is a word; no I, O, 0 and 1, so that none can be misread.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
DIGITS = "23456789"

#: How many different codes there are: a guess is right once in so many.
CODES = len(LETTERS) ** 3 * len(DIGITS) ** 4


def random_codes(rng: Random, count: int) -> list[str]:
    """`count` different codes such as "TRK-5938"."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(rng.choices(LETTERS, k=3)) + "-" + "".join(rng.choices(DIGITS, k=4))] = None
    return list(codes)
