"""Subsets of questions: by labels (paper, Appendix A), and by a seeded sample (Appendix D)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from litm.base.messages import UserError
from litm.base.store import text_sha256
from litm.questions.labels import match_key
from litm.questions.reading import HasText


class HasId(Protocol):
    @property
    def id(self) -> str: ...


Texted = TypeVar("Texted", bound=HasText)
Named = TypeVar("Named", bound=HasId)


@dataclass(frozen=True)
class Coverage:
    """Number of questions, of labelled questions, and of questions that the labels keep."""

    questions: int
    labelled: int
    kept: int


def select(questions: Iterable[Texted], labels: Mapping[str, bool]) -> tuple[list[Texted], Coverage]:
    """The questions that the labels keep, in their order; questions without a label are left out and counted.

    Raises `UserError` if no question is labelled, or none is kept.
    """
    questions = list(questions)
    verdicts = [labels.get(match_key(question.text)) for question in questions]
    kept = [question for question, keep in zip(questions, verdicts, strict=True) if keep]
    coverage = Coverage(len(questions), sum(keep is not None for keep in verdicts), len(kept))
    if not coverage.labelled:
        raise UserError(
            f"none of the {coverage.questions} questions is among the {len(labels)} labelled ones: "
            "give labels of these questions"
        )
    if not kept:
        raise UserError(
            f"the labels keep none of the {coverage.questions} questions ({coverage.labelled} of them have a label)"
        )
    return kept, coverage


def first_by_digest(questions: Sequence[Named], n: int, seed: int) -> list[Named]:
    """A random sample of `n` questions, in their order, that depends only on the seed and the ids.

    The questions with the smallest SHA-256 of `{seed}/{id}`: a larger sample contains a smaller one, and adding or
    removing another question changes at most one. Raises `UserError` if there are fewer than `n`.
    """
    if n > len(questions):
        raise UserError(f"a sample of {n} questions was asked for, there are only {len(questions)}")
    digests = [text_sha256(f"{seed}/{question.id}") for question in questions]
    chosen = set(sorted(range(len(questions)), key=digests.__getitem__)[:n])
    return [question for index, question in enumerate(questions) if index in chosen]
