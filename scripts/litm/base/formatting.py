"""Formatting of numbers and of texts for messages."""


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st, ..."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def percent(fraction: float) -> str:
    """A fraction in per cent, to one decimal: 12.3."""
    return f"{100 * fraction:.1f}"


def points(difference: float) -> str:
    """A difference of fractions in points, with its sign, to one decimal: +1.2 points."""
    # Adding 0 removes the sign of a difference that rounds to zero.
    return f"{round(100 * difference, 1) + 0:+.1f} points"


def single_spaced(text: str) -> str:
    """A text on one line: runs of white space become one space, none at the ends."""
    return " ".join(text.split())


def shortened(text: object, longest: int = 120) -> str:
    """A text for a one-line message: longer texts are cut, and their length is given."""
    whole = str(text)
    return whole if len(whole) <= longest else f"{whole[:longest]}... ({len(whole):,} characters)"


def quoted(value: object, longest: int = 120) -> str:
    """A user's value for a one-line message: texts in quotes, without line ends, and cut if long."""
    return shortened(repr(value), longest)
