"""Made-up facts in a user's own passages: questions with a gold passage and distractors, before any placement."""

import re
from collections.abc import Iterator, Sequence
from random import Random

from litm.base.messages import UserError
from litm.corpora.passages import Passage
from litm.examples.facts import contained_in, new_facts
from litm.questions.released_format import Document, QuestionRecord

#: Key of a record with the kind of its fact.
KIND = "fact"
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=\S)")


def planted_records(
    passages: Sequence[Passage], group: str, number: int, documents: int, seed: int
) -> Iterator[QuestionRecord]:
    """Questions about made-up facts, each with the passages of a context: a gold passage and `documents` - 1 others.

    A context is consecutive passages of the text, from a random one on; after the last the first follows. The gold
    passage is one of them with the fact between two of its sentences, so that it differs from the others in nothing
    else. The link of a fact is in the first of the others, which every size shows first: it stays while the fact moves.
    Raises `UserError` for too few passages.
    """
    if len(passages) < documents:
        raise UserError(
            f"the text has {len(passages)} passages, and a context needs {documents}: add documents, or lower "
            "'documents' and the largest size"
        )
    facts = new_facts(seed, group, number, contained_in("\n".join(f"{p.title}\n{p.text}" for p in passages)))
    for index, fact in enumerate(facts):
        rng = Random(f"{seed}/planted/{group}/{index}")
        start, host = rng.randrange(len(passages)), rng.randrange(documents)
        run = [passages[(start + place) % len(passages)] for place in range(documents)]
        others = [(passage.id, passage.title, passage.text) for place, passage in enumerate(run) if place != host]
        if fact.link and others:
            id_, title, linking = others[0]
            others[0] = (id_, title, with_sentence(linking, fact.link, rng))
        gold = run[host]
        record = QuestionRecord.from_documents(
            fact.question,
            fact.answers,
            [
                Document.from_fields(
                    gold.title, with_sentence(gold.text, fact.sentence, rng), id=gold.id, has_answer=True, is_gold=True
                ),
                *(
                    Document.from_fields(title, text, id=id_, has_answer=False, is_gold=False)
                    for id_, title, text in others
                ),
            ],
        )
        yield QuestionRecord({**record.fields, KIND: fact.kind})


def with_sentence(text: str, sentence: str, rng: Random) -> str:
    """The text with a sentence more, before or after a random one of its sentences."""
    sentences = _SENTENCE_END.split(text)
    sentences.insert(rng.randrange(len(sentences) + 1), sentence)
    return " ".join(sentences)
