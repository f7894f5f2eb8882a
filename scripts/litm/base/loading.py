"""Loading of models by libraries: what they need not import, what they say, and the memory that is left."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from litm.base.messages import UserError


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Hide modules from imports within the context, for a library that does without them and whose use takes less time
    than their import; without effect on those that are imported already.
    """
    absent = [name for name in names if name not in sys.modules]
    # Python's own way to make an import fail.
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def hide_torch() -> None:
    """Hide torch from imports in this process; without effect if it is already imported.

    For programs that only need tokenizers and configurations: transformers imports torch if it is installed, which
    takes three times as long as loading a tokenizer, and reads both all the same without it.
    """
    if "torch" not in sys.modules:
        sys.modules["torch"] = None  # type: ignore[assignment]
        # transformers' advice to install torch.
        os.environ["TRANSFORMERS_NO_ADVISORY_WARNINGS"] = "1"


def show_torch() -> None:
    """Undo `hide_torch`; without effect on modules that were imported without torch."""
    if sys.modules.get("torch", ...) is None:
        del sys.modules["torch"]


#: Text of transformers' question whether to run the code that an `auto_map` names.
NEEDS_CODE = "contains custom code"


ELSEWHERE = "references custom code"


#: Python errors whose messages need their type's name.
NAMED = (LookupError, TypeError, AttributeError, ArithmeticError, MemoryError, AssertionError, RecursionError)


#: Characters of a reason: libraries include whole files in their messages.
LONGEST = 300


def first_line(error: Exception) -> str:
    """The first line of a loading error, without transformers' advice to run the model's code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The first line may be a heading.
    line = " ".join(lines[:2]) if lines and lines[0].endswith(":") else "".join(lines[:1])
    if NEEDS_CODE in line or ELSEWHERE in line:
        return (
            "it needs Python code of its own, which is not run here: use a model whose architecture transformers has, "
            "let a server run it (engine: openai), or read the code, and set 'trust_remote_code: true'"
        )
    if isinstance(error, NAMED) or not line:
        line = f"{type(error).__name__}: {line}".removesuffix(": ")
    return line if len(line) <= LONGEST else line[:LONGEST] + "..."


@contextmanager
def loading(what: str, reason: Callable[[Exception], str] = first_line) -> Iterator[None]:
    """Within the context, a library reads a user's files: any exception becomes a one-line `UserError` starting with
    `what`.

    All exceptions are caught, because a library may fail anywhere on a broken file. Standard input is closed meanwhile,
    so that nobody is asked whether code may run. reason: the line for an exception.
    """
    stdin, sys.stdin = sys.stdin, io.StringIO()
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{what}: {reason(error)}") from error
    finally:
        sys.stdin = stdin


#: Folder with the memory limit and use of a Linux control group, such as a container or SLURM job.
CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes of free memory, within the limit of the control group."""
    import psutil

    free = psutil.virtual_memory().available
    try:
        limit, used = ((CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return free if limit == "max" else min(free, int(limit) - int(used))
    except (OSError, ValueError):
        return free
