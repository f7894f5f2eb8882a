"""Checks of the software: Python, packages, Java."""

import re
from collections.abc import Iterable, Mapping, Sequence

from litm.checks.doctor.check import Check, missing, ok, warning

#: Oldest supported Python.
OLDEST_PYTHON = (3, 11)
#: Packages named in a message.
SHOWN = 4
INSTALL = "pip install -r requirements.lock"
#: What is to be known of a tokenizer of LLaMA's family.
SENTENCEPIECE = (
    "SentencePiece, as transformers converts it: a text with several spaces on end has a token or two more than by "
    "SentencePiece itself; prompts are counted and asked so"
)


def read_lock(lines: Iterable[str]) -> dict[str, str]:
    """The version of each package of a lock file, by its normalised name."""
    pairs = (line.strip().split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    return {normalized(name): version for name, version in pairs}


def normalized(package: str) -> str:
    """A package's name in the normal form of PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


def python_check(version: Sequence[int]) -> Check:
    """Whether Python (major, minor, ...) is new enough."""
    shown = ".".join(map(str, version))
    if tuple(version[:2]) < OLDEST_PYTHON:
        return missing("Python", f"{shown}, but {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")
    return ok("Python", shown)


def package_checks(installed: Mapping[str, str], lock: Mapping[str, str], needed: Iterable[str]) -> list[Check]:
    """Whether the needed packages are installed, and all packages have the versions of the lock file.

    installed, lock: version by normalised name; a local part, as in 2.13.0+cpu, is ignored.
    """
    absent = [name for name in needed if normalized(name) not in installed]
    others = [
        f"{name} {installed[name]} ({version})"
        for name, version in lock.items()
        if name in installed and installed[name].split("+")[0] != version
    ]
    checks = [missing(f"package {name}", f"not installed: {INSTALL}") for name in absent]
    if others:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        told = f"not the version of requirements.lock: {', '.join(others[:SHOWN])}{more}"
        checks.append(warning("packages", f"{told}; results were tested with those: {INSTALL}"))
    elif not absent:
        same = sum(name in installed for name in lock)
        checks.append(ok("packages", f"{same} in the versions of requirements.lock"))
    return checks


def java_check(error: str | None) -> Check:
    """Whether the Java machine for BM25 starts; error: of an attempt, None if it succeeded."""
    return missing("Java", error) if error else ok("Java", "starts, and Lucene's archive is there")


def quantization_check(model: str, device: str, quantization: str, error: str | None) -> Check:
    """Whether bitsandbytes can quantise on a device; error: of an attempt, None if it succeeded."""
    what = f"{model}: {quantization}"
    if error:
        return missing(
            what, f"bitsandbytes does not work on {device} ({error}): install it anew, or set 'quantization' to none"
        )
    return ok(what, f"bitsandbytes works on {device}")


def gguf_check(model: str, kind: str, dtype: str, error: str | None) -> Check:
    """Whether transformers reads a GGUF file with such weights, computing in `dtype`; error: None if it does."""
    what = f"{model}: GGUF"
    return missing(what, error) if error else ok(what, f"{kind}, read as {dtype}")
