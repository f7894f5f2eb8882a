"""The source mini_encyclopedia: made-up entities, with a question about each that only reading can answer.

Entities come in families of nine with similar names, three of each of three kinds. Entities of one kind have the same
facts with different values, so the other members of a family are the hard distractors of a question. Answers are
made-up names, five-digit numbers and dates; no two entities share one (within the limits of
`litm.corpora.encyclopedia.names`: 41,040 entities for dates, 90,000 for numbers, 2 million for names).

Each seed has its own names and values; wordings, kinds and given names are the same for all seeds. Among 3000 passages,
about one title in 25,000 also occurs with another seed, and no pair of question and answer does. Dates and numbers
alone may repeat, because they come from the same ranges.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from litm.corpora.encyclopedia.articles import FAMILY_SIZE, Article, make_articles
from litm.corpora.passages import Passage
from litm.corpora.source import CorpusSettings
from litm.questions.released_format import Document, QuestionRecord


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """`settings.passages` articles; more passages keep the earlier ones. `source` is not read."""
    for number, article in enumerate(make_articles(*settings.seed_and_passages)):
        yield f"mini_encyclopedia, passage {number}", Passage(article.id, article.title, article.text)


def questions(settings: CorpusSettings) -> Iterator[QuestionRecord]:
    """A question about each passage, as a record in the released format with only its gold document.

    First one of each family, then a second one, and so on: any first part covers many families and all kinds.
    """
    articles = list(make_articles(*settings.seed_and_passages))
    families = (articles[start : start + FAMILY_SIZE] for start in range(0, len(articles), FAMILY_SIZE))
    for round_ in zip_longest(*families):
        yield from (_question_record(article) for article in round_ if article is not None)


def _question_record(article: Article) -> QuestionRecord:
    document = Document.of(article.title, article.text, id=article.id, has_answer=True, is_gold=True)
    return QuestionRecord.of(article.question, article.answers, [document])
