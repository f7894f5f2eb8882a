"""What the project does is what the golden files say; `make reference` writes them, a commit says why they change."""

from difflib import unified_diff

import pytest
from conftest import WRITE_ANEW
from workbench import Workbench
from write_golden import FILES, PARTS, golden_texts

#: Lines of a difference that are shown.
SHOWN = 60


def check(part: str, bench: Workbench) -> None:
    """Compare the golden texts of a part, made in a bench of their own, with the files."""
    lines = []
    for name, text in golden_texts(part, bench).items():
        path = FILES / f"{name}.txt"
        kept = path.read_text() if path.exists() else ""
        lines += unified_diff(kept.splitlines(), text.splitlines(), f"golden {name}", f"now {name}", n=2, lineterm="")
    more = [f"... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    assert not lines, "\n".join([f"{part}: {WRITE_ANEW}; a commit says why:", *lines[:SHOWN], *more])


@pytest.mark.parametrize("part", [part for part in PARTS if part != "study"])
def test_nothing_differs_from_the_golden_files(part, new_bench):
    check(part, new_bench)
