"""A mini-encyclopedia of entities that do not exist, with a question about each: nothing can be known but by reading.

Entities come in families of nine with names that are easy to confuse, three of each of three kinds, and entities of one
kind have the same facts with other values: the other members of its family are the hard distractors of a question.
Answers are made-up names, numbers of five digits and dates; no two entities share one (up to the number there are of
them, see `litm.corpora.encyclopedia.names`: 41,040 entities for dates, 90,000 for numbers, 2 million for names).

A seed has its own names and values; wordings, kinds and given names are the same for all seeds. Of 3000 passages, about
one title in 25,000 is also a title of another seed's 3000, and no pair of a question and an answer is in both. Dates
and numbers alone can be: they are from the same ranges.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from litm.corpora.encyclopedia.articles import FAMILY_SIZE, Article, make_articles
from litm.corpora.passages import Passage
from litm.corpora.source import CorpusSettings
from litm.questions.released_format import Document, QuestionRecord


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """`settings.passages` articles; more passages keep the earlier ones. There is no file: `source` is not read."""
    for number, article in enumerate(make_articles(*_seed_and_count(settings))):
        yield f"mini_encyclopedia, passage {number}", Passage(article.id, article.title, article.text)


def questions(settings: CorpusSettings) -> Iterator[QuestionRecord]:
    """A question about each passage, as a record in the released format with the gold document alone.

    One of each family, then a second of each, and so on, so that any first part is spread over families and kinds.
    """
    articles = list(make_articles(*_seed_and_count(settings)))
    families = (articles[start : start + FAMILY_SIZE] for start in range(0, len(articles), FAMILY_SIZE))
    for round_ in zip_longest(*families):
        yield from (_question_record(article) for article in round_ if article is not None)


def _question_record(article: Article) -> QuestionRecord:
    document = Document.of(article.title, article.text, id=article.id, has_answer=True, is_gold=True)
    return QuestionRecord.of(article.question, article.answers, [document])


def _seed_and_count(settings: CorpusSettings) -> tuple[int, int]:
    assert settings.seed is not None and settings.passages is not None, (
        "the configuration asks for a seed and a number of passages"
    )
    return settings.seed, settings.passages
