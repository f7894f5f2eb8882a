"""What a check of the doctor says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: What a check says: all is well; it will do, but one should know of it; without it the study cannot be made.
OK, WARNING, MISSING = "ok", "warning", "missing"


@dataclass(frozen=True)
class Check:
    """What was found out about one thing. message: what is there and, unless all is well, what to do."""

    status: str
    what: str
    message: str


def ok(what: str, message: str) -> Check:
    """A check of something that is as it should be."""
    return Check(OK, what, message)


def warning(what: str, message: str) -> Check:
    """A check of something that will do, but that one should know of."""
    return Check(WARNING, what, message)


def missing(what: str, message: str) -> Check:
    """A check of something without which the study cannot be made."""
    return Check(MISSING, what, message)


def in_bytes(size: float) -> str:
    """A number of bytes for people, in units of 10⁹ (GB) or 10⁶ (MB)."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


def checks_table(checks: Sequence[Check]) -> str:
    """One line a check, in columns."""
    width = max((len(check.what) for check in checks), default=0)
    return "\n".join(f"{check.status:<7}  {check.what:<{width}}  {check.message}" for check in checks)


def counts(checks: Iterable[Check]) -> str:
    """How many checks there are of each status, in words."""
    statuses = [check.status for check in checks]
    return ", ".join(f"{statuses.count(status)} {status}" for status in (OK, WARNING, MISSING))
