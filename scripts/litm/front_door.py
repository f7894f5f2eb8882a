"""litm: how does the position of information in a long context change what a language model gets right?

A study is a YAML file that names models and experiments; without one, config/config.yaml of the folder counts, or the
default. What follows `--` is Snakemake's, which runs it: litm run study.yaml -- --dry-run
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import UserError, note
from litm.config.study_words import cores_of, is_told, new_spelling, quiet_of, study_words

#: Verbs on studies with what they do, and the targets that are asked of Snakemake.
STUDY_VERBS = {
    "run": ("run a study: ask its models, make tables, figures and the report", ()),
    "estimate": ("say what a study costs: prompts, tokens, hours, US$", ("estimate",)),
    "doctor": ("check that this machine has what a study needs", ("doctor",)),
}
#: Verbs on finished studies and kept answers, and the modules that have their `main`.
OTHER_VERBS = {
    "compare": ("does a model answer worse than another one, or than before?", "litm.compare"),
    "studies": ("the models of several studies in one page", "litm.studies"),
    "answers": ("kept answers: list them, add those of another place, delete some", "litm.checks.answers"),
}
CHECK = "a first answer on one model, its price before the first request; with --against, is it worse than another?"
VERBS = ("check", *STUDY_VERBS, *OTHER_VERBS)
#: Verbs that take results folders as their first words, and have an option for them.
TAKES_FOLDERS = ("compare", "studies")


def front_parser() -> argparse.ArgumentParser:
    """The parser of the first word, whose help is the first screen."""
    about = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser("litm", description=about[0], epilog=about[2], usage="litm VERB ...")
    verbs = parser.add_argument_group("verbs; each has its own --help")
    says = {"check": CHECK} | {verb: help for verb, (help, _) in {**STUDY_VERBS, **OTHER_VERBS}.items()}
    for verb, help in says.items():
        verbs.add_argument(verb, nargs="?", help=help)
    return parser


def study_parser(verb: str) -> argparse.ArgumentParser:
    """The parser of a verb on studies."""
    help, _ = STUDY_VERBS[verb]
    parser = argparse.ArgumentParser(f"litm {verb}", description=f"{help[0].upper()}{help[1:]}.", epilog=(
        f"What follows `--` is Snakemake's: litm {verb} study.yaml -- --config examples=20"
    ))  # fmt: skip
    parser.add_argument("study", nargs="*", help="YAML files of the study; later ones add to earlier ones")
    parser.add_argument("--cores", default="all", help="processor cores to use (all)")
    if verb == "run":
        parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would run")
    return parser


def main() -> None:
    """The program `litm`."""
    run(lambda: enter(sys.argv[1:]))


def enter(words: Sequence[str]) -> None:
    """Do what these words say."""
    if sys.platform == "win32":
        raise UserError("Windows runs this in WSL (Windows Subsystem for Linux): install it there")
    verb, *rest = words or ["--help"]
    if verb in ("-h", "--help"):
        front_parser().print_help()
    elif verb == "check":
        is_paired = any(word.partition("=")[0] == "--against" for word in rest)
        import_module(f"litm.checks.{'serving' if is_paired else 'first'}_check").main(rest)
    elif verb in OTHER_VERBS:
        sys.argv[:] = [f"litm {verb}", *(_with_option(rest) if verb in TAKES_FOLDERS else rest)]
        import_module(OTHER_VERBS[verb][1]).main()
    elif verb in STUDY_VERBS and not (verb != "run" and _foreign_options(verb, rest)):
        _start(snakemake_words(verb, rest), only_jobs=verb == "doctor" and not is_told(_divided(rest)[1]))
    else:
        _enter_as_before(words)


def snakemake_words(verb: str, words: Sequence[str]) -> list[str]:
    """The words for Snakemake of a verb on studies and what follows it."""
    ours, theirs = _divided(words)
    if foreign := _foreign_options(verb, words):
        raise UserError(f"{foreign[0]}: options of Snakemake follow `--`: litm {verb} study.yaml -- {foreign[0]} ...")
    read = study_parser(verb).parse_args(ours)
    dry = ["--dry-run"] if getattr(read, "dry_run", False) else []
    for path in map(Path, read.study):
        if not path.exists() and "\\" in str(path):
            raise UserError(f"{path}: a path of Windows; in WSL C:\\folder is /mnt/c/folder")
    return study_words(STUDY_VERBS[verb][1], read.study, read.cores, [*dry, *theirs])


def _divided(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what follows the first `--`."""
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end]], [*words[end + 1 :]]


def _foreign_options(verb: str, words: Sequence[str]) -> list[str]:
    """Options before any `--` that are none of the verb's: once `estimate` and `doctor` were targets beside them."""
    options = {word for action in study_parser(verb)._actions for word in action.option_strings}
    return [word for word in _divided(words)[0] if word.startswith("-") and word.partition("=")[0] not in options]


def _enter_as_before(words: Sequence[str]) -> None:
    """Start Snakemake with words that are all its own, as before there were verbs; a line says the new ones."""
    new = new_spelling(words, STUDY_VERBS)
    if new:
        note(f"this spelling ends with version 2; the new one: {new}")
    elif not any(word.startswith("-") for word in words) and not Path(words[0]).exists():
        check_first(words[0])
    _start([*words, *quiet_of(words), *cores_of(words)])


def check_first(word: str) -> None:
    """Raise `UserError` for a first word that is neither a verb nor a target of the workflow."""
    from difflib import get_close_matches

    from litm.workflow.start import rule_names

    if word not in rule_names():
        near = get_close_matches(word, VERBS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(VERBS)}"
        raise UserError(f"{word}: no such verb; {hint}")


def _with_option(words: Sequence[str]) -> list[str]:
    """Words with the option `--results` before the folders that they begin with."""
    return ["--results", *words] if words and not words[0].startswith("-") else [*words]


def _start(words: Sequence[str], only_jobs: bool = False) -> None:
    from litm.workflow.start import run_jobs_of, start_snakemake

    (run_jobs_of if only_jobs else start_snakemake)(words)


if __name__ == "__main__":
    main()
