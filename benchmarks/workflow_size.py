"""What it costs to plan a run, as the number of cells grows, and what if there is nothing to do.

    python benchmarks/workflow_size.py
    python benchmarks/workflow_size.py --cells 1000 --paper

A cell is one model, experiment, size and position. The catalogues are made up: models x experiments x 10 positions,
25 x 40 x 10 for 10,000. The paper's run is that of config/paper.yaml, with files instead of those that a user supplies.
For each, whole processes of Snakemake:

plan      `snakemake -n` where nothing has been made
no-op     `snakemake` where all is there: its outputs are made empty, and `snakemake --touch` says that they are right

Jobs are those of the plan. `--profile` says how much of a plan is spent for the workflow's own code.
"""

import argparse
import cProfile
import csv
import io
import os
import pstats
import re
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import yaml
from measuring import ROOT, Cost, growth_table, run, table

POSITIONS = 10
#: Models of a made-up catalogue, by its number of cells; the experiments follow from both.
MODELS = {1_000: 10, 10_000: 25, 50_000: 50}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, nargs="*", default=list(MODELS))
    parser.add_argument("--paper", action="store_true", help="the paper's run too")
    parser.add_argument("--profile", action="store_true", help="whose time it is, for each number of cells")
    parser.add_argument("--turns", type=int, default=1, help="measurements of each")
    parser.add_argument("--folder", help="where to put the files while it runs")
    args = parser.parse_args()
    costs: dict[str, dict[int, list[Cost]]] = {"plan": {}, "no-op": {}}
    jobs = {}
    for cells in args.cells:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            write_catalogue(Path(folder), cells)
            if args.profile:
                print(whose_time(Path(folder), cells), flush=True)
                continue
            costs["plan"][cells], costs["no-op"][cells], jobs[cells] = measure(Path(folder), args.turns)
    if args.paper:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            write_paper(Path(folder))
            plan, no_op, planned = measure(Path(folder), args.turns)
        print(growth_table({"plan": {planned: plan}, "no-op": {planned: no_op}}, "jobs of the paper's run"), end="\n\n")
    if jobs:
        print(growth_table(costs, "cells"), end="\n\n")
        print(table(["cells", "jobs"], [(f"{cells:,}", f"{count:,}") for cells, count in jobs.items()]))


def measure(folder: Path, turns: int) -> tuple[list[Cost], list[Cost], int]:
    """Costs of the plan and of the no-op, and the number of jobs."""
    said = folder / "said.txt"
    plan = [snakemake(folder, "-n", "--quiet", "host", output=said) for _ in range(turns)]
    jobs = int(re.findall(r"^total +(\d+)$", said.read_text(), re.MULTILINE)[0])
    outputs = pretend_outputs(folder)
    snakemake(folder, "--touch", "--cores", "1000")
    no_op = [snakemake(folder) for _ in range(turns)]
    if any(path.stat().st_size for path in outputs):
        sys.exit("jobs ran where there should have been nothing to do")
    return plan, no_op, jobs


def snakemake(folder: Path, *arguments: str, output: str | Path = os.devnull) -> Cost:
    """Run Snakemake on the config of the folder."""
    return run(sys.executable, "-m", "snakemake", *options(folder), *arguments, folder=folder, output=output)


def options(folder: Path) -> list[str]:
    """Which workflow, config and profile."""
    workflow = ["--snakefile", str(ROOT / "Snakefile"), "--workflow-profile", str(ROOT / "profiles" / "default")]
    configs = [str(path) for path in sorted(folder.glob("*.yaml"))]
    return [*workflow, "--cores", "1", "--configfile", *configs]


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


# --- what is planned


def write_catalogue(folder: Path, cells: int) -> None:
    """A config with that many cells, of experiments that take no files and the reference model under many names."""
    models = [f"model_{number}" for number in range(MODELS.get(cells, 10))]
    experiments = [f"experiment_{number}" for number in range(-(-cells // (len(models) * POSITIONS)))]
    model = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model")}
    settings = {"task": "kv_retrieval", "examples": 10, "max_new_tokens": 30}
    defined = {
        "models": {name: dict(model) for name in models},
        "experiments": {
            # Each has another size, so that no two have the same examples.
            name: settings | {"positions": {number + POSITIONS: list(range(POSITIONS))}}
            for number, name in enumerate(experiments)
        },
    }
    write_yaml(folder / "config.yaml", {"models": models, "experiments": experiments, "define": defined})


def write_paper(folder: Path) -> None:
    """The paper's config, with files instead of the responses and labels that a user has to supply."""
    shutil.copy(ROOT / "config" / "paper.yaml", folder / "0_paper.yaml")
    selected = yaml.safe_load((ROOT / "config" / "paper.yaml").read_text())
    catalogue = yaml.safe_load((ROOT / "config" / "models.yaml").read_text())
    missing = folder / "supplied.jsonl"
    missing.touch()
    recorded = {
        name: {"responses": dict.fromkeys(selected["only"].get(name, selected["experiments"]), str(missing))}
        for name in selected["models"]
        if catalogue[name]["engine"] == "recorded"
    }
    labels = {"unambiguous_questions": {"path": str(missing), "labels": "txt"}}
    write_yaml(folder / "1_supplied.yaml", {"define": {"models": recorded, "datasets": labels}})


def write_yaml(path: Path, value: object) -> None:
    path.write_text(yaml.safe_dump(value, sort_keys=False))


# --- whose time it is


def whose_time(folder: Path, cells: int) -> str:
    """How much of a plan the workflow's own code takes, and how many files are opened by it all, as a line."""
    from snakemake.cli import main as snakemake_main

    profile, opened = cProfile.Profile(), []
    sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
    os.chdir(folder)
    sys.argv = ["snakemake", *options(folder), "-n", "--quiet", "all"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            profile.runcall(snakemake_main)
        except SystemExit as ended:
            if ended.code:
                raise
    reading, functions, total = (f"{seconds:.2f} s" for seconds in shares(pstats.Stats(profile)))
    return (
        f"{cells:,} cells: {reading} to read rules and config, {functions} in input functions, of {total} as profiled; "
        f"{len(opened):,} files opened"
    )


def shares(stats: pstats.Stats) -> tuple[float, float, float]:
    """Seconds that it takes to read the Snakefile with all it includes, that functions of the workflow which Snakemake
    calls after that take with all that they call, and that all of it takes.
    """
    reading, functions = 0.0, 0.0
    for (file, _, name), (_, _, _, seconds, callers) in stats.stats.items():
        if name == "<module>":
            reading += seconds if Path(file) == ROOT / "Snakefile" else 0
        elif is_ours(file):
            functions += sum(edge[3] for (caller, _, _), edge in callers.items() if "snakemake" in Path(caller).parts)
    return reading, functions, stats.total_tt


def is_ours(file: str) -> bool:
    """Whether code is the workflow's."""
    return Path(file).is_relative_to(ROOT)


if __name__ == "__main__":
    main()
