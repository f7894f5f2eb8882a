"""Answers in the journals of other sweeps: a prompt that was asked under the same identity is not asked again, whatever
the experiment, and whatever name the model had.

They are read without a lock, as other runs may be writing to them, and nothing in them is changed. Of each journal the
identities are read first, and its answers only where one of them means the same; what is wrong with a line is said by
the sweep that the journal is of. A journal that cannot be read is named and passed over.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.base.cli import describe_os_error
from litm.base.hashing import digest
from litm.base.messages import note
from litm.domain.example import Content
from litm.domain.response import Response
from litm.inference.equal_identities import equal_digests
from litm.inference.journal import journal_files, response_key
from litm.inference.journal_lines import AnswerLine, IdentityLine, parse_line

#: The folder of all journals, from the working directory.
JOURNALS = "results/journal"
#: What only an identity's line has, and what comes before the key of an answer: within a text, quotes are escaped.
IDENTITY_MARK, KEY_MARK = b'"fields":', b'"key":"'
KEY_LENGTH = 64
#: In bytes; what is read of a journal at once.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Found:
    """Answers of other sweeps, by the keys of the prompts that they answer.

    conflicting: how many of these prompts another journal answers with another text.
    """

    answers: Mapping[str, Response]
    conflicting: int = 0


def all_journals(folder: str | Path) -> list[Path]:
    """The journals of all sweeps, and of their shards, in the folder of journals; sorted by their paths."""
    return sorted(path for pattern in ("*/*.jsonl", "*/*/*.jsonl") for path in Path(folder).glob(pattern))


def other_sweeps(folder: str | Path, journal: str | Path) -> list[Path]:
    """Those of all journals that are not of the sweep whose own is at `journal`."""
    own = {file.resolve() for file in journal_files(journal)}
    return [file for file in all_journals(folder) if file.resolve() not in own]


def answers_elsewhere(
    asked: Mapping[str, Content], identity: dict, files: Iterable[Path], stored_dtype: str | None = None
) -> Found:
    """What journals of other sweeps have of the answers to prompts.

    asked: the content of each prompt by its key under `identity`; files: the journals, in their order; stored_dtype:
    see `equal_form`. Answers under the identity itself come before those under others that mean the same. Where two
    journals have different answers to one prompt, the last counts, as within a journal.
    """
    own = digest(identity)
    # By the digest of an identity: the prompts' keys by the keys of their answers, and what was found.
    keys: dict[str, dict[str, str]] = {own: {key: key for key in asked}}
    found: dict[str, dict[str, Response]] = {own: {}}
    conflicting: set[str] = set()
    for file in files:
        wanted: dict[bytes, tuple[str, str]] = {}
        try:
            identities = dict(_identities(file))
        except OSError as error:
            note(f"{file}: not looked at for answers ({describe_os_error(error)})")
            continue
        for name in equal_digests(identities, identity, stored_dtype):
            if name not in keys:
                keys[name] = {response_key(name, content): key for key, content in asked.items()}
                found[name] = {}
            wanted |= {answer.encode(): (name, key) for answer, key in keys[name].items()}
        for line in _answers(file, wanted):
            name, key = wanted[line.key.encode()]
            if (earlier := found[name].get(key)) is not None and earlier.text != line.response.text:
                conflicting.add(key)
            found[name][key] = line.response
    answers: dict[str, Response] = {}
    for some in reversed(found.values()):
        answers |= some
    return Found(answers, len(conflicting))


def _identities(file: Path) -> Iterator[tuple[str, dict]]:
    for line in _lines_with(IDENTITY_MARK, file):
        if isinstance(said := _parsed(line), IdentityLine):
            yield said.name, said.fields


def _lines_with(mark: bytes, file: Path) -> Iterator[bytes]:
    """The lines of a file that have `mark`; block by block, in half the time that it takes line by line."""
    with file.open("rb") as raw:
        while block := raw.read(BLOCK):
            block += raw.readline()
            at = block.find(mark)
            while at >= 0:
                begin, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at) + 1 or len(block)
                yield block[begin:end]
                at = block.find(mark, end)


def _answers(file: Path, wanted: Mapping[bytes, object]) -> Iterator[AnswerLine]:
    """The answers of a journal that have one of the keys `wanted`."""
    if not wanted:
        return
    with file.open("rb") as lines:
        for line in lines:
            start = line.find(KEY_MARK) + len(KEY_MARK)
            is_wanted = line[start : start + KEY_LENGTH] in wanted
            if is_wanted and isinstance(said := _parsed(line), AnswerLine):
                yield said


def _parsed(line: bytes) -> IdentityLine | AnswerLine | None:
    """What a whole line says; None for half a line, or one that is no journal line."""
    try:
        return parse_line(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
