"""Present answers to a sweep's prompts: those in its journals, and equal ones in journals of other sweeps."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from litm.base.store import digest
from litm.domain.example import Example
from litm.domain.response import Response
from litm.inference.equal_identities import equal_answers, equal_digests
from litm.inference.journal import journal_files, read_journal
from litm.inference.other_sweeps import answers_elsewhere, other_sweeps
from litm.inference.prompt import Prompt, sweep_prompts
from litm.inference.sweep_setup import Asking


@dataclass(frozen=True)
class Present:
    """The prompts of a sweep, and its answers by key. Some answers may be to other prompts."""

    prompts: list[Prompt]
    answers: dict[str, Response]

    @property
    def keys(self) -> set[str]:
        """The keys of the prompts that have an answer."""
        return {prompt.key for prompt in self.prompts} & self.answers.keys()


def present_answers(
    examples: Iterable[Example], asking: Asking, identity: dict, journal: str | Path, journals: str | Path | None
) -> Present:
    """The answers that a sweep would use again, as `sweep.ask_missing` finds them; changes no journal.

    identity: the sweep's; journal: its path, which may not exist; journals: the folder of all sweeps' journals, None to
    leave the others out.
    """
    answers: dict[str, Response] = {}
    identities: dict[str, dict] = {}
    for path in journal_files(journal):
        recorded = read_journal(path)
        answers |= recorded.responses
        identities |= recorded.identities
    prompts = sweep_prompts(examples, digest(identity), asking.settings["prompt_template"])
    equal = equal_digests(identities, identity, asking.stored_dtype)
    answers |= equal_answers(((prompt.key, prompt.content) for prompt in prompts), equal, answers)
    missing = {prompt.key: prompt.content for prompt in prompts if prompt.key not in answers}
    others = other_sweeps(journals, journal) if journals and missing else ()
    answers |= answers_elsewhere(missing, identity, others, asking.stored_dtype).answers
    return Present(prompts, answers)
