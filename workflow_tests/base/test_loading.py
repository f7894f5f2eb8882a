"""Libraries load without modules that take longer to import than what they are needed for."""

import subprocess
import sys

import pytest
from conftest import ROOT

FIGURES = """
import sys
import litm.figures.style
print("scipy.stats" in sys.modules, "statsmodels" in sys.modules)
import scipy.stats
from litm.base.loading import hidden
with hidden("scipy.stats", "wave"):
    print(sys.modules["scipy.stats"] is scipy.stats, sys.modules["wave"])
import wave
"""
TOKENIZER = """
import sys
from litm.base.loading import hide_torch, show_torch
hide_torch()
from litm.models.configuration import load_config
from litm.prompting.prompt_format import load_tokenizer
folder = "resources/reference_model"
print(len(load_tokenizer(folder)("one two")["input_ids"]), load_config(folder, None).dtype, "torch._C" in sys.modules)
show_torch()
import importlib.util
print(importlib.util.find_spec("torch") is not None)
"""


@pytest.mark.parametrize(
    ("code", "printed"),
    [(FIGURES, ["False False", "True None"]), (TOKENIZER, ["4 bfloat16 False", "True"])],
    ids=["figures without scipy.stats", "a tokenizer without torch"],
)
def test_a_hidden_module_is_not_imported_and_can_be_imported_afterwards(code, printed):
    environment = {"PYTHONPATH": "scripts", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.stdout.splitlines() == printed, done.stderr
    # transformers advises to install torch, which is installed.
    assert "PyTorch" not in done.stderr
