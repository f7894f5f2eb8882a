"""Loading errors: one line on why a model or tokenizer could not be loaded."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from litm.base.errors import UserError

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
