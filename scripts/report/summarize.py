"""Make the suite's summaries of one model: one a curve, and the master summary of all its curves.

curves: JSON: list of {name, experiment, size, placement}; placement is null unless prompts have several gold items
accuracy: the accuracy table
position_bias: the table of position bias, where there is one
output: a folder, replaced as a whole
"""

import json
from typing import Annotated

from litm.base.cli import program
from litm.base.files import folder_writer
from litm.records.cells import Curve
from litm.tables.table import tables


def read_curves(text: str) -> list[Curve]:
    """The curves of the option; TypeError or ValueError, which argparse reports, for anything else."""
    return [Curve(**curve) for curve in json.loads(text)]


@program
def main(
    model: str, curves: Annotated[tuple, read_curves], accuracy: str, output: str, position_bias: str | None = None
) -> None:
    from litm.report.summaries import curve_summary, master_summary, write_summary

    bias = tables()["position_bias"].read(position_bias) if position_bias else None
    rows = tables()["accuracy"].read(accuracy)
    summaries = {curve.name: curve_summary(model, curve, rows, bias) for curve in curves}
    with folder_writer(output) as folder:
        for name, summary in summaries.items():
            write_summary(folder / name / "summary.json", summary)
        write_summary(folder / "master_summary.json", master_summary(model, list(summaries.values())))
