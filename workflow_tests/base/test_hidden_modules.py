"""Modules that a library does without are hidden from its import, and only from that."""

import subprocess
import sys

from conftest import ROOT

SCRIPT = """
import sys
import litm.figures.drawing.style
print("scipy.stats" in sys.modules, "statsmodels" in sys.modules)
import scipy.stats
from litm.base.loading import hidden
with hidden("scipy.stats", "wave"):
    print(sys.modules["scipy.stats"] is scipy.stats, sys.modules["wave"])
import wave
"""


def test_figures_are_drawn_without_scipy_stats_which_can_be_imported_afterwards():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=ROOT, env={"PYTHONPATH": "scripts"}
    )
    assert done.stdout.splitlines() == ["False False", "True None"], done.stderr
