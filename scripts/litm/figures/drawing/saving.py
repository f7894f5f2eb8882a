"""Files of figures, on the page that they are for."""

from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from litm.base.files import atomic_writer
from litm.figures.drawing.page import Page

#: Dots per inch of pictures.
DPI = 300


def fit(figure: Figure, page: Page | None) -> float:
    """Make a figure as wide as its page, as it is drawn; returns how much larger it is on the page.

    A figure that is wider than its room, because it cannot be drawn in more rows, is scaled down as a whole.
    """
    if page is None:
        return 1.0
    if not page.titles:
        without_title(figure)
    if figure.get_figwidth() < page.room:
        figure.set_figwidth(page.room)
    return page.width / figure.get_figwidth()


def without_title(figure: Figure) -> Figure:
    """The figure itself, with its title removed."""
    figure.suptitle("")
    return figure


def save_figure(figure: Figure, path: str | Path, scale: float = 1.0) -> None:
    """Save as the file's ending says, this much larger than it is drawn; without the time of saving, so that the same
    figure has the same bytes.
    """
    format = Path(path).suffix.removeprefix(".")
    with atomic_writer(path) as raw:
        if format == "pdf":
            raw.write(_scaled_pdf(figure, scale))
        else:
            # The number of dots is that of the size on the page, which the file names too.
            figure.savefig(
                raw, format=format, dpi=DPI * scale, metadata={"Software": None}, pil_kwargs={"dpi": (DPI, DPI)}
            )


def _scaled_pdf(figure: Figure, scale: float) -> bytes:
    drawn = BytesIO()
    figure.savefig(drawn, format="pdf", dpi=DPI, metadata={"CreationDate": None})
    if scale == 1:
        return drawn.getvalue()
    from pypdf import PdfWriter

    writer = PdfWriter(clone_from=drawn)
    writer.pages[0].scale_by(scale)
    scaled = BytesIO()
    writer.write(scaled)
    return scaled.getvalue()
