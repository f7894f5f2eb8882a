"""What people bring: tables of questions as other programs write them by default."""

from collections.abc import Iterator

from brought_study import DOCUMENTS, QUESTIONS, judged, study
from outcomes import Arena, Case, Outcome


def _sound(arena: Arena) -> Iterator[Outcome]:
    """Without a fault: or the other cases would say nothing."""
    table = "question,answer\n" + "".join(f"{question},{answer}\n" for question, answer in QUESTIONS.items())
    config = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}
    found = study(arena, {**DOCUMENTS, "questions.csv": table}, config)
    yield judged("a sound table", found, lambda it: set(it.accuracy()) == {1.0})


CASES = [Case("a sound table", _sound)]
