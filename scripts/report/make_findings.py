"""Write results/findings.json: what the study shows and what to know before a number is quoted, as names and numbers.

settings: JSON: see ReportFiles.findings
tables: CSV files
scores: of sweeps with remedies or clusters, in the order of the config
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json, write_json
from litm.base.table_files import plain_rows, read_parquet
from litm.findings.question_warnings import read_clusters
from litm.findings.study import findings_of
from litm.questions.released_format import filled_shares
from litm.tables.table import tables as all_tables


@program
def main(
    settings: dict,
    output: str,
    tables: tuple[Path, ...] = (),
    manifests: tuple[str, ...] = (),
    scores: tuple[Path, ...] = (),
) -> None:
    from litm.findings.advice_table import advice_findings

    rows = {path.stem: plain_rows(all_tables()[path.stem].read(path)) for path in tables}
    experiments, conditions = settings["experiments"], settings["conditions"]
    with_remedies = {condition["experiment"] for condition in conditions}
    compared = (read_parquet(path) for path in scores if path.stem in with_remedies)
    study = findings_of(
        lambda name: rows.get(name, []),
        experiments,
        models=settings["models"],
        plain=settings["plain"],
        stand_ins=settings["stand_ins"],
        manifests=[read_json(path) for path in manifests],
        clusters=read_clusters(experiments, {path.stem: path for path in scores}),
        filled=filled_shares(settings.get("filled", {})),
        advice=advice_findings(compared, conditions, settings["prices"]),
    )
    write_json(output, study.to_json())
