"""Files of a model while a sweep is asked: whether they are those of its identity, and stay so."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.errors import UserError
from litm.base.hashing import file_state


@dataclass(frozen=True)
class SourceFiles:
    """Checks of a model's files; the default is for a model without files.

    check: raises `UserError` if their contents are not those of the model's identity. state: their state and that of
    the links on the way to them; it differs after a file or link was replaced and put back.
    """

    check: Callable[[], None] = lambda: None
    state: Callable[[], Any] = lambda: None

    def checks(self, before: Any) -> Iterator[None]:
        """A check at each step, of which the first is `check_loaded`.

        For each batch of answers: weights on a CPU may be read from their file at any time.
        """
        self.check_loaded(before)
        while True:
            yield
            self.check()

    def check_loaded(self, before: Any) -> None:
        """Raise `UserError` if files were replaced since they had the state `before`, even if they were put back: the
        model may have been loaded in between.
        """
        self.check()
        if self.state() != before:
            raise UserError(
                "files of the model, or a link to them, were replaced while it was loaded, and have their contents of "
                "before again: no answer was kept; run the same command again"
            )


NO_FILES = SourceFiles()


def state_with_links(files: Iterable[Path]) -> list:
    """The state of each file and of each link on the way to it; None for a file that is gone."""
    return [[str(file), _file_state(file), _links(file)] for file in files]


def _file_state(file: Path) -> list | None:
    try:
        return file_state(file)
    except FileNotFoundError:
        return None


def _links(file: Path) -> list:
    """Where links of a path lead, and when (ns) each was made."""
    path = file.absolute()
    links = [part for part in (path, *path.parents) if part.is_symlink()]
    return [[str(link), str(link.readlink()), link.lstat().st_ctime_ns] for link in links]
