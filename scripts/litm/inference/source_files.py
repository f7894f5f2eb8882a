"""Files of a model while a sweep is asked: whether they are those of its identity, and stay so."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from litm.base.messages import UserError


@dataclass(frozen=True)
class SourceFiles:
    """Checks of a model's files; the default is for a model without files.

    check: raises `UserError` if their contents are not those of the model's identity. state: their state and that of
    the links on the way to them; it differs after a file or link was replaced and put back.
    """

    check: Callable[[], None] = lambda: None
    state: Callable[[], Any] = lambda: None

    def checks(self, before: Any) -> Iterator[None]:
        """A check at each step; the first is `check_loaded`.

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
