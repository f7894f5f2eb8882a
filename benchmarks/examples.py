"""How long the examples of an experiment take, against the way of the paper's authors, on the same questions.

    PYTHONPATH=scripts python benchmarks/examples.py --data nq-open-20_total_documents_gold_at_0.jsonl.gz

Whole processes, one after the other, for 20 documents and five positions; medians of wall and processor time, by turns.

original    as the paper's repository does it, two processes a position: one reads what was retrieved, makes an object
            of every document, puts the gold one in its place and writes the contexts; the other reads these, copies
            and parses them again, and fills in the prompts
workflow    scripts/examples/make_examples.py for each position, as the rule calls it

Both write gzip. The authors' first program reads a file of 100 retrieved documents a question, which is made here of
the documents of `--data`; `--retrieved 19` gives it no more than are used.
"""

import argparse
import gzip
import json
import random
import sys
import tempfile
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path

from measuring import ROOT, Cost, program, run, spread, sum_of, table, times_faster

POSITIONS, DOCUMENTS = (0, 4, 9, 14, 19), 20
PROMPT = ROOT / "resources" / "prompts" / "multi_document_qa.txt"
SETTINGS = {"examples": None, "seed": None, "distractor_order": "ranked"}


@dataclass(frozen=True)
class Document:
    """A document as the authors' code has it, with what retrieval says of it."""

    title: str
    text: str
    id: str | None = None
    score: float | None = None
    hasanswer: bool | None = None
    isgold: bool | None = None
    original_retrieval_index: int | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["compare", "contexts", "prompts"], default="compare")
    parser.add_argument("--data", required=True, help="questions with 20 documents in the released format")
    parser.add_argument("--retrieved", type=int, default=100, help="documents a question that the original reads")
    parser.add_argument("--turns", type=int, default=3, help="measurements of each")
    parser.add_argument("--position", type=int, help="of the gold document; for the original's own programs")
    parser.add_argument("--output", help="for the original's own programs")
    args = parser.parse_args()
    {"compare": compare, "contexts": make_contexts, "prompts": make_prompts}[args.what](args)


def compare(args: argparse.Namespace) -> None:
    """Print a row for each way."""
    costs: dict[str, list[Cost]] = {"original": [], "workflow": []}
    with tempfile.TemporaryDirectory() as folder:
        retrieved = Path(folder) / "retrieved.jsonl.gz"
        questions = write_retrieved(args.data, retrieved, args.retrieved)
        for _ in range(args.turns):
            costs["original"].append(sum_of(original(retrieved, Path(folder))))
            costs["workflow"].append(sum_of(ours(args.data, Path(folder))))
        same = all(prompts(folder, "original", at) == prompts(folder, "workflow", at) for at in POSITIONS)
    print(f"{questions} questions, {args.retrieved} documents retrieved for each; the same prompts: {same}\n")
    rows = []
    for way, measured in costs.items():
        ratios = [times_faster(costs["original"], measured, part) for part in ("wall", "processor")]
        rows.append([way, spread(c.wall for c in measured), spread(c.processor for c in measured), *ratios])
    print(table(["way", "seconds", "processor seconds", "times faster", "processor"], rows))


def ours(data: str, folder: Path) -> list[Cost]:
    """The workflow's method: one process per position."""
    task = ("--task", "multi_document_qa", "--size", DOCUMENTS, "--settings", json.dumps(SETTINGS), "--prompt", PROMPT)
    return [
        program(
            *("make_examples.py", *task, "--dataset", data, "--placement", f"gold_at_{position}"),
            *("--output", folder / f"workflow_{position}.jsonl.gz"),
        )
        for position in POSITIONS
    ]


def original(retrieved: Path, folder: Path) -> list[Cost]:
    """The authors' method: two processes per position."""
    costs = []
    for position in POSITIONS:
        contexts, answers = folder / f"contexts_{position}.jsonl.gz", folder / f"original_{position}.jsonl.gz"
        for what, read, written in (("contexts", retrieved, contexts), ("prompts", contexts, answers)):
            command = (sys.executable, __file__, what, "--data", read, "--position", position, "--output", written)
            costs.append(run(*command))
    return costs


def prompts(folder: str, way: str, position: int) -> list[str]:
    with gzip.open(Path(folder) / f"{way}_{position}.jsonl.gz", "rt") as lines:
        return [json.loads(line)["prompt"] for line in lines]


def write_retrieved(data: str, path: Path, documents: int) -> int:
    """What a retriever would have found: each question's distractors in their order, then some of others; how many
    questions there are.
    """
    with gzip.open(data, "rt") as lines:
        records = [json.loads(line) for line in lines]
    everything = [document for record in records for document in record["ctxs"] if not document["isgold"]]
    rng = random.Random(0)
    with gzip.open(path, "wt") as out:
        for record in records:
            own = [document for document in record["ctxs"] if not document["isgold"]]
            (gold,) = [document for document in record["ctxs"] if document["isgold"]]
            more = rng.sample(everything, max(0, documents - len(own)))
            # The authors' file has whether a document has the answer, by which distractors are chosen.
            found = [document | {"hasanswer": False} for document in [*own, *more]]
            out.write(json.dumps({**record, "gold": gold, "ctxs": found}) + "\n")
    return len(records)


# --- the original's programs


def make_contexts(args: argparse.Namespace) -> None:
    """The authors' first program: contexts with the gold document at a position."""
    with gzip.open(args.data, "rt") as lines, gzip.open(args.output, "wt") as out:
        for line in lines:
            record = json.loads(line)
            gold = {"title": record["gold"]["title"], "text": record["gold"]["text"], "isgold": True}
            distractors = [
                Document(**{name: value for name, value in found.items() if name in Document.__dataclass_fields__})
                for found in record["ctxs"]
            ]
            chosen = [asdict(document) for document in distractors if document.hasanswer is False][: DOCUMENTS - 1]
            contexts = deepcopy(chosen)
            contexts.insert(args.position, gold)
            out.write(
                json.dumps({"question": record["question"], "answers": record["answers"], "ctxs": contexts}) + "\n"
            )


def make_prompts(args: argparse.Namespace) -> None:
    """The authors' second program: prompts from contexts."""
    examples, made = [], []
    with gzip.open(args.data, "rt") as lines:
        for line in lines:
            record = json.loads(line)
            documents = [Document(**document) for document in deepcopy(record)["ctxs"]]
            template = PROMPT.read_text().removesuffix("\n")
            formatted = [f"Document [{n}](Title: {d.title}) {d.text}" for n, d in enumerate(documents, start=1)]
            made.append(template.format(question=record["question"], context="\n".join(formatted)))
            examples.append(deepcopy(record))
    with gzip.open(args.output, "wt") as out:
        for record, prompt in zip(examples, made, strict=True):
            out.write(json.dumps({**record, "prompt": prompt}) + "\n")


if __name__ == "__main__":
    main()
