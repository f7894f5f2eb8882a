"""Present answers to a sweep's prompts: in its journal and those of its shards, and in journals of other sweeps."""

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.base.cli import describe_os_error
from litm.base.messages import note
from litm.base.store import digest
from litm.inference.identity import equal_answers, equal_digests
from litm.inference.journal import AnswerLine, IdentityLine, journal_files, open_journal, parse_line, read_journal
from litm.inference.setup import Asking, Prompt, sweep_prompts
from litm.records import Content, Example, Response, response_key


@dataclass(frozen=True)
class Shard:
    """One of `count` shards, by its number from 1."""

    number: int
    count: int

    @property
    def name(self) -> str:
        """The shard's name in file paths."""
        return f"{self.number}_of_{self.count}"


def shard(text: str) -> Shard:
    """An argparse type: a shard by its name, such as 1_of_4."""
    match = re.fullmatch(r"(\d+)_of_(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no shard; the first of four is 1_of_4")
    return Shard(int(match[1]), int(match[2]))


def prompts_of_shard(prompts: Sequence[Prompt], part: Shard) -> list[Prompt]:
    """The prompts of every `count`-th question, in their order.

    A question stays whole: its prompts share most of their tokens and are compared with one another.
    """
    order = {id: number for number, id in enumerate(dict.fromkeys(prompt.id for prompt in prompts))}
    return [prompt for prompt in prompts if order[prompt.id] % part.count == part.number - 1]


def shard_journal(path: str | Path, part: Shard) -> Path:
    """The path of a shard's journal; path: the journal of the whole sweep."""
    return Path(path).with_suffix("") / f"{part.name}.jsonl"


def other_journals(path: str | Path, own: Path) -> list[Path]:
    """The journals of the sweep at `path` (whole and shards), except `own`."""
    return [file for file in journal_files(path) if file != own]


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


@dataclass(frozen=True)
class Present:
    """The prompts of a sweep, and its answers by key. Some answers may be to other prompts."""

    prompts: list[Prompt]
    answers: dict[str, Response]

    @property
    def keys(self) -> set[str]:
        """The keys of the prompts that have an answer."""
        return {prompt.key for prompt in self.prompts} & self.answers.keys()


def present_answers(
    examples: Iterable[Example], asking: Asking, identity: dict, journal: str | Path, journals: str | Path | None
) -> Present:
    """The answers that a sweep would use again, as `sweep.ask_missing` finds them; changes no journal.

    identity: the sweep's; journal: its path, which may not exist; journals: the folder of all sweeps' journals, None to
    leave the others out.
    """
    answers: dict[str, Response] = {}
    identities: dict[str, dict] = {}
    for path in journal_files(journal):
        recorded = read_journal(path)
        answers |= recorded.responses
        identities |= recorded.identities
    prompts = sweep_prompts(examples, digest(identity), asking.settings["prompt_template"])
    equal = equal_digests(identities, identity, asking.stored_dtype)
    answers |= equal_answers(((prompt.key, prompt.content) for prompt in prompts), equal, answers)
    missing = {prompt.key: prompt.content for prompt in prompts if prompt.key not in answers}
    others = other_sweeps(journals, journal) if journals and missing else ()
    answers |= answers_elsewhere(missing, identity, others, asking.stored_dtype).answers
    return Present(prompts, answers)
