"""Sample of lessons from which the vocabulary is built."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from litm.reference_model.lessons import Teacher
from litm.reference_model.recipe import Course

#: (task, size, queries, number of lessons): enough for all pieces of all kinds of text, and for all document numbers.
_SAMPLE = (
    ("multi_document_qa", 3, 4, 3000),
    ("multi_document_qa", 30, 1, 10),
    ("needle_in_haystack", 15, 1, 1000),
    ("kv_retrieval", 10, 2, 300),
)
#: Number of texts from which on a capitalised word does not count as a made-up name.
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
    """Capitalised words that are not made-up names, because many texts contain them."""
    counts = Counter(word for text in texts for word in set(re.findall(r"[A-Z][a-z]+", text)))
    return sorted(word for word, count in counts.items() if count >= _TEXTS_WITH_A_WORD)
