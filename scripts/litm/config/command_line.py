"""Mistakes in a command that Snakemake ignores, or that end it with a traceback or without the place, before it reads
the workflow.
"""

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from litm.base.files import can_write
from litm.base.messages import UserError, note
from litm.config.yaml_files import read_config_file

#: Options whose values are all words up to the next option.
CONFIG_FILES, CONFIG_VALUES = ("--configfile", "--configfiles"), ("--config", "-C")
#: What Snakemake takes as a key of a config.
KEY = re.compile(r"[a-zA-Z_][\w-]*\w")
#: Profiles of the workflow, and those that may also be the user's own.
PROFILE, ANY_PROFILE, EXECUTOR = ("--workflow-profile",), ("--profile",), ("--executor", "-e")
#: The folder in which Snakemake works, and options with which it writes nothing there.
DIRECTORY = ("--directory", "-d")
IS_READING = {
    "-h", "--help", "-v", "--version", "--lint", "-l", "--list", "--list-rules", "--lt", "--list-target-rules",
}  # fmt: skip
#: Options without a value, after which a target may follow.
FLAGS = ("-n", "--dry-run", "-p", "-k", "--keep-going", "-F", "--forceall", "-f", "--force")
#: Executors that are no plugins, and our files with the packages of plugins.
BUILT_IN, REQUIREMENTS = ("local", "dryrun", "touch"), {"slurm": "-r requirements-slurm.txt"}
#: A word that may be the name of a target, not the path of a file.
NAME = re.compile(r"[a-zA-Z]\w*")
#: Suffixes of config files.
SUFFIXES = (".yaml", ".yml", ".json")
#: Brackets of values in flow style, opening and closing.
BRACKETS = (("{", "}"), ("[", "]"))


def check_command(words: Sequence[str], targets: Collection[str], root: Path = Path()) -> None:
    """Raise `UserError` for a config file that is missing or cannot be read, for a target that is unknown or would be
    taken for a value of an option, for an unknown profile, and for an executor whose plugin is not installed.

    words: what follows `snakemake`; targets: the names of the rules, none if they are not known; root: the project's
    folder, with its profiles.
    """
    for option, value in _option_values(words, CONFIG_FILES):
        _check_not_target(option, value, targets)
        _check_config_file(value, targets)
    for option, value in _option_values(words, CONFIG_VALUES):
        _check_not_target(option, value, targets)
        if any(value.count(opening) > value.count(closing) for opening, closing in BRACKETS):
            raise UserError(
                f"{value} ...: a bracket is not closed, so the shell has split the value at a space: put it in quotes, "
                f"as in {option} 'my_data={{folder: notes}}'"
            )
        if "=" not in value:
            raise UserError(
                f"{value}: {option} takes key=value, as in {option} examples=20; targets come before all options"
            )
        if not KEY.fullmatch(value.partition("=")[0]):
            raise UserError(
                f"{value}: not a key before '='; a key within others is written in braces, as in "
                f"{option} 'define={{models: {{mm: {{engine: dummy}}}}}}'"
            )
    check_once(words)
    executors = [value for _, value in _option_values(words, EXECUTOR)][:1]
    for _, profile in [*_option_values(words, PROFILE)][:1]:
        executors = executors or _executor_of(_profile(profile, root))
    for _, profile in [*_option_values(words, ANY_PROFILE)][:1]:
        executors = executors or _executor_of(_found_profile(profile, root))
    for executor in executors:
        if executor not in BUILT_IN and not find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}"):
            package = REQUIREMENTS.get(executor)
            names = ", ".join((*BUILT_IN, *REQUIREMENTS))
            raise UserError(
                f"{executor}: Snakemake's plugin for this executor is not installed: "
                + (f"pip install {package}" if package else f"the workflow is used with {names}; others are plugins")
            )
    certain = _targets(words)
    for word in (*certain, *_perhaps_targets(words)) if targets else ():
        if NAME.fullmatch(word) and word not in targets and not Path(word).exists():
            near = _nearest(word, targets)
            if near or word in certain:
                raise UserError(f"{word}: no such target{near}")


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


def _check_not_target(option: str, value: str, targets: Collection[str]) -> None:
    is_result = value.startswith("results/") and Path(value).suffix not in SUFFIXES
    if is_result or (value in targets and not Path(value).exists()):
        raise UserError(
            f"{value}: {option} takes all words up to the next option, so this target would be one of its values; "
            f"put it before all options, as in: {value} {option} ..."
        )


def _check_config_file(path: str, targets: Collection[str]) -> None:
    if path == "-" or (Path(path).exists() and not Path(path).is_file()):
        raise UserError(f"{path}: a config file must be a file that can be read twice, not a pipe or a folder")
    if not Path(path).exists():
        if NAME.fullmatch(path) and (near := get_close_matches(path, targets, n=1, cutoff=0.75)):
            raise UserError(f"{path}: no such config file; for the target {near[0]}, put it before all options")
        raise UserError(f"{path}: no such config file{_nearest(Path(path).name, [*_config_files(Path(path).parent)])}")
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


def _profile(name: str, root: Path) -> Path | None:
    """The file or folder of a profile of the workflow, where Snakemake looks for it, which ignores an unknown one."""
    names = [folder.name for folder in (root / "profiles").glob("*") if folder.is_dir()]
    path = _found_profile(name, root)
    if not path and name != "none":
        near = get_close_matches(Path(name).name, names, n=1)
        hint = f"did you mean profiles/{near[0]}?" if near else f"there are {', '.join(sorted(names))} in profiles/"
        raise UserError(f"{name}: no such profile; {hint}")
    return path


def _found_profile(name: str, root: Path) -> Path | None:
    """The file or folder of a profile, None if it is not where the workflow's are."""
    places = (Path(name), Path("profiles", name), root / "profiles" / name)
    return next((path for path in places if path.exists()), None)


def _executor_of(profile: Path | None) -> list[str]:
    """The executor that a profile sets, none or one."""
    if profile is None:
        return []
    files = sorted(profile.glob("config*.yaml")) if profile.is_dir() else [profile]
    values = [read for file in files if isinstance(read := read_config_file(file), dict)]
    return [str(settings["executor"]) for settings in values if "executor" in settings][:1]


def _nearest(word: str, words: Collection[str]) -> str:
    near = get_close_matches(word, words, n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _option_values(words: Sequence[str], options: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each value of these options, after the option."""
    return ((option, value) for option, values in option_occurrences(words, options) for value in values)


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


def _targets(words: Sequence[str]) -> list[str]:
    """The words that can only be targets: those before all options, and those after `--`."""
    first = next((index for index, word in enumerate(words) if word.startswith("-")), len(words))
    last = words.index("--") + 1 if "--" in words else len(words)
    return [*words[:first], *words[last:]]


def _perhaps_targets(words: Sequence[str]) -> Iterator[str]:
    """Words after an option's first value or after a flag: targets, or further values of the option."""
    for before, word in pairwise(words):
        if not word.startswith("-") and (before in FLAGS or not before.startswith("-")):
            yield word
