"""Reuse across sweeps: answers in the journals of other sweeps to prompts asked under the same identity, for any
experiment and any name of the model.

Journals are read without a lock, because other runs may be writing to them, and never changed. The identities of a
journal are read first, its answers only if an identity matches. Broken lines are reported by the sweep that owns the
journal. A journal that cannot be read is named and skipped.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.base.cli import describe_os_error
from litm.base.messages import note
from litm.base.store import digest
from litm.domain.example import Content
from litm.domain.response import Response, response_key
from litm.inference.equal_identities import equal_digests
from litm.inference.journal import journal_files, open_journal
from litm.inference.journal_lines import AnswerLine, IdentityLine, parse_line

#: Folder of all journals, relative to the working directory.
JOURNALS = "results/journal"
#: Bytes found only in identity lines, and bytes before the key of an answer: quotes within a text are escaped.
IDENTITY_MARK, KEY_MARK = b'"fields":', b'"key":"'
KEY_LENGTH = 64
#: Bytes read from a journal at a time.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Found:
    """Answers of other sweeps, by the keys of the prompts.

    conflicting: how many prompts have different answers in two journals.
    """

    answers: Mapping[str, Response]
    conflicting: int = 0


def all_journals(folder: str | Path) -> list[Path]:
    """The journals of all sweeps and of their shards in `folder`, sorted by path."""
    return sorted(path for pattern in ("*/*.jsonl", "*/*/*.jsonl") for path in Path(folder).glob(pattern))


def other_sweeps(folder: str | Path, journal: str | Path) -> list[Path]:
    """All journals, except those of the sweep whose journal is at `journal`."""
    own = {file.resolve() for file in journal_files(journal)}
    return [file for file in all_journals(folder) if file.resolve() not in own]


def answers_elsewhere(
    asked: Mapping[str, Content], identity: dict, files: Iterable[Path], stored_dtype: str | None = None
) -> Found:
    """Answers to prompts in the journals of other sweeps.

    asked: the content of each prompt, by its key under `identity`; files: the journals, in their order; stored_dtype:
    see `equal_form`. Answers under the same identity take precedence over answers under an equal one. If two journals
    answer a prompt differently, the last counts, as within a journal.
    """
    own = digest(identity)
    # By the digest of an identity: prompt keys by answer keys, and the answers found.
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
    """The lines of a file that contain `mark`; reading blocks takes half the time of reading lines."""
    with open_journal(file) as raw:
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
    with open_journal(file) as lines:
        for line in lines:
            start = line.find(KEY_MARK) + len(KEY_MARK)
            is_wanted = line[start : start + KEY_LENGTH] in wanted
            if is_wanted and isinstance(said := _parsed(line), AnswerLine):
                yield said


def _parsed(line: bytes) -> IdentityLine | AnswerLine | None:
    """The record of a whole line; None for half a line or a malformed one."""
    try:
        return parse_line(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
