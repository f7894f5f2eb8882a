"""How costs grow: plans and runs of Snakemake, kept answers, sweeps with nothing to ask, tables of scores, passages.

    PYTHONPATH=scripts python benchmarks/growth.py plan --sizes 1000 10000
    PYTHONPATH=scripts python benchmarks/growth.py default

Whole processes, their start included; a million responses take a gigabyte in the folder of temporary files. What is
measured, by its size:

plan      cells (a model, an experiment, a size and a position) of a made-up catalogue: `snakemake -n` where nothing has
          been made, and `snakemake` where all has (empty outputs, which `snakemake --touch` says are right)
paper     the same for config/paper.yaml, with files instead of those that a user supplies
study     5 models x 4 experiments x 10 questions, from nothing; the models are the reference model under five names:
          its first sweeps ask, and the others find their answers; a second turn has nothing to do
default   the default run with the answers of a finished one, which is in results/: all but inference
answers   responses: `AnswerFile.answers`
sweep     responses: generate.py where every prompt has been answered before, and score.py of the responses
tables    score rows: the programs that read score files. A file has 12,500 rows, 2,500 questions at five positions, and
          there are four models: the number of experiments grows
passages  passages: make_passages.py on a generated file in DPR's format (gzip, 100 words a passage)
"""

import argparse
import csv
import gzip
import hashlib
import os
import random
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import yaml
from measuring import PAIRS, ROOT, Cost, Sweep, growth_table, pair_examples, program, run

from litm.base.store import canonical_json, digest
from litm.inference.answer_lines import answer_line
from litm.inference.kept_answers import keep_identity, new_writer
from litm.records.examples import read_examples, write_examples
from litm.records.responses import Response

REFERENCE = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model"), "prompt_template": "raw"}
POSITIONS = 10
#: Models of a made-up catalogue, by its number of cells; the experiments follow from both.
CATALOGUE_MODELS = {1_000: 10, 10_000: 25, 50_000: 50}
STUDY = ("mini_gazetteer_closed_book", "mini_gazetteer_oracle", "mini_gazetteer_qa", "kv_retrieval_small")
#: Folders that hold the answers of a finished run.
ANSWERS = ("results/answers", "results/asking", "results/store/unpacked", "results/store/file_digests")
SETTINGS = {"engine": "transformers", "dtype": "float32", "attention": "sdpa", "prompt_template": "raw"}
DECODING = {"max_new_tokens": 100, "stop": "end_token"}
SCORED_MODELS, QUESTIONS, DOCUMENTS, SCORED_POSITIONS = 4, 2_500, 20, (0, 4, 9, 14, 19)
PASSAGES_PER_SHARD = 50_000
#: Checksums of an empty file, by a dataset's keys.
EMPTY = {"sha256": hashlib.sha256(b"").hexdigest(), "git_blob": hashlib.sha1(b"blob 0\0").hexdigest()}

Measured = Mapping[str, Callable[[], Cost]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--turns", type=int, default=1, help="measurements of each")
    args = parser.parse_args()
    prepare, sizes, unit = WHAT[args.what]
    costs: dict[str, dict[int, list[Cost]]] = defaultdict(dict)
    for size in args.sizes or sizes:
        with tempfile.TemporaryDirectory() as folder:
            for name, work in prepare(Path(folder), size).items():
                costs[name][size] = [work() for _ in range(args.turns)]
                print(f"{name}, {size:,}", file=sys.stderr, flush=True)
    print(growth_table(costs, unit))


# --- whole runs


def snakemake(folder: Path, *options: str, output: str | Path = os.devnull) -> Cost:
    """Run Snakemake with the configs that are in a folder."""
    configs = sorted(folder.glob("*.yaml"))
    return run(
        *(sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--cores", "1"),
        *("--workflow-profile", ROOT / "profiles" / "default"),
        *(("--configfile", *configs) if configs else ()),
        *options,
        folder=folder,
        output=output,
    )


def plans(folder: Path, *configs: Mapping) -> Measured:
    """A plan where nothing has been made, and a run where all has."""
    empty, made = folder / "empty", folder / "made"
    for one, (number, config) in product((empty, made), enumerate(configs)):
        write_yaml(one / f"{number}.yaml", config)
    outputs = pretend_outputs(made)
    snakemake(made, "--touch", "--cores", "1000", "--resources", "gpu=8")

    def run_again() -> Cost:
        cost = snakemake(made, "--resources", "gpu=8")
        if any(path.stat().st_size for path in outputs):
            sys.exit("jobs ran where there should have been nothing to do")
        return cost

    return {"plan": lambda: snakemake(empty, "-n", "--quiet", "host"), "nothing to do": run_again}


def pretend_outputs(folder: Path) -> list[Path]:
    """Make every output of the plan an empty file, or a folder with one; these files."""
    summary = folder / "summary.tsv"
    snakemake(folder, "--summary", output=summary)
    with summary.open() as lines:
        outputs = [folder / row["output_file"] for row in csv.DictReader(lines, delimiter="\t")]
    # The name of a folder may end in that of a model, such as claude-1.3.
    files = [output if output.suffix[1:2].isalpha() else output / "file" for output in outputs]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return files


def prepare_plan(folder: Path, cells: int) -> Measured:
    """Experiments that take no files, each with sizes of its own, and the reference model under many names."""
    models = [f"model_{number}" for number in range(CATALOGUE_MODELS.get(cells, POSITIONS))]
    settings = {"task": PAIRS, "examples": 10, "max_new_tokens": 30}
    experiments = {
        f"experiment_{number}": settings | {"positions": {number + POSITIONS: list(range(POSITIONS))}}
        for number in range(-(-cells // (len(models) * POSITIONS)))
    }
    defined = {"models": {name: dict(REFERENCE) for name in models}, "experiments": experiments}
    config = {"models": models, "experiments": list(experiments), "define": defined}
    return plans(folder, config)


def prepare_paper(folder: Path, _: int) -> Measured:
    selected, models, datasets = (
        yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text()) for name in ("paper", "models", "datasets")
    )
    supplied = folder / "supplied.jsonl"
    supplied.touch()
    recorded = {
        name: {"responses": dict.fromkeys(selected["only"].get(name, selected["experiments"]), str(supplied))}
        for name in selected["models"]
        if models[name]["engine"] == "recorded"
    }
    # An empty file stands for what is downloaded too.
    files = {name: {key: EMPTY[key] for key in EMPTY if key in entry} for name, entry in datasets.items()}
    files["unambiguous_questions"] = {"path": str(supplied), "labels": "txt"}
    return plans(folder, selected, {"define": {"models": recorded, "datasets": files}})


def prepare_study(folder: Path, _: int) -> Measured:
    models = {f"model_{number}": dict(REFERENCE) for number in range(5)}
    config = {"models": list(models), "experiments": list(STUDY), "examples": 10, "define": {"models": models}}
    write_yaml(folder / "study.yaml", config)
    return {"study": lambda: snakemake(folder)}


def prepare_default(folder: Path, _: int) -> Measured:
    for part in ANSWERS:
        if not (ROOT / part).is_dir():
            sys.exit(f"{ROOT / part} is missing: make the default run first (make demo)")
        shutil.copytree(ROOT / part, folder / part)
    return {"default run without inference": lambda: snakemake(folder)}


def write_yaml(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(value, sort_keys=False))


# --- kept answers, and a sweep whose prompts have all been answered


#: Reads the file that is the first argument, all keys wanted.
READING = """
import sys
from pathlib import Path

from litm.inference.answer_lines import AnswerFile


class All:
    def __contains__(self, key):
        return True


dict(AnswerFile(Path(sys.argv[1])).answers(All()))
"""


def prepare_answers(folder: Path, responses: int) -> Measured:
    keys = (digest(["answer", number]) for number in range(responses))
    file = write_answers(folder / "answers", SETTINGS, ((key, key[:36]) for key in keys))
    return {"AnswerFile.answers": partial(run, sys.executable, "-c", READING, file)}


def prepare_sweep(folder: Path, responses: int) -> Measured:
    from litm.base.json_files import read_json
    from litm.inference.asked_sweep import AskedSweep
    from litm.inference.prompts import sweep_prompts

    examples = folder / "examples.jsonl.gz"
    sweep = Sweep(folder, "experiment", Path(REFERENCE["path"]), SETTINGS, DECODING, {"batch_tokens": 4096}, [examples])
    sweep.identify()
    write_examples(examples, pair_examples(2, responses))
    identity = AskedSweep(read_json(sweep.file("source.json")), SETTINGS, None, DECODING).identity
    asked = ((one, sweep_prompts([one], digest(identity), "raw")) for one in read_examples(examples))
    answers = ((prompt.key, one.targets[0].answers[0]) for one, (prompt,) in asked)
    write_answers(sweep.answers, identity, answers)
    names = ("--model", "model", "--experiment", "experiment", "--examples", examples, "--task", PAIRS)
    scores = ("--responses", sweep.file("responses.jsonl.gz"), "--manifest", sweep.file("manifest.json"))
    scores += ("--output", folder / "scores.parquet", "--accuracy", folder / "accuracy.csv")
    score = partial(program, "score.py", *names, "--metric", "value_in_answer", *scores)
    return {"generate.py": sweep.generate, "score.py": score}


def write_answers(folder: Path, identity: Mapping, answers: Iterable[tuple[str, str]]) -> Path:
    """The file of an identity's answers in a folder of answers, from keys and the values that were answered."""
    name, software = digest(identity), "torch 2.13.0, transformers 5.23.0, cpu"
    keep_identity(folder / name, identity)
    path = folder / name / new_writer("model", "experiment", "study").name
    with path.open("w", encoding="utf-8") as file:
        for key, value in answers:
            response = Response(f"The value is {value}", "stop", 150, 40, software)
            file.write(answer_line(key, name, response))
    return path


# --- tables


def prepare_tables(folder: Path, rows: int) -> Measured:
    made = f"from growth import write_scores; write_scores({str(folder)!r}, {rows})"
    # A process begins with the memory of the one that starts it, and would never be measured below that of pandas.
    path = os.pathsep.join([str(ROOT / "scripts"), str(ROOT / "benchmarks")])
    run("env", f"PYTHONPATH={path}", sys.executable, "-c", made)
    scores, accuracies = sorted(folder.glob("*.parquet")), sorted(folder.glob("*.csv"))
    settings = canonical_json({"seed": 0, "base_models": []})
    made_of: dict[str, tuple] = {
        "accuracy": ("--input", "accuracies", *accuracies),
        "position_bias": ("--input", "curve_scores", *scores, "--settings", settings),
        "position_pairs": ("--input", "curve_scores", *scores),
        "model_differences": ("--input", "compared_scores", *scores),
    }
    table = partial(program, "make_table.py", "--output", folder / "table", "--table")
    published = ROOT / "resources" / "published"
    claims = ("--csv", folder / "claims.csv", "--summary", folder / "summary.csv", "--markdown", folder / "claims.md")
    claims += ("--statements", published / "statements.csv", "--statuses", published / "claims.csv")
    claims += ("--relations", canonical_json({"models": {}, "experiments": {}, "recorded": []}))
    measured = {f"make_table.py {name}": partial(table, name, *words) for name, words in made_of.items()}
    return measured | {"make_claims_table.py": partial(program, "make_claims_table.py", "--scores", *scores, *claims)}


def write_scores(folder: str, rows: int) -> None:
    """The score and accuracy files of sweeps, as score.py writes them, each with a U of its own."""
    import numpy as np
    import pandas as pd

    from litm.base.table_files import write_csv
    from litm.scoring.scores import Score, accuracy_rows, typed

    experiments = -(-rows // (SCORED_MODELS * QUESTIONS * len(SCORED_POSITIONS)))
    for model, experiment in product(range(SCORED_MODELS), range(experiments)):
        rng = np.random.default_rng([model, experiment])
        ids = [digest([experiment, number])[:16] for number in range(QUESTIONS)]
        shares = [rng.normal(0.5 + abs(position / (DOCUMENTS - 1) - 0.5) / 2, 0.02) for position in SCORED_POSITIONS]
        position = np.repeat(SCORED_POSITIONS, QUESTIONS)
        correct = rng.random(len(position)) < np.repeat(shares, QUESTIONS)
        rows: dict[str, object] = {"model": f"model_{model}", "experiment": f"experiment_{experiment}"}
        rows |= {"task": "multi_document_qa", "metric": "best_subspan_em", "size": DOCUMENTS, "items": DOCUMENTS}
        rows |= {"placement": [f"gold_at_{one}" for one in position], "position": position}
        rows |= {"depth": position / (DOCUMENTS - 1), "id": ids * len(SCORED_POSITIONS), "target": "gold"}
        rows |= dict.fromkeys((name for name in Score._fields if name.startswith("correct")), correct)
        rows |= {"prompt_tokens": rng.integers(2500, 3500, len(position)), "finish_reason": "stop"}
        rows |= {"response_tokens": rng.integers(2, 30, len(position))}
        rows |= dict.fromkeys(("empty", "excluded", "preamble", "more_lines"), False)
        scores = typed(Score, pd.DataFrame(rows).reindex(columns=Score._fields).itertuples(index=False))
        path = Path(folder) / f"{model}_{experiment}"
        scores.to_parquet(path.with_suffix(".parquet"), index=False)
        accuracies = pd.DataFrame(accuracy_rows(scores), dtype=object)
        write_csv(path.with_suffix(".csv"), accuracies, decimals=None)


# --- passages


def prepare_passages(folder: Path, passages: int) -> Measured:
    """Random words; some passages have quotes, as the real ones."""
    rng = random.Random(f"0:{passages}")
    vocabulary = ["".join(rng.choices("etaoinshrdlucmfw", k=rng.randint(2, 9))) for _ in range(20_000)]
    corpus = folder / "passages.tsv.gz"
    with gzip.open(corpus, "wt", encoding="utf-8", compresslevel=1) as lines:
        lines.write("id\ttext\ttitle\n")
        for number in range(1, passages + 1):
            first, second, *rest = rng.choices(vocabulary, k=100)
            lines.write(f'{number}\t"""{first}"" {second} {" ".join(rest)}"\t{first} {second}\n')
    words = ("--source", "dpr_passages", "--settings", "{}", "--input", corpus)
    words += ("--folder", folder / "shards", "--manifest", folder / "shards" / "manifest.json")
    words += ("--passages-per-shard", PASSAGES_PER_SHARD, "--shards", -(-passages // PASSAGES_PER_SHARD))
    return {"make_passages.py": partial(program, "make_passages.py", *words)}


#: What prepares a measurement, its sizes, and their unit.
WHAT: dict[str, tuple[Callable[..., Measured], tuple[int, ...], str]] = {
    "plan": (prepare_plan, (1_000, 10_000), "cells"),
    "paper": (prepare_paper, (1,), "runs"),
    "study": (prepare_study, (1,), "runs"),
    "default": (prepare_default, (1,), "runs"),
    "answers": (prepare_answers, (10_000, 100_000, 1_000_000), "responses"),
    "sweep": (prepare_sweep, (10_000, 100_000), "responses"),
    "tables": (prepare_tables, (50_000, 500_000, 5_000_000), "score rows"),
    "passages": (prepare_passages, (50_000, 200_000, 1_000_000), "passages"),
}


if __name__ == "__main__":
    main()
