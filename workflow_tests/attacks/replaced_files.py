"""Models, data and documents whose files are replaced without a newer time."""

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import qa_record, write_lines
from sweeps import MODEL
from workbench import Workbench

#: Seconds since 1970: the time of files that replace newer ones.
LONG_AGO = 1_600_000_000
KV = {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 4, "max_new_tokens": 20}
QA = {"task": "multi_document_qa", "dataset": "mine", "positions": {3: [0, 2]}, "max_new_tokens": 10}


@dataclass(frozen=True)
class Stale:
    """config: of both runs; prepare: makes the files before the first run; replace: changes them, given the number of
    the replacement, so that it can be undone; during: whether this happens while the first run asks.
    """

    name: str
    config: dict[str, Any]
    prepare: Callable[[Workbench], None]
    replace: Callable[[Workbench], None]
    back: Callable[[Workbench], None] | None = None
    during: bool = False
    until: tuple[str, ...] = ()


def age(path: Path) -> None:
    """Give a file, or all in a folder, an old time."""
    for one in [path, *(path.rglob("*") if path.is_dir() else ())]:
        os.utime(one, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def put(source: Path, place: Path) -> None:
    """`cp -p` of an old file or folder over another."""
    age(source)
    if source.is_dir():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(source, place)
    else:
        shutil.copy2(source, place)


def link(bench: Workbench, name: str, target: str) -> None:
    """`ln -sfn`, with an old time."""
    path = bench.path(name)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    age(path)


# Models: the same network with other weights.

MODELS = {
    "models": ["mine"],
    "experiments": ["kv"],
    "define": {
        "models": {"mine": {"engine": "transformers", "path": "models/current", "dtype": "float32", "device": "cpu"}},
        "experiments": {"kv": KV},
    },
}


def two_models(bench: Workbench) -> None:
    """models/a and models/b, as old as each other; the second is the first with other weights."""
    for name in ("a", "b"):
        shutil.copytree(MODEL, bench.path(f"models/{name}"))
    weights = bench.path("models/b/model.safetensors")
    weights.write_bytes(negated(weights.read_bytes()))
    age(bench.path("models"))


def header(weights: bytes) -> tuple[int, list[str]]:
    """The length of what is before the numbers of a safetensors file, and the names of its tensors."""
    length = 8 + int.from_bytes(weights[:8], "little")
    return length, [name for name in json.loads(weights[8:length]) if name != "__metadata__"]


def negated(weights: bytes) -> bytes:
    """A file of bfloat16 numbers with the sign of each turned round: of the same length, and another model."""
    begin, _ = header(weights)
    numbers = bytearray(weights[begin:])
    numbers[1::2] = bytes(byte ^ 0x80 for byte in numbers[1::2])
    return weights[:begin] + bytes(numbers)


def linked_models(bench: Workbench) -> None:
    two_models(bench)
    link(bench, "models/current", "a")


def copied_models(bench: Workbench) -> None:
    two_models(bench)
    put(bench.path("models/a"), bench.path("models/current"))


def sharded_models(bench: Workbench) -> None:
    """Weights in a sub-folder that an index names."""
    two_models(bench)
    for name in ("a", "b"):
        folder = bench.path(f"models/{name}")
        (folder / "parts").mkdir()
        (folder / "model.safetensors").rename(folder / "parts" / "w.safetensors")
        _, names = header((folder / "parts" / "w.safetensors").read_bytes())
        index = {"metadata": {}, "weight_map": dict.fromkeys(names, "parts/w.safetensors")}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    age(bench.path("models"))
    put(bench.path("models/a"), bench.path("models/current"))


def weights_of(name: str, file: str = "model.safetensors") -> Callable[[Workbench], None]:
    return lambda bench: put(bench.path(f"models/{name}/{file}"), bench.path(f"models/current/{file}"))


def edited(name: str, key: str, value: object) -> Callable[[Workbench], None]:
    """Change a value in a JSON file of the model, and give it an old time."""

    def replace(bench: Workbench) -> None:
        path = bench.path(f"models/current/{name}")
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
        age(path)

    return replace


# Questions: another answer, and other documents.


def questions(bench: Workbench, name: str, word: str) -> Path:
    """A dataset whose documents have this word."""
    path = bench.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [json.loads(json.dumps(qa_record(number, 3)).replace("Text", word)) for number in range(4)]
    return write_lines(path, records)


def data(**more: Any) -> dict[str, Any]:
    """A config of a dataset, `mine.jsonl`."""
    return {
        "models": ["dummy"],
        "experiments": ["qa"],
        "define": {"datasets": {"mine": {"path": "mine.jsonl"}}, "experiments": {"qa": QA}, **more},
    }


def one_dataset(bench: Workbench) -> None:
    questions(bench, "mine.jsonl", "First")


def other_dataset(bench: Workbench) -> None:
    put(questions(bench, "other/mine.jsonl", "Other"), bench.path("mine.jsonl"))


def linked_dataset(bench: Workbench) -> None:
    for word in ("First", "Other"):
        age(questions(bench, f"data/{word}.jsonl", word))
    link(bench, "mine.jsonl", "data/First.jsonl")


def relinked_dataset(bench: Workbench) -> None:
    link(bench, "mine.jsonl", "data/Other.jsonl")


def edited_in_place(bench: Workbench) -> None:
    """Change bytes of the file, but neither its length nor its time."""
    path = bench.path("mine.jsonl")
    before = path.stat()
    path.write_text(path.read_text().replace("First", "Other"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def dataset_after_the_clock_went_back(bench: Workbench) -> None:
    """Give all results a time one hour ahead, and edit the dataset now."""
    later = time.time() + 3600
    for path in [*bench.folder.glob("results/**/*"), *bench.folder.glob(".snakemake/metadata/*")]:
        if path.is_file():
            os.utime(path, (later, later))
    questions(bench, "mine.jsonl", "Other")


def edited_text(name: str, old: str, new: str) -> Callable[[Workbench], None]:
    def replace(bench: Workbench) -> None:
        bench.edit(name, old, new)
        age(bench.path(name))

    return replace


LABELLED = data(
    datasets={"mine": {"path": "mine.jsonl"}, "labels": {"path": "labels.jsonl", "labels": "jsonl"}},
    experiments={"qa": {**QA, "subset": "labels"}},
)


def labels(bench: Workbench, name: str, kept: set[int]) -> Path:
    records = [{"question": f"what is number {number}", "keep": number in kept} for number in range(4)]
    return write_lines(bench.path(name), records)


def one_dataset_with_labels(bench: Workbench) -> None:
    one_dataset(bench)
    labels(bench, "labels.jsonl", {0, 1})


def other_labels(bench: Workbench) -> None:
    put(labels(bench, "other.jsonl", {2, 3}), bench.path("labels.jsonl"))


RECORDED = data(
    models={
        "old": {
            "engine": "recorded",
            "responses": {"qa": "r-{placement}.jsonl"},
            "fields": {"response": "answer", "question": "question"},
        }
    }
) | {"models": ["old"]}


def recorded(bench: Workbench, right: bool, folder: str = ".") -> None:
    bench.path(folder).mkdir(exist_ok=True)
    for position in (0, 2):
        records = [
            {"question": f"what is number {number}", "answer": f"answer{number}" if right else "none"}
            for number in range(4)
        ]
        write_lines(bench.path(f"{folder}/r-gold_at_{position}.jsonl"), records)


def one_recorded(bench: Workbench) -> None:
    one_dataset(bench)
    recorded(bench, right=True)


def other_recorded(bench: Workbench) -> None:
    recorded(bench, right=False, folder="other")
    for position in (0, 2):
        put(bench.path(f"other/r-gold_at_{position}.jsonl"), bench.path(f"r-gold_at_{position}.jsonl"))


DOCUMENTS = {
    "models": ["dummy"],
    "experiments": ["qa"],
    "define": {
        "datasets": {"asked": {"path": "asked.jsonl"}},
        "corpora": {"notes": {"source": "documents", "path": "notes", "shards": 1, "passages_per_shard": 100}},
        "candidates": {"random": {"questions": "asked", "corpus": "notes", "kind": "gold_and_random", "documents": 4}},
        "experiments": {"qa": {**QA, "dataset": "random"}},
    },
}


def notes(bench: Workbench, name: str, word: str) -> Path:
    bench.path(name).mkdir(exist_ok=True)
    records = [{"id": f"d{n}", "title": f"T{n}", "text": f"{word} text of {n}."} for n in range(20)]
    return write_lines(bench.path(f"{name}/n.jsonl"), records)


def one_corpus(bench: Workbench) -> None:
    notes(bench, "notes", "First")
    records = [
        {"question": f"who {n}", "answers": [f"a{n}"], "ctxs": [{"title": "G", "text": f"It is a{n}.", "isgold": True}]}
        for n in range(3)
    ]
    write_lines(bench.path("asked.jsonl"), records)


def other_document(bench: Workbench) -> None:
    put(notes(bench, "other", "Other"), bench.path("notes/n.jsonl"))


def more_documents(bench: Workbench) -> None:
    """Add a file to the folder, with the same old time as the others."""
    records = [{"id": f"e{n}", "title": f"U{n}", "text": f"More text of {n}."} for n in range(50)]
    age(write_lines(bench.path("notes/a.jsonl"), records))
    age(bench.path("notes"))


DUMMY_KV = {"models": ["dummy"], "experiments": ["kv"], "define": {"experiments": {"kv": KV}}}
WORDED = {
    "models": ["worded"],
    "experiments": ["kv"],
    "define": {
        "experiments": {"kv": KV},
        "models": {"worded": {"engine": "dummy", "prompt_template": "vicuna_v1_1"}},
    },
}


def nothing(bench: Workbench) -> None:
    """All files are the project's."""


CASES = [
    Stale("a model's folder is a link that moves", MODELS, linked_models,
          lambda bench: link(bench, "models/current", "b"), lambda bench: link(bench, "models/current", "a")),
    Stale("weights by cp -p", MODELS, copied_models, weights_of("b"), weights_of("a")),
    Stale("a model's folder by mv", MODELS, copied_models,
          lambda bench: put(bench.path("models/b"), bench.path("models/current")),
          lambda bench: put(bench.path("models/a"), bench.path("models/current"))),
    Stale("weights between the jobs of a run", MODELS, copied_models, weights_of("b"), weights_of("a"),
          until=("--until", "identify_model")),
    Stale("weights while a run asks", MODELS, copied_models, weights_of("b"), weights_of("a"), during=True),
    Stale("a model's link while a run asks", MODELS, linked_models,
          lambda bench: link(bench, "models/current", "b"), lambda bench: link(bench, "models/current", "a"),
          during=True),
    Stale("weights that an index names in a sub-folder", MODELS, sharded_models,
          weights_of("b", "parts/w.safetensors"), weights_of("a", "parts/w.safetensors")),
    Stale("a model's config.json", MODELS, copied_models, edited("config.json", "rms_norm_eps", 0.5)),
    Stale("a model's end tokens", MODELS, copied_models, edited("generation_config.json", "eos_token_id", [5, 6, 7])),
    Stale("a dataset by cp -p", data(), one_dataset, other_dataset),
    Stale("a dataset is a link that moves", data(), linked_dataset, relinked_dataset),
    Stale("a dataset with the size and time it had", data(), one_dataset, edited_in_place),
    Stale("a dataset after the clock went back", data(), one_dataset, dataset_after_the_clock_went_back),
    Stale("labels by cp -p", LABELLED, one_dataset_with_labels, other_labels),
    Stale("recorded responses by cp -p", RECORDED, one_recorded, other_recorded),
    Stale("a document by cp -p", DOCUMENTS, one_corpus, other_document),
    Stale("documents more, as old as the others", DOCUMENTS, one_corpus, more_documents),
    Stale("a prompt by cp -p", DUMMY_KV, nothing,
          edited_text("resources/prompts/kv_retrieval.txt", "Extract", "Read out")),
    Stale("a prompt template by cp -p", WORDED, nothing,
          edited_text("resources/prompt_templates/vicuna_v1_1.txt", "USER", "PERSON")),
]  # fmt: skip
