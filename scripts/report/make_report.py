"""Make the report: one self-contained HTML file with curves, tables, a sample of questions and provenance.

settings: JSON: see PageFiles.report
tables: CSV files
figures: PNG files
samples: what sample_questions.py wrote
formats: what make_prompt_format.py wrote, of each model
datasets: the files of the settings' datasets, in their order
scores: of each sweep
sources: template, style and scripts of the page
"""

import subprocess
from pathlib import Path

from litm.analysis.sentences import cluster_sentences
from litm.base.cli import program
from litm.base.files import write_text
from litm.base.json_files import read_json, read_jsonl
from litm.base.messages import note
from litm.base.store import file_sha256
from litm.questions.released_format import filled_sentences
from litm.tables.table import tables as all_tables


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


@program
def main(
    settings: dict,
    tables: tuple[Path, ...],
    manifests: tuple[str, ...],
    sources: tuple[Path, ...],
    output: str,
    figures: tuple[Path, ...] = (),
    samples: tuple[Path, ...] = (),
    formats: tuple[Path, ...] = (),
    datasets: tuple[str, ...] = (),
    scores: tuple[Path, ...] = (),
) -> None:
    from litm.report.page import Contents, render_report

    rows = [
        {
            "Name": dataset["name"],
            "Source": dataset["source"],
            "Version": dataset["version"] or "",
            "SHA-256": file_sha256(path),
        }
        for dataset, path in zip(settings["datasets"], datasets, strict=True)
    ]
    few = cluster_sentences(settings["experiments"], {path.stem: path for path in scores})
    filled = filled_sentences(settings.get("filled", {}))
    contents = Contents(
        tables={path.stem: all_tables()[path.stem].read(path) for path in tables},
        pictures={path.stem: path.read_bytes() for path in figures},
        manifests=[read_json(path) for path in manifests],
        samples={path.name.split(".")[0]: [one for _, one in read_jsonl(path)] for path in samples},
        formats={path.stem: read_json(path) for path in formats},
        commit=commit_of(Path(__file__).resolve().parents[2]),
        **settings | {"datasets": rows, "filled": [*few, *filled]},
    )
    html = render_report({path.name: path.read_text(encoding="utf-8") for path in sources}, contents)
    write_text(output, html)
    note(f"{output}: {len(html.encode()) / 1e6:.1f} MB")
