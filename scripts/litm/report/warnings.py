"""Warnings of the first screen: one line each, and all sentences below it."""

from collections.abc import Sequence


def warnings(cut: Sequence[str], notes: Sequence[str], sweeps: int) -> list[dict]:
    """{says, sentences}: a line, and the sentences that are unfolded below it; [] where there are none.

    cut: one sentence per sweep with cut answers; notes: other sentences; sweeps: number of all sweeps. A single note is
    the line itself.
    """
    found = []
    if cut:
        said = f"Answers were cut in {len(cut)} of {_count(sweeps, 'pair')} of model and experiment: the accuracy is a "
        found.append({"says": f"{said}lower bound there.", "sentences": [f"{one}." for one in cut]})
    if len(notes) == 1:
        found.append({"says": f"{notes[0]}.", "sentences": []})
    elif notes:
        said = f"{_count(len(notes), 'warning')} on answers and documents."
        found.append({"says": said, "sentences": [f"{one}." for one in notes]})
    return found


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
