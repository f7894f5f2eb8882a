"""The options of all programs in scripts/, as their parsers state them."""

import argparse
import contextlib
import runpy
import sys

from conftest import ROOT
from workbench import in_a_fork

#: Its options are Snakemake's.
WITHOUT_OPTIONS = {"run_snakemake"}


class _Parsed(BaseException):
    """Ends a program before it does anything."""


def option_lines() -> list[str]:
    """A line for each program with its description, and one for each of its options."""
    done = in_a_fork(_print_lines)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout.strip().splitlines()


def _print_lines() -> int:
    """Start each program, up to its parser."""
    found: list[argparse.ArgumentParser] = []

    def parse(parser: argparse.ArgumentParser, *arguments: object, **options: object) -> None:
        found.append(parser)
        raise _Parsed

    argparse.ArgumentParser.parse_known_args = parse  # type: ignore[assignment, method-assign]
    for path in sorted((ROOT / "scripts").glob("*/*.py")):
        if path.parent.name == "litm" or path.stem in WITHOUT_OPTIONS:
            continue
        # Another parser than argparse would print this, and the program would do nothing else.
        sys.argv[:] = [str(path), "--help"]
        found.clear()
        with contextlib.suppress(_Parsed):
            runpy.run_path(str(path), run_name="__main__")
        # Some programs hide packages that they do not need.
        for name in [name for name, module in sys.modules.items() if module is None]:
            del sys.modules[name]
        (parser,) = found
        about = " ".join((parser.description or "").split())
        options = sorted(_line(action) for action in parser._actions if action.dest != "help")
        print(f"=== {path.relative_to(ROOT)}: {about}", *options, "", sep="\n")
    return 0


def _line(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings) or action.dest
    values = {None: "one value", 0: "no value", "?": "one value or none", "*": "any number", "+": "one or more"}
    kind = getattr(action.type, "__name__", "str") if action.type else "str"
    facts = [
        "required" if action.required else "optional",
        values.get(action.nargs, str(action.nargs)),
        *([f"of {kind}"] if kind in ("int", "float") else []),
        *([f"of {', '.join(map(str, action.choices))}"] if action.choices else []),
        *([f"default {action.default}"] if action.default not in (None, False, argparse.SUPPRESS) else []),
        *(["repeatable"] if isinstance(action, argparse._AppendAction) else []),
        *([] if action.help else ["without help"]),
    ]
    return f"{names}: {'; '.join(facts)}"
