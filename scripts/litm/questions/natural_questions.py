"""NQ-Open questions with a gold paragraph, derived from NaturalQuestions annotations (paper, section 2.1).

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

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from litm.answers import contains_normalized
from litm.base.json_files import read_jsonl, typed_field
from litm.base.messages import UserError, quoted
from litm.questions.released_format import Document, GoldParagraph, QuestionRecord, text_list

#: Words of the gold document (paper, section 2.1).
CHUNK_WORDS = 100


def chunk_with_answer(paragraph: str, short_answers: Sequence[str]) -> str | None:
    """About `CHUNK_WORDS` words of a paragraph, with its short answers; None if a longer paragraph contains none of
    them.

    Inferred from the released paragraphs and chunks: a paragraph of at most `CHUNK_WORDS` words is kept whole. From a
    longer one the sentences from the first to the last with a short answer are taken, and words are added before and
    after them up to `CHUNK_WORDS`; if those sentences are longer, no word is cut. The released chunks grew left or
    right at random; here both sides get equally many words, as far as available. This reproduces the words of 94 % of
    the 2,655 released chunks, and of 84 % of those from longer paragraphs; most others are cut on both sides and a few
    words off. The double space after answer sentences in the released chunks is not imitated.
    """
    words = paragraph.split()
    if len(words) <= CHUNK_WORDS:
        return paragraph
    text = " ".join(words)
    wanted = [" ".join(answer.split()) for answer in short_answers]
    spans = [match.span() for answer in wanted if answer for match in re.finditer(re.escape(answer), text)]
    if not spans:
        return None
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    starts = [0, *sentence_starts(words), len(words)]
    start = max(word for word in starts if _offset(words, word) <= first)
    end = min(word for word in starts if _offset(words, word) >= last)
    spare = max(0, CHUNK_WORDS - (end - start))
    before = min(start, max(spare // 2, spare - (len(words) - end)))
    return " ".join(words[start - before : end + spare - before])


def _offset(words: Sequence[str], index: int) -> int:
    return sum(len(word) + 1 for word in words[:index])


_ENDS_SENTENCE = re.compile(r"""[.!?]["'\u201d\u2019)\]]*$""")
_ABBREVIATION = re.compile(r"\(?(?:(?:[A-Z]\.)+|Dr\.|Mr\.|Mrs\.|Ms\.|St\.|Jr\.|Sr\.|No\.|vs\.)")


def sentence_starts(words: Sequence[str]) -> list[int]:
    """The indices of the words that begin a sentence, except the first word."""
    return [index for index in range(1, len(words)) if _ends(words[index - 1]) and _begins(words[index])]


def _ends(word: str) -> bool:
    return _ENDS_SENTENCE.search(word) is not None and _ABBREVIATION.fullmatch(word) is None


def _begins(word: str) -> bool:
    bare = word.lstrip("\"'\u201c\u2018([")
    return bare[:1].isupper() or bare[:1].isdigit()


Span = tuple[int, int]
SHORT_ANSWER_TOKENS = 5


def agreed_long_answer(annotations: Iterable[tuple[Span, Sequence[Span]]]) -> tuple[Span, list[Span]] | None:
    """The long answer that most annotators chose, and all their short answers in it; among equals the first.

    Only annotators with a short answer of at most `SHORT_ANSWER_TOKENS` tokens count, as in NQ-Open; None if there is
    none.
    """
    votes: dict[Span, list[Sequence[Span]]] = {}
    for long_answer, short_answers in annotations:
        if brief := [span for span in short_answers if span[1] - span[0] <= SHORT_ANSWER_TOKENS]:
            votes.setdefault(long_answer, []).append(brief)
    if not votes:
        return None
    agreed = max(votes, key=lambda long_answer: len(votes[long_answer]))
    return agreed, sorted({span for spans in votes[agreed] for span in spans})


def annotation_spans(record: dict, n_tokens: int, where: str) -> Iterator[tuple[Span, list[Span]]]:
    """Yield (long answer, short answers) of each annotation with a long answer, as spans of a page's `n_tokens` tokens.

    Raises `UserError` for a missing field and for offsets outside the page.
    """
    for index, annotation in enumerate(typed_field(record, "annotations", list, where)):
        here = f"{where}, annotations[{index}]"
        if not isinstance(annotation, dict):
            raise UserError(f"{here}: expected an object with 'long_answer' and 'short_answers'")
        long_answer = _span(typed_field(annotation, "long_answer", dict, here), n_tokens, f"{here}, long_answer")
        short_answers = typed_field(annotation, "short_answers", list, here)
        spans = [_span(answer, n_tokens, f"{here}, short_answers[{n}]") for n, answer in enumerate(short_answers)]
        if long_answer is not None:
            yield long_answer, [span for span in spans if span is not None]


def _span(value: object, n_tokens: int, where: str) -> Span | None:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object with 'start_token' and 'end_token'")
    start, end = typed_field(value, "start_token", int, where), typed_field(value, "end_token", int, where)
    if (start, end) == (-1, -1):
        return None
    if not 0 <= start < end <= n_tokens:
        raise UserError(f"{where}: tokens {start} to {end} are outside the document, which has {n_tokens}")
    return start, end


@dataclass(frozen=True)
class NaturalPage:
    """A page of NaturalQuestions."""

    tokens: Sequence[str]
    """Tokens of the page."""
    text: Callable[[Span], str]
    """Text of a span of tokens."""


def original_document(record: dict, where: str) -> NaturalPage:
    """The page of a record in the original format; its text is cut from the HTML if the record has it."""
    entries = typed_field(record, "document_tokens", list, where)
    for number, entry in enumerate(entries):
        if not (isinstance(entry, dict) and isinstance(entry.get("token"), str)):
            raise UserError(f"{where}, document_tokens[{number}]: expected an object with 'token', a string")
    tokens = [entry["token"] for entry in entries]
    if "document_html" not in record:
        words = [None if entry.get("html_token") else token for entry, token in zip(entries, tokens, strict=True)]
        return NaturalPage(tokens, lambda span: join_tokens(word for word in words[slice(*span)] if word is not None))
    page = typed_field(record, "document_html", str, where).encode()

    def text(span: Span) -> str:
        first, last = (f"{where}, document_tokens[{n}]" for n in (span[0], span[1] - 1))
        start = typed_field(entries[span[0]], "start_byte", int, first)
        end = typed_field(entries[span[1] - 1], "end_byte", int, last)
        if not 0 <= start < end <= len(page):
            raise UserError(f"{first}: bytes {start} to {end} are outside document_html, which has {len(page)}")
        return text_of_html(page[start:end].decode(errors="replace"))

    return NaturalPage(tokens, text)


def simplified_document(record: dict, where: str) -> NaturalPage:
    """The page of a record in the simplified format."""
    # Not split(): tokens may contain other white space.
    tokens = typed_field(record, "document_text", str, where).split(" ")
    return NaturalPage(tokens, lambda span: join_tokens(t for t in tokens[slice(*span)] if not _TAG.fullmatch(t)))


def page_title(record: dict, where: str) -> str:
    """The page's title; the simplified format has it only in the URL: .../index.php?title=Some_page&amp;..."""
    if "document_title" in record:
        return typed_field(record, "document_title", str, where)
    if "document_url" not in record:
        raise UserError(f"{where}: the fields 'document_title' and 'document_url' are missing, one must be there")
    address = urlsplit(typed_field(record, "document_url", str, where))
    named = parse_qs(address.query).get("title", [unquote(address.path.rpartition("/")[2])])
    return named[0].replace("_", " ")


_TAG = re.compile(r"</?[A-Za-z][^>]*>")
#: HTML without text: comments, and citation marks, which the released paragraphs omit too.
_NO_TEXT = re.compile(r"<!--.*?-->|<sup[^>]*\breference\b.*?</sup>", re.DOTALL | re.IGNORECASE)
_LINE_BREAK = re.compile(r"<(br|p|li|div)\b[^>]*>", re.IGNORECASE)


def text_of_html(source: str) -> str:
    """The text of a piece of HTML on one line: no tags, entities as characters, single spaces."""
    return " ".join(html.unescape(_TAG.sub("", _LINE_BREAK.sub(" ", _NO_TEXT.sub("", source)))).split())


#: Spacing of written text, where tokens have single spaces: (pattern, replacement).
_SPACING = (
    (re.compile(r"`` | ''"), '"'),
    (re.compile(r"`` ?|''"), '"'),
    (re.compile(r" (?=[.,;:!?%)\]}](?: |$))| (?='(?:s|re|ve|ll|d|m|t)?(?: |$))| (?=n't(?: |$))"), ""),
    (re.compile(r"(?<=[(\[{$£€]) "), ""),
    (re.compile(r"(?<=\w) ([-/]) (?=\w)|(?<=\d) (\u2013) (?=\d)"), lambda match: match[1] or match[2]),
)


def join_tokens(tokens: Iterable[str]) -> str:
    """Tokens of NaturalQuestions as written text, as close as possible without the page."""
    text = " ".join(" ".join(tokens).split())
    for pattern, replacement in _SPACING:
        text = pattern.sub(replacement, text)
    return text


STEPS = (
    "questions in NQ-Open",
    "with an annotation",
    "with a long answer that has a short answer",
    "the long answer is a paragraph",
    "a chunk of the paragraph has an answer",
)


@dataclass(frozen=True)
class Outcome:
    """What became of a question."""

    passed: int
    """Number of `STEPS` that it passed."""
    gold: GoldParagraph | None = None
    """Gold paragraph, if it passed all."""


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
    derived = ((text, answers, outcomes[text].gold) for text, answers in questions.items() if text in outcomes)
    return [_derived_record(text, answers, gold) for text, answers, gold in derived if gold], funnel


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
    document = Document.from_fields(gold.title, gold.chunked_long_answer, has_answer=True, is_gold=True)
    return QuestionRecord.from_documents(question, answers, [document], annotated_gold=gold)


def _read_oracle_record(record: dict, answers: list[str], where: str) -> Outcome:
    annotated = typed_field(record, "nq_annotated_gold", dict, where)
    return _with_answer(GoldParagraph.from_json(annotated, f"{where}, nq_annotated_gold"), answers)


def _read_nq_record(record: dict, answers: list[str], where: str) -> Outcome:
    document = original_document(record, where) if "document_tokens" in record else simplified_document(record, where)
    chosen = agreed_long_answer(annotation_spans(record, len(document.tokens), where))
    if chosen is None:
        return Outcome(passed=2)
    long_span, short_spans = chosen
    # Others begin with <Table>, <Ul>, <Li>, ...
    if document.tokens[long_span[0]].lower() != "<p>":
        return Outcome(passed=3)
    long_answer = document.text(long_span)
    short_answers = tuple(sorted({document.text(span) for span in short_spans} - {""}))
    chunk = chunk_with_answer(long_answer, short_answers)
    if chunk is None:
        return Outcome(passed=4)
    return _with_answer(GoldParagraph(page_title(record, where), long_answer, chunk, short_answers), answers)


def _with_answer(gold: GoldParagraph, answers: list[str]) -> Outcome:
    # Spaces in a text joined from tokens may differ from NQ-Open's, which were cut from the page.
    if contains_normalized(gold.chunked_long_answer, [*answers, *gold.short_answers]):
        return Outcome(len(STEPS), gold)
    return Outcome(len(STEPS) - 1)
