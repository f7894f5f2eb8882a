"""Checks of the doctor: their statuses and messages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Statuses: fine; usable, but worth knowing; the run would fail.
OK, WARNING, MISSING = "ok", "warning", "missing"


@dataclass(frozen=True)
class Check:
    """The result for one thing. message: the finding and, unless the status is ok, the remedy."""

    status: str
    what: str
    message: str


def ok(what: str, message: str) -> Check:
    """A check of something that is fine."""
    return Check(OK, what, message)


def warning(what: str, message: str) -> Check:
    """A check of something usable, but worth knowing."""
    return Check(WARNING, what, message)


def missing(what: str, message: str) -> Check:
    """A check of something without which the run would fail."""
    return Check(MISSING, what, message)


def in_bytes(size: float) -> str:
    """A number of bytes for people, in units of 10⁹ (GB) or 10⁶ (MB)."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


def checks_table(checks: Sequence[Check]) -> str:
    """One line per check, in columns."""
    width = max((len(check.what) for check in checks), default=0)
    return "\n".join(f"{check.status:<7}  {check.what:<{width}}  {check.message}" for check in checks)


def counts(checks: Iterable[Check]) -> str:
    """The number of checks by status, in words."""
    statuses = [check.status for check in checks]
    return ", ".join(f"{statuses.count(status)} {status}" for status in (OK, WARNING, MISSING))
