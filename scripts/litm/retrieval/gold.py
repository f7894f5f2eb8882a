"""Gold passages for questions that lack one: named by the user, or else the first retrieved passage with an answer."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litm.answers.dpr import Check, dpr_check
from litm.base.messages import ordinal
from litm.corpora.passages import Passage
from litm.questions.own_questions import Named, line_of
from litm.questions.released_format import Document, QuestionRecord

if TYPE_CHECKING:
    import pandas as pd

#: Origin of a gold passage (named, first retrieved, corrected), or the reason for its absence.
FIRST_RETRIEVED, CORRECTED, NONE, LEFT_OUT = "first_retrieved", "corrected", "none", "left_out"
#: The same in words, for the console.
IN_WORDS = {
    "text": "by their words",
    "page": "by file and page",
    "file": "by file",
    FIRST_RETRIEVED: "the first passage retrieved that has the answer",
    CORRECTED: "as corrected",
}
#: Characters, and words: answers this short, or one of these words, occur in many passages by chance.
SHORT, COMMON = 2, {"yes", "no", "true", "false", "none"}
#: Rank below which a gold passage is noted. Where the true page is known, one in four of such passages is from another
#: page, and one in sixteen at the first rank (1,731 questions of NaturalQuestions, 13,712 passages, BM25).
NEAR = 3
#: Questions printed for the user to judge; characters of an excerpt on either side of the answer.
SAMPLED, AROUND = 5, 80


@dataclass(frozen=True)
class Gold:
    """The gold passage found for a question. passage: None if there is none; rank: from 1 among the retrieved passages,
    None if it is not one of them; with_answer: retrieved or named passages with an answer; note: a hint for the user;
    found: id of the passage before the user's correction, None if there was none.
    """

    how: str
    passage: Passage | None
    rank: int | None
    with_answer: int
    note: str
    found: str | None


def find_gold(
    record: QuestionRecord, found: Sequence[Passage], named: Named | None, passages: Mapping[str | int, Passage]
) -> Gold:
    """The gold passage of a question.

    found: retrieved passages, best first; passages: named passages by id. Among several named passages the first
    retrieved one with an answer is taken; one named by its words, or alone, may lack an answer.
    """
    answers = record.answers
    ranks = {passage.id: rank for rank, passage in enumerate(found, start=1)}
    asked_for = [passages[id_] for id_ in named.passages] if named else []
    if named and named.by != "text":
        asked_for.sort(key=lambda passage: ranks.get(passage.id, len(ranks) + 1))
    everywhere = {passage.id: passage for passage in (*found, *asked_for)}
    having = {id_ for id_, passage in everywhere.items() if dpr_check(passage, answers)}
    candidates = asked_for if named else found
    first = next((passage for passage in candidates if passage.id in having), None)
    note = _short_note(answers)
    if first is None and named and (named.by == "text" or len(asked_for) == 1):
        first, note = asked_for[0], "none of the answers is in it"
    if first is None:
        where = f"the {len(asked_for)} passages named" if named else f"the {len(found)} passages retrieved"
        return Gold(NONE, None, None, len(having), f"none of the answers is in {where}", None)
    rank = ranks.get(first.id)
    if named is None and rank is not None and rank > NEAR:
        note = "; ".join(filter(None, [note, f"only the {ordinal(rank)} retrieved: may be another passage's answer"]))
    return Gold(named.by if named else FIRST_RETRIEVED, first, rank, len(having), note, first.id)


def corrected(gold: Gold, found: Sequence[Passage], passage: Passage | None, answers: Sequence[str]) -> Gold:
    """The result with the user's passage instead, None to leave the question out."""
    if passage is None:
        left_out = Gold(LEFT_OUT, None, None, gold.with_answer, "left out by you", gold.found)
        return gold if gold.passage is None else left_out
    if gold.passage is not None and gold.passage.id == passage.id:
        return gold
    rank = next((rank for rank, one in enumerate(found, start=1) if one.id == passage.id), None)
    note = "" if dpr_check(passage, answers) else "none of the answers is in it"
    return Gold(CORRECTED, passage, rank, gold.with_answer, note, gold.found)


def gold_document(passage: Passage, check: Check, answers: Sequence[str]) -> Document:
    """The passage as a gold document."""
    return Document.of(passage.title, passage.text, id=passage.id, has_answer=check(passage, answers), is_gold=True)


def gold_frame(name: str, records: Sequence[QuestionRecord], golds: Sequence[Gold]) -> "pd.DataFrame":
    """The table of gold passages: one row per question."""
    import pandas as pd

    rows = [_row(name, record, gold) for record, gold in zip(records, golds, strict=True)]
    return pd.DataFrame(rows).astype(dict.fromkeys(("line", "rank", "n_with_answer"), "Int64"))


def _row(name: str, record: QuestionRecord, gold: Gold) -> dict:
    return {
        "questions": name,
        "line": line_of(record),
        "question": record.text,
        "answers": "|".join(record.answers),
        "how": gold.how,
        "passage": gold.passage.id if gold.passage else None,
        "rank": gold.rank,
        "n_with_answer": gold.with_answer,
        "note": gold.note or None,
        "excerpt": excerpt(gold.passage.text, record.answers) if gold.passage else None,
        "found": gold.found,
    }


def excerpt(text: str, answers: Iterable[str]) -> str:
    """The text around the first literal answer, or the beginning of the text."""
    lowered = text.lower()
    places = [(lowered.find(answer.lower()), len(answer)) for answer in answers]
    start, length = min((place for place in places if place[0] >= 0), default=(0, 0))
    begin, end = max(0, start - AROUND), min(len(text), start + length + AROUND)
    return f"{'...' if begin else ''}{text[begin:end].strip()}{'...' if end < len(text) else ''}"


def summary(name: str, golds: Sequence[Gold]) -> list[str]:
    """The result in sentences, for the console."""
    counts = Counter(gold.how for gold in golds)
    with_passage = sum(gold.passage is not None for gold in golds)
    ways = ", ".join(f"{counts[how]} {words}" for how, words in IN_WORDS.items() if counts[how])
    told = [f"{name}: {with_passage} of {len(golds)} questions have a gold passage{f' ({ways})' if ways else ''}"]
    if lacking := len(golds) - with_passage:
        told.append(f"{name}: questions without one, left out at all positions: {lacking} (see 'note')")
    if several := sum(gold.with_answer > 1 for gold in golds):
        told.append(f"{name}: {several} questions have an answer in several passages; the others are no distractors")
    if doubtful := sum(bool(gold.note) and gold.passage is not None for gold in golds):
        told.append(f"{name}: {doubtful} gold passages to look at: the column 'note' says why")
    return told


def sample_to_judge(records: Sequence[QuestionRecord], golds: Sequence[Gold], seed: int) -> list[str]:
    """Lines on some questions with retrieved passages, sampled by the seed, for the user to judge."""
    retrieved = [pair for pair in zip(records, golds, strict=True) if pair[1].how == FIRST_RETRIEVED]
    drawn = random.Random(f"{seed}/gold_passages").sample(range(len(retrieved)), min(SAMPLED, len(retrieved)))
    lines = []
    for record, gold in (retrieved[number] for number in sorted(drawn)):
        assert gold.passage is not None
        lines.append(
            f"  {record.text}\n    {' | '.join(record.answers)} <- {gold.passage.id}: "
            f"{excerpt(gold.passage.text, record.answers)}"
        )
    return lines


def _short_note(answers: Sequence[str]) -> str:
    short = [answer for answer in answers if len(answer) <= SHORT or answer.lower() in COMMON]
    return f"'{short[0]}' may be in it by chance" if short else ""
