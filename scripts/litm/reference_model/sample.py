"""The sample of lessons that the vocabulary is made of."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from litm.reference_model.lessons import Teacher
from litm.reference_model.recipe import Course

#: (task, size, queries, how many lessons): enough for every piece of every kind of text, and every document's number.
_SAMPLE = (
    ("multi_document_qa", 3, 4, 3000),
    ("multi_document_qa", 30, 1, 10),
    ("needle_in_haystack", 15, 1, 1000),
    ("kv_retrieval", 10, 2, 300),
)
#: A capitalised word in so many texts is no made-up name.
_TEXTS_WITH_A_WORD = 25


def sample_texts(teacher: Teacher, seed: int) -> list[str]:
    """Contexts and queries with their answers."""
    return list(_texts(teacher, seed))


def _texts(teacher: Teacher, seed: int) -> Iterator[str]:
    rng = Random(f"{seed}/reference_model/vocabulary")
    for task, size, queries, count in _SAMPLE:
        for _ in range(count):
            lesson = teacher.lesson(Course(task, 1, size, size, queries), size, rng)
            yield lesson.context
            yield from (f"{query.prompt} {query.answer}" for query in lesson.queries)


def ordinary_words(texts: Sequence[str]) -> list[str]:
    """Capitalised words that are no made-up names: those in many texts."""
    counts = Counter(word for text in texts for word in set(re.findall(r"[A-Z][a-z]+", text)))
    return sorted(word for word, count in counts.items() if count >= _TEXTS_WITH_A_WORD)
