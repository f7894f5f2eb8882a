"""What a run costs apart from asking: processor seconds of whole runs of Snakemake, with all their jobs.

    python benchmarks/overhead.py default --results results
    python benchmarks/overhead.py study
    python benchmarks/overhead.py study --root /path/to/another/checkout

default   the default run, with the answers of a finished one (its journal and unpacked model, nothing else)
study     5 models x 4 experiments x 10 questions; the models are the reference model under five names: its first
          sweeps ask, and the others find their answers

Each run begins with an empty folder. Jobs are those of the plan.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

import yaml
from measuring import ROOT, run, table

#: Folders that hold the answers of a finished run.
KEPT = ("journal", "store/unpacked", "store/file_digests")
MODELS = 5
STUDY = ("mini_gazetteer_closed_book", "mini_gazetteer_oracle", "mini_gazetteer_qa", "kv_retrieval_small")
QUESTIONS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["default", "study"])
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="of a finished default run")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout that is measured")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--folder", help="where to put the files while it runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        if args.what == "default":
            keep_answers(args.results, folder / "results")
        else:
            (folder / "study.yaml").write_text(yaml.safe_dump(study(args.root)))
        said = folder / "said.txt"
        snakemake = [sys.executable, "-m", "snakemake", "--snakefile", args.root / "Snakefile", "--cores", args.cores]
        snakemake += ["--workflow-profile", args.root / "profiles" / "default"]
        snakemake += ["--configfile", folder / "study.yaml"] if args.what == "study" else []
        run(*snakemake, "-n", "--quiet", "host", folder=folder, output=said)
        jobs = int(re.findall(r"^total +(\d+)$", said.read_text(), re.MULTILINE)[0])
        cost = run(*snakemake, folder=folder)
    print(table(["run", "jobs", "processor seconds"], [(args.what, jobs, f"{cost.processor:.1f}")]))


def keep_answers(finished: Path, results: Path) -> None:
    """Copy the answers of a finished run."""
    for part in KEPT:
        if not (finished / part).is_dir():
            sys.exit(f"{finished / part} is missing: make the default run first (make demo)")
        shutil.copytree(finished / part, results / part)


def study(root: Path) -> dict:
    """A config of five models, four experiments and ten questions."""
    model = {"engine": "transformers", "path": str(root / "resources" / "reference_model"), "prompt_template": "raw"}
    names = [f"model_{number}" for number in range(MODELS)]
    models = {name: dict(model) for name in names}
    return {"models": names, "experiments": list(STUDY), "examples": QUESTIONS, "define": {"models": models}}


if __name__ == "__main__":
    main()
