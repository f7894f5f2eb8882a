"""The words of a command for Snakemake: of a study's files, and of commands as they were before there were verbs."""

import shlex
from collections.abc import Collection, Mapping, Sequence

from litm.config.command_line import CONFIG_FILES, IS_READING, option_occurrences

#: Options that say how many cores, or jobs of a cluster, there are, and those with which a profile may say it.
CORES = ("--cores", "-c", "--jobs", "-j")
ELSEWHERE = ("--workflow-profile", "--profile", "--executor", "-e")
#: What Snakemake leaves out, so that our lines stand out, and options that ask it for more or less.
QUIET, LOUDNESS = ("--quiet", "rules", "host"), ("--quiet", "-q", "--verbose", "--printshellcmds", "-p")


def study_words(targets: Sequence[str], studies: Sequence[str], cores: str, theirs: Sequence[str]) -> list[str]:
    """The words for Snakemake: targets of a verb, files of a study, cores, and the words that are Snakemake's."""
    files = ["--configfile", *studies] if studies else []
    return [*targets, *quiet_of(theirs), *files, *cores_of(theirs, cores), *theirs]


def is_told(words: Sequence[str]) -> bool:
    """Whether these words say how much Snakemake prints."""
    return any(word.partition("=")[0] in LOUDNESS for word in words)


def quiet_of(words: Sequence[str]) -> list[str]:
    """The option for less of Snakemake's lines, unless these words have one, or only read."""
    return [] if is_told(words) or not IS_READING.isdisjoint(words) else [*QUIET]


def cores_of(words: Sequence[str], cores: str = "all") -> list[str]:
    """The option for cores, unless these words have one, a profile that has one, or only read."""
    has_cores = any(word.partition("=")[0] in CORES or word[:2] in ("-c", "-j") for word in words)
    is_elsewhere = any(word.partition("=")[0] in ELSEWHERE for word in words)
    return [] if has_cores or is_elsewhere or not IS_READING.isdisjoint(words) else ["--cores", cores]


def new_spelling(words: Sequence[str], verbs: Mapping[str, object] | Collection[str]) -> str:
    """A command for Snakemake as `litm VERB STUDY -- ...`, "" for one that is only targets."""
    if not any(word.startswith("-") for word in words):
        return ""
    studies = [value for _, values in option_occurrences(words, CONFIG_FILES) for value in values]
    left, skipped = [], iter([*studies])
    waiting = next(skipped, None)
    for word in words:
        if word.partition("=")[0] in CONFIG_FILES:
            if "=" in word:
                waiting = next(skipped, None)
        elif word == waiting:
            waiting = next(skipped, None)
        else:
            left.append(word)
    verb = next((word for word in left if word in verbs and word != "run"), "run")
    theirs = [word for word in left if word != verb]
    if cores := _plain_cores(theirs):
        theirs = theirs[: cores[0]] + theirs[cores[0] + 2 :]
    cores_option = ["--cores", cores[1]] if cores and cores[1] != "all" else []
    return shlex.join(["litm", verb, *studies, *cores_option, *(["--", *theirs] if theirs else [])])


def _plain_cores(words: Sequence[str]) -> tuple[int, str] | None:
    """The place of `--cores N`, and N; None without it."""
    for place, word in enumerate(words[:-1]):
        if word == "--cores":
            return place, words[place + 1]
    return None
