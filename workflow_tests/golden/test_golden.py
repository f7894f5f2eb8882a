"""What the project does is what the golden files say; `make golden` writes them, and a commit says why they change."""

from difflib import unified_diff

import pytest
from conftest import WRITE_ANEW
from write_golden import FILES, PARTS, golden_texts

#: Lines of a difference that are shown.
SHOWN = 60


@pytest.mark.parametrize("part", PARTS)
def test_nothing_differs_from_the_golden_files(part, new_project, tmp_path):
    now = golden_texts(part, new_project.moved_to(tmp_path / part))
    lines = []
    for name, text in now.items():
        path = FILES / f"{name}.txt"
        kept = path.read_text() if path.exists() else ""
        lines += unified_diff(kept.splitlines(), text.splitlines(), f"golden {name}", f"now {name}", n=2, lineterm="")
    more = [f"... and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    assert not lines, "\n".join([f"{part}: {WRITE_ANEW}; a commit says why:", *lines[:SHOWN], *more])
