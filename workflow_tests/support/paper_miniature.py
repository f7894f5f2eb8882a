"""The paper in miniature: every cell of config/paper.yaml with tiny random models and a few questions, offline.

    python workflow_tests/support/paper_miniature.py FOLDER --cores 2

The added config sets locations and numbers. Models are asked by their hub names from a hub cache in the folder, and
data are fetched as usual from a mirror in the folder. Models that are no longer offered have recorded responses, right
or wrong at random, and less often right in the middle.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import yaml
from conftest import ROOT, write_lines

from litm.base.schema import string_keys
from litm.base.store import file_sha256, git_blob_id
from litm.config.catalogue import read_catalogue_entry
from litm.config.experiment_cells import read_cells
from litm.examples.task import PLAIN
from litm.examples.tasks.key_values import kv_retrieval
from litm.placements import gold_positions
from litm.records.cells import Cell

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
    return string_keys(yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text()))


@cache
def paper() -> dict:
    return yaml.safe_load(PAPER.read_text())


def prepare(folder: Path) -> None:
    """Make the data, the responses and the config: all that planning needs."""
    for name, records in data_files():
        write(folder / "data" / name, records)
    write(folder / "unambiguous.txt", map(question, range(ASKED)))
    recorded = [name for name in paper()["models"] if catalogue("models")[name]["engine"] == "recorded"]
    for model in recorded:
        for experiment in experiments_of(model):
            write(folder / response_file(model, experiment), responses(model, experiment))
    write(folder / "config.yaml", [yaml.safe_dump(config(folder / "data", recorded), sort_keys=False)])


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


def config(data: Path, recorded: Iterable[str]) -> dict:
    """What differs from the paper: the sums of the files, how many questions there are, and what is supplied."""
    sums = {
        name: {"git_blob": git_blob_id(file)} if "git_blob" in entry else {"sha256": file_sha256(file)}
        for name, entry in catalogue("datasets").items()
        for base in (entry.get("file"), (entry.get("url") or "").rsplit("/", 1)[-1])
        if base and (file := data / base).exists()
    }
    own = {
        "unambiguous_questions": {"path": "unambiguous.txt", "labels": "txt"},
        "cl100k_tokenizer": {"path": str(ROOT / "resources" / "reference_model" / "tokenizer.json")},
    }
    fields = {name: name for name in ("response", "question", "size", "placement")}
    models: dict[str, dict] = {
        name: {"fields": fields, "responses": {one: response_file(name, one) for one in experiments_of(name)}}
        for name in recorded
    }
    models |= {name: {"context_window": SHORT_WINDOW} for name in paper()["models"] if name.startswith("llama")}
    return {
        "data_mirror": "data",
        "model_defaults": {"device": "cpu", "threads": 1},
        "define": {
            "datasets": sums | own,
            "experiments": {name: {"examples": ASKED, "max_new_tokens": 20} for name in paper()["experiments"]},
            "corpora": {"wikipedia_2018": {"passages_per_shard": PASSAGES // SHARDS, "shards": SHARDS}},
            "models": models,
        },
    }


def experiments_of(model: str) -> list[str]:
    """The paper's experiments that a model runs."""
    named = paper()["only"].get(model, paper()["experiments"])
    return [one for entry in named for one in ([entry] if isinstance(entry, str) else entry)]


def question(number: int) -> str:
    return f"what is beside {WORDS[-1 - number]} number {number}"


def text(rng: random.Random, first: int = 0) -> str:
    """A dozen words, without the first ones."""
    return " ".join(rng.choice(WORDS[first:]) for _ in range(12))


def qa_record(number: int, documents: int) -> dict:
    """A question with its gold document and distractors without its answer."""
    rng = random.Random(number)
    gold = {"title": f"Gold {number}", "text": f"{text(rng, 10)} {ANSWERS[number]}", "isgold": True}
    distractors = [
        {"title": f"Title {rng.choice(WORDS)}", "text": text(rng, 10), "isgold": False} for _ in range(documents - 1)
    ]
    return {"question": question(number), "answers": [ANSWERS[number]], "ctxs": [gold, *distractors]}


def kv_record(number: int, pairs: int) -> dict:
    made = kv_retrieval.generate("", pairs, random.Random(f"{pairs}/{number}"), PLAIN)
    gold = made.golds[0].item
    return {"ordered_kv_records": [gold, *made.distractors], "key": gold[0], "value": gold[1]}


def data_files() -> Iterator[tuple[str, Iterable]]:
    """The base name and the records or lines of each file that the paper's experiments fetch."""
    numbers = range(QUESTIONS)
    yield "nq-open-oracle.jsonl.gz", (qa_record(number, 1) for number in numbers)
    for size in DOCUMENTS:
        yield f"nq-open-{size}_total_documents_gold_at_0.jsonl.gz", (qa_record(number, size) for number in numbers)
    for size in PAIRS:
        yield f"kv-retrieval-{size}_keys.jsonl.gz", (kv_record(number, size) for number in numbers)
    rng = random.Random(0)
    rows = (f"{number}\t{text(rng)}\tTitle {rng.choice(WORDS)}" for number in range(1, PASSAGES + 1))
    yield "psgs_w100.tsv.gz", ["id\ttext\ttitle", *rows]
    yield "gpt-neox-20b.tokenizer.json", [tokenizer()]


def tokenizer() -> str:
    """A tokenizer.json of the words that the tiny models know."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    vocabulary = {word: number for number, word in enumerate(["<pad>", "</s>", *WORDS])}
    words = Tokenizer(WordLevel(vocabulary, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    return words.to_str()


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
    return read_cells(read_catalogue_entry("experiments", experiment, catalogue("experiments")[experiment]))


def snapshot(cache: Path, hub: str) -> Path:
    """The folder of a model in a cache of the hub, whose only commit is made of its name."""
    folder = cache / f"models--{hub.replace('/', '--')}"
    commit = hashlib.sha1(hub.encode()).hexdigest()
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    (folder / "refs" / "main").write_text(commit)
    return folder / "snapshots" / commit


def write(path: Path, records: Iterable) -> None:
    """Write lines into a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lines(path, list(records))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to; all other options are Snakemake's")
    args, options = parser.parse_known_args()
    prepare(args.folder)
    prepare_models(args.folder)
    return run(args.folder, *options)


if __name__ == "__main__":
    sys.exit(main())
