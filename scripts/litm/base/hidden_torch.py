"""torch hidden from transformers, for programs that only need its tokenizers and configurations.

transformers imports torch if it is installed, which takes three times as long as loading a tokenizer. Without torch it
reads tokenizers and configurations all the same.
"""

import os
import sys

_NAME = "torch"


def hide_torch() -> None:
    """Hide torch from imports in this process; without effect if it is already imported."""
    if _NAME not in sys.modules:
        # Python's own way to make an import fail.
        sys.modules[_NAME] = None  # type: ignore[assignment]
        # transformers' advice to install torch.
        os.environ["TRANSFORMERS_NO_ADVISORY_WARNINGS"] = "1"


def show_torch() -> None:
    """Undo `hide_torch`; without effect on modules that were imported without torch."""
    if sys.modules.get(_NAME, ...) is None:
        del sys.modules[_NAME]
