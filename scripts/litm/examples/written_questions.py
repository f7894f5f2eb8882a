"""Questions that a model writes about a user's passages: what it is asked, what it writes, and which are kept.

A question is kept if its answer stands in exactly one passage, and if a model gives it with this passage and not
without it. So on the kept questions this model has an accuracy of 1 with the passage alone and of 0 without it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from litm.answer_words import has_answer
from litm.base.json_files import read_jsonl, typed_field, write_jsonl
from litm.base.messages import UserError, counted, single_spaced
from litm.base.store import digest
from litm.corpora.passages import Passage, word_count
from litm.examples.examples import make_example
from litm.examples.tasks.question_answering import closed_book_qa, oracle_qa
from litm.placements import NO_GOLD, gold_placement
from litm.questions.released_format import WRITER, Document, QuestionRecord, question_id
from litm.records.examples import Example
from litm.records.questions import Gold, Question
from litm.records.responses import SweepResponse

if TYPE_CHECKING:
    from litm.tables.questions import WrittenQuestionsRow

#: Words of the shortest passage that a question is written from.
FEWEST_WORDS = 25
#: Where the passage is in a prompt.
WITH_PASSAGE = gold_placement([0])
_PLACE = re.compile("{(title|passage)}")
#: A line of a reply, with marks of a list or of bold type around the word.
_LINE = re.compile(r"^[^\w\n]*(?:\d+[.)] *)?(question|answer)[ *]*:[ *]*(.*?)[ *]*$", re.IGNORECASE | re.MULTILINE)
_QUOTES = "\"'\u201c\u201d"


class Outcome(StrEnum):
    """What became of a passage's question, in the order of the checks."""

    NO_REPLY = "no_reply"
    """The model gave no reply."""
    NO_PAIR = "no_pair"
    """The reply has no question with an answer."""
    NOT_IN_PASSAGE = "not_in_passage"
    """The answer does not stand in the passage."""
    IN_QUESTION = "in_question"
    """The question contains its answer."""
    REPEATED = "repeated"
    """The same question was written from an earlier passage."""
    IN_SEVERAL = "in_several"
    """Another passage has the answer too."""
    NOT_ANSWERED = "not_answered"
    """The model that checks does not give the answer with the passage."""
    KNOWN = "known"
    """The model that checks gives the answer without the passage."""
    KEPT = "kept"
    """None of these."""


#: The outcomes in words, after a number of questions.
OUTCOMES: Mapping[str, str] = {
    Outcome.NO_REPLY: "without a reply",
    Outcome.NO_PAIR: "whose reply has no question with an answer",
    Outcome.NOT_IN_PASSAGE: "whose answer is not in their passage",
    Outcome.IN_QUESTION: "that contain their answer",
    Outcome.REPEATED: "written twice",
    Outcome.IN_SEVERAL: "whose answer is in other passages too",
    Outcome.NOT_ANSWERED: "not answered with their passage",
    Outcome.KNOWN: "answered without their passage",
    Outcome.KEPT: "kept",
}


@dataclass(frozen=True)
class WrittenPair:
    """A question with its answer as a model wrote it, and its passage."""

    passage: str
    """Id of the passage."""
    file: str
    """Its file."""
    title: str
    """Its title."""
    text: str
    """Its text."""
    question: str
    """The question, "" for none."""
    answer: str
    """The answer, "" for none."""
    outcome: str
    """An `Outcome`; `KEPT` as long as nothing is against it."""

    @property
    def record(self) -> QuestionRecord:
        """The question in the released format, with its gold passage."""
        gold = Document.from_fields(self.title, self.text, id=self.passage, has_answer=True, is_gold=True)
        return QuestionRecord.from_documents(self.question, [self.answer], [gold])


def drawn_passages(passages: Iterable[Passage], number: int, seed: int) -> list[Passage]:
    """`number` passages of at least `FEWEST_WORDS` words, drawn by a digest: a larger number has those of a smaller."""
    long = (passage for passage in passages if word_count(passage.text) >= FEWEST_WORDS)
    return sorted(long, key=lambda passage: digest([seed, "written_questions", passage.id]))[:number]


def writing_examples(passages: Iterable[Passage], template: str) -> Iterator[Example]:
    """The prompts that ask for a question about each passage, with the passages' ids."""
    for passage in passages:
        texts = {"title": passage.title, "passage": passage.text}
        prompt = _PLACE.sub(lambda place, texts=texts: texts[place[1]], template)  # type: ignore[misc]
        yield Example(passage.id, 1, WITH_PASSAGE, "", False, prompt, ())


def read_pair(reply: str) -> tuple[str, str] | None:
    """The first question of a reply and the answer after it; None unless both are there."""
    question = ""
    for match in _LINE.finditer(reply):
        text = single_spaced(match[2])
        if match[1].lower() == "question":
            question = text
        elif question and text:
            return question, text.removesuffix(".").strip(_QUOTES).removesuffix(".")
    return None


def written_pairs(drawn: Mapping[str | int, Passage], replies: Iterable[SweepResponse]) -> Iterator[WrittenPair]:
    """The pairs in the replies about these passages, by id, with what their texts alone say against them."""
    seen: set[str] = set()
    for reply in replies:
        passage = drawn[reply.id]
        pair = read_pair(reply.scored_text or "")
        question, answer = pair or ("", "")
        outcome = Outcome.KEPT
        if reply.text is None:
            outcome = Outcome.NO_REPLY
        elif pair is None:
            outcome = Outcome.NO_PAIR
        elif not has_answer(passage.text, [answer]):
            outcome = Outcome.NOT_IN_PASSAGE
        elif has_answer(question, [answer]):
            outcome = Outcome.IN_QUESTION
        elif question.casefold() in seen:
            outcome = Outcome.REPEATED
        else:
            seen.add(question.casefold())
        yield WrittenPair(passage.id, passage.files[0], passage.title, passage.text, question, answer, outcome)


def in_one_passage(pairs: Sequence[WrittenPair], passages: Iterable[Passage]) -> list[WrittenPair]:
    """The pairs, with `IN_SEVERAL` for those whose answer another passage has in its title or text."""
    several: set[str] = set()
    for passage in passages:
        shown = f"{passage.title}\n{passage.text}"
        several |= {
            pair.passage
            for pair in pairs
            if pair.outcome == Outcome.KEPT and passage.id != pair.passage and has_answer(shown, [pair.answer])
        }
    return [replace(pair, outcome=Outcome.IN_SEVERAL) if pair.passage in several else pair for pair in pairs]


def checking_examples(pairs: Iterable[WrittenPair], with_passage: str, alone: str) -> Iterator[Example]:
    """The prompts that ask each question with its passage and without it, as the oracle and closed book do.

    with_passage, alone: the texts of the prompt files.
    """
    for pair in pairs:
        gold = Gold("gold", (pair.title, pair.text), (pair.answer,))
        question = Question(question_id(pair.question), pair.question, (gold,), ())
        yield make_example(question, 1, WITH_PASSAGE, with_passage, oracle_qa)
        unknown = replace(question, golds=(replace(gold, item=None),))
        yield make_example(unknown, 0, NO_GOLD, alone, closed_book_qa)


def checked_pairs(pairs: Iterable[WrittenPair], replies: Iterable[SweepResponse]) -> Iterator[WrittenPair]:
    """The pairs, with what the replies to `checking_examples` say against those that are kept so far."""
    answers = {(reply.id, reply.placement): reply.scored_text for reply in replies}
    for pair in pairs:
        outcome = pair.outcome
        if outcome == Outcome.KEPT:
            with_passage, alone = (
                has_answer(_first_line(answers.get((question_id(pair.question), placement)) or ""), [pair.answer])
                for placement in (WITH_PASSAGE, NO_GOLD)
            )
            outcome = Outcome.NOT_ANSWERED if not with_passage else Outcome.KNOWN if alone else Outcome.KEPT
        yield replace(pair, outcome=outcome)


def _first_line(answer: str) -> str:
    return answer.strip().split("\n", 1)[0]


def outcomes_in_words(outcomes: Iterable[str] | Mapping[str, int]) -> str:
    """How many questions had each outcome, those that are kept last: `3 written twice, 12 kept`.

    outcomes: of each question, or their numbers.
    """
    counts = Counter(outcomes)
    return ", ".join(f"{counts[outcome]} {words}" for outcome, words in OUTCOMES.items() if counts[outcome])


def check_kept(name: str, pairs: Sequence[WrittenPair]) -> None:
    """Raise `UserError` if no question of a set is kept."""
    if all(pair.outcome != Outcome.KEPT for pair in pairs):
        raise UserError(
            f"{name}: no question is kept ({counted(len(pairs), 'passage')}: "
            f"{outcomes_in_words(pair.outcome for pair in pairs)}); take a larger model as 'by', or raise 'number'"
        )


def question_rows(pairs: Iterable[WrittenPair], writer: str) -> Iterator[dict[str, str]]:
    """The rows of a table that can be edited and read as a user's own questions, with the name of the writer."""
    for pair in pairs:
        row = {"question": pair.question, "answer": pair.answer, "file": pair.file, "text": pair.text}
        yield {**row, WRITER: writer}


def table_rows(name: str, pairs: Iterable[WrittenPair], writer: str, checker: str) -> "Iterator[WrittenQuestionsRow]":
    """The rows of written_questions.csv."""
    for pair in pairs:
        yield {
            "questions": name,
            "written_by": writer,
            "checked_by": checker,
            "passage": pair.passage,
            "question": pair.question,
            "written_answer": pair.answer,
            "outcome": pair.outcome,
        }


def write_pairs(path: str | Path, pairs: Iterable[WrittenPair]) -> None:
    """Write pairs, one JSON object per line."""
    write_jsonl(path, map(asdict, pairs))


def read_pairs(path: str | Path) -> list[WrittenPair]:
    """The pairs of `write_pairs`."""
    names = WrittenPair.__dataclass_fields__
    return [
        WrittenPair(**{name: typed_field(record, name, str, f"{path}, line {number}") for name in names})
        for number, record in read_jsonl(path)
    ]
