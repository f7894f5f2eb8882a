"""Draw one figure, as PNG and PDF: of measured accuracies, of published ones alone, or of a table.

figure: JSON with the figure's settings
accuracy: accuracies of sweeps, as score.py wrote them
scores: score files of sweeps, if the kind reads them
recall: recall tables of the retrievers in the figure
published: published accuracies; alone, the figure is of them
token_counts: lengths of prompts, measured or published
tables: tables of results that the kind draws, by the names of their files
untitled: a PNG without the title, for the report, whose headings are the titles; an empty file if nothing is drawn
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from litm.base.cli import program
from litm.base.messages import UserError, note
from litm.base.table_files import plain_rows, read_csv, read_parquet

if TYPE_CHECKING:
    import pandas as pd


def without_values(published: "pd.DataFrame", figure: Mapping) -> list[str]:
    """The models of a figure that have no published values there."""
    from litm.figures.chart import shown_cells

    shown = set(shown_cells(figure, published)["model"])
    return [model for model in figure["models"] if model not in shown]


@program
def main(
    figure: dict,
    png: str,
    pdf: str,
    accuracy: tuple[str, ...] = (),
    scores: tuple[str, ...] = (),
    recall: tuple[str, ...] = (),
    published: str | None = None,
    token_counts: tuple[str, ...] = (),
    tables: tuple[Path, ...] = (),
    untitled: str | None = None,
) -> None:
    import pandas as pd

    from litm.analysis.comparison import published_table
    from litm.analysis.grid import Files
    from litm.analysis.published import read_published
    from litm.figures.chart import Rows, without_doubt
    from litm.figures.kinds import KINDS, page_of
    from litm.figures.style import add_note, fit, save_figure, without_title
    from litm.findings.answer_warnings import Limit, cut_findings, doubt_findings, refused_findings
    from litm.findings.warning_words import warning_in_words
    from litm.findings.warnings import in_groups
    from litm.tables.table import tables as all_tables

    # Measured or published, which have columns of their own.
    counts, notes = pd.concat(map(read_csv, token_counts)) if token_counts else None, []
    paper = published_table(read_published(published)) if published else None
    if accuracy:
        measured, parts = Files(accuracy).joined("accuracy"), (read_parquet(path) for path in scores)
        searched = Files(recall).joined("retrieval") if recall else None
        rows = Rows(without_doubt(measured), scores=parts, recall=searched, published=paper, token_counts=counts)
        known = {*rows.accuracy["model"]} - {*figure.get("recorded", ())}
        limits = {(model, name): Limit(tokens) for name, tokens in figure.get("limits", {}).items() for model in known}
        cells = plain_rows(rows.accuracy)
        groups = [*in_groups(doubt_findings(cells, [])), [*cut_findings(cells, limits)], [*refused_findings(cells)]]
        notes = [warning_in_words(group) for group in groups if group]
    elif tables:
        drawn = {path.stem: all_tables()[path.stem].read(path) for path in tables}
        rows = Rows(**drawn, token_counts=counts)  # type: ignore[arg-type]
    elif paper is not None:
        # The rows of the models in the order of the figure, which is that of the colours.
        rows = Rows(pd.concat([paper[paper["model"] == model] for model in figure["models"]]), token_counts=counts)
        if missing := without_values(paper, figure):
            notes = [f"no published values: {', '.join(missing)}"]
        figure = {**figure, "title": f"{figure['title']} (published values)"}
    else:
        raise UserError("give --accuracy, --published or --tables")
    picture = KINDS[figure["kind"]].draw(figure, rows)
    add_note(picture, notes)
    page = page_of(figure)
    scale = fit(picture, page)
    if page and scale < 0.99 * page.scale:
        points = page.font_size * scale / page.scale
        note(f"{png}: text of {points:.1f} points, not {page.font_size:g}, so that it is {page.width:g} inches wide")
    for path in (png, pdf):
        save_figure(picture, path, scale)
    if untitled and picture.axes:
        save_figure(without_title(picture), untitled, scale)
    elif untitled:
        Path(untitled).write_bytes(b"")
    note(f"{png}: drawn")
