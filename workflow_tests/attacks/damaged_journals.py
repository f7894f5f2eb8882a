"""Damaged journals: read correctly, or refused in one line and left unchanged; no changed answer is used."""

import gzip
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, refused
from programs import run_program
from sweeps import COUNT, dummy_sweep, repeated_keys, short_examples

from litm.base.json_files import read_json

Damage = Callable[[bytes, random.Random], bytes]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _with_line(change: Callable[[bytes], bytes]) -> Damage:
    """Change one line with an answer."""

    def damage(data: bytes, rng: random.Random) -> bytes:
        lines = _lines(data)
        number = rng.randrange(1, len(lines))
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
        one, other = rng.sample(range(1, len(lines)), 2)
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
        return Case(name, partial(attack, name, damage, costs), fast=True)

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
    edited = (b'"max_new_tokens":30', b'"max_new_tokens":31')
    yield damaged("the identity's fields edited", lambda data, rng: data.replace(*edited, 1), costs=COUNT)
    yield damaged("lines reordered", lambda data, rng: b"".join(rng.sample(_lines(data), data.count(b"\n"))), costs=0)
    yield damaged("an answer twice", lambda data, rng: data + rng.choice(_lines(data)[1:]), costs=0)
    yield damaged("the whole file twice", lambda data, rng: data * 2, costs=0)
    yield damaged("an answer removed", _with_line(lambda line: b""))
    yield damaged("the identity removed", lambda data, rng: b"".join(_lines(data)[1:]), costs=COUNT)
    yield damaged("line ends CR LF", lambda data, rng: data.replace(b"\n", b"\r\n"), costs=0)
    yield damaged("line ends CR", lambda data, rng: data.replace(b"\n", b"\r"), costs=0)
    yield damaged("gzip", lambda data, rng: gzip.compress(data, mtime=0), costs=0)
    yield damaged("UTF-16", lambda data, rng: data.decode().encode("utf-16"), costs=0)
    yield damaged("a byte order mark", lambda data, rng: b"\xef\xbb\xbf" + data, costs=COUNT)
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


def attack(name: str, damage: Damage, costs: int, arena: Arena) -> list[Outcome]:
    """Damage a finished journal and run the sweep again."""
    undisturbed, place = arena.made_once("undisturbed dummy", _run_undisturbed), arena.folder
    before = damage((undisturbed / "journal.jsonl").read_bytes(), random.Random(name))
    (place / "journal.jsonl").write_bytes(before)
    done = run_program("generate", *dummy_sweep(undisturbed).words(place))
    if not done.returncode:
        asked = read_json(place / "manifest.json")["asked"]
        fault = _fault(name, costs, asked, before, place, undisturbed)
        return [Outcome(name, WRONG if fault else RIGHT, fault, numbers={"asked again": asked})]
    said = done.stderr.strip()
    if (place / "journal.jsonl").read_bytes() != before:
        return [Outcome(name, WRONG, f"refused, but the journal was changed: {said[-200:]}")]
    return [refused(name, said.splitlines()[-1] if "Traceback" not in said else said)]


def _fault(name: str, costs: int, asked: int, before: bytes, place: Path, undisturbed: Path) -> str:
    """What is wrong with a run that succeeded; "" for nothing."""
    journal = place / "journal.jsonl"
    rejected = journal.with_name(f"{journal.name}.rejected")
    kept = journal.stat().st_size + (rejected.stat().st_size if rejected.exists() else 0)
    responses, expected = ((folder / "responses.jsonl.gz").read_bytes() for folder in (place, undisturbed))
    faults = {
        "other responses are served": responses != expected,
        f"{asked} prompts asked again, at most {costs} were lost": asked > costs,
        "the journal was emptied": kept < len(before) / 2,
        f"{repeated_keys(journal)} keys occur twice": "twice" not in name and repeated_keys(journal),
    }
    return "; ".join(text for text, is_so in faults.items() if is_so)


def _run_undisturbed(folder: Path) -> None:
    done = run_program("generate", *dummy_sweep(short_examples(folder)).words(folder))
    assert done.returncode == 0, done.stderr


FAMILY = Family(
    "journals",
    "Each attack damages a finished journal and runs the sweep again. Either the responses equal those of the "
    "undisturbed run and only lost prompts are sent again, or one line refuses the journal and leaves it as it is.",
    list(_damages()),
)
