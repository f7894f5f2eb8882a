"""What results cost as they grow: the journal, a sweep that finds its responses in it, and the tables made of scores.

    PYTHONPATH=scripts python benchmarks/results_size.py journal
    PYTHONPATH=scripts python benchmarks/results_size.py tables --sizes 50000 500000

Whole processes.

journal: `read_journal`, by number of responses.
sweep: by number of responses, generate.py where every prompt has been answered before, which reads the journal and the
    examples and writes the responses; and score.py of these.
tables: by number of score rows, the programs that read score files. A file has 12,500 rows, 2,500
    questions at five positions, and there are four models: what grows is the number of experiments.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import ROOT, Cost, growth_table, program, run

from litm.base.messages import note
from litm.base.records import read_json
from litm.base.store import canonical_json, digest
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.inference.journal import answer_line, identity_line
from litm.inference.setup import Asking, sweep_prompts
from litm.records import Example, Response, read_examples, write_examples

if TYPE_CHECKING:
    import pandas as pd

SIZES = {
    "journal": [10_000, 100_000, 1_000_000],
    "sweep": [10_000, 100_000],
    "tables": [50_000, 500_000, 5_000_000],
}
TASK, PLACEMENT = "kv_retrieval", "gold_at_0"
SETTINGS = {"engine": "transformers", "dtype": "float32", "attention": "sdpa", "prompt_template": "raw"}
DECODING = {"max_new_tokens": 100, "stop": "end_token"}
MODELS, QUESTIONS, DOCUMENTS, POSITIONS = 4, 2_500, 20, (0, 4, 9, 14, 19)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=SIZES)
    parser.add_argument("--sizes", type=int, nargs="+", help="responses, or score rows")
    parser.add_argument("--turns", type=int, default=1, help="measurements of each")
    parser.add_argument("--folder", help="where to put the files while it runs; a gigabyte for a million responses")
    args = parser.parse_args()
    prepare = {"journal": prepare_journal, "sweep": prepare_sweep, "tables": prepare_tables}[args.what]
    costs: dict[str, dict[int, list[Cost]]] = {}
    for size in args.sizes or SIZES[args.what]:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            for name, work in prepare(Path(folder), size).items():
                costs.setdefault(name, {})[size] = [work() for _ in range(args.turns)]
                note(f"{name}, {size:,}")
    print(growth_table(costs, "score rows" if args.what == "tables" else "responses"))


Measured = Mapping[str, Callable[[], Cost]]


# --- a journal, and a sweep whose prompts have all been answered


def prepare_journal(folder: Path, responses: int) -> Measured:
    """Write a journal; what is to be measured."""
    journal, name = folder / "journal.jsonl", digest(SETTINGS)
    keys = (digest([name, number]) for number in range(responses))
    answers = (journal_line(key, name, "The value is " + key[:36]) for key in keys)
    write_lines(journal, chain([identity_line(SETTINGS)], answers))
    reading = f"from litm.inference.journal import read_journal; read_journal({str(journal)!r})"
    return {"read_journal": lambda: run(sys.executable, "-c", reading)}


def prepare_sweep(folder: Path, responses: int) -> Measured:
    """Write examples and a journal with an answer to each; what is to be measured."""
    source, examples, journal = (folder / name for name in ("source.json", "examples.jsonl.gz", "journal.jsonl"))
    location = {"path": str(ROOT / "resources" / "reference_model"), "hub": None, "revision": None}
    program("identify_model.py", "--location", json.dumps(location), "--output", source)
    write_examples(examples, make_examples(responses))
    write_lines(journal, journal_lines(source, examples))
    answers = folder / "responses.jsonl.gz"
    names = ("--model", "model", "--experiment", "experiment", "--examples", examples)
    sweep = ("--source", source, "--settings", json.dumps(SETTINGS), "--decoding", json.dumps(DECODING))
    results = ("--journal", journal, "--responses", answers, "--manifest", folder / "manifest.json")
    scores = ("--responses", answers, "--output", folder / "scores.parquet")
    return {
        "generate.py": lambda: program("generate.py", *names, *sweep, "--run", '{"batch_tokens": 4096}', *results),
        "score.py": lambda: program("score.py", *names, "--task", TASK, "--metric", "value_in_answer", *scores),
    }


def make_examples(count: int) -> Iterator[Example]:
    """Examples with short prompts, of two key-value pairs."""
    task = load_task(TASK)
    template = read_template(ROOT / "resources" / "prompts" / f"{TASK}.txt")
    for question in task.questions(2, ExampleSettings(count, 0, "ranked"), None):
        yield make_example(question, 2, PLACEMENT, template, task)


def journal_lines(source: Path, examples: Path) -> Iterator[str]:
    """The lines of a journal with an answer to each of the examples, by the model of `source`."""
    identity = Asking(read_json(source), SETTINGS, None, DECODING).identity()
    name = digest(identity)
    yield identity_line(identity)
    for example in read_examples(examples):
        (prompt,) = sweep_prompts([example], name, SETTINGS["prompt_template"])
        yield journal_line(prompt.key, name, "The value is " + example.targets[0].answers[0])


def journal_line(key: str, identity: str, text: str) -> str:
    """A response as the journal has it."""
    return answer_line(key, identity, Response(text, "stop", 150, 40, "torch 2.13.0, transformers 5.23.0, cpu"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines that already have their line ends."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines)


# --- tables


def prepare_tables(folder: Path, rows: int) -> Measured:
    """Write score files; what is to be measured."""
    # Not above, see `sweep_scores`.
    from litm.base.records import write_csv
    from litm.scoring.scores import accuracy_table

    experiments = -(-rows // (MODELS * QUESTIONS * len(POSITIONS)))
    paths, accuracies = [], []
    for model in range(MODELS):
        for experiment in range(experiments):
            paths.append(folder / f"{model}_{experiment}.parquet")
            accuracies.append(folder / f"{model}_{experiment}.csv")
            scores = sweep_scores(model, experiment)
            scores.to_parquet(paths[-1], index=False)
            write_csv(accuracies[-1], accuracy_table(scores), decimals=None)
    seed = ("--settings", canonical_json({"seed": 0}))
    made_of: dict[str, tuple] = {
        "accuracy": ("--input", "accuracies", *accuracies),
        "position_bias": ("--input", "curve_scores", *paths, *seed),
        "position_pairs": ("--input", "curve_scores", *paths),
        "model_differences": ("--input", "compared_scores", *paths),
    }
    relations = canonical_json({"models": {}, "experiments": {}, "recorded": []})
    claims = ("--csv", folder / "claims.csv", "--summary", folder / "summary.csv", "--markdown", folder / "claims.md")
    published = ROOT / "resources" / "published"
    claims += ("--statements", published / "statements.csv", "--statuses", published / "claims.csv")
    return {
        **{
            f"make_table.py {name}": lambda name=name, words=words: program(
                "make_table.py", "--table", name, *words, "--output", folder / "table.csv"
            )
            for name, words in made_of.items()
        },
        "make_claims_table.py": lambda: program(
            "make_claims_table.py", "--scores", *paths, "--relations", relations, *claims
        ),
    }


def sweep_scores(model: int, experiment: int) -> "pd.DataFrame":
    """The score rows of a sweep, as score.py writes them, with a U of its own."""
    # Not above: a process begins with the memory of the one that starts it, and would never be measured below that.
    import numpy as np
    import pandas as pd

    from litm.scoring.scores import SCORE_COLUMNS

    rng = np.random.default_rng([model, experiment])
    ids = [digest([experiment, number])[:16] for number in range(QUESTIONS)]
    cells = []
    for position in POSITIONS:
        depth = position / (DOCUMENTS - 1)
        correct = rng.random(QUESTIONS) < rng.normal(0.5 + abs(depth - 0.5) / 2, 0.02)
        names = {"model": f"model_{model}", "experiment": f"experiment_{experiment}", "task": "multi_document_qa"}
        place = {"placement": f"gold_at_{position}", "position": position, "depth": depth, "id": ids, "target": "gold"}
        verdicts = dict.fromkeys(("correct", "correct_first_line", "correct_full"), correct)
        tokens = {
            "prompt_tokens": rng.integers(2500, 3500, QUESTIONS),
            "response_tokens": rng.integers(2, 30, QUESTIONS),
        }
        rest = {"metric": "best_subspan_em", "size": DOCUMENTS, "items": DOCUMENTS, "finish_reason": "stop"}
        cells.append(pd.DataFrame({**names, **place, **verdicts, **tokens, **rest, "empty": False, "excluded": False}))
    return pd.concat(cells, ignore_index=True)[list(SCORE_COLUMNS)].astype(SCORE_COLUMNS)


if __name__ == "__main__":
    main()
