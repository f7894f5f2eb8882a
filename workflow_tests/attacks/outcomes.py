"""Outcomes of attacks: one record each, the source of the tables in docs/reliability.md."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench import Workbench

#: As if nothing had happened; refused in one line, with nothing changed or lost; refused by a traceback of Snakemake's,
#: which reads a config before this workflow does; anything else.
RIGHT, REFUSED, TRACED, WRONG = "right", "refused", "traced", "wrong"
RESULTS = (RIGHT, REFUSED, TRACED, WRONG)
#: Characters of the longest message that is still one line to read.
LONGEST_LINE = 600
TRACEBACK = "Traceback (most recent call last)"
#: The environment variable with the folder in which outcomes are kept.
RECORDS_VARIABLE = "LITM_ATTACK_RECORDS"
#: The environment variable with the families to run, if not all.
FAMILIES_VARIABLE = "LITM_ATTACK_FAMILIES"


@dataclass(frozen=True)
class Outcome:
    """case: what was done; detail: what was seen of it; count: of how many cases, where they are alike; numbers: what
    is counted as well, such as prompts that were asked twice.
    """

    case: str
    result: str
    detail: str = ""
    count: int = 1
    numbers: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Arena:
    """The place of a case: an empty folder, the project's files, and folders that are made once for all cases."""

    folder: Path
    project: Callable[[], "Workbench"]
    made_once: Callable[[str, Callable[[Path], object]], Path]


@dataclass(frozen=True)
class Case:
    """An attack. fast: whether it is part of `make test-all`."""

    name: str
    run: Callable[[Arena], Iterable[Outcome]]
    fast: bool = False


@dataclass(frozen=True)
class Family:
    """Attacks of one kind. about: the attack and the expected result, for the page."""

    name: str
    about: str
    cases: Sequence[Case]


def counted(case: str, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Many outcomes as one record for each result; each wrong outcome keeps its own record."""
    found = list(outcomes)
    alike = {result: [one for one in found if one.result == result] for result in (RIGHT, REFUSED)}
    sums = [Outcome(case, result, count=len(some)) for result, some in alike.items() if some]
    return [*sums, *(one for one in found if one.result == WRONG)]


def traceback_in(said: str) -> str:
    """How a traceback in a text ends, and where in the project it was; nothing if there is none."""
    if TRACEBACK not in said:
        return ""
    lines = said[said.index(TRACEBACK) :].splitlines()
    end = next((line for line in lines[1:] if line and not line.startswith((" ", "+"))), lines[-1])
    places = [line.strip() for line in lines if "/litm/" in line or "/scripts/" in line]
    return f"a traceback: {end} ({places[-1] if places else 'not in the project'})"


def refusal_fault(message: str) -> str | None:
    """What is wrong with a message as a refusal: it must be one line that can be read; None if nothing is."""
    if TRACEBACK in message:
        return traceback_in(message)
    if "\n" in message:
        return f"{message.count(chr(10)) + 1} lines: {message[:300]}"
    return f"{len(message)} characters: {message[:300]}" if len(message) >= LONGEST_LINE else None


def refused(case: str, message: str) -> Outcome:
    fault = refusal_fault(message)
    return Outcome(case, WRONG if fault else REFUSED, fault or message)


def save(family: str, case: str, outcomes: Iterable[Outcome]) -> None:
    folder = os.environ.get(RECORDS_VARIABLE)
    if folder:
        lines = [json.dumps({"family": family, **asdict(one)}) for one in outcomes]
        record_file(Path(folder), family, case).write_text("".join(line + "\n" for line in lines))


def record_file(folder: Path, family: str, case: str) -> Path:
    name = "".join(letter if letter.isalnum() else "_" for letter in case)[:100]
    return folder / family / f"{name}_{hashlib.sha256(case.encode()).hexdigest()[:8]}.jsonl"


def load(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """(family, outcome) of all that was kept in a folder."""
    for path in sorted(folder.glob("*/*.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            yield record.pop("family"), Outcome(**record)
