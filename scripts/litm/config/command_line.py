"""Mistakes in a command that Snakemake ignores, or that end it with a traceback or without the place, before it reads
the workflow: those of config files.
"""

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from litm.base.files import can_write
from litm.base.messages import UserError, note
from litm.config.yaml_files import read_config_file

#: Options whose values are all words up to the next option.
CONFIG_FILES, CONFIG_VALUES = ("--configfile", "--configfiles"), ("--config", "-C")
#: The folder in which Snakemake works, and options with which it writes nothing there.
DIRECTORY = ("--directory", "-d")
IS_READING = {
    "-h", "--help", "-v", "--version", "--lint", "-l", "--list", "--list-rules", "--lt", "--list-target-rules",
}  # fmt: skip
#: Suffixes of config files.
SUFFIXES = (".yaml", ".yml", ".json")


def check_command(words: Sequence[str]) -> None:
    """Raise `UserError` for a config file that is missing or cannot be read, and for an option that is repeated.

    words: what follows `snakemake`.
    """
    check_once(words)
    for _, values in option_occurrences(words, CONFIG_FILES):
        for value in values:
            _check_config_file(value)


def check_once(words: Sequence[str]) -> None:
    """Raise `UserError` for an option for the config that is repeated: Snakemake takes the last one alone."""
    for options in (CONFIG_FILES, CONFIG_VALUES):
        occurrences = option_occurrences(words, options)
        if len(occurrences) > 1:
            values = shlex.join(value for _, values in occurrences for value in values)
            raise UserError(
                f"{options[0]} is given more than once, and Snakemake takes the last one alone: write one with all "
                f"values: {options[0]} {values}"
            )


def environment_for(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for Snakemake, with a cache below the working folder where the user's cannot be written.

    Raises `UserError` if the working folder cannot be written either.
    """
    directories = [values[0] for _, values in option_occurrences(words, DIRECTORY) if values]
    state = Path(*directories[-1:]).absolute() / ".snakemake"
    if not IS_READING.isdisjoint(words):
        return {**environment}
    if not can_write(state):
        raise UserError(
            f"{state.parent}: this folder cannot be written, and Snakemake writes to it even for -n: "
            "use another one with --directory FOLDER"
        )
    usual = Path(environment.get("XDG_CACHE_HOME") or f"{environment.get('HOME') or Path.home()}/.cache")
    fallback = state / "cache"
    if can_write(usual / "snakemake"):
        return {**environment}
    note(f"{usual}: this cache cannot be written, so {fallback} is used (XDG_CACHE_HOME sets another one)")
    # Models of the hub are read where they are.
    hub = {"HF_HOME": str(usual / "huggingface")} if os.access(usual / "huggingface", os.R_OK) else {}
    return {**hub, **environment, "XDG_CACHE_HOME": str(fallback)}


def _check_config_file(path: str) -> None:
    if path == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise UserError(f"{path}: a config file must be a file that can be read twice, not a pipe or a folder")
    if not Path(path).exists():
        near = get_close_matches(Path(path).name, [*_config_files(Path(path).parent)], n=1, cutoff=0.75)
        raise UserError(f"{path}: no such config file{f'; did you mean {near[0]}?' if near else ''}")
    if not isinstance(read_config_file(path), dict):
        raise UserError(f"{path}: expected keys with values, as in 'seed: 1'")


def _config_files(folder: Path) -> Iterator[str]:
    """The names of the files in a folder that have a key of a config."""
    from litm.config.catalogue import Config

    for path in sorted(path for suffix in SUFFIXES for path in folder.glob(f"*{suffix}")):
        with suppress(UserError):
            read = read_config_file(str(path))
            if isinstance(read, dict) and not Config.model_fields.keys().isdisjoint(read):
                yield path.name


def option_occurrences(words: Sequence[str], options: Collection[str]) -> list[tuple[str, list[str]]]:
    """These options with their values, as often as they are given."""
    occurrences: list[tuple[str, list[str]]] = []
    takes_more = False
    for word in words[: words.index("--") if "--" in words else None]:
        if word.startswith("-") and word != "-":
            name, _, value = word.partition("=")
            # As in -Cseed=1.
            if word[:2] in options:
                name, value = word[:2], word[2:].removeprefix("=")
            takes_more = name in options and not value
            if name in options:
                occurrences.append((name, [value] if value else []))
        elif takes_more:
            occurrences[-1][1].append(word)
    return occurrences
