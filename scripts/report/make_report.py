"""Make the report: one self-contained HTML file with findings, figures, tables, a sample of questions and provenance.

settings: JSON: see ReportFiles.report
findings: results/findings.json
tables: CSV files
figures: PNG files
samples: what sample_questions.py wrote
formats: what make_prompt_format.py wrote, of each model
datasets: the files of the settings' datasets, in their order
sources: template, style and scripts of the page
"""

import subprocess
from pathlib import Path

from litm.base.cli import program
from litm.base.files import write_text
from litm.base.json_files import read_json, read_jsonl
from litm.base.messages import note
from litm.base.store import file_sha256
from litm.tables.table import tables as all_tables


def commit_of(project: Path) -> str | None:
    """The commit that a checkout is at, with `-dirty` if its files differ from it; None if that is not known."""
    describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        described = subprocess.run(
            ["git", "--no-optional-locks", "-C", project, *describe], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return described.stdout.strip() if described.returncode == 0 else None


@program
def main(
    settings: dict,
    findings: Path,
    tables: tuple[Path, ...],
    manifests: tuple[str, ...],
    sources: tuple[Path, ...],
    output: str,
    figures: tuple[Path, ...] = (),
    samples: tuple[Path, ...] = (),
    formats: tuple[Path, ...] = (),
    datasets: tuple[str, ...] = (),
) -> None:
    from litm.findings.first_screen import first_screen
    from litm.findings.record import StudyFindings
    from litm.report.contents import Contents, page_of
    from litm.report.page import render_report

    rows = [
        {
            "Name": dataset["name"],
            "Source": dataset["source"],
            "Version": dataset["version"] or "",
            "SHA-256": file_sha256(path),
        }
        for dataset, path in zip(settings["datasets"], datasets, strict=True)
    ]
    study = StudyFindings.from_json(read_json(findings))
    contents = Contents(
        screen=first_screen(study),
        findings=study.findings,
        tables={path.stem: all_tables()[path.stem].read(path) for path in tables},
        pictures={path.stem: path.read_bytes() for path in figures},
        manifests=[read_json(path) for path in manifests],
        samples={path.name.split(".")[0]: [sample for _, sample in read_jsonl(path)] for path in samples},
        formats={path.stem: read_json(path) for path in formats},
        commit=commit_of(Path(__file__).resolve().parents[2]),
        **settings | {"datasets": rows},
    )
    html = render_report({path.name: path.read_text(encoding="utf-8") for path in sources}, page_of(contents))
    write_text(output, html)
    note(f"{output}: {len(html.encode()) / 1e6:.1f} MB")
