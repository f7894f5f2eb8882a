"""The text of PDF files."""

import logging
from collections.abc import Iterator
from pathlib import Path

from litm.base.messages import UserError


def pdf_pages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (page from 1, text) of each page; `UserError` for a file that is no PDF or has a password."""
    # Imported here: the code of the rules must not need it.
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    # pypdf warns of every flaw that it can repair.
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    page = 0
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UserError(f"{path}: the PDF has a password: save it without one, or remove the file")
        for page, content in enumerate(reader.pages, start=1):
            # Damaged fonts give lone surrogates, which UTF-8 files cannot hold.
            yield page, content.extract_text().encode("utf-8", "replace").decode()
    except DependencyError as error:
        raise UserError(f"{path}: the PDF is encrypted ({error}): save it without, or remove the file") from error
    except UserError:
        raise
    except Exception as error:  # damaged files make the library raise errors of any kind
        raise UserError(
            f"{path}, after page {page}: not a readable PDF ({str(error) or type(error).__name__}); save it again as "
            f"PDF or as text, or remove the file"
        ) from error
