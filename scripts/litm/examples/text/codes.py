"""Random codes, the answers of the suite's tasks, which only reading can give."""

from random import Random

#: No vowels, so that no code is a word; no I, O, 0 and 1, so that none can be misread.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
DIGITS = "23456789"


def random_codes(rng: Random, count: int) -> list[str]:
    """`count` distinct codes such as "TRK-5938", from 32,768,000."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(rng.choices(LETTERS, k=3)) + "-" + "".join(rng.choices(DIGITS, k=4))] = None
    return list(codes)
