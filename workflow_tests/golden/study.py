"""One study with everything: several models, metrics, gold items, clusters, remedies, excluded and cut answers."""

import base64
import csv
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from html.parser import HTMLParser
from io import BytesIO
from itertools import groupby
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import BinaryIO
from unittest.mock import patch

import pandas as pd
import torch
import yaml
from conftest import write_lines
from drawn_figures import figure_lines
from fault_server import FaultServer
from planned_jobs import cut, digest
from workbench import Workbench

from litm.base.json_files import read_json
from litm.base.store import canonical_json
from litm.inference.kept_answers import IDENTITY_FILE, Writer

QUESTIONS, DOCUMENTS = 14, 6
STUDY = yaml.safe_load(Path(__file__).with_name("study.yaml").read_text())
EXPERIMENTS = STUDY["config"]["define"]["experiments"]
#: Lines with times and of other programs.
NOT_SHOWN = ("prompts/s", "Complete log", "Elapsed time", "Using workflow specific profile")
#: A config that Snakemake runs itself, for what it says.
SMALL = {"models": ["dummy"], "experiments": ["kv"], "define": {"experiments": {"kv": EXPERIMENTS["kv"]}}}
#: Without lines that have times; our own are left.
QUIET = ("--quiet", "rules", "reason", "progress", "host")


def study(bench: Workbench, whole: bool) -> Iterator[tuple[str, str]]:
    """Kept answers, responses, tables, figures, report and console lines of the study."""
    with TemporaryDirectory() as place:
        said = list(_said_by_snakemake(bench.moved_to(Path(place))))
    write_lines(bench.path("asked.jsonl"), [_record(number) for number in range(QUESTIONS)])
    config = deepcopy(STUDY["config"])
    bench.configure({**config, "models": ["dummy"], "only": {}, "define": {**config["define"], "models": {}}})
    bench.make_here(*(f"results/example_checks/{name}.json" for name in (*EXPERIMENTS, *STUDY["conditions"])))
    for model in STUDY["recorded"]:
        for experiment in (*EXPERIMENTS, *STUDY["conditions"]):
            config["define"]["models"][model]["responses"][experiment] = _record_answers(bench, model, experiment)
    drawn: dict[str, list[str]] = {}
    # The prompts of two threads share fewer beginnings, and the number of threads is the machine's.
    torch.set_num_threads(1)
    with FaultServer(_fault, _answer) as server, _drawing(drawn):
        # With a revision, the server's address is no part of the key of an answer.
        config["define"]["models"]["served"] = {
            "engine": "openai", "api_model": "big", "revision": "r1", "base_url": f"{server.url}/v1", "concurrency": 1,
            "request_attempts": 1, "on_failure": "count", "prompt_template": "raw", "reasoning": "strip",
            "context_window": 460, "tokenizer": "resources/reference_model", "prices": {"input": 1.5, "output": 2},
        }  # fmt: skip
        bench.configure(config)
        said += _lines_of("before the study", bench.snakemake(*QUIET, "--dry-run"))
        bench.make_here("all", "suite_export", "published")
        # After all answers, because jobs without an order between them run in any.
        bench.make_here("estimate")
        said += _lines_of("after the study", bench.snakemake(*QUIET, "--dry-run"))
    texts = {
        "console": said,
        "figures": [line for name in sorted(drawn) for line in (f"=== {name}", *drawn[name])],
        "tables": _table_lines(bench.path("results/tables"), whole),
        "answers": _answer_lines(bench.path("results"), whole),
        "report": report_lines(bench.path("results/report.html").read_text(), whole),
        "results": _result_lines(bench.path("results")),
    }
    yield from ((f"study_{name}", "\n".join(lines)) for name, lines in texts.items())


def _said_by_snakemake(bench: Workbench) -> Iterator[str]:
    """What dry runs and runs say of a small study: at first, at its end, and after changes of the config."""
    bench.configure(SMALL)
    yield from _lines_of("a new study", bench.snakemake(*QUIET, "--dry-run"))
    table = "results/tables/accuracy.csv"
    yield from _lines_of("run", bench.snakemake(*QUIET, "--", table))
    yield from _lines_of("run again", bench.snakemake(*QUIET, "--", table))
    changed = deepcopy(SMALL)
    changed["define"]["experiments"]["kv"] |= {"max_new_tokens": 50, "positions": {4: [0, 1, 2, 3], 7: [0, 3, 6]}}
    bench.configure(changed)
    yield from _lines_of("another limit and another position", bench.snakemake(*QUIET, "--dry-run", "--", table))
    bench.configure({**SMALL, "models": ["dumy"]})
    yield from _lines_of("a mistake", bench.snakemake(*QUIET, "--dry-run"))


def _lines_of(what: str, done: CompletedProcess) -> list[str]:
    """The output of programs, sorted because jobs have no order, and then that of Snakemake."""
    lines = [*sorted(done.stdout.splitlines()), *done.stderr.splitlines()]
    own = [plain(line) for line in lines if line.strip() and not any(words in line for words in NOT_SHOWN)]
    return [f"=== {what}: exit status {done.returncode}", *own]


def _record(number: int) -> dict:
    """A question of a cluster of two, with documents that grow with the number."""
    rest = " and its people tell of it" * (number // 3)
    documents = [
        {
            "id": f"{number}.{place}", "title": f"Town {number // 2}", "score": str(9 - 0.7 * place),
            "text": f"The mill of Town {place} has wheel {f'answer{number}' if place == 2 else f'item{place}'}{rest}.",
            "isgold": place == 2,
        }
        for place in range(DOCUMENTS)
    ]  # fmt: skip
    return {"question": f"what is number {number} of it", "answers": [f"answer{number}"], "ctxs": documents}


def _record_answers(bench: Workbench, model: str, experiment: str) -> str:
    """Answer the prompts of an experiment as a recorded model, right or wrong by its position; the file."""
    records = []
    for path in sorted(bench.path(f"results/examples/{experiment}").glob("*/*.jsonl.gz")):
        size, placement = path.parent.name, path.name.split(".")[0]
        for example in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
            random_ = random.Random(f"{model}/{experiment}/{size}/{placement}/{example['id']}")
            parts = []
            for target in example["targets"]:
                ends, middle = STUDY["recorded"][model]
                depth = target["depth"] if target["depth"] is not None else 0.5
                share = middle + (ends - middle) * abs(2 * depth - 1)
                right = random_.random() < share
                parts.append(target["answers"][0] if right else random_.choice(STUDY["wrong"]))
            records.append(
                {"id": example["id"], "size": int(size), "placement": placement, "response": " ".join(parts)}
            )
    # One question without a recorded answer.
    path = bench.path(f"answers/{model}/{experiment}.jsonl")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, records[:-1])
    return f"answers/{model}/{experiment}.jsonl"


def _fault(prompt: str, attempt: int) -> str | None:
    return next((fault for words, fault in STUDY["faults"].items() if words in prompt), None)


def _answer(prompt: str) -> str:
    number = int(prompt.rpartition("what is number ")[2].split()[0])
    if number == 4:
        return ""
    thought = "<think>It may be item1.</think>" if number % 2 else ""
    return f"{thought}\nanswer{number if number % 3 else 77}, I think.\nWhy?"


@contextmanager
def _drawing(drawn: dict[str, list[str]]) -> Iterator[None]:
    """Keep what figures show when they are saved as PNG, by file."""
    from matplotlib.figure import Figure

    save: Callable = Figure.savefig
    pictures: dict[str, bytes] = {}

    def save_and_keep(figure: Figure, file: BinaryIO, *arguments: object, **options: object) -> None:
        path = Path(str(getattr(file, "name", file)))
        name = path.name.removeprefix(".").removesuffix(".partial")
        if options.get("format") == "png" and path.parent.name == "figures":
            drawn[name] = figure_lines(figure)
        # Few pixels and no PDF, because only what is drawn is compared; nor a second picture without the title.
        if options.get("format") == "pdf":
            file.write(b"%PDF-1.4")
        elif path.parent.name == "untitled":
            file.write(pictures[name])
        else:
            picture = BytesIO()
            save(figure, picture, *arguments, **options | {"dpi": 20})
            pictures[name] = picture.getvalue()
            file.write(pictures[name])

    with patch.object(Figure, "savefig", save_and_keep):
        yield


def plain(text: str) -> str:
    """Without ports, versions, commits, times and checksums of lines with these; numbers with nine decimals."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    # Rows of the software that made a report.
    text = re.sub(r"^(\s*\|\s*[\w.+-]+\s*\|\s*)(commit \S+|\d+\.\d+\S*)\s*$", r"\1VERSION", text)
    text = re.sub(
        r"\b(transformers|torch|openai|vllm|snakemake|python) \d[\w.+]*", r"\1 VERSION", text, flags=re.IGNORECASE
    )
    if "VERSION" in text:
        text = re.sub(r'"crc32":"\w+"', '"crc32":"CRC32"', text)
    text = re.sub(r"\b\d+(\.\d+)? (seconds?|s|minutes?|min)\b", r"TIME", text)
    return re.sub(r"\d+\.\d{10,}(e-\d+)?", lambda match: f"{float(match[0]):.9f}", text)


def _lines(path: Path) -> list[str]:
    content = path.read_bytes()
    text = plain((gzip.decompress(content) if path.suffix == ".gz" else content).decode())
    if path.suffix == ".json":
        return [json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)]
    return text.splitlines()


def _table_lines(folder: Path, whole: bool) -> Iterator[str]:
    """By table a digest of each column and the first rows."""
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        lines = _lines(path)
        if path.name == "study.json":
            lines = [re.sub(r'"config": "\w+"', '"config": "DIGEST"', line) for line in lines]
        yield f"=== {path.name}: {len(lines)} lines, {digest(lines)}"
        if path.suffix == ".csv":
            columns = list(zip(*csv.reader(lines), strict=True))
            yield "columns " + " ".join(f"{column[0]}:{digest(column)[:6]}" for column in columns)
        yield from lines if whole else (cut(line, 900) for line in lines[: 3 if path.suffix == ".csv" else 12])


def _answer_lines(results: Path, whole: bool) -> Iterator[str]:
    """Of each file a digest; of asked models and of one sweep of a recorded one a line of each kind."""
    places = ("models/*.json", "answers/*/*", "responses/*/*", "prompt_formats/*", "estimates/*/*")
    for path in sorted(path for place in places for path in results.glob(place)):
        if path.name == IDENTITY_FILE:
            lines = [canonical_json(read_json(path))]
        else:
            # Batches of a local model have no order.
            lines = sorted(_lines(path), reverse=True) if path.parts[-3] == "answers" else _lines(path)
        name = _named(path, results)
        yield f"=== {name}: {len(lines)} lines, {digest(lines)}"
        kinds: dict[str, str] = {}
        for line in lines:
            record = json.loads(line)
            kinds.setdefault(f"{record.get('finish_reason')} {not record.get('text', record.get('response'))}", line)
        sweep = name.name.split("+") if name.parts[0] == "answers" else [name.parent.name, name.name.split(".")[0]]
        if whole or sweep[0] not in STUDY["recorded"] or sweep == ["sure", "qa"]:
            yield from lines if whole else (cut(line, 1200) for line in kinds.values())


def _named(path: Path, results: Path) -> Path:
    """A path below the results; of answers without the day, the study and the run."""
    name = path.relative_to(results)
    writer = Writer.from_file_name(path) if name.parts[0] == "answers" else None
    return name.with_name(f"{writer.model}+{writer.experiment}") if writer else name


def _result_lines(results: Path) -> Iterator[str]:
    """The names of all result files, with a digest of those that are text or scores."""
    texts = {"summaries", "suite_export", "published", "token_counts", "accuracy", "question_samples", "paper_tables"}
    for path in sorted(path for path in results.rglob("*") if path.is_file()):
        name = _named(path, results)
        if name.parts[0] in ("store", "logs", "README.md"):
            continue
        content: list[str] = []
        if name.parts[0] in texts and path.suffix in (".csv", ".json", ".md", ".tex", ".gz"):
            content = _lines(path)
        elif path.suffix == ".parquet":
            content = plain(pd.read_parquet(path).to_csv()).splitlines()
        yield f"{name} {digest(content)[:8] if content else ''}"


def report_lines(html: str, whole: bool) -> Iterator[str]:
    """The text of a page, a line a block; of each table the first rows."""
    page = _Page()
    page.feed(html)
    lines = [words for line in page.lines if (words := " ".join(plain(line).split()))]
    for is_table, group in groupby(lines, lambda line: line.startswith("|")):
        rows = list(group)
        yield from rows if whole else (cut(row, 300) for row in (rows[:3] if is_table else rows))
        if is_table and len(rows) > 3 and not whole:
            yield f"| ... {len(rows)} rows, {digest(rows)}"


class _Page(HTMLParser):
    """The lines of a page: its text with names and links of elements, and the data of its scripts."""

    INLINE = (
        *("a", "abbr", "b", "br", "button", "code", "em", "i", "label", "option", "small", "span", "strong"),
        *("td", "th"),
    )
    SHOWN = ("id", "href", "title", "alt", "download", "aria-label", "name", "content")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._data: tuple[str, dict] | None = None

    def handle_starttag(self, tag: str, attrs: list) -> None:
        named = dict(attrs)
        if tag in ("script", "style"):
            self._data = (tag, named)
            return
        if tag not in self.INLINE:
            self.lines.append("")
        if tag in ("td", "th"):
            self.lines[-1] += " | "
        if shown := [f"{key}={named[key]}" for key in self.SHOWN if named.get(key)]:
            self.lines[-1] += f"<{tag} {' '.join(shown)}>"

    def handle_endtag(self, tag: str) -> None:
        self._data = None
        if tag not in self.INLINE:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if self._data is None:
            # A line end in a source is a blank on the page.
            self.lines[-1] += data.replace("\n", " ")
            return
        named = self._data[1]
        if named.get("type") == "application/json":
            content = json.loads(data)
            parts = content.get("charts", [content])
            self.lines += [f"data {named.get('id')}: {json.dumps(part)}" for part in parts]
        elif named.get("type") == "text/plain":
            packed = plain(gzip.decompress(base64.b64decode(data)).decode())
            self.lines.append(f"packed {named.get('id', '')} {named.get('data-experiment', '')}: {packed}")
