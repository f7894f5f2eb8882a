"""A small sweep: its inputs, its command, and readers of its files."""

import json
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import ROOT
from record_makers import example
from suite_examples import example as suite_example
from suite_examples import questions

from litm.base.json_files import write_json
from litm.base.store import canonical_json
from litm.examples.task import ExampleSettings
from litm.inference.kept_answers import answer_files
from litm.models.identity import folder_identity
from litm.records.examples import write_examples

MODEL = ROOT / "resources" / "reference_model"
PROGRAM = ROOT / "scripts" / "inference" / "generate.py"
#: The folder of answers in the place of a sweep.
ANSWERS = "answers"
#: Prompts of the sweep.
COUNT = 24
#: Prompts of a batch of the local model, with its `batch_tokens`; requests at a time of the served one.
BATCH, CONCURRENCY = 2, 4


@dataclass(frozen=True)
class Sweep:
    """A sweep of one model. folder: where its inputs are; source: what is known of the model; settings, run: as the
    program gets them.
    """

    folder: Path
    source: Mapping[str, Any]
    settings: Mapping[str, Any]
    run: Mapping[str, Any]
    stop: str = "end_token"

    def words(self, place: Path, source: Path | None = None) -> list[str]:
        """The program's arguments, with answers and outputs in `place`; source: its file, made there otherwise."""
        if source is None:
            source = place / "source.json"
            write_json(source, dict(self.source))
        decoding = {"max_new_tokens": 30, "stop": self.stop}
        records = {"settings": self.settings, "decoding": decoding, "run": self.run}
        files = {"answers": ANSWERS, "asking": "asking", "responses": "responses.jsonl.gz", "manifest": "manifest.json"}
        options = {"model": "m", "experiment": "e", "source": source, "examples": self.folder / "examples.jsonl.gz"}
        options |= {name: canonical_json(value) for name, value in records.items()}
        options |= {name: place / file for name, file in files.items()}
        return [str(word) for name, value in options.items() for word in (f"--{name}", value)]

    def command(self, place: Path, source: Path | None = None) -> list[str]:
        """The program as a process of its own; arguments as in `words`."""
        return [sys.executable, str(PROGRAM), *self.words(place, source)]


def hear_signals() -> None:
    """For new processes: what a shell starts in the background, and all that this starts, ignores SIGINT."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def kv_examples(folder: Path) -> Path:
    """Prompts of key-value retrieval, which the reference model answers."""
    asked = questions("kv_retrieval", 12, ExampleSettings(COUNT, 0, "ranked"))
    made = [suite_example("kv_retrieval", question, 12, "gold_at_3") for question in asked]
    write_examples(folder / "examples.jsonl.gz", made)
    return folder


def short_examples(folder: Path, count: int = COUNT) -> Path:
    """Prompts of two words."""
    write_examples(folder / "examples.jsonl.gz", [example(id=str(n), prompt=f"prompt {n:02}") for n in range(count)])
    return folder


def local_sweep(folder: Path, device: str = "cpu", dtype: str = "float32") -> Sweep:
    """Of the reference model, on this machine."""
    source = {"location": str(MODEL), "revision": None, "context_window": 8192, "identity": folder_identity(MODEL)}
    settings = {"engine": "transformers", "dtype": dtype, "attention": "sdpa", "prompt_template": "raw"}
    return Sweep(folder, source, settings, {"device": device, "batch_tokens": 1000})


def served_sweep(folder: Path, url: str, protocol: str = "openai", batch: bool = False) -> Sweep:
    """The sweep of a model on a server."""
    source = {"location": "m", "revision": None, "context_window": None, "identity": {"api_model": "m"}}
    source["base_url"] = f"{url}/v1" if protocol == "openai" else url
    settings = {"engine": protocol, "endpoint": "chat", "prompt_template": "chat", "request": {}}
    return Sweep(folder, source, settings, {"concurrency": CONCURRENCY, "batch": batch})


def dummy_sweep(folder: Path) -> Sweep:
    """Of the engine without a model."""
    identity = {"engine": "dummy", "version": 1}
    source = {"location": "dummy", "revision": None, "context_window": None, "identity": identity}
    return Sweep(folder, source, {"engine": "dummy", "prompt_template": "raw"}, {})


def answer_records(folder: Path) -> list[dict]:
    """The answers of whole lines in a folder of answers; what is no JSON is left out."""
    records = []
    for path in filter(Path.is_file, answer_files([folder])):
        for line in path.read_bytes().split(b"\n")[:-1]:
            with suppress(ValueError, RecursionError):
                records.append(json.loads(line))
    return [record for record in records if isinstance(record, dict) and "key" in record]


def repeated_keys(folder: Path) -> int:
    """How many answers in a folder of answers are of a prompt that has another answer there."""
    keys = Counter((str(line["key"]), str(line.get("identity"))) for line in answer_records(folder))
    return sum(count - 1 for count in keys.values())
