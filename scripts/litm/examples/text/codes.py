"""Random codes, the answers of the suite's tasks, which only reading can give."""

from random import Random

#: No vowels, so that no code is a word; no I, O, 0 and 1, so that none can be misread.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
DIGITS = "23456789"


#: Form of a code: `?` is a random letter, `#` a random digit.
FORM = "???-####"
_RANDOM = {"?": LETTERS, "#": DIGITS}


def random_codes(rng: Random, count: int, form: str = FORM) -> list[str]:
    """`count` distinct codes such as "TRK-5938", of the 32,768,000 of `FORM`."""
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(rng.choices(_RANDOM[sign])[0] if sign in _RANDOM else sign for sign in form)] = None
    return list(codes)
