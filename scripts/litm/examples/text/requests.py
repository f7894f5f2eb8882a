"""Requests to a town's offices, in families of one subject: each subject is asked about in several wordings."""

from random import Random

from litm.examples.text.wordings import BUILDINGS, THINGS

#: What is asked about a subject.
WORDINGS = (
    "I have a question about the {subject}.",
    "Can somebody have a look at the {subject}?",
    "I would like to complain about the {subject}.",
    "Please tell me more about the {subject}.",
    "Something is wrong with the {subject}.",
    "When will there be news of the {subject}?",
)


def subjects(rng: Random, count: int) -> list[str]:
    """`count` distinct subjects, such as "ladders in the market hall"; at most `MOST`."""
    return [f"{things} in the {building}" for things, building in rng.sample(_SUBJECTS, count)]


_SUBJECTS = [(things, building) for things in THINGS for building in BUILDINGS]
#: Subjects in all.
MOST = len(_SUBJECTS)
