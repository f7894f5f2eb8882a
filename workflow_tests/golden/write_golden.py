"""Golden files: what the project does, as text, in files/.

`make reference` writes all of them. The options `--whole FOLDER --only plans` write them elsewhere without any cuts and
digests of jobs: run it before and after a change, and compare the folders.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from conftest import ROOT
from generated import generate
from golden_configs import CHECKS, NOTES, OWN, SUPPLIED, all_entries, data_targets, supply_files, write_config
from identities import identity_lines
from planned_jobs import plan_text, planned
from plans import MIXED
from program_options import option_lines
from study import study
from workbench import Workbench

FILES = Path(__file__).resolve().parent / "files"
#: By name of a config: its files in config/, what is added, targets, and whether a job of each rule is shown.
PLANS: Mapping[str, tuple[list[str], Callable[[], dict], list[str], bool]] = {
    "default": ([], dict, ["all", *CHECKS], False),
    "paper": (["paper"], lambda: SUPPLIED, ["all", *CHECKS], False),
    "suite": (["suite"], dict, ["all", *CHECKS], False),
    "laptop": (["laptop"], dict, ["all", *CHECKS], False),
    "mixed": ([], lambda: MIXED, ["all", *CHECKS], True),
    "own_documents": ([], lambda: OWN, ["all"], False),
    "notes": ([], lambda: NOTES, ["all"], False),
}

Texts = Iterator[tuple[str, str]]


def plans(bench: Workbench, whole: bool) -> Texts:
    """The jobs and the identities of each config, and the identities of all entries of the catalogues."""
    supply_files(bench)
    for name, (files, added, targets, is_shown) in PLANS.items():
        jobs = planned(bench, *_configured(bench, name, files, added()), "--", *targets)
        yield f"plan_{name}", plan_text(jobs, None if whole else is_shown)
        yield f"identities_{name}", "\n".join(identity_lines(jobs))
    jobs = planned(bench, *_configured(bench, "entries", [], all_entries()), "--", "all", *data_targets())
    yield "identities_entries", "\n".join(identity_lines(jobs))
    if whole:
        yield "plan_entries", plan_text(jobs, None)


def _configured(bench: Workbench, name: str, files: list[str], added: dict) -> list[str]:
    paths = [f"config/{file}.yaml" for file in files]
    if added:
        paths.append(write_config(bench, name, added).name)
    return ["--configfile", *paths] if paths else []


def programs(bench: Workbench, whole: bool) -> Texts:
    """The options of all programs."""
    yield "options", "\n".join(option_lines())


#: Functions that make golden files from a new bench of their own.
PARTS: dict[str, Callable[[Workbench, bool], Texts]] = {
    "plans": plans,
    "programs": programs,
    "generated": generate,
    "study": study,
}


def golden_texts(part: str, bench: Workbench, whole: bool = False) -> dict[str, str]:
    """The golden texts of a part by their name, without the places and the versions of this machine."""
    return {name: _plain(text, bench.folder) for name, text in PARTS[part](bench, whole)}


def _plain(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "FOLDER").replace(str(ROOT), "PROJECT")
    text = re.sub(r"[^\s\"'=:]*/site-packages/", "PACKAGES/", text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", type=Path, metavar="FOLDER", help="write whole texts into another folder")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="parts to write")
    args = parser.parse_args()
    folder = args.whole or FILES
    folder.mkdir(parents=True, exist_ok=True)
    for part in args.only:
        with TemporaryDirectory() as place:
            texts = golden_texts(part, Workbench.create(Path(place)), whole=args.whole is not None)
        for name, text in texts.items():
            (folder / f"{name}.txt").write_text(text)
        print(f"{part}: {len(texts)} files, {sum(map(len, texts.values())):,} characters", flush=True)


if __name__ == "__main__":
    main()
