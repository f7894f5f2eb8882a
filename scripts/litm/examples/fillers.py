"""Fillers: what fills a context beside the gold item, as a factor of an experiment.

Each level shows other distractors with the same question and the same gold item. A task of generated texts makes them
itself (`Task.fill`); those of questions on documents are made here.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random

from litm.answers import contains_normalized
from litm.base.messages import UserError, quoted
from litm.records.questions import Item, Question

NEUTRAL, SAME_FORM, WRONG_ANSWERS = "neutral", "same_form", "wrong_answers"
#: Levels, and what they show. The usual one of documents, `SAME_FORM`, is what a retriever found.
FILLERS: Mapping[str, str] = {
    NEUTRAL: "texts on other subjects, without values of the answer's form",
    SAME_FORM: "texts of the gold item's form on other subjects",
    WRONG_ANSWERS: "texts that answer the question with other values, from sources that do not count",
}
#: Title of a document whose answer was replaced: it says that the document does not count.
WITHDRAWN = "Withdrawn: {title}"


def with_documents(questions: Sequence[Question], level: str, seed: int | None, number: int) -> Iterator[Question]:
    """The questions with `number` documents of a level as distractors, drawn by seed and question: a larger number
    begins with those of a smaller one.

    NEUTRAL: documents of other questions, without an accepted answer. WRONG_ANSWERS: the gold document with its answers
    replaced, in each by the answer of another question, of the same kind (`kind_of`) as long as there are such (entity
    substitution: Longpre et al. 2021, arXiv 2109.05052); a question whose gold document has none of its answers keeps
    its documents. Raises `UserError` for too few other questions.
    """
    for place, question in enumerate(questions):
        rng = Random(f"{seed}/fillers/{level}/{question.id}")
        others = [*questions[:place], *questions[place + 1 :]]
        made = tuple(islice(_OF_DOCUMENTS[level](question, others, rng), number))
        if 0 < len(made) < number:
            raise UserError(
                f"fillers {level}: the other {len(others)} questions of the dataset give {len(made)} documents for "
                f"{quoted(question.text)}, and a context needs {number}; take a dataset of more questions"
            )
        yield replace(question, distractors=made) if made else question


def _neutral(question: Question, others: Sequence[Question], rng: Random) -> Iterator[Item]:
    """A document of each other question in random order, round after round."""
    (gold,) = question.golds
    seen = {gold.item, *question.distractors}
    order = rng.sample(others, len(others))
    while order:
        order = [other for other in order if not seen.issuperset(other.distractors)]
        for other in order:
            if unseen := [item for item in other.distractors if item not in seen]:
                item = rng.choice(unseen)
                seen.add(item)
                if not contains_normalized(" ".join(item), gold.answers):
                    yield item


def _with_wrong_answers(question: Question, others: Sequence[Question], rng: Random) -> Iterator[Item]:
    """The gold document with an answer of each other question in random order, those of the same kind first."""
    (gold,) = question.golds
    assert gold.item is not None, "questions with positions have gold documents"
    longest_first = sorted(gold.answers, key=len, reverse=True)
    answer = re.compile("|".join(rf"(?<!\w){re.escape(text)}(?!\w)" for text in longest_first), re.IGNORECASE)
    title, text = gold.item
    if not answer.search(text):
        return
    values = list(dict.fromkeys(other.golds[0].answers[0] for other in others))
    kind = kind_of(gold.answers[0])
    for value in sorted(rng.sample(values, len(values)), key=lambda value: kind_of(value) != kind):
        replacement = value.replace("\\", r"\\")
        item = (WITHDRAWN.format(title=answer.sub(replacement, title)), answer.sub(replacement, text))
        # The value may be in the gold document too, and a part of one of two overlapping answers may be left.
        is_there = contains_normalized(f"{title} {text}", [value])
        if not is_there and not contains_normalized(" ".join(item), gold.answers):
            yield item


_OF_DOCUMENTS: Mapping[str, Callable[[Question, Sequence[Question], Random], Iterator[Item]]] = {
    NEUTRAL: _neutral,
    WRONG_ANSWERS: _with_wrong_answers,
}


@cache
def kind_of(answer: str) -> str:
    """The form of an answer: a number and its digits, or a text with a number, a name, or words, and how many (up to
    three).
    """
    text = answer.strip()
    if text.isdigit():
        return f"number of {len(text)} digits"
    form = "with a number" if re.search(r"\d", text) else "name" if text[:1].isupper() else "words"
    return f"{form}, {min(3, len(text.split()))}"
