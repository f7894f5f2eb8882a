"""Run the attacks and write docs/reliability.md: `run_all.py [FAMILY ...] [arguments of pytest ...]`."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(HERE.parent), str(HERE.parent / "support")]

from outcomes import (  # noqa: E402
    FAMILIES_VARIABLE,
    RECORDS_VARIABLE,
    RESULTS,
    TRACED,
    WRONG,
    Case,
    Family,
    Outcome,
    load,
    record_file,
)
from test_attacks import FAMILIES  # noqa: E402

#: The result of each case, so that one family can be run again alone.
RECORDS = ROOT / "results" / "attacks"
TABLE = ROOT / "docs" / "reliability.md"
#: The folders before the name of a file.
FOLDERS = re.compile(r"(?<![\w:/.])/(?:[\w.+-]+/)+")
INTRODUCTION = """# Reliability

This page reports attacks on the workflow: kills, faults, full disks, and stale or malformed inputs.
`python workflow_tests/attacks/run_all.py` writes it. The cases are in
[workflow_tests/attacks](../workflow_tests/attacks). They are seeded, so every run has the
same cases. `make test-all` runs a fast part of them.

- *Right*: the results have the same bytes as those of an undisturbed run.
- *Refused*: one line of fewer than 600 characters explains what is wrong, nothing is changed, and the next run resumes.
- *Traced*: Snakemake, which reads a config before this workflow does, ends with its own traceback or is ended.
  `./litm` reports the mistake in one line beforehand (see [running.md](running.md#what-is-checked)).
- *Wrong*: anything else.

Cases that did not finish are named. The last column has the commit whose code was attacked.
"""
#: The file, next to the results of a family, with the commit.
COMMIT = "commit"


def page(families: Sequence[Family], records: Path) -> str:
    """The page: one row per family; per family its description, counts, wrong cases, and cases that did not run."""
    outcomes = list(load(records))
    rows, sections = [], []
    for family in families:
        own = [outcome for name, outcome in outcomes if name == family.name]
        counts = Counter[str]()
        for one in own:
            counts[one.result] += one.count
        shown = [f"{counts[result]:,}" for result in RESULTS]
        commit = records / family.name / COMMIT
        shown.append(commit.read_text() if commit.exists() else "")
        rows.append(f"| {family.name} | {counts.total():,} | {' | '.join(shown)} |")
        kept = {case.name for case in family.cases if record_file(records, family.name, case.name).exists()}
        sections.append(_section(family, own, kept))
    head = [
        "| attacks | cases | right | refused in one line | traced | wrong | commit |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    return "\n".join([INTRODUCTION, *head, *rows, "", *sections])


def _section(family: Family, outcomes: Sequence[Outcome], kept: set[str]) -> str:
    lines = [f"## {family.name.capitalize()}", "", family.about, ""]
    names = list(dict.fromkeys(name for one in outcomes for name in one.numbers))
    if names:
        sums = [f"{name}: {sum(one.numbers.get(name, 0) for one in outcomes):,}" for name in names]
        lines += [f"Counted over all cases: {', '.join(sums)}.", ""]
    for title, result in (("Traced", TRACED), ("Wrong", WRONG)):
        if found := [one for one in outcomes if one.result == result]:
            lines += [f"{title}:", "", *(f"- {_shown(one.case)}: {_shown(one.detail)}" for one in found), ""]
    impossible = [one.case for one in outcomes if not one.count]
    missing = [case.name for case in family.cases if not is_sample(case) and case.name not in kept]
    for title, cases in (("Could not be tried", impossible), ("Did not run to the end", missing)):
        if cases:
            lines += [f"{title}:", "", *(f"- {_shown(case)}" for case in cases), ""]
    return "\n".join(lines)


def is_sample(case: Case) -> bool:
    """Whether a case is a sample of slow cases, made for `make test-all`; `main` leaves it out."""
    return "sample" in case.name


def _shown(text: str) -> str:
    """A text on one line, without a path of this machine."""
    short = FOLDERS.sub("", " ".join(text.split()))[:200]
    return short.replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    """Run the named families of attacks, or all, and write the page with their results and earlier ones of others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*", help=f"of {', '.join(family.name for family in FAMILIES)}")
    args, more = parser.parse_known_args()
    chosen = [family for family in FAMILIES if family.name in (args.family or [family.name])]
    head = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    for family in chosen:
        shutil.rmtree(RECORDS / family.name, ignore_errors=True)
        (RECORDS / family.name).mkdir(parents=True)
        (RECORDS / family.name / COMMIT).write_text(commit)
    environment = {RECORDS_VARIABLE: str(RECORDS), FAMILIES_VARIABLE: " ".join(family.name for family in chosen)}
    # Samples are left out, because their slow cases run.
    words = ["pytest", "-q", "-m", "slow or not slow", "-k", "not sample", str(HERE), *more]
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, env={**os.environ, **environment}, check=False)
    TABLE.write_text(page(FAMILIES, RECORDS), encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
