"""Checks of the disk: free space and file locks."""

from litm.checks.doctor.check import Check, in_bytes, missing, ok, warning
from litm.config.study import Study
from litm.workflow.needs import Needs
from litm.workflow.prompt_lengths import QUESTIONS

#: Bytes, rough upper estimates: a packed prompt with its scores and token counts; an answer in journal and responses; a
#: passage with its entry in Lucene's index; a vector of 768 numbers.
PROMPT, ANSWER, PASSAGE, VECTOR = 10_000, 2_000, 2_000, 768 * 4
#: Bytes of free space below which a disk counts as full.
LEAST = 1e9


def results_bytes(study: Study, needs: Needs) -> int:
    """Estimated bytes of a study's results, without downloads."""
    total = 0
    for experiment in study.experiments.values():
        answered = [one for (_, name), one in study.run.items() if name == experiment.name]
        cells = PROMPT * len(experiment.cells) + ANSWER * sum(len(one.cells) for one in answered)
        total += cells * (experiment.examples or QUESTIONS)
    for corpus in needs.corpora:
        passages = corpus.settings.passages or corpus.shards * corpus.passages_per_shard
        dense = sum(retriever.method == "dense" for retriever in needs.retrievers)
        total += passages * (PASSAGE + VECTOR * dense)
    return total


def disk_check(what: str, folder: str, free: int, wanted: int) -> Check:
    """Whether a disk has room. free: bytes; wanted: estimated bytes."""
    told = f"{in_bytes(free)} free in {folder}, about {in_bytes(wanted)} wanted at most"
    if wanted > free:
        return missing(what, f"{told}: free some, or work on another disk (--directory)")
    return (warning if free - wanted < LEAST else ok)(what, told)


def locks_check(folder: str, error: str | None) -> Check:
    """Whether files in the folder of the journals can be locked. error: of an attempt, None if it succeeded."""
    if error:
        return warning("locks", f"{folder}: {error}; make sure that no two runs write to the same journal")
    return ok("locks", f"work in {folder}")
