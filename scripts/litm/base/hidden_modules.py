"""Modules hidden from the import of a library that does without them, when importing them takes longer than its use."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Hide modules from imports within the context; without effect on those that are imported already."""
    absent = [name for name in names if name not in sys.modules]
    # Python's own way to make an import fail.
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
