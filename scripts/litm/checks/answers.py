"""Kept answers as files: what there is, taking in those of another place, and deleting those of an identity."""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litm.base.files import atomic_writer, force
from litm.base.groups import grouped
from litm.base.messages import UserError, counted, first_of, in_columns, money, note
from litm.base.store import digest
from litm.inference.answer_lines import parse_line
from litm.inference.kept_answers import (
    ASKING,
    IDENTITY_FILE,
    Writer,
    identity_folders,
    keep_identity,
    new_writer,
    read_identity,
    study_id,
)
from litm.records.bills import Prices, Usage
from litm.records.measures import MEASURE
from litm.records.responses import Response

ROOT = Path(__file__).resolve().parents[3]
#: Characters of an identity's digest that are shown, and the fewest that name one.
SHOWN, LEAST = 12, 6
#: Folders that may have the answers of a study, below that of its results: those of this version, and of earlier ones.
PLACES = ("answers", "journal")
#: The name of a shard's journal, in a folder of its experiment's name.
SHARD = re.compile(r"\d+_of_\d+")
HEADINGS = (
    "identity", "models", "source", "kind", "answers", "prompt tokens", "answer tokens", "US$", "first day", "last day"
)  # fmt: skip


@dataclass
class Summary:
    """The answers of an identity."""

    folder: Path
    identity: Mapping[str, Any]
    responses: dict[str, Response] = field(default_factory=dict)
    """By key, each once."""
    bills: list[tuple[str, Usage]] = field(default_factory=list)
    """The name of the model that was billed, and the tokens."""
    writers: list[Writer] = field(default_factory=list)


def main() -> None:
    words = argparse.ArgumentParser(prog="litm answers", description=__doc__)
    words.add_argument("--answers", type=Path, help="the folder of kept answers, by default that of the config")
    commands = words.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("ls", help="list the identities with their answers")
    listing.add_argument("--configfile", type=Path, help="a config whose prices tell the dollars (config/config.yaml)")
    taking = commands.add_parser("import", help="add the answers of a folder; its files are not changed")
    taking.add_argument("folder", type=Path, help="a folder of answers, the results of a study, or old journals")
    removing = commands.add_parser("rm", help="delete the answers of an identity")
    removing.add_argument("identity", help=f"the identity, or its first characters ({LEAST} at least)")
    removing.add_argument("--yes", action="store_true", help="delete them; without it, say what would be deleted")
    asked = words.parse_args()
    folder = asked.answers or _default_folder(getattr(asked, "configfile", None))
    if asked.command == "ls":
        print("\n".join(listed(folder, asked.configfile)))
    elif asked.command == "import":
        note(import_answers(asked.folder, folder))
    else:
        note(remove(folder, asked.identity, asked.yes))


def _config(more: Path | None) -> dict[str, Any]:
    """The config of the working directory. more: a file that is put over it."""
    from litm.config.yaml_files import read_layers

    files = [ROOT / "config" / "config.yaml", Path("config/config.yaml"), *([more] if more else [])]
    return read_layers(file for file in files if file.is_file())


def _default_folder(config: Path | None) -> Path:
    from litm.config.study import answer_folders

    return Path(answer_folders(_config(config).get("answers"))[0])


# ls


def listed(folder: Path, config: Path | None = None) -> list[str]:
    """A table of the identities in a folder, those that were asked last first."""
    summaries = [summary_of(path, fields) for path, fields in identity_folders([folder])]
    if not summaries:
        return [f"{folder}: no answers"]
    prices = _prices(config) if any(summary.bills for summary in summaries) else {}
    summaries.sort(key=lambda summary: (max((writer.day for writer in summary.writers), default=""), summary.folder))
    rows = [HEADINGS, *(_cells(summary, prices) for summary in reversed(summaries))]
    billed = sorted({model for summary in summaries for model, _ in summary.bills})
    by_table = grouped(
        (model for model in billed if "table" in prices.get(model, ())), lambda model: prices[model]["table"]
    )
    notes = [f"US$ of {first_of(models, 3)}: by the prices of {table}" for table, models in by_table.items()]
    return [*in_columns(rows, 4).splitlines(), *notes]


def summary_of(path: Path, fields: Mapping[str, Any]) -> Summary:
    """What there is of an identity, in its folder."""
    summary = Summary(path, fields)
    for file in sorted(path.glob("*.jsonl")):
        writer = Writer.from_file_name(file)
        summary.writers += [writer] if writer else []
        for key, _, response, _ in _answers_in(file):
            summary.responses.setdefault(key, response)
            if response.billed and not response.billed.elsewhere:
                summary.bills.append((writer.model if writer else "", response.billed))
    return summary


def _cells(summary: Summary, prices: Mapping[str, Mapping]) -> tuple[str, ...]:
    writers, answers = summary.writers, summary.responses.values()
    days = sorted(writer.day for writer in writers) or [""]
    source = summary.identity.get("source") or {}
    asked = source.get("api_model") or source.get("hub") or source.get("engine") or "files"
    known = [Prices.from_entry(prices[model]).dollars(usage) for model, usage in summary.bills if model in prices]
    dollars = money(sum(known)) if known and len(known) == len(summary.bills) else "-"
    return (
        digest(summary.identity)[:SHOWN],
        first_of(list(dict.fromkeys(writer.model for writer in writers)), 3),
        str(asked),
        summary.identity.get("decoding", {}).get(MEASURE, "answers"),
        f"{len(answers):,}",
        f"{sum(answer.prompt_tokens for answer in answers):,}",
        f"{sum(answer.response_tokens for answer in answers):,}",
        dollars,
        days[0],
        days[-1],
    )


def _prices(config: Path | None) -> dict[str, Mapping]:
    """The prices of a study's models, by its config files or the table."""
    from litm.config.study import load_study

    study = load_study(_config(config), ROOT)
    prices = {name: getattr(model, "all_prices", None) for name, model in study.asked_models.items()}
    return {name: price for name, price in prices.items() if price}


# import


def import_answers(source: Path, folder: Path, asking: str | Path = ASKING) -> str:
    """Add the answers in a folder that are not kept yet; what was done, in a line.

    Each file of the source becomes a file of its own, whole or not at all. Raises `UserError` if there are none.
    """
    places = [place for name in PLACES if (place := source / name).is_dir()] or [source]
    files = [(file, identities) for place in places for file, identities in _files_in(place)]
    if not files:
        raise UserError(f"{source}: no answers: name a folder of answers, the results of a study, or old journals")
    counts: Counter[str] = Counter()
    for file, identities in files:
        by_identity: dict[str, dict[str, bytes]] = {}
        for key, name, _, line in _answers_in(file, counts):
            by_identity.setdefault(name, {})[key] = line
        for name, lines in by_identity.items():
            if name not in identities:
                counts["unknown"] += len(lines)
                continue
            new = _not_kept(folder / name, lines)
            counts["there"] += len(lines) - len(new)
            counts["new"] += len(new)
            if new:
                _add(folder / name, identities[name], _writer_of(file, asking), new)
    parts = [f"{source}: {counted(counts['new'], 'answer')} added to {folder}"]
    parts += [f"{counts['there']:,} were there"] if counts["there"] else []
    parts += [f"{counts['bad']:,} lines are damaged and left out"] if counts["bad"] else []
    parts += [f"{counts['unknown']:,} left out, as their identity is not in the folder"] if counts["unknown"] else []
    return ", ".join(parts)


def _files_in(place: Path) -> Iterator[tuple[Path, dict[str, Mapping[str, Any]]]]:
    """The files with answers below a folder, with the fields of their identities by digest.

    Journals of earlier versions have identities between their answers.
    """
    fields, unread = dict(identity_folders([place], is_told=False)), set[Path]()
    for folder, identity in fields.items():
        yield from ((file, {digest(identity): identity}) for file in sorted(folder.glob("*.jsonl")))
    for file in sorted(place.rglob("*.jsonl")):
        if file.parent in fields:
            continue
        if identities := dict(_identity_lines(file)):
            yield file, identities
        elif file.parent.parent == place:
            unread.add(file.parent)
    for folder in sorted(unread):
        try:
            read_identity(folder)
        except UserError as error:
            note(str(error))


def _identity_lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with file.open("rb") as lines:
        for line in lines:
            if b'"fields":' in line:
                try:
                    record = json.loads(line)
                    if digest(record["fields"]) == record["identity"]:
                        yield record["identity"], record["fields"]
                except (ValueError, TypeError, KeyError):
                    continue


def _answers_in(file: Path, counts: Counter[str] | None = None) -> Iterator[tuple[str, str, Response, bytes]]:
    """The key, identity, response and line of each answer in a file; counts: those of damaged lines as `bad`."""
    with file.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n") or (b'"fields":' in line and b'"key":' not in line):
                continue
            try:
                yield *parse_line(line), line
            except ValueError:
                if counts is not None:
                    counts["bad"] += 1


def _not_kept(folder: Path, lines: Mapping[str, bytes]) -> dict[str, bytes]:
    """The lines that the folder of their identity does not have, with the same text."""
    texts = {key: parse_line(line)[2].text for key, line in lines.items()}
    for file in sorted(folder.glob("*.jsonl")):
        for key, _, response, _ in _answers_in(file):
            if texts.get(key) == response.text:
                del texts[key]
    return {key: lines[key] for key in texts}


def _writer_of(file: Path, asking: str | Path) -> Writer:
    """The writer of a file; of a journal, whose folders name the sweep, a new one of this study if it is its own."""
    if writer := Writer.from_file_name(file):
        return writer
    *_, model, experiment = file.with_suffix("").parts
    if SHARD.fullmatch(experiment):
        *_, model, experiment, _ = file.with_suffix("").parts
    is_own = file.resolve().is_relative_to(Path(asking).resolve().parent)
    day = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d")
    return new_writer(model, experiment, study_id(asking) if is_own else digest(str(file.parent))[:8], day)


def _add(folder: Path, identity: Mapping[str, Any], writer: Writer, lines: Mapping[str, bytes]) -> None:
    keep_identity(folder, identity)
    if (folder / writer.name).exists():
        writer = new_writer(writer.model, writer.experiment, writer.study, writer.day)
    with atomic_writer(folder / writer.name) as raw:
        raw.writelines(lines.values())
        force(raw)


# rm


def remove(folder: Path, name: str, is_sure: bool) -> str:
    """Delete the answers of an identity, named by its first characters; what was done, in a line.

    Raises `UserError` if none or several begin so, or unless `is_sure`.
    """
    paths = [path for path in sorted(folder.glob("*/")) if len(name) >= LEAST and path.name.startswith(name)]
    if len(paths) != 1:
        raise UserError(f"{folder}: {len(paths)} identities begin with '{name}': see `litm answers ls`")
    (path,) = paths
    files = sorted(path.glob("*.jsonl"))
    number = len({key for file in files for key, *_ in _answers_in(file)})
    what = f"{counted(number, 'answer')} in {counted(len(files), 'file')} of {path}"
    if not is_sure:
        raise UserError(f"{what}: they would have to be asked, and paid, again; add --yes to delete them")
    others = [file for file in path.iterdir() if file not in files and file.name != IDENTITY_FILE]
    for file in [*files, path / IDENTITY_FILE]:
        file.unlink(missing_ok=True)
    if not others:
        path.rmdir()
    return f"{what}: deleted"
