"""Made-up names, dates and numbers, numbered so that none repeats in a corpus.

Each is a bijection of an index: a seeded shuffle of all possible values, read at that index. Values are therefore
distinct, in any order of access and without memory, up to their total number.
"""

from hashlib import sha256
from math import prod


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# A stem is onset, vowel, middle, vowel; a base name is a stem plus a coda. Consonants and vowels alternate, so a name
# splits in only one way: distinct parts make distinct names, and no two stems share a base name.
_CONSONANTS = _parts("b br d dr f g gr h k l m n p t tr v w")
_STEM = (
    _parts("B Bl Br C Cl Cr D Dr F Fl Fr G Gl Gr H J K Kl Kr L M N P Pl Pr R S Sk Sl Sn Sp St Sv T Th Tr V W Wh Z"),
    _parts("a e i o u au ei ie oa"),
    tuple(first + second for first in ("", "l", "m", "n", "r", "s") for second in _CONSONANTS),
    _parts("a e i o u"),
)
CODAS = _parts("ck ft ld lk lm lt nd ng nt rd rk rn sk sp st th")

# A coined name has one vowel more than a base name, so it never equals one.
_COINED = (
    _parts("B Bl Br D Dr F Fl G Gl Gr H K Kl L M N P Pr R S Sk St T Th Tr V W"),
    _parts("a e i o u"),
    _parts("l r n m s t d k v b g p z nd rt ll ss st rv lm nt rk ld sk"),
    _parts("a e i o u"),
    _parts("l r n m s t d k v b g p z nd rt ll ss st rv lm nt rk ld sk"),
    _parts("a en in o or is ek um al and"),
)

_MONTHS = _parts("January February March April May June July August September October November December")
# Two-digit days, because 4 May 1850 is contained in 14 May 1850.
_FIRST_DAY, _DAYS = 10, 19
_FIRST_YEAR, _YEARS = 1741, 180
_FIRST_NUMBER, _NUMBER_SIDE = 10_000, 300

COINED_NAMES = prod(map(len, _COINED))


def stem(seed: int, index: int) -> str:
    """The beginning of all names of a family, such as "Varnho"; the first 183,600 are distinct."""
    return _word(_STEM, 2, f"{seed}/stem", index)


def coined_name(seed: int, index: int) -> str:
    """A proper name outside any family, such as "Melitor"; the first COINED_NAMES are distinct."""
    return _word(_COINED, 3, f"{seed}/coined", index)


def date(seed: int, index: int) -> tuple[int, str, int]:
    """(day, month, year) with a day from 10 to 28; the first 41,040 are distinct."""
    year, day_of_year = shuffled(_YEARS, len(_MONTHS) * _DAYS, f"{seed}/date", index)
    month, day = divmod(day_of_year, _DAYS)
    return _FIRST_DAY + day, _MONTHS[month], _FIRST_YEAR + year


def number(seed: int, index: int) -> int:
    """A five-digit number; the first 90,000 are distinct."""
    row, column = shuffled(_NUMBER_SIDE, _NUMBER_SIDE, f"{seed}/number", index)
    return _FIRST_NUMBER + row * _NUMBER_SIDE + column


def _word(parts: tuple[tuple[str, ...], ...], split: int, key: str, index: int) -> str:
    """One choice per part; the parts before `split` are the rows of the shuffle, the others its columns."""
    row, column = shuffled(prod(map(len, parts[:split])), prod(map(len, parts[split:])), key, index)
    return "".join(_mixed_radix(parts[:split], row) + _mixed_radix(parts[split:], column))


def _mixed_radix(parts: tuple[tuple[str, ...], ...], value: int) -> list[str]:
    chosen = []
    for part in reversed(parts):
        value, digit = divmod(value, len(part))
        chosen.append(part[digit])
    return chosen[::-1]


def shuffled(rows: int, columns: int, key: str, index: int) -> tuple[int, int]:
    """The position (row, column) of the index-th cell in a seeded shuffle of a table: a Feistel network.

    Each round adds to one coordinate a hash of the other, which is invertible, so the whole is a bijection.
    """
    row, column = divmod(index % (rows * columns), columns)
    for round_ in range(3):
        row = (row + _hash(f"{key}/{round_}/column/{column}")) % rows
        column = (column + _hash(f"{key}/{round_}/row/{row}")) % columns
    return row, column


def _hash(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8])
