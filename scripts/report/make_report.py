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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.base.cli import program
from litm.base.files import write_text
from litm.base.json_files import read_json, read_jsonl
from litm.base.messages import note
from litm.base.store import file_sha256
from litm.tables.table import tables as all_tables

if TYPE_CHECKING:
    import pandas as pd

    from litm.findings.first_screen import FirstScreen
    from litm.findings.record import Finding
    from litm.report.page import Page


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


def page_of(
    settings: Mapping[str, Any],
    first: "FirstScreen",
    findings: "Sequence[Finding]",
    tables: "Mapping[str, pd.DataFrame]",
    pictures: Mapping[str, bytes],
    manifests: Sequence[Mapping],
    samples: Mapping[str, Sequence[Mapping]],
    formats: Mapping[str, Mapping],
    datasets: Sequence[Mapping],
    commit: str | None,
) -> "Page":
    """The parts of the page.

    settings: see ReportFiles.report; findings: all of the study; tables: by name; pictures: PNG files by figure name,
    empty if there is nothing to draw; samples: records of `question_samples.question_records` by experiment; formats:
    output of make_prompt_format.py by model; datasets: one row by heading per file of questions; commit: the
    workflow's, None if unknown.
    """
    from litm.report.page import Page
    from litm.report.page_tables import numbers
    from litm.report.pictures import figures
    from litm.report.provenance import provenance
    from litm.report.question_samples import sample
    from litm.report.screen import screen
    from litm.report.sizes import SizeNames

    drawn, experiments, models = settings["figures"], settings["experiments"], settings["models"]
    titles = {experiment["name"]: experiment["title"] for experiment in experiments}
    names = SizeNames(drawn, experiments, tables.get("token_counts"))
    return Page(
        titles,
        screen(first, titles, names, models),
        figures(drawn, pictures, tables, [*models, *settings.get("beside", ())]),
        numbers(findings, tables, manifests, settings["prices"], titles, names, models),
        sample(samples, drawn, formats),
        provenance(
            manifests, experiments, samples, settings["about"], names, datasets, settings["seed"], settings["config"],
            commit,
        ),
    )  # fmt: skip


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
    page = page_of(
        settings,
        first_screen(study),
        study.findings,
        tables={path.stem: all_tables()[path.stem].read(path) for path in tables},
        pictures={path.stem: path.read_bytes() for path in figures},
        manifests=[read_json(path) for path in manifests],
        samples={path.name.split(".")[0]: [sample for _, sample in read_jsonl(path)] for path in samples},
        formats={path.stem: read_json(path) for path in formats},
        datasets=rows,
        commit=commit_of(Path(__file__).resolve().parents[2]),
    )
    html = render_report({path.name: path.read_text(encoding="utf-8") for path in sources}, page)
    write_text(output, html)
    note(f"{output}: {len(html.encode()) / 1e6:.1f} MB")
