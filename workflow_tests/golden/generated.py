"""Data that rules generate, by the programs of planned jobs: prompts of all tasks, passages, questions, candidates."""

import bz2
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from conftest import qa_record, write_lines
from pdf_files import write_pdf
from planned_jobs import cut, digest
from workbench import Workbench

#: Characters of a prompt that are shown: its beginning and its end.
SHOWN = 420

KV_RECORD = {"ordered_kv_records": [["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"]], "key": "c", "value": "3"}
#: Small sizes of every task, in each of its wordings, prompts, orders and designs.
CONFIG = {
    "models": ["dummy"],
    "seed": 5,
    "define": {
        "datasets": {
            "asked": {"path": "asked.jsonl.gz"},
            "pairs": {"path": "pairs.jsonl"},
            "kept": {"path": "kept.txt", "labels": "txt"},
            "found": {"path": "found.jsonl"},
        },
        "corpora": {
            "encyclopedia": {"source": "mini_encyclopedia", "passages": 400, "passages_per_shard": 150, "shards": 3},
            "gazetteer": {"source": "mini_gazetteer", "passages": 300},
            "documents": {"source": "documents", "path": "documents", "passage_words": 12},
            "whole_documents": {"source": "documents", "path": "documents", "passage_words": None},
            "dump": {"source": "wikipedia_dump", "path": "dump.xml.bz2", "passage_words": 9},
            "table": {"source": "dpr_passages", "path": "passages.tsv"},
        },
        "questions": {
            "encyclopedia_questions": {"corpus": "encyclopedia", "questions": 6},
            "gazetteer_questions": {"corpus": "gazetteer", "questions": 5},
            "taken": {"dataset": "asked", "questions": 3},
        },
        "candidates": {
            "of_encyclopedia": {
                "questions": "encyclopedia_questions", "corpus": "encyclopedia", "kind": "gold_and_random",
                "documents": 6,
            },
            "of_gazetteer": {
                "questions": "gazetteer_questions", "corpus": "gazetteer", "kind": "gold_and_random", "documents": 5
            },
        },
        "rerankers": {"fusion": {"method": "reciprocal_rank"}},
        "experiments": {
            "kv": {"task": "kv_retrieval", "positions": {5: [0, 2, 4], 9: [8]}},
            "kv_other_key": {"task": "kv_retrieval", "positions": {5: [0, 4]}, "design": "ask_another_key"},
            "kv_query_aware": {
                "task": "kv_retrieval", "positions": {5: [1]}, "prompt": "kv_retrieval_query_aware"
            },
            "kv_released": {"task": "kv_retrieval", "positions": {4: [0, 3]}, "dataset": "pairs", "examples": 2},
            "needle": {"task": "needle_in_haystack", "positions": {8: [0, 7]}},
            "needle_suite": {
                "task": "needle_in_haystack", "positions": {16: "nine"}, "wording": "suite",
                "prompt": "suite_needle_in_haystack",
            },
            "needles": {"task": "multi_needle", "positions": {9: [[0, 4, 8], [0, 1, 2]]}},
            "needles_suite": {
                "task": "multi_needle", "positions": {9: [[0, 4, 8]]}, "wording": "suite",
                "prompt": "suite_multi_needle",
            },
            "reasoning": {"task": "fact_reasoning", "positions": {8: [0, 5]}},
            "reasoning_suite": {
                "task": "fact_reasoning", "positions": {8: [0, 5]}, "wording": "suite", "prompt": "suite_document"
            },
            "similar": {"task": "semantic_distractors", "positions": {10: [0, 9]}},
            "similar_suite": {
                "task": "semantic_distractors", "positions": {10: [0, 9]}, "wording": "suite",
                "prompt": "suite_document",
            },
            "chronicle": {"task": "temporal_narrative", "positions": {12: [0, 11]}},
            "chronicle_suite": {
                "task": "temporal_narrative", "positions": {12: [0, 11]}, "wording": "suite",
                "prompt": "suite_document",
            },
            "memory": {"task": "conversation_memory", "positions": {10: [0, 9]}},
            "memory_suite": {"task": "conversation_memory", "positions": {10: [0, 9]}, "wording": "suite"},
            "demonstrated": {"task": "demonstrations", "positions": {10: [0, 9]}},
            "qa": {
                "task": "multi_document_qa", "dataset": "asked", "positions": {3: [0, 1, 2], 5: [4]}, "cluster": "title"
            },
            "qa_query_aware": {
                "task": "multi_document_qa", "dataset": "asked", "positions": {3: [1]},
                "prompt": "multi_document_qa_query_aware",
            },
            "qa_random_order": {
                "task": "multi_document_qa", "dataset": "asked", "positions": {4: [0, 3]},
                "prompt": "multi_document_qa_random_order", "distractor_order": "random",
            },
            "qa_sample": {
                "task": "multi_document_qa", "dataset": "asked", "positions": {3: [2]}, "examples": 2,
                "selection": "random",
            },
            "qa_subset": {
                "task": "multi_document_qa", "dataset": "asked", "positions": {3: [2]}, "subset": "kept", "examples": 2
            },
            "qa_encyclopedia": {"task": "multi_document_qa", "dataset": "of_encyclopedia", "positions": {4: [0, 3]}},
            "qa_gazetteer": {"task": "multi_document_qa", "dataset": "of_gazetteer", "positions": {4: [1]}},
            "closed": {"task": "closed_book_qa", "dataset": "encyclopedia_questions"},
            "oracle": {"task": "oracle_qa", "dataset": "gazetteer_questions"},
            "oracle_taken": {"task": "oracle_qa", "dataset": "taken"},
            "open": {
                "task": "open_domain_qa", "dataset": "found", "sizes": [1, 4, 6],
                "remedies": {
                    "order": ["reversed", "ends", "ends_langchain", "random"], "rerank": ["fusion"],
                    "cut": [{"margin": 2}, {"score": 7.5}],
                    "prompt": ["multi_document_qa_query_aware"],
                },
            },
        },
    },
}  # fmt: skip
#: One's own questions on documents that one's own system has retrieved.
OWN = {
    "models": ["dummy"],
    "my_data": {"retrieved": "own.jsonl", "questions": "own.csv"},
    "define": {"experiments": {"my_positions": {"positions": {3: [0, 2]}}, "my_as_retrieved": {"sizes": [1, 3]}}},
}
EXAMPLES = 3
#: Experiments that the remedies make.
CONDITIONS = (
    "open-reversed", "open-ends", "open-ends_langchain", "open-random", "open-fusion", "open-margin_2",
    "open-score_7_5", "open-multi_document_qa_query_aware",
)  # fmt: skip
OWN_EXPERIMENTS = (
    "my_positions", "my_as_retrieved", "my_as_retrieved-reversed", "my_as_retrieved-ends", "my_closed_book", "my_oracle"
)  # fmt: skip


def generate(bench: Workbench, whole: bool) -> Iterator[tuple[str, str]]:
    """The prompts of all tasks, and all other data that is made for them."""
    experiments = {name: {"examples": EXAMPLES, **entry} for name, entry in CONFIG["define"]["experiments"].items()}
    define = {**CONFIG["define"], "experiments": experiments}
    _supply(bench)
    made = [f"results/example_checks/{name}.json" for name in (*experiments, *CONDITIONS)]
    made += [f"results/passages/{name}/manifest.json" for name in define["corpora"]]
    made += [f"results/questions/{name}.jsonl.gz" for name in define["questions"]]
    _make(bench, {**CONFIG, "experiments": list(experiments), "define": define}, "--", *made)
    made = [f"results/example_checks/{name}.json" for name in OWN_EXPERIMENTS]
    _make(bench, OWN, "--", *made, "results/tables/gold_passages.csv", "results/tables/gold_counts.csv")
    yield "prompts", "\n".join(_prompts(bench, whole))
    yield "data", "\n".join(_data(bench, whole))


def _make(bench: Workbench, config: dict, *words: str) -> None:
    bench.configure(config)
    done = bench.run_here(*words)
    assert done.returncode == 0, done.stdout + done.stderr


def _supply(bench: Workbench) -> None:
    write_lines(bench.path("asked.jsonl.gz"), [qa_record(number, 5) for number in range(4)])
    write_lines(bench.path("pairs.jsonl"), [KV_RECORD, {**KV_RECORD, "key": "a", "value": "1"}])
    bench.path("kept.txt").write_text("what is number 3\nwhat is number 1\n")
    texts = [f"Word {'x ' * number} {'answer1' if number == 2 else 'other'}." for number in range(7)]
    documents = [
        {"id": f"d{n}", "title": f"T{n}", "text": text, "score": str(10 - 1.5 * n)} for n, text in enumerate(texts)
    ]
    asked = [{"question": f"which word {n}", "answers": [f"answer{n}"], "ctxs": documents} for n in range(3)]
    write_lines(bench.path("found.jsonl"), asked)
    own = [
        {"question": f"who rules town {q}?", "documents": [
            {"page_content": f"Town {q}: {'Ruler' if d == 2 else 'Miller'} {q}{d}.",
             "metadata": {"source": f"/data/town{q}.md"}, "score": 9 - d} for d in range(4)]}
        for q in range(4)
    ]  # fmt: skip
    write_lines(bench.path("own.jsonl"), own)
    rows = [f"who rules town {q}?,{f'Ruler {q}2|R{q}' if q % 3 else 'nobody'},town{q},{q}" for q in range(4)]
    write_lines(bench.path("own.csv"), ["Question,Answer,file,kept", *rows])
    _write_documents(bench.path("documents"))
    write_lines(bench.path("passages.tsv"), ["id\ttext\ttitle", '1\t"A ""b"" c."\tOne', "2\tSecond é.\tTwo"])
    page = "<page><title>{}</title><ns>0</ns><id>{}</id><revision><id>9</id><text>{}</text></revision></page>"
    body = "".join(
        page.format(title, number, text)
        for number, (title, text) in enumerate(
            [("Mill", "A '''mill''' has [[wheel|wheels]].\n\n== Parts ==\nA {{t}} stone &amp; a sail that turns in the "
              "wind of the sea."), ("Mills", "#REDIRECT [[Mill]]"), ("X", "{{disambiguation}} Many.")]
        )
    )  # fmt: skip
    info = "<siteinfo><namespaces><namespace key='0' /></namespaces></siteinfo>"
    dump = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">{info}{body}</mediawiki>'
    bench.path("dump.xml.bz2").write_bytes(bz2.compress(dump.encode()))


def _write_documents(folder: Path) -> None:
    (folder / "deeper").mkdir(parents=True)
    (folder / "a.txt").write_text("First line of a text. " * 4 + "\n\nLast words\tof it.\n")
    (folder / "b.md").write_text("# Head\n\nA *word* and a [link](x).\n")
    (folder / "deeper" / "c.html").write_text(
        "<html><head><title>Page &amp; more</title><style>p {}</style></head><body><p>One.</p><ul><li>Two</ul></body>"
    )
    write_lines(folder / "d.jsonl", [{"id": "own", "title": "Row", "text": "A chunk."}, {"page_content": "Another."}])
    (folder / "e.csv").write_text("title,text\nOf a table,Its row.\n")
    write_pdf(folder / "f.pdf", ["Text of page one", "", "Text of page three"])


# --- Text


def _prompts(bench: Workbench, whole: bool) -> Iterator[str]:
    folder = bench.path("results/examples")
    for experiment in sorted(path for path in folder.iterdir() if path.is_dir()):
        for number, path in enumerate(sorted(experiment.glob("*/*.jsonl.gz"))):
            lines = gzip.decompress(path.read_bytes()).decode().splitlines()
            yield f"{path.relative_to(folder)}: {len(lines)} examples, {digest(lines)}"
            for line in lines if whole else lines[:1] if number == 0 else []:
                yield from _example(json.loads(line), whole)


def _example(example: dict, whole: bool) -> Iterator[str]:
    prompt = example.pop("prompt")
    yield f"  {cut(json.dumps(example, ensure_ascii=False), 600)}"
    shown = prompt if whole or len(prompt) <= 2 * SHOWN else f"{prompt[:SHOWN]}[...]{prompt[-SHOWN:]}"
    yield from (f"  | {line}" for line in shown.splitlines())


def _data(bench: Workbench, whole: bool) -> Iterator[str]:
    for kind in ("passages", "questions", "candidates", "gold_passages", "example_checks", "tables", "reranked"):
        for path in sorted(bench.path(f"results/{kind}").rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                content = path.read_bytes()
                text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
                lines = [json.dumps(json.loads(text))] if path.suffix == ".json" else text.splitlines()
                yield f"=== {path.relative_to(bench.path('results'))}: {len(lines)} lines, {digest(lines)}"
                number = len(lines) if whole or len(lines) <= 16 else 4
                yield from (line if whole else cut(line, 400) for line in lines[:number])
