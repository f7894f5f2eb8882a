"""NQ-Open questions with a gold paragraph, derived from NaturalQuestions annotations (paper, section 2.2).

A question of NQ-Open (Lee et al. 2019) is kept if its annotated long answer is a paragraph, neither a list nor a
table; the gold document is a chunk of that paragraph, of about 100 words and with a short answer in it. Annotations
are read from records of three formats, told apart by their fields:

- `document_tokens`: the original files, nq-dev-00.jsonl.gz to -04. `question_text`, `document_title`, `document_html`
  (optional here), `document_tokens` [{token, html_token, start_byte, end_byte}], `annotations` [{long_answer:
  {start_token, end_token, ...}, short_answers: [{start_token, end_token, ...}]}]; ends are exclusive, -1 is none.
- `document_text`: the simplified format, tokens between single spaces. It has no title but a `document_url`.
- `nq_annotated_gold`: the paper's released oracle file, whose gold is taken as it is.

NQ-Open keeps the text of `question_text`, so questions are matched by exact text. Its answers are the short answers of
at most 5 tokens of any annotator; longer ones are ignored here too. Among several records of a question the one that
passes most steps counts, and among equals the first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from litm.answers.dpr import contains_answer_metric
from litm.base.messages import UserError, quoted
from litm.base.records import read_jsonl, typed_field
from litm.questions.natural_questions_chunk import chunk_with_answer
from litm.questions.natural_questions_long_answer import agreed_long_answer, annotation_spans, is_paragraph
from litm.questions.natural_questions_pages import original_document, page_title, simplified_document
from litm.questions.released_format import Document, GoldParagraph, QuestionRecord, text_list

STEPS = (
    "questions in NQ-Open",
    "with an annotation",
    "with a long answer that has a short answer",
    "the long answer is a paragraph",
    "a chunk of the paragraph has an answer",
)


@dataclass(frozen=True)
class Outcome:
    """The number of `STEPS` that a question passed, and its gold paragraph if it passed all."""

    passed: int
    gold: GoldParagraph | None = None


def located_records(paths: Iterable[str | Path]) -> Iterator[tuple[str, dict]]:
    """The records of JSON Lines files, one at a time, each with its file and line."""
    for path in paths:
        for number, record in read_jsonl(path):
            yield f"{path}, line {number}", record


def derive(
    nq_open: Iterable[tuple[str, dict]], annotations: Iterable[tuple[str, dict]]
) -> tuple[list[QuestionRecord], list[tuple[str, int]]]:
    """The questions with a gold paragraph, as released oracle records in NQ-Open's order; and the funnel.

    Both inputs are (where, record), `where` beginning any error message. Annotations are read once, one at a time,
    because their records hold whole pages. The funnel is the number of questions that passed each of `STEPS`.
    Raises `UserError` for a record of unknown format, a missing or wrong field, token offsets outside the page, and a
    question that occurs twice in NQ-Open.
    """
    questions = _read_nq_open(nq_open)
    outcomes: dict[str, Outcome] = {}
    for where, record in annotations:
        text, read = _question_and_reader(record, where)
        if text not in questions:
            continue
        outcome = read(record, questions[text], where)
        if text not in outcomes or outcome.passed > outcomes[text].passed:
            outcomes[text] = outcome
    passed = [outcomes[text].passed if text in outcomes else 1 for text in questions]
    funnel = [(step, sum(count >= number for count in passed)) for number, step in enumerate(STEPS, start=1)]
    found = ((text, answers, outcomes[text].gold) for text, answers in questions.items() if text in outcomes)
    return [_derived_record(text, answers, gold) for text, answers, gold in found if gold], funnel


def _read_nq_open(records: Iterable[tuple[str, dict]]) -> dict[str, list[str]]:
    questions: dict[str, list[str]] = {}
    for where, record in records:
        text, answers = typed_field(record, "question", str, where), text_list(record, "answer", where)
        if text in questions:
            raise UserError(f"{where}: the question {quoted(text)} occurs twice")
        questions[text] = answers
    return questions


def _question_and_reader(record: dict, where: str) -> tuple[str, Callable[[dict, list[str], str], Outcome]]:
    if "nq_annotated_gold" in record:
        return typed_field(record, "question", str, where), _read_oracle_record
    if "document_tokens" in record or "document_text" in record:
        return typed_field(record, "question_text", str, where), _read_nq_record
    raise UserError(
        f"{where}: not an annotation: expected 'document_tokens' (NaturalQuestions), 'document_text' (simplified "
        "NaturalQuestions) or 'nq_annotated_gold' (the released oracle file)"
    )


def _derived_record(question: str, answers: list[str], gold: GoldParagraph) -> QuestionRecord:
    document = Document.of(gold.title, gold.chunked_long_answer, has_answer=True, is_gold=True)
    return QuestionRecord.of(question, answers, [document], annotated_gold=gold)


def _read_oracle_record(record: dict, answers: list[str], where: str) -> Outcome:
    annotated = typed_field(record, "nq_annotated_gold", dict, where)
    return _with_answer(GoldParagraph.from_json(annotated, f"{where}, nq_annotated_gold"), answers)


def _read_nq_record(record: dict, answers: list[str], where: str) -> Outcome:
    document = original_document(record, where) if "document_tokens" in record else simplified_document(record, where)
    chosen = agreed_long_answer(annotation_spans(record, len(document.tokens), where))
    if chosen is None:
        return Outcome(passed=2)
    long_span, short_spans = chosen
    if not is_paragraph(document.tokens[long_span[0]]):
        return Outcome(passed=3)
    long_answer = document.text(long_span)
    short_answers = tuple(sorted({document.text(span) for span in short_spans} - {""}))
    chunk = chunk_with_answer(long_answer, short_answers)
    if chunk is None:
        return Outcome(passed=4)
    return _with_answer(GoldParagraph(page_title(record, where), long_answer, chunk, short_answers), answers)


def _with_answer(gold: GoldParagraph, answers: list[str]) -> Outcome:
    # Spaces in a text joined from tokens may differ from NQ-Open's, which were cut from the page.
    if contains_answer_metric(gold.chunked_long_answer, [*answers, *gold.short_answers]):
        return Outcome(len(STEPS), gold)
    return Outcome(len(STEPS) - 1)
