"""Make the report: one self-contained HTML file with curves, tables, a sample of questions and provenance."""

import argparse
import subprocess
from pathlib import Path

from litm.base.cli import json_object, run

# isort: split
import pandas as pd

from litm.analysis.tables import load_table
from litm.base.files import atomic_writer
from litm.base.messages import note
from litm.base.records import read_csv, read_json, read_jsonl
from litm.base.store import file_sha256
from litm.report.page import Contents, render_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: see PageFiles.report")
    parser.add_argument("--tables", required=True, nargs="+", help="CSV files")
    parser.add_argument("--figures", required=True, nargs="*", help="PNG files")
    parser.add_argument("--samples", required=True, nargs="*", help="what sample_questions.py wrote")
    parser.add_argument("--formats", required=True, nargs="*", help="what make_prompt_format.py wrote, of each model")
    parser.add_argument("--manifests", required=True, nargs="+")
    parser.add_argument(
        "--datasets", required=True, nargs="*", help="the files of the settings' datasets, in their order"
    )
    parser.add_argument("--sources", required=True, nargs="+", help="template, style and scripts of the page")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    settings = args.settings
    datasets = [
        {
            "Name": dataset["name"],
            "Source": dataset["source"],
            "Version": dataset["version"] or "",
            "SHA-256": file_sha256(path),
        }
        for dataset, path in zip(settings["datasets"], args.datasets, strict=True)
    ]
    contents = Contents(
        tables={Path(path).stem: read_table(path) for path in args.tables},
        figures=settings["figures"],
        pictures={Path(path).stem: Path(path).read_bytes() for path in args.figures},
        manifests=[read_json(path) for path in args.manifests],
        samples={Path(path).name.split(".")[0]: [one for _, one in read_jsonl(path)] for path in args.samples},
        experiments=settings["experiments"],
        prices=settings["prices"],
        datasets=datasets,
        seed=settings["seed"],
        models=settings["models"],
        commit=commit_of(Path(__file__).resolve().parents[2]),
        config=settings["config"],
        about=settings["about"],
        stand_ins=settings["stand_ins"],
        formats={Path(path).stem: read_json(path) for path in args.formats},
    )
    sources = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in args.sources}
    html = render_report(sources, contents).encode()
    with atomic_writer(args.output) as target:
        target.write(html)
    note(f"{args.output}: {len(html) / 1e6:.1f} MB")


def read_table(path: str) -> pd.DataFrame:
    """A table of results/tables with the types of its columns, so that a size is no fraction."""
    return read_csv(path, load_table(Path(path).stem).TABLE.dtypes)


def commit_of(project: Path) -> str | None:
    """The commit that a checkout is at, with `-dirty` if its files differ from it; None if that is not known."""
    describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        told = subprocess.run(
            ["git", "--no-optional-locks", "-C", project, *describe], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return told.stdout.strip() if told.returncode == 0 else None


if __name__ == "__main__":
    run(main)
