"""A plan and a sweep with nothing to ask, over many kept answers, in one or several checkouts of this project.

    python benchmarks/kept.py --answers 1000000 --turns 3 --trees . ../older

Each checkout makes the examples and keeps the answers of the model `dummy` by its own programs, once, in a folder of
its own. Then, one checkout after the other in each turn, with the responses removed:

plan      `snakemake -n`
no-op     the command of generate.py, which finds every answer

The ratios are those of processor seconds, the first checkout's to each one's, turn by turn. A million answers take some
minutes, and gigabytes in the folder of temporary files for each checkout.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import yaml
from measuring import PAIRS, ROOT, Cost, in_turns, ratio, run, spread, table

RESPONSES = "results/responses/dummy/pairs.jsonl.gz"
#: The command of generate.py in a plan.
COMMAND = re.compile(r"(?m)^Shell command: (.*generate\.py.*?)(?: 2>&1.*)?$")
MIB = 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=1_000_000, help="number of kept answers")
    parser.add_argument("--turns", type=int, default=3, help="measurements of each")
    parser.add_argument("--trees", type=Path, nargs="+", default=[ROOT], help="checkouts of this project")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        studies = [Study(tree.resolve(), Path(folder) / str(number)) for number, tree in enumerate(args.trees)]
        for study in studies:
            study.prepare(args.answers)
        print(measured(studies, args.turns, args.answers))


@dataclass(frozen=True)
class Study:
    """A study of one sweep."""

    tree: Path
    """The checkout whose programs are run."""
    folder: Path
    """The folder of its results."""

    def prepare(self, answers: int) -> None:
        """Make the examples, and ask the model for this number of answers."""
        pairs = {"task": PAIRS, "positions": {2: [0]}, "examples": answers, "max_new_tokens": 30}
        config = {"models": ["dummy"], "experiments": ["pairs"], "define": {"experiments": {"pairs": pairs}}}
        self.folder.mkdir()
        (self.folder / "study.yaml").write_text(yaml.safe_dump(config))
        self._snakemake()

    def plan(self) -> Cost:
        """Plan the run that makes the responses."""
        (self.folder / RESPONSES).unlink(missing_ok=True)
        return self._snakemake("--dry-run")

    def ask(self) -> Cost:
        """Make the responses from the kept answers."""
        (self.folder / RESPONSES).unlink(missing_ok=True)
        said = self.folder / "plan"
        self._snakemake("--dry-run", "--printshellcmds", "--quiet", "host", output=said)
        (command,) = COMMAND.findall(said.read_text())
        # With exec, the memory is that of the program.
        cost = self._run("bash", "-c", f"exec env {command}")
        asked = json.loads((self.folder / RESPONSES.replace(".jsonl.gz", ".manifest.json")).read_text())["asked"]
        if asked:
            sys.exit(f"{self.tree}: {asked} prompts were asked where all had answers")
        return cost

    def _snakemake(self, *options: str, output: str | Path = os.devnull) -> Cost:
        return self._run(
            *(sys.executable, "-m", "snakemake", "--snakefile", self.tree / "Snakefile", "--cores", "1"),
            *("--workflow-profile", self.tree / "profiles" / "default", "--configfile", "study.yaml"),
            *(*options, "--", RESPONSES),
            output=output,
        )

    def _run(self, *command: object, output: str | Path = os.devnull) -> Cost:
        scripts = self.tree / "scripts"
        return run(
            "env", f"PYTHONPATH={scripts}", f"LITM_SCRIPTS={scripts}", *command, folder=self.folder, output=output
        )


def measured(studies: Sequence[Study], turns: int, answers: int) -> str:
    """A table with a row for each measurement of each checkout."""
    rows = []
    for name, measure in {"plan": Study.plan, "no-op sweep": Study.ask}.items():
        costs = in_turns(turns, lambda work: work(), *(partial(measure, study) for study in studies))
        for study, own in zip(studies, costs, strict=True):
            seconds = [[getattr(cost, part) for cost in own] for part in ("wall", "processor")]
            first = [cost.processor for cost in costs[0]]
            peak = max(cost.memory for cost in own) / MIB
            rows.append(
                [name, study.tree, f"{answers:,}", *map(spread, seconds), f"{peak:,.0f}", ratio(first, seconds[1])]
            )
            print(*rows[-1], file=sys.stderr, flush=True)
    columns = ["what", "checkout", "answers", "seconds", "processor seconds", "peak MiB", "first / this"]
    return table(columns, rows)


if __name__ == "__main__":
    main()
