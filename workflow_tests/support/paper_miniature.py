"""The paper in miniature: every cell of config/paper.yaml with tiny random models and a few questions, offline.

    python workflow_tests/support/paper_miniature.py FOLDER --cores 2

The added config sets locations and numbers. Models are asked by their hub names from a hub cache in the folder, and
data are fetched as usual from a mirror in the folder. Models that are no longer offered have recorded responses, right
or wrong at random, and less often right in the middle.
"""

import argparse
import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import yaml
from conftest import ROOT

from litm.config.catalogue import read_catalogue_entry
from litm.config.experiments import read_cells
from litm.config.schema import string_keys
from litm.examples.task import PLAIN
from litm.examples.tasks.key_values import kv_retrieval
from litm.placements import gold_positions
from litm.records import Cell

PAPER = ROOT / "config" / "paper.yaml"
#: One more than are asked, so that samples and subsets leave some out.
QUESTIONS, ASKED = 4, 3
DOCUMENTS, PAIRS = (10, 20, 30), (75, 140, 300)
#: Passages that open-domain question answering and random distractors are from, and their shards.
PASSAGES, SHARDS = 120, 2
#: Tokens that hold 20 of the documents and not 30, as with Llama 2's 4,096.
SHORT_WINDOW = 480
#: Sizes that GPT-3.5-Turbo's 4,096 tokens hold.
SHORT_SIZES = (0, 1, 5, 10, 20, 75)
#: Vocabulary of the tiny models: the words of families.py; few documents contain the answers.
WORDS = [f"w{number}" for number in range(2, 96)]
ANSWERS = WORDS[:QUESTIONS]
#: By the beginning of a name on the hub.
FAMILIES = {"mosaicml/": "mpt", "google/": "t5", "lmsys/": "llama", "meta-llama/": "llama"}


@cache
def catalogue(kind: str) -> dict[str, dict]:
    """The entries of a catalogue."""
    return string_keys(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text()))


@cache
def paper() -> dict:
    """The content of config/paper.yaml."""
    return yaml.safe_load(PAPER.read_text())


def prepare(folder: Path) -> None:
    """Make the data, the responses and the config: all that planning needs."""
    files = dict(data_files())
    for name, content in files.items():
        write(folder / "data" / name, content)
    labels = "".join(f"{question(number)}\n" for number in range(ASKED))
    write(folder / "unambiguous.txt", labels.encode())
    recorded = [name for name in paper()["models"] if catalogue("models")[name]["engine"] == "recorded"]
    for model in recorded:
        for experiment in experiments_of(model):
            write(folder / response_file(model, experiment), lines(responses(model, experiment)))
    write(folder / "config.yaml", yaml.safe_dump(config(files, recorded), sort_keys=False).encode())


def prepare_models(folder: Path) -> None:
    """Make the cache of the hub: a tiny model of each name, and the encoder of the retriever."""
    from encoders import make_encoder
    from families import save_model

    hubs = [entry["hub"] for name, entry in catalogue("models").items() if name in paper()["models"] and "hub" in entry]
    for seed, hub in enumerate(hubs):
        (family,) = (family for beginning, family in FAMILIES.items() if hub.startswith(beginning))
        save_model(family, snapshot(folder / "hub", hub), seed)
    make_encoder(snapshot(folder / "hub", catalogue("retrievers")["contriever"]["hub"]), positions=512)


def run(folder: Path, *options: str) -> int:
    """Run the workflow in a folder that has been prepared; its exit status."""
    folder = folder.resolve()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    configs = ["--configfile", str(PAPER), str(folder / "config.yaml")]
    # Whatever is set elsewhere: these models have the names of others.
    environment = os.environ | {"HF_HUB_CACHE": str(folder / "hub"), "HF_HUB_OFFLINE": "1"}
    return subprocess.run([*command, *configs, *options], cwd=ROOT, env=environment, check=False).returncode


def config(files: dict[str, bytes], recorded: Iterable[str]) -> dict:
    """What differs from the paper: the sums of the files, how many questions there are, and what is supplied."""
    sums = {
        name: _sum(entry, files[base])
        for name, entry in catalogue("datasets").items()
        for base in (entry.get("file"), (entry.get("url") or "").rsplit("/", 1)[-1])
        if base in files
    }
    fields = {name: name for name in ("response", "question", "size", "placement")}
    llama = [name for name in paper()["models"] if name.startswith("llama")]
    return {
        "data_mirror": "data",
        "model_defaults": {"device": "cpu", "threads": 1},
        "define": {
            "datasets": sums
            | {
                "unambiguous_questions": {"path": "unambiguous.txt", "labels": "txt"},
                "cl100k_tokenizer": {"path": str(ROOT / "resources" / "reference_model" / "tokenizer.json")},
            },
            "experiments": {name: {"examples": ASKED, "max_new_tokens": 20} for name in paper()["experiments"]},
            "corpora": {"wikipedia_2018": {"passages_per_shard": PASSAGES // SHARDS, "shards": SHARDS}},
            "models": {name: {"context_window": SHORT_WINDOW} for name in llama}
            | {
                name: {"fields": fields, "responses": {one: response_file(name, one) for one in experiments_of(name)}}
                for name in recorded
            },
        },
    }


def _sum(entry: dict, content: bytes) -> dict[str, str]:
    """The sum of made-up content, of the kind that a dataset's entry has."""
    if "git_blob" in entry:
        return {"git_blob": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()}
    return {"sha256": hashlib.sha256(content).hexdigest()}


def experiments_of(model: str) -> list[str]:
    """The paper's experiments that a model runs."""
    named = paper()["only"].get(model, paper()["experiments"])
    return [one for entry in named for one in ([entry] if isinstance(entry, str) else entry)]


# --- Data in the released formats


def question(number: int) -> str:
    """The text of a question."""
    return f"what is beside {WORDS[-1 - number]} number {number}"


def text(rng: random.Random, words: Sequence[str]) -> str:
    """A dozen words."""
    return " ".join(rng.choice(words) for _ in range(12))


def qa_record(number: int, documents: int) -> dict:
    """A question with its gold document and distractors without its answer."""
    rng = random.Random(number)
    gold = {"title": f"Gold {number}", "text": f"{text(rng, WORDS[10:])} {ANSWERS[number]}", "isgold": True}
    distractors = [
        {"title": f"Title {rng.choice(WORDS)}", "text": text(rng, WORDS[10:]), "isgold": False}
        for _ in range(documents - 1)
    ]
    return {"question": question(number), "answers": [ANSWERS[number]], "ctxs": [gold, *distractors]}


def kv_record(number: int, pairs: int) -> dict:
    """A key-value example."""
    made = kv_retrieval.generate("", pairs, random.Random(f"{pairs}/{number}"), PLAIN)
    gold = made.golds[0].item
    return {"ordered_kv_records": [gold, *made.distractors], "key": gold[0], "value": gold[1]}


def data_files() -> Iterator[tuple[str, bytes]]:
    """The base name and the content of each file that the paper's experiments fetch."""
    numbers = range(QUESTIONS)
    yield "nq-open-oracle.jsonl.gz", zipped(lines(qa_record(number, 1) for number in numbers))
    for size in DOCUMENTS:
        name = f"nq-open-{size}_total_documents_gold_at_0.jsonl.gz"
        yield name, zipped(lines(qa_record(number, size) for number in numbers))
    for size in PAIRS:
        yield f"kv-retrieval-{size}_keys.jsonl.gz", zipped(lines(kv_record(number, size) for number in numbers))
    rng = random.Random(0)
    rows = [f"{number}\t{text(rng, WORDS)}\tTitle {rng.choice(WORDS)}\n" for number in range(1, PASSAGES + 1)]
    yield "psgs_w100.tsv.gz", zipped("".join(["id\ttext\ttitle\n", *rows]).encode())
    yield "gpt-neox-20b.tokenizer.json", tokenizer()


def tokenizer() -> bytes:
    """A tokenizer.json of the words that the tiny models know."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    vocabulary = {word: number for number, word in enumerate(["<pad>", "</s>", *WORDS])}
    words = Tokenizer(WordLevel(vocabulary, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    return words.to_str().encode()


# --- Recorded responses


def response_file(model: str, experiment: str) -> str:
    """Where the responses of a model to an experiment are, in the folder."""
    return f"responses/{model}/{experiment}.jsonl"


def responses(model: str, experiment: str) -> Iterator[dict]:
    """A response to each question in each cell that the model's window holds."""
    for cell in cells(experiment):
        if model == "gpt-3.5-turbo-0613" and cell.size not in SHORT_SIZES:
            continue
        for number in range(QUESTIONS):
            record = kv_record(number, cell.size) if cell.size in PAIRS else None
            asked, answer = (record["key"], record["value"]) if record else (question(number), ANSWERS[number])
            chance = random.Random(f"{model}/{experiment}/{cell}/{number}").random()
            said = f"It is {answer}." if chance < share_right(cell) else "I do not know."
            yield {"question": asked, "size": cell.size, "placement": cell.placement, "response": said}


def share_right(cell: Cell) -> float:
    """Fraction of right answers: all at the edges, few in the middle."""
    positions = gold_positions(cell.placement)
    return 0.6 if not positions else 0.2 + 0.8 * abs(2 * positions[0] / max(1, cell.size - 1) - 1)


def cells(experiment: str) -> tuple[Cell, ...]:
    """The cells of an experiment of the catalogue."""
    return read_cells(read_catalogue_entry("experiments", experiment, catalogue("experiments")[experiment]))


# --- Files


def snapshot(cache: Path, hub: str) -> Path:
    """The folder of a model in a cache of the hub, whose only commit is made of its name."""
    folder = cache / f"models--{hub.replace('/', '--')}"
    commit = hashlib.sha1(hub.encode()).hexdigest()
    write(folder / "refs" / "main", commit.encode())
    return folder / "snapshots" / commit


def lines(records: Iterable[dict]) -> bytes:
    """JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def zipped(content: bytes) -> bytes:
    """The same bytes for the same content: without the time."""
    return gzip.compress(content, mtime=0)


def write(path: Path, content: bytes) -> None:
    """Write a file into a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to; all other options are Snakemake's")
    args, options = parser.parse_known_args()
    prepare(args.folder)
    prepare_models(args.folder)
    return run(args.folder, *options)


if __name__ == "__main__":
    sys.exit(main())
