"""Why a model or tokenizer could not be loaded, in one line."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from litm.base.errors import UserError

#: What transformers says of a folder or repository whose `auto_map` names code, by which it asks whether to run it.
NEEDS_CODE = "contains custom code"
ELSEWHERE = "references custom code"

#: Errors of Python whose messages do not say what is wrong without their names.
NAMED = (LookupError, TypeError, AttributeError, ArithmeticError, MemoryError, AssertionError, RecursionError)
#: Characters of a reason: libraries repeat whole files in their messages.
LONGEST = 300


def first_line(error: Exception) -> str:
    """The first line of why something could not be loaded, without transformers' advice to run the model's code."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The first may be a heading of the second.
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
    """While a library reads a user's files: what it raises becomes a `UserError` of one line that begins with `what`.

    Any exception does, as a library that is given a broken file stumbles over it anywhere. Standard input is closed
    meanwhile: nobody is asked whether code may run. reason: the line of an exception.
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
