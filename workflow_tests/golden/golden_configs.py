"""Configs whose plans are golden, with files that stand in for what a user supplies."""

import shutil
from pathlib import Path

import yaml
from conftest import ROOT, qa_record, town_records, write_lines
from gguf_files import write_gguf
from paper_miniature import catalogue
from workbench import Workbench

#: Targets in addition to `all`.
CHECKS = ("estimate", "audit", "fetch", "doctor", "suite_zip", "published")

PAPER_MODELS = ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-16k-0613", "claude-1.3", "claude-1.3-100k", "gpt-4-0613")
#: What config/paper.yaml leaves to the user.
SUPPLIED = {
    "define": {
        "datasets": {
            "unambiguous_questions": {"path": "labels.txt", "labels": "txt"},
            "cl100k_tokenizer": {"path": "resources/reference_model/tokenizer.json"},
        },
        "models": {
            name: {
                "responses": {
                    "multi_document_qa": "answers/{size}_{position}.jsonl",
                    "multi_document_qa_sample": "answers/20_{position}.jsonl",
                    "closed_book_qa": "answers.jsonl",
                },
                "fields": {"response": "model_answer", "question": "question"},
            }
            for name in PAPER_MODELS
        },
    }
}
#: One's own documents, retrieved by a system of one's own.
OWN = {
    "models": ["dummy"],
    "my_data": {"retrieved": "retrieved.jsonl", "questions": "asked.csv"},
    "define": {"experiments": {"my_as_retrieved": {"cluster": "town"}}},
}
#: One's own documents, retrieved with BM25.
NOTES = {
    "models": ["dummy"],
    "my_data": {"documents": "examples/notes", "questions": "examples/questions.csv", "corrections": "corrected.csv"},
}


def all_entries() -> dict:
    """A config that selects every model with one experiment, and every experiment with one model."""
    models = list(catalogue("models"))
    return {
        "models": models,
        "experiments": list(catalogue("experiments")),
        "only": {name: ["kv_retrieval_small"] for name in models if name not in ("dummy", *PAPER_MODELS)}
        | {name: ["closed_book_qa"] for name in PAPER_MODELS},
        **SUPPLIED,
    }


def data_targets() -> list[str]:
    """Files that the entries of data of all catalogues make."""
    candidates = catalogue("candidates")
    found = {(one["corpus"], one["retriever"], one["questions"]) for one in candidates.values() if "retriever" in one}
    return [
        *(f"results/data/{name}" for name in remote_files()),
        *(f"results/passages/{name}/manifest.json" for name in catalogue("corpora")),
        *(f"results/questions/{name}.jsonl.gz" for name in catalogue("questions")),
        *(f"results/candidates/{name}.jsonl.gz" for name in candidates),
        *(f"results/recall/{'/'.join(names)}.csv" for names in sorted(found)),
        *(f"results/reranked/{name}/mini_encyclopedia_as_retrieved.jsonl.gz" for name in catalogue("rerankers")),
    ]


def remote_files() -> list[str]:
    """The base names of files that are fetched."""
    entries = catalogue("datasets").values()
    return [one.get("file") or one["url"].rsplit("/", 1)[-1] for one in entries if one.get("url")]


def supply_files(bench: Workbench) -> Workbench:
    """The bench with the files that the configs name."""
    for name in ("asked.jsonl", "answers.jsonl"):
        write_lines(bench.path(name), [qa_record(number, 4) for number in range(2)])
    for size in (10, 20, 30):
        for position in range(0, size):
            bench.path("answers").mkdir(exist_ok=True)
            shutil.copy(bench.path("answers.jsonl"), bench.path(f"answers/{size}_{position}.jsonl"))
    for name in ("kept.txt", "labels.txt"):
        bench.path(name).write_text("what is number 0\n")
    for name in ("notes", "mirror"):
        bench.path(name).mkdir()
        bench.path(f"{name}/a.txt").write_text("A note.")
    write_gguf(bench.path("m-instruct.gguf"))
    write_lines(bench.path("retrieved.jsonl"), town_records(6, 6))
    asked = [f"who rules town {q}?,{f'Ruler {q}2' if q % 3 else 'nobody'},town{q},{q}" for q in range(6)]
    write_lines(bench.path("asked.csv"), ["question,answer,file,town", *asked])
    questions = (ROOT / "examples" / "questions.csv").read_text().splitlines()
    write_lines(bench.path("corrected.csv"), ["question,passage", f"{questions[1].split(',')[0]},mill.md:0"])
    return bench


def write_config(bench: Workbench, name: str, config: dict) -> Path:
    """Write a config into the bench."""
    path = bench.path(f"{name}.yaml")
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path
