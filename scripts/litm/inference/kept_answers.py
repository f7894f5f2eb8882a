"""Kept answers: each under the identity that defines it, in `FOLDER/{identity}/`.

A folder of an identity has `identity.json`, its fields and their digest, and beside it a file for each run that got
answers, `{model}+{experiment}.{day}.{study}-{run}.jsonl`, to which that run alone appends. A file is never changed
afterwards, so folders of answers are shared, moved and put together by copying, and runs on several machines write at
once. All files of all folders whose identities mean the same are read, whatever they are called: the name of a model,
an experiment or a study decides nothing but who has paid.
"""

import errno
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from litm.base.cli import describe_os_error, signals_deferred
from litm.base.files import can_write, force, force_names, read_text
from litm.base.json_files import parse_object
from litm.base.messages import UserError, note
from litm.base.store import canonical_json, digest, lock
from litm.inference.answer_identity import equal_form
from litm.inference.answer_lines import AnswerFile, answer_line
from litm.inference.named_batches import Named, named_batches
from litm.records.responses import Asked, Response, response_key

#: The folder of the audit's answers, and that of what a study knows of its asking: its id, locks, and batches whose
#: answers are not there yet.
AUDIT_ANSWERS, ASKING = "results/audit_answers", "results/asking"
IDENTITY_FILE, VERSION = "identity.json", 1


@dataclass(frozen=True)
class Writer:
    """A file of answers, by its name."""

    model: str
    """The model's name."""
    experiment: str
    """The experiment's name, with what is measured if that is not answers."""
    day: str
    """The day on which it was begun: YYYY-MM-DD, UTC."""
    study: str
    """The id of the study, see `study_id`."""
    run: str
    """The id of the run that wrote it."""

    @classmethod
    def from_file_name(cls, file: Path) -> "Writer | None":
        """The writer of a file; None for a name of another form."""
        label, _, rest = file.name.removesuffix(".jsonl").rpartition(".")
        label, _, day = label.rpartition(".")
        (model, _, experiment), (study, _, run) = label.partition("+"), rest.partition("-")
        return cls(model, experiment, day, study, run) if model and experiment and study and run else None

    @property
    def sweep(self) -> tuple[str, str, str]:
        """The sweep and the study that have paid for its answers."""
        return self.model, self.experiment, self.study

    @property
    def name(self) -> str:
        """The name of the file."""
        return f"{self.model}+{self.experiment}.{self.day}.{self.study}-{self.run}.jsonl"


def new_writer(model: str, experiment: str, study: str, day: str | None = None) -> Writer:
    """A writer whose file is not there yet. day: that of now by default."""
    return Writer(model, experiment, day or datetime.now(UTC).strftime("%Y-%m-%d"), study, secrets.token_hex(4))


def answer_files(folders: Iterable[str | Path], pattern: str = "*") -> list[Path]:
    """The files of all identities in folders of answers, by their names, which have this pattern before .jsonl."""
    return [file for folder in folders for file in sorted(Path(folder).glob(f"*/{pattern}.jsonl"))]


def read_identity(folder: Path) -> dict[str, Any]:
    """The fields of the identity of a folder; `UserError` if they are not there, were edited, or of another version."""
    file = folder / IDENTITY_FILE
    if not file.exists():
        raise UserError(f"{file} is missing, so these answers are not used: copy it too")
    record = parse_object(read_text(file), str(file))
    if record.get("version") != VERSION:
        raise UserError(f"{file}: of version {record.get('version')}, which this version of the workflow cannot read")
    fields = record.get("fields")
    if not isinstance(fields, dict) or digest(fields) != record.get("identity"):
        raise UserError(f"{file} was edited: its 'identity' is not the digest of its 'fields'")
    return fields


def identity_folders(
    folders: Iterable[str | Path], known: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), is_told: bool = True
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The folders of identities in folders of answers, with their fields.

    is_told: others with files are named in a line; known: fields by digest, which is enough for a folder of that name
    without a file of its identity.
    """
    for folder in folders:
        for path in sorted(Path(folder).glob("*/")):
            if not (path / IDENTITY_FILE).exists() and path.name in known:
                yield path, known[path.name]
            elif (path / IDENTITY_FILE).exists() or any(path.glob("*.jsonl")):
                try:
                    yield path, read_identity(path)
                except UserError as error:
                    if is_told:
                        note(str(error))


@dataclass
class Kept:
    """Answers to prompts, by their keys."""

    responses: dict[str, Response] = field(default_factory=dict)
    """The answer that counts, by the key of its prompt."""
    conflicting: set[str] = field(default_factory=set)
    """The prompts with different answers."""
    others: set[str] = field(default_factory=set)
    """The prompts that another sweep has asked."""

    def add(self, key: str, response: Response, is_own: bool) -> None:
        """Add an answer. Of different answers to a prompt the same one counts wherever the files are: that whose text
        has the smallest checksum.
        """
        before = self.responses.get(key)
        if before is not None and before.text != response.text:
            self.conflicting.add(key)
            if _rank(before.text) < _rank(response.text):
                return
        elif before is not None and (key not in self.others or not is_own):
            return
        self.responses[key] = response if is_own else response.paid_elsewhere()
        (self.others.discard if is_own else self.others.add)(key)


def _rank(text: str) -> tuple[int, str]:
    return zlib.crc32(text.encode()), text


def kept_answers(
    folders: Iterable[str | Path], identity: Mapping[str, Any], asked: Mapping[str, Asked], writer: Writer | None = None
) -> Kept:
    """The answers to prompts in folders of answers, under all identities that mean the same; changes no file.

    asked: the content of each prompt by its key under `identity`; writer: the sweep's, whose model, experiment and
    study tell which answers it has paid for. Bad lines are reported if an answer is missing. Raises `UserError` for
    a file of the sweep's own that is none; others are passed over with a line.
    """
    kept, name, bad = Kept(), digest(identity), []
    form = canonical_json(equal_form(identity))
    for folder, fields in _equal_folders(folders, name, identity, form):
        other = digest(fields)
        keys = {
            (key if other == name else response_key(other, content)).encode(): key for key, content in asked.items()
        }
        for path in sorted(folder.glob("*.jsonl")):
            file, file_writer = AnswerFile(path), Writer.from_file_name(path)
            is_own = writer is not None and file_writer is not None and file_writer.sweep == writer.sweep
            try:
                for key, response in file.answers(keys):
                    kept.add(keys[key.encode()], response, is_own)
            except (OSError, UserError) as error:
                if is_own:
                    raise
                why = describe_os_error(error) if isinstance(error, OSError) else error
                note(f"{path}: not looked at for answers ({why})")
            bad += [file] if file.bad else []
    if len(kept.responses) < len(asked):
        for file in bad:
            file.tell_bad()
    return kept


def _equal_folders(
    folders: Iterable[str | Path], name: str, identity: Mapping[str, Any], form: str
) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The folders whose identities mean the same; the identity's own needs no file, as its lines name it."""
    for path, fields in identity_folders(dict.fromkeys(map(Path, folders)), {name: identity}):
        if canonical_json(equal_form(fields)) == form:
            yield path, fields


class Answers(AbstractContextManager):
    """The answers of a sweep, those that are kept and those that are added; a context manager.

    responses: the answers to its prompts, by their keys; others: those that another sweep has asked. Raises `UserError`
    if another run of the study is asking the same sweep.
    """

    def __init__(
        self, folders: Sequence[str | Path], model: str, experiment: str, asking: str | Path = ASKING, part: str = ""
    ) -> None:
        """folders: all are read, and the first that can be written takes new answers; experiment: see `Writer`; asking:
        the folder of the study's id, locks and batches; part: of the sweep, a shard's name.
        """
        self.folders = [*dict.fromkeys(map(Path, folders))]
        self.asking = Path(asking)
        self.name = f"{model}+{experiment}{f'.{part}' if part else ''}"
        self._shown = self.name.replace("+", "/")
        self.responses: dict[str, Response] = {}
        self.others: set[str] = set()
        self._asked: Mapping[str, Asked] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._open = ExitStack()
        self._held: set[str] = set()
        # A killed Snakemake can leave jobs running, and two of the same sweep would ask twice.
        if not self._hold(self.name):
            raise UserError(f"{self._shown} is in use by another run: wait for it or stop it, then run again")
        try:
            self.writer = new_writer(model, experiment, study_id(self.asking))
        except BaseException:
            self._open.close()
            raise

    def _hold(self, name: str) -> bool:
        """Lock a sweep until the end; False if another run has it."""
        if name not in self._held and lock(self._open.enter_context(lock_file(self.asking, name))):
            self._held.add(name)
        return name in self._held

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            # Of a disk that was full at the first answer.
            if not os.fstat(file.fileno()).st_size:
                Path(file.name).unlink(missing_ok=True)
        self._open.close()

    def __contains__(self, key: str) -> bool:
        return key in self.responses

    def __getitem__(self, key: str) -> Response:
        return self.responses[key]

    def find(self, identity: Mapping[str, Any], asked: Mapping[str, Asked]) -> None:
        """Read the kept answers to prompts, see `kept_answers`."""
        kept = kept_answers(self.folders, identity, asked, self.writer)
        self.responses, self.others, self._asked = kept.responses, kept.others, asked
        if kept.conflicting:
            note(
                f"{self._shown}: {len(kept.conflicting)} prompts have different answers (asked at the "
                "same time, or on other machines?); of each the same one counts in every study"
            )

    def identities(self) -> dict[str, dict[str, Any]]:
        """The fields of the identities under which this sweep has been asked, by any study, by their digests."""
        asked = (self.writer.model, self.writer.experiment)

        def is_ours(file: Path) -> bool:
            writer = Writer.from_file_name(file)
            return writer is not None and (writer.model, writer.experiment) == asked

        folders = identity_folders(self.folders, is_told=False)
        return {digest(fields): dict(fields) for path, fields in folders if any(map(is_ours, path.glob("*.jsonl")))}

    def check_place(self, identity: Mapping[str, Any]) -> None:
        """Raise `UserError` or OSError if new answers of an identity cannot be kept, before they are paid."""
        place = self._new_place(digest(identity))
        check_identity(place, identity)
        if not can_write(place):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))

    def append(self, identity: dict, batch: Sequence[tuple[str, Response]]) -> None:
        """Write the (key, response) pairs of a batch of one identity, all or nothing, and force them to the disk.

        A signal that would end the program is delayed until they are on disk.
        """
        name = digest(identity)
        data = "".join(answer_line(key, name, response) for key, response in batch).encode()
        with signals_deferred():
            if name not in self._files:
                self._files[name] = self._new_file(name, identity)
            _write(self._files[name], data)
            self.responses.update(batch)
            self.others -= {key for key, _ in batch}

    def _new_file(self, name: str, identity: dict) -> IO[bytes]:
        folder = self._new_place(name)
        keep_identity(folder, identity)
        file = self._open.enter_context((folder / self.writer.name).open("xb", buffering=0))
        force_names(folder)
        return file

    def _new_place(self, name: str) -> Path:
        """The folder of an identity that takes new answers."""
        places = [folder / name for folder in self.folders]
        return next(filter(can_write, places), places[0])

    # Batches

    def batches(self, server: str | None) -> list[Named]:
        """The batches out there that this sweep has submitted, or that have prompts of it and no run to wait for them.

        server: None for a model at none. Raises `UserError` if a batch is at another server.
        """
        batches = self._out_there()
        if elsewhere := next((batch for batch in batches if batch.server != server), None):
            back = "set 'engine' and 'base_url' back, or delete this file to have its prompts asked, and billed, again"
            raise UserError(f"{elsewhere.file}: a batch of this sweep is out there at {elsewhere.server}: {back}")
        return batches

    def tell_batches(self, label: str) -> None:
        """Say that there are batches out there, if there are any, and how to go on with them."""
        if batches := self._out_there():
            prompts = f"{sum(len(batch.tokens) for batch in batches):,} prompts in batches ({len(batches)})"
            note(f"{label}: {prompts} stay out there: the same command goes on with them, and nothing is paid twice")

    def _out_there(self) -> list[Named]:
        """These batches, without those that have all their answers, whose files are removed: their run ended after it
        had added the answers.
        """
        mine = []
        for batch in named_batches(self.asking):
            has_ours = any(key in self._asked and key not in self.responses for key in batch.tokens)
            if batch.sweep != self.name and not (has_ours and self._hold(batch.sweep)):
                continue
            keys = {key.encode() for key in batch.tokens}
            files = [file for folder in self.folders for file in (folder / digest(batch.identity)).glob("*.jsonl")]
            kept = {key for file in files for key, _ in AnswerFile(file).answers(keys)}
            if kept >= batch.tokens.keys():
                batch.forget()
            else:
                mine.append(batch)
        return mine


def lock_file(asking: str | Path, name: str) -> IO[bytes]:
    """The open file that stands for a sweep, or for what several share, while it is locked."""
    path = Path(asking) / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("ab")


def study_id(asking: str | Path, is_made: bool = True) -> str:
    """The id of a study, 8 hex digits, made if it has none; is_made: False to have "" then."""
    path = Path(asking) / "study"
    if not (is_made or path.exists()):
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        lock(file, wait=True)
        file.seek(0)
        known = file.read().decode(errors="replace").strip()
        if not known:
            known = secrets.token_hex(4)
            file.write(known.encode() + b"\n")
    return known


def check_identity(folder: Path, identity: Mapping[str, Any]) -> None:
    """Raise `UserError` if an identity's own folder has the fields of another, or none that can be read."""
    file = folder / IDENTITY_FILE
    if not file.exists():
        return
    try:
        why = "" if digest(read_identity(folder)) == digest(identity) else f"{file} is that of another identity"
    except UserError as error:
        why = str(error)
    if why:
        raise UserError(f"{why}. Remove this file and run the same command: the answers beside it are used without it")


def keep_identity(folder: Path, identity: Mapping[str, Any]) -> None:
    """Write the fields of an identity into its folder, if they are not there; `UserError` if others are."""
    file = folder / IDENTITY_FILE
    if file.exists():
        check_identity(folder, identity)
        return
    folder.mkdir(parents=True, exist_ok=True)
    # A name of its own: another run may be writing the same.
    partial = folder / f".{secrets.token_hex(4)}.partial"
    try:
        with partial.open("wb") as raw:
            raw.write(_indented({"version": VERSION, "identity": digest(identity), "fields": identity}))
            force(raw)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _indented(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=2, sort_keys=True) + "\n").encode()


def _write(file: IO[bytes], data: bytes) -> None:
    before = os.fstat(file.fileno()).st_size
    try:
        written = 0
        while written < len(data):
            written += file.write(data[written:]) or 0
        os.fsync(file.fileno())
    except OSError as error:
        # A full disk may have taken part of the batch: keep whole lines only.
        os.ftruncate(file.fileno(), before)
        file.seek(before)
        error.filename = str(file.name)
        raise
