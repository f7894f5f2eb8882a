"""Tokenizers and configurations load without torch, whose import takes longer than all of their loading."""

import subprocess
import sys

from conftest import ROOT

SCRIPT = """
import sys
from litm.base.loading import hide_torch, show_torch
hide_torch()
from litm.models.context_window import load_config
from litm.prompting.tokenizer import load_tokenizer
folder = "resources/reference_model"
print(len(load_tokenizer(folder)("one two")["input_ids"]), load_config(folder, None).dtype, "torch._C" in sys.modules)
show_torch()
import importlib.util
print(importlib.util.find_spec("torch") is not None)
"""


def test_a_tokenizer_and_a_configuration_load_without_torch_and_torch_can_be_shown_again():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": "scripts", "HF_HUB_OFFLINE": "1"},
    )
    assert done.stdout.splitlines() == ["4 bfloat16 False", "True"], done.stderr
    # transformers advises to install torch, which is installed.
    assert "PyTorch" not in done.stderr
