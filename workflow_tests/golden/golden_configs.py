"""Configs whose plans are golden, with files that stand in for what a user supplies."""

import shutil
from pathlib import Path

import yaml
from conftest import ROOT, qa_record, write_lines
from gguf_files import write_gguf
from workbench import Workbench

SHA256 = "0" * 64
COMMIT = "0123456789abcdef0123456789abcdef01234567"
#: Targets in addition to `all`.
CHECKS = ("estimate", "audit", "fetch", "doctor", "suite_zip", "published", "reference_model")

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
KV = {"task": "kv_retrieval", "positions": {4: [0, 3], 6: [0, 5]}, "examples": 3}
#: One of everything that the configs of the project do not have.
MIXED = {
    "models": ["here", "chat", "completions", "keyless", "recorded", "parts", "weights", "remote", "thinking"],
    "experiments": [
        "kv", "kv_in_tokens", "qa", "open", "oracle", "closed", "needles", "suite_needles", "reasoned"
    ],
    "only": {"recorded": ["qa", "closed"], "thinking": ["kv", {"qa": [3]}], "remote": [{"open": [2]}, "needles"]},
    "examples": 7,
    "seed": 3,
    "data_mirror": "mirror",
    "model_defaults": {"quantization": "int8", "threads": 2},
    "audit": {"prompts_per_cell": 2},
    "report": {"questions_per_size": 4},
    "figure_style": {"preset": "slide", "titles": False},
    "define": {
        "datasets": {
            "asked": {"path": "asked.jsonl"},
            "tokenizer": {"url": "https://example.org/tokenizer.json", "sha256": SHA256},
            "far": {"url": "https://example.org/a/far.jsonl.gz", "sha256": SHA256},
            "kept": {"path": "kept.txt", "labels": "txt"},
        },
        "corpora": {"notes": {"source": "documents", "path": "notes", "shards": 2, "passages_per_shard": 11_000}},
        "retrievers": {
            "exact": {"method": "dense", "hub": "someone/encoder", "threads": 8},
            "near": {
                "method": "dense", "hub": "someone/encoder", "index": "hnsw", "device": "cpu", "batch_tokens": 9,
                "query_prefix": "query: ",
            },
            "words": {"method": "bm25", "k1": 1, "b": 0.5},
        },
        "rerankers": {
            "deep": {"method": "cross_encoder", "hub": "someone/reranker", "max_tokens": 48},
            "fused": {"method": "reciprocal_rank", "k": 10},
        },
        "candidates": {
            "by_near": {"questions": "far", "corpus": "notes", "retriever": "near", "documents": 5},
            "by_words": {
                "questions": "asked", "corpus": "notes", "retriever": "words", "documents": 6, "kind": "as_retrieved"
            },
            "drawn": {
                "questions": "asked", "corpus": "mini_encyclopedia", "documents": 6, "kind": "gold_and_random"
            },
        },
        "models": {
            # Numbers as they are written: whole ones stay whole.
            "here": {
                "engine": "transformers", "path": "resources/reference_model", "device": "cpu", "mem_mb": 100,
                "context_window": 100, "dtype": "float32", "quantization": "none",
                "config": {"rope_theta": 10000, "factor": 8.0, "off": None, "yes": True},
            },
            "chat": {
                "engine": "openai", "api_model": "gpt", "base_url": "http://localhost/v1", "concurrency": 3,
                "request_timeout": 50, "request_attempts": 4, "prices": {"input": 1, "output": 2},
                "request": {"temperature": 0, "top_p": 1.0, "seed": None, "stop": ["a"]},
            },
            "completions": {
                "engine": "openai", "api_model": "gpt", "endpoint": "completions", "context_window": 100,
                "tokenizer": "resources/reference_model", "prompt_template": "mpt_instruct",
            },
            "keyless": {
                "engine": "anthropic", "api_model": "c", "tokenizer": "tokenizer", "reasoning": "strip",
                "reasoning_tags": ["<a>", "</a>"], "revision": "2024-01",
            },
            "recorded": {
                "engine": "recorded", "responses": {"qa": "answers.jsonl", "closed": "far"},
                "fields": {"response": "r", "id": "i", "prompt": "p"}, "reasoning": "strip",
            },
            "parts": {
                "engine": "vllm", "hub": "someone/x-7b-chat", "prompt_template": "chat", "shards": 3, "gpus": 2,
                "gpu_model": "a100", "tokenizer": "tokenizer", "on_failure": "count", "context_window": 4096,
                "batch_tokens": 99, "threads": 4, "tokens_per_second": 10, "dtype": "bfloat16", "quantization": "none",
            },
            "weights": {
                "engine": "transformers", "path": "m-instruct.gguf", "dtype": "float32", "quantization": "none",
                "device": "cpu",
            },
            "remote": {
                "engine": "transformers", "hub": "someone/own-13b", "prompt_template": "vicuna_v1_1",
                "trust_remote_code": True, "revision": COMMIT, "attention": "eager", "dtype": "float16",
                "about": {"tuned_from": "parts", "family": "x", "parameters": 13},
            },
            "thinking": {
                "engine": "transformers", "hub": "someone/thinks", "prompt_template": "chat", "reasoning": "budget",
                "reasoning_tokens": 200, "dtype": "bfloat16", "device": "cuda", "runtime": 77,
            },
            "counter": {"engine": "transformers", "hub": "someone/y", "prompt_template": "vicuna_v1_1"},
        },
        "experiments": {
            "kv": KV,
            "kv_in_tokens": {
                "task": "kv_retrieval", "tokens_of": "counter", "depths": {500: [0, 0.5, 1], 900: [0, 1]}, "examples": 3
            },
            "qa": {
                "task": "multi_document_qa", "dataset": {3: "by_near", 4: "drawn"}, "positions": {3: [0, 2], 4: [1]},
                "subset": "kept", "closed_book": "closed", "oracle": "oracle", "cluster": "title",
                "distractor_order": "random", "on_overflow": "fail",
            },
            "open": {
                "task": "open_domain_qa", "dataset": "by_words", "sizes": [2, 4],
                "remedies": {
                    "order": ["reversed", "random"], "rerank": ["deep", "fused"], "cut": [{"margin": 1.5}],
                    "prompt": ["multi_document_qa_query_aware"],
                },
            },
            "oracle": {"task": "oracle_qa", "dataset": "asked"},
            "closed": {"task": "closed_book_qa", "dataset": "asked", "examples": 2, "selection": "random"},
            "needles": {
                "task": "multi_needle", "positions": {12: [[0, 5, 11], [0, 1, 2]]}, "design": "move_the_pair",
            },
            "suite_needles": {
                "task": "needle_in_haystack", "wording": "suite", "prompt": "suite_needle_in_haystack",
                "positions": {20: "nine"},
            },
            "reasoned": {
                "task": "fact_reasoning", "positions": {10: [0, 9]}, "metric": "exact_integer", "stop": "first_line",
                "max_new_tokens": 60,
            },
        },
    },
}  # fmt: skip
#: One's own documents, retrieved by a system of one's own.
OWN = {
    "models": ["dummy"],
    "my_data": {"retrieved": "retrieved.jsonl", "questions": "asked.csv"},
    "define": {"experiments": {"my_as_retrieved": {"cluster": "file"}}},
}
#: One's own documents, retrieved with BM25.
NOTES = {
    "models": ["dummy"],
    "my_data": {"documents": "examples/notes", "questions": "examples/questions.csv", "corrections": "corrected.csv"},
}


def catalogue(kind: str) -> dict[str, dict]:
    """The entries of a catalogue."""
    return yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text())


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
    retrieved = [
        {
            "question": f"who rules town {q}?",
            "documents": [
                {
                    "page_content": f"Town {q} has a mill, and {'Ruler' if d == 2 else 'Miller'} {q}{d} lives there.",
                    "metadata": {"source": f"/data/town{q}.md"},
                    "score": 9 - d,
                }
                for d in range(6)
            ],
        }
        for q in range(6)
    ]
    write_lines(bench.path("retrieved.jsonl"), retrieved)
    asked = [f"who rules town {q}?,{f'Ruler {q}2' if q % 3 else 'nobody'},town{q}" for q in range(6)]
    write_lines(bench.path("asked.csv"), ["question,answer,file", *asked])
    questions = (ROOT / "examples" / "questions.csv").read_text().splitlines()
    write_lines(bench.path("corrected.csv"), ["question,passage", f"{questions[1].split(',')[0]},mill.md:0"])
    return bench


def write_config(bench: Workbench, name: str, config: dict) -> Path:
    """Write a config into the bench."""
    path = bench.path(f"{name}.yaml")
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path
