"""Damaged answers: read correctly, or refused in one line; no changed answer is used, and no file changes."""

import gzip
import json
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, refused
from programs import run_program
from sweeps import ANSWERS, COUNT, dummy_sweep, repeated_keys, short_examples

from litm.base.json_files import read_json
from litm.base.store import digest
from litm.inference.kept_answers import IDENTITY_FILE, Writer

#: Changes the bytes of a file of answers.
Damage = Callable[[bytes, random.Random], bytes]
#: Changes files in the folder of an identity, or moves it.
Change = Callable[[Path, random.Random], object]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _with_line(change: Callable[[bytes], bytes]) -> Damage:
    """Change one line with an answer."""

    def damage(data: bytes, rng: random.Random) -> bytes:
        lines = _lines(data)
        number = rng.randrange(len(lines))
        return b"".join([*lines[:number], change(lines[number]), *lines[number + 1 :]])

    return damage


def _changed(change: Callable[[dict], dict]) -> Damage:
    """Change the record of one answer."""
    return _with_line(lambda line: json.dumps(change(json.loads(line))).encode() + b"\n")


def _without(name: str, record: dict) -> dict:
    return {key: value for key, value in record.items() if key != name}


def _swapped(field: str) -> Damage:
    """Exchange the values of a field between two answers."""

    def damage(data: bytes, rng: random.Random) -> bytes:
        lines = _lines(data)
        one, other = rng.sample(range(len(lines)), 2)
        first, second = json.loads(lines[one]), json.loads(lines[other])
        first[field], second[field] = second[field], first[field]
        lines[one], lines[other] = (json.dumps(record).encode() + b"\n" for record in (first, second))
        return b"".join(lines)

    return damage


def _flipped_letter(data: bytes, rng: random.Random) -> bytes:
    """Change one letter of a text, as a flipped bit on a disk does."""
    start = data.index(b'"text":"', rng.randrange(len(data) // 2)) + 8
    return data[:start] + bytes([data[start] ^ 1]) + data[start + 1 :]


def _garbage(data: bytes, rng: random.Random) -> bytes:
    """Random bytes over a part of a line, which may or may not stay one."""
    start = rng.randrange(len(data) - 20)
    return data[:start] + rng.randbytes(rng.randrange(1, 20)) + data[start + 20 :]


def _damages() -> Iterator[Case]:
    """All kinds of damage. Random cuts of the file may cost the answers that are cut off."""

    def damaged(name: str, damage: Damage, costs: int = 1) -> Case:
        """costs: how many prompts may be asked again at most."""
        return moved(name, partial(_rewrite, damage), costs)

    def moved(name: str, change: Change, costs: int) -> Case:
        return Case(name, partial(attack, name, change, costs), fast=True)

    for name in ("key", "identity", "text", "finish_reason", "prompt_tokens", "response_tokens", "made_with"):
        yield damaged(f"no {name}", _changed(partial(_without, name)))
    for name, values in {
        "key": (None, 5, "0" * 64),
        "identity": (None, 5, "0" * 64),
        "text": (None, 5, ["a"], {"a": 1}, "edited by hand", "half \ud83d"),
        "finish_reason": (None, 5),
        "prompt_tokens": ("12", 12.5, -1, 1e30, float("nan")),
        "response_tokens": (None, [1]),
        "fields": (None, "text"),
    }.items():
        for value in values:
            yield damaged(f"{name} is {value!r}"[:40], _changed(partial(dict, **{name: value})))
    yield damaged("a field that nobody knows", _changed(partial(dict, more=1)))
    for field in ("key", "text", "identity"):
        yield damaged(f"{field} of two answers swapped", _swapped(field), costs=2)
    yield damaged("a letter flipped", _flipped_letter)
    yield damaged("lines reordered", lambda data, rng: b"".join(rng.sample(_lines(data), data.count(b"\n"))), costs=0)
    yield damaged("an answer twice", lambda data, rng: data + rng.choice(_lines(data)), costs=0)
    yield damaged("the whole file twice", lambda data, rng: data * 2, costs=0)
    yield damaged("an answer removed", _with_line(lambda line: b""))
    yield damaged("empty", lambda data, rng: b"", costs=COUNT)
    yield damaged("line ends CR LF", lambda data, rng: data.replace(b"\n", b"\r\n"), costs=0)
    yield damaged("line ends CR", lambda data, rng: data.replace(b"\n", b"\r"), costs=0)
    yield damaged("gzip", lambda data, rng: gzip.compress(data, mtime=0), costs=0)
    yield damaged("UTF-16", lambda data, rng: data.decode().encode("utf-16"))
    yield damaged("a byte order mark", lambda data, rng: b"\xef\xbb\xbf" + data)
    yield damaged("zeros at the end", lambda data, rng: data + b"\0" * 4096, costs=0)
    yield damaged("zeros over the last line", lambda data, rng: data[:-40] + b"\0" * 40)
    yield damaged("zeros within", _with_line(lambda line: b"\0" * len(line.rstrip()) + b"\n"))
    yield damaged("blank lines", _with_line(lambda line: b"\n \n" + line), costs=0)
    yield damaged("a line nested too deep", _with_line(lambda line: b"[" * 100_000 + b"\n" + line), costs=0)
    yield damaged("a line of 20 MB", _with_line(lambda line: b'"' + b"x" * 20_000_000 + b'"\n' + line), costs=0)
    digits = b'{"n":' + b"9" * 5000 + b","
    yield damaged("an integer of 5,000 digits", _with_line(lambda line: line.replace(b"{", digits, 1)))
    yield damaged("two answers on a line", _with_line(lambda line: line.rstrip() + line))
    yield damaged("no line end at the end", lambda data, rng: data.rstrip(b"\n"))
    yield damaged("JSON with spaces and sorted otherwise", _changed(lambda one: dict(reversed(one.items()))))
    yield damaged("an array of all", lambda data, rng: b"[" + data.replace(b"\n", b",") + b"]", costs=0)
    for seed in range(4):
        yield damaged(f"torn at random {seed}", lambda data, rng: data[: -rng.randrange(1, len(_lines(data)[-1]))])
        yield damaged(f"cut at random {seed}", lambda data, rng: data[: rng.randrange(1, len(data))], costs=COUNT)
        yield damaged(f"random bytes {seed}", _garbage, costs=COUNT)
    yield from (
        moved(f"{IDENTITY_FILE}: {name}", _identity(change), cost) for name, (change, cost) in IDENTITIES.items()
    )
    yield from (moved(name, change, cost) for name, (change, cost) in PLACES.items())


def _rewrite(damage: Damage, folder: Path, rng: random.Random) -> None:
    file = _file(folder)
    file.write_bytes(damage(file.read_bytes(), rng))


def _file(folder: Path) -> Path:
    (file,) = folder.glob("*.jsonl")
    return file


def _identity(change: Callable[[bytes], bytes | None]) -> Change:
    """Change the bytes of the file with an identity; None removes it."""

    def changed(folder: Path, rng: random.Random) -> None:
        file = folder / IDENTITY_FILE
        data = change(file.read_bytes())
        if data is None:
            file.unlink()
        else:
            file.write_bytes(data)

    return changed


def _record(change: Callable[[dict], object]) -> Callable[[bytes], bytes]:
    """Change the record of an identity."""

    def changed(data: bytes) -> bytes:
        record = json.loads(data)
        change(record)
        return json.dumps(record).encode()

    return changed


def _as_another(record: dict) -> None:
    """The record of an identity becomes that of another."""
    record["fields"]["decoding"]["max_new_tokens"] += 1
    record["identity"] = digest(record["fields"])


#: Changes of the file with an identity, and how many prompts they may cost.
IDENTITIES: dict[str, tuple[Callable[[bytes], bytes | None], int]] = {
    "missing": (lambda data: None, 0),
    "empty": (lambda data: b"", COUNT),
    "cut": (lambda data: data[:-20], COUNT),
    "zeros": (lambda data: b"\0" * len(data), COUNT),
    "gzip": (lambda data: gzip.compress(data, mtime=0), COUNT),
    "an array": (lambda data: b"[" + data + b"]", COUNT),
    "nested too deep": (lambda data: b"[" * 100_000, COUNT),
    "line ends CR LF": (lambda data: data.replace(b"\n", b"\r\n"), 0),
    "on one line": (_record(lambda record: None), 0),
    "a field that nobody knows": (_record(lambda record: record.update(more=1)), 0),
    "its fields edited": (_record(lambda record: record["fields"]["decoding"].update(max_new_tokens=31)), COUNT),
    "its digest edited": (_record(lambda record: record.update(identity="0" * 64)), COUNT),
    "fields are a text": (_record(lambda record: record.update(fields="text")), COUNT),
    "no fields": (_record(lambda record: record.pop("fields")), COUNT),
    "another version": (_record(lambda record: record.update(version=2)), COUNT),
    "no version": (_record(lambda record: record.pop("version")), COUNT),
    "that of another identity": (_record(_as_another), COUNT),
}


def _renamed(name: str, folder: Path, rng: random.Random) -> None:
    folder.rename(folder.with_name(name))


def _into_another(folder: Path, rng: random.Random) -> None:
    """The folder gets the name and the file of another identity."""
    file = folder / IDENTITY_FILE
    record = json.loads(file.read_bytes())
    _as_another(record)
    file.write_text(json.dumps(record))
    folder.rename(folder.with_name(record["identity"]))


def _copied(folder: Path, rng: random.Random) -> None:
    shutil.copytree(folder, folder.with_name("a copy"))


def _named(name: str, folder: Path, rng: random.Random) -> None:
    _file(folder).rename(folder / name)


def _of_another_study(damage: Damage, folder: Path, rng: random.Random) -> None:
    _rewrite(damage, folder, rng)
    writer = Writer.from_file_name(_file(folder))
    assert writer
    _named(Writer(writer.model, writer.experiment, writer.day, "0" * 8, writer.run).name, folder, rng)


def _divided(folder: Path, rng: random.Random) -> None:
    """The answers in two files, as of two runs."""
    file = _file(folder)
    lines, at = _lines(file.read_bytes()), rng.randrange(1, COUNT)
    file.write_bytes(b"".join(lines[:at]))
    file.with_name("another.jsonl").write_bytes(b"".join(lines[at:]))


def _among_others(folder: Path, rng: random.Random) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / ".DS_Store").write_bytes(b"\0")
    (folder.parent / "notes.jsonl").write_text("mine\n")
    (folder.parent / "empty").mkdir()


def _beside_a_folder(folder: Path, rng: random.Random) -> None:
    (folder / "folder.jsonl").mkdir()


#: Files that were moved, renamed or added, and how many prompts that may cost.
PLACES: dict[str, tuple[Change, int]] = {
    "the folder renamed": (partial(_renamed, "from a colleague"), 0),
    "the folder copied": (_copied, 0),
    "the folder of another identity": (_into_another, COUNT),
    "the file renamed": (partial(_named, "answers.jsonl"), 0),
    "the file divided": (_divided, 0),
    "the file removed": (lambda folder, rng: _file(folder).unlink(), COUNT),
    "files that are none": (_among_others, 0),
    "a folder called as a file": (_beside_a_folder, 0),
    "that of another study": (partial(_of_another_study, lambda data, rng: data), 0),
    "that of another study, gzip": (partial(_of_another_study, lambda data, rng: gzip.compress(data, mtime=0)), COUNT),
    "that of another study, random bytes": (partial(_of_another_study, _garbage), 2),
}


def attack(name: str, change: Change, costs: int, arena: Arena) -> list[Outcome]:
    """Change the kept answers of a finished sweep and run it again."""
    undisturbed, place = arena.made_once("undisturbed dummy", _run_undisturbed), arena.folder
    for part in (ANSWERS, "asking"):
        shutil.copytree(undisturbed / part, place / part)
    (folder,) = (place / ANSWERS).iterdir()
    change(folder, random.Random(name))
    before, words = _files(place), dummy_sweep(undisturbed).words(place)
    done = run_program("generate", *words)
    if not done.returncode:
        asked = read_json(place / "manifest.json")["asked"]
        after = _files(place)
        run_program("generate", *words)
        repeated = 0 if "twice" in name or "copied" in name else repeated_keys(place / ANSWERS)
        faults = {
            "other responses are served": _responses(place) != _responses(undisturbed),
            f"{asked} prompts asked again, at most {costs} were lost": asked > costs,
            "a file of answers was changed": before.items() - after.items(),
            f"{repeated} keys occur twice": repeated > asked,
            "the run after it asks again": read_json(place / "manifest.json")["asked"],
        }
        fault = "; ".join(text for text, is_so in faults.items() if is_so)
        return [Outcome(name, WRONG if fault else RIGHT, fault, numbers={"asked again": asked})]
    said = done.stderr.strip()
    if _files(place) != before:
        return [Outcome(name, WRONG, f"refused, but files were changed: {said[-200:]}")]
    # What the line advises.
    is_identity = IDENTITY_FILE in said
    (folder / IDENTITY_FILE).unlink() if is_identity else shutil.rmtree(folder)
    again = run_program("generate", *words)
    if again.returncode or _responses(place) != _responses(undisturbed):
        return [Outcome(name, WRONG, f"what it advises is no remedy: {said[-200:]}")]
    if is_identity and read_json(place / "manifest.json")["asked"]:
        return [Outcome(name, WRONG, f"what it advises has prompts asked again: {said[-200:]}")]
    return [refused(name, said.splitlines()[-1] if "Traceback" not in said else said)]


def _files(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (place / ANSWERS).rglob("*") if path.is_file()}


def _responses(place: Path) -> bytes:
    return (place / "responses.jsonl.gz").read_bytes()


def _run_undisturbed(folder: Path) -> None:
    done = run_program("generate", *dummy_sweep(short_examples(folder)).words(folder))
    assert done.returncode == 0, done.stderr


FAMILY = Family(
    "answers",
    "Each attack damages, moves or adds a file of kept answers, or of their identity, and runs the sweep again. Either "
    "the responses equal those of the undisturbed run, only lost prompts are sent again and only once, and no file "
    "that was there is changed; or one line refuses the files and leaves them as they are.",
    list(_damages()),
)
