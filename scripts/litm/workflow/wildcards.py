"""Wildcards of the rules, and their patterns."""

import re
from collections.abc import Iterable
from typing import Protocol

from litm.domain.placement import AS_RETRIEVED, GOLD_AT, GOLD_AT_DEPTH, NO_GOLD

#: A regular expression that matches every placement.
PLACEMENT = rf"{GOLD_AT.pattern}|{GOLD_AT_DEPTH.pattern}|{NO_GOLD}|{AS_RETRIEVED}"


class Wildcards(Protocol):
    """A job's wildcards as texts; a job has those in its rule's outputs."""

    candidates: str
    corpus: str
    derived: str
    experiment: str
    figure: str
    file: str
    first: str
    found: str
    generated: str
    model: str
    number: str
    own: str
    part: str
    questions: str
    dataset: str
    reranker: str
    retriever: str
    size: str
    table: str


def any_of(names: Iterable[object]) -> str:
    """A regular expression for exactly these names; without names it matches nothing."""
    return "|".join(re.escape(str(name)) for name in names) or "(?!)"
