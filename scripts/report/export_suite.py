"""Export a model's results in the suite's own layout and names, also as a zip file: for each curve a folder with data,
predictions, summary and figure.
"""

import argparse
from pathlib import Path

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.base.files import folder_writer, write_zip
from litm.base.messages import note
from litm.base.records import read_csv, read_json, read_jsonl, read_parquet, write_jsonl
from litm.domain.example import read_examples
from litm.domain.response import read_responses
from litm.figures.drawing.saving import save_figure
from litm.report.suite.export import CurveFiles, curve_figure, predictions, suite_master, suite_summary
from litm.report.suite.names import export_names
from litm.report.suite.summaries import parse_curves, rows_of_curve, write_summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--curves",
        required=True,
        type=lambda text: parse_curves(text, CurveFiles),
        metavar="JSON",
        help="list of {name, experiment, size, placement, title, item, panel_title, examples, scores, responses}; "
        "placement is null unless prompts have several gold items, examples is a list of files",
    )
    parser.add_argument("--summaries", required=True, type=Path, help="the folder that summarize.py wrote")
    parser.add_argument("--accuracy", required=True, help="the accuracy table")
    parser.add_argument("--output", required=True, help="output: a folder, replaced as a whole")
    parser.add_argument("--zip", required=True, help="output: the same packed, the same bytes for the same files")
    args = parser.parse_args()
    accuracy = read_csv(args.accuracy)
    with folder_writer(args.output) as folder:
        master = read_json(args.summaries / "master_summary.json")
        for curve in args.curves:
            export_curve(args.model, curve, master["experiments"][curve.name], accuracy, folder)
        write_summary(folder / "master_summary.json", suite_master(master, args.curves))
    write_zip(args.zip, args.output, args.model)
    note(f"{args.output}: {len(args.curves)} curves of {args.model}")


def export_curve(model: str, curve: CurveFiles, summary: dict, accuracy: pd.DataFrame, parent: Path) -> None:
    """Write the folder of one curve. summary: see `curve_summary`."""
    names = export_names(curve)
    folder = parent / names.folder
    folder.mkdir()
    write_jsonl(folder / names.data, (record for path in curve.examples for _, record in read_jsonl(path)))
    write_summary(folder / names.summary, suite_summary(summary, names))
    scores = rows_of_curve(read_parquet(curve.scores), model, curve)
    found = predictions(curve, read_examples(*curve.examples), read_responses(curve.responses), scores)
    for position, records in found.items():
        write_jsonl(folder / names.predictions(position, summary["items"]), records)
    save_figure(curve_figure(curve, rows_of_curve(accuracy, model, curve)), folder / names.picture)


if __name__ == "__main__":
    run(main)
