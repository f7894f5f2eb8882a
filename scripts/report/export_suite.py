"""Export a model's results in the suite's own layout and names, also as a zip file: for each curve a folder with data,
predictions, summary and figure.

curves: JSON: list of {name, experiment, size, placement, title, item, panel_title, examples, scores, responses};
placement is null unless prompts have several gold items, examples is a list of files
summaries: the folder that summarize.py wrote
accuracy: the accuracy table
output: a folder, replaced as a whole
zip: output: the same packed, the same bytes for the same files
"""

import json
from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.files import folder_writer, write_zip
from litm.base.json_files import read_json, read_jsonl, write_jsonl
from litm.base.messages import note
from litm.base.table_files import read_parquet
from litm.records.examples import read_examples
from litm.records.responses import read_responses
from litm.tables.table import tables


def read_curves(text: str) -> list:
    """The curves of the option; TypeError or ValueError, which argparse reports, for anything else."""
    from litm.report.suite import CurveFiles

    return [CurveFiles(**curve) for curve in json.loads(text)]


@program
def main(
    model: str, curves: Annotated[tuple, read_curves], summaries: Path, accuracy: str, output: str, zip: str
) -> None:
    from litm.figures.style import save_figure
    from litm.report.suite import curve_figure, export_names, predictions, suite_master, suite_summary
    from litm.report.summaries import rows_of_curve, write_summary

    accuracies = tables()["accuracy"].read(accuracy)
    master = read_json(summaries / "master_summary.json")
    with folder_writer(output) as parent:
        for curve in curves:
            names, summary = export_names(curve), master["experiments"][curve.name]
            folder = parent / names.folder
            folder.mkdir()
            write_jsonl(
                folder / f"{names.stem}_data.jsonl",
                (record for path in curve.examples for _, record in read_jsonl(path)),
            )
            write_summary(folder / f"{names.stem}_summary.json", suite_summary(summary, names))
            scores = rows_of_curve(read_parquet(curve.scores), model, curve)
            by_position = predictions(curve, read_examples(*curve.examples), read_responses(curve.responses), scores)
            for position, records in by_position.items():
                write_jsonl(folder / names.predictions(position, summary["items"], by_position), records)
            save_figure(
                curve_figure(curve, rows_of_curve(accuracies, model, curve)),
                folder / f"{names.stem}_{names.figure}.png",
            )
        write_summary(parent / "master_summary.json", suite_master(master, curves))
    write_zip(zip, output, model)
    note(f"{output}: {len(curves)} curves of {model}")
