"""Gold passages for questions that lack one: named by the user, or else the first retrieved passage with an answer."""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from unicodedata import normalize

from litm.answer_words import choice_of, token_forms, words_check
from litm.answers import Check
from litm.base.messages import UserError, counted, first_of, note, ordinal, quoted, single_spaced
from litm.corpora.passages import Passage
from litm.questions.own_questions import Named, OwnQuestion, line_of, read_rows
from litm.questions.released_format import WRITER, Document, QuestionRecord

if TYPE_CHECKING:
    import pandas as pd

    from litm.tables.questions import GoldPassagesRow

#: Words in a row that a passage must share with the user's words: a longer text may be cut into several passages.
RUN = 7
#: File names listed in an error.
LISTED = 5


def find_named(questions: Sequence[OwnQuestion], passages: Iterable[Passage], path: Path) -> list[Named | None]:
    """For each question the passages that it names by file, page and words; None if it names nothing.

    passages: with the copies of some, which stand for these, and passages without text for files that are left out,
    whose questions name nothing. A note says where documents and table count pages differently.

    Raises `UserError` with line and column in `path`, the file of questions, for a file that is unknown or ambiguous, a
    page without text, pages that may be counted from 0 or 1, and words that no passage contains.
    """
    if not any(question.file or question.words for question in questions):
        return [None] * len(questions)
    corpus = list(passages)
    files = FileNames(passage.files for passage in corpus)
    resolved = [files.resolve(question, path) for question in questions]
    in_file = _by_file(corpus, {file for file in resolved if file})
    shared = _shared_runs([question.words for question in questions], corpus)
    left_out = {passage.id for passage in corpus if _is_left_out(passage)}
    if names := [file for file in resolved if file in left_out]:
        files_left_out = first_of([*dict.fromkeys(names)], LISTED)
        note(f"{path}: {len(names)} questions have no gold passage, because their files are left out: {files_left_out}")
    of_page = [
        in_file[file] if file and question.page is not None else []
        for question, file in zip(questions, resolved, strict=True)
    ]
    shifts = _page_shifts(questions, of_page, {passage.id: passage for passage in corpus}, path)
    return [
        Named("file", ())
        if file in left_out
        else _named(question, in_file[file] if file else None, shared[number], path, shifts[number])
        for number, (question, file) in enumerate(zip(questions, resolved, strict=True))
    ]


def _is_left_out(passage: Passage) -> bool:
    return not passage.text and passage.copy_of is None


#: Pages between the one that is named and the farthest where its answer is looked for, because printed numbers differ
#: from those of the file. Answers at one such distance, and times as many as on the page itself, from which it counts.
REACH, SHIFTED, TIMES = 40, 3, 3


def _page_shifts(
    questions: Sequence[OwnQuestion], of_page: Sequence[Sequence[Passage]], by_id: Mapping[str, Passage], path: Path
) -> dict[int, int]:
    """For the index of each question the number to add to its page for that of the documents, see `_page_shift`.
    Chunks are decided on together, and so are PDFs.

    of_page: the passages of the file that a question names, none if it names no page.
    """
    shifts = dict.fromkeys(range(len(questions)), 0)
    for are_chunks in (False, True):
        asked = {
            number: (question, passages)
            for number, (question, passages) in enumerate(zip(questions, of_page, strict=True))
            if passages and (passages[0].file is not None) == are_chunks
        }
        if asked:
            has_page_0 = any(0 in passage.pages for passage in by_id.values() if (passage.file is None) != are_chunks)
            shifts |= dict.fromkeys(asked, _page_shift([*asked.values()], has_page_0, by_id, path))
    return shifts


def _page_shift(
    asked: Sequence[tuple[OwnQuestion, Sequence[Passage]]], has_page_0: bool, by_id: Mapping[str, Passage], path: Path
) -> int:
    """The number to add to the pages of these questions for those of the documents: -1 where these count from 0 and the
    questions from 1.

    A page 0 on one side makes 1 or -1 likely, and the pages with the answers decide. `UserError` if they do not tell.
    """
    has_answer = _with_answers(asked, by_id)
    expected = any(question.page == 0 for question, _ in asked) - has_page_0
    answers = Counter(shift for near in has_answer for shift, is_there in near.items() if is_there)
    pages = Counter(shift for near in has_answer for shift in near)
    other = expected or max(filter(None, pages), key=lambda shift: (answers[shift], -abs(shift)), default=1)
    here, there = (answers[0], pages[0]), (answers[other], pages[other])
    where = f"{path}, column 'page'" + (": the documents have a page 0" if has_page_0 else "")
    seen = (
        f"{answers[0]} of {len(asked)} answers are on the page of that number; {counted(abs(other), 'page')} "
        f"{'before' if other < 0 else 'after'} it: {answers[other]}"
    )
    if expected and here == there:
        raise UserError(
            f"{where}; the questions may count pages from 0 or 1, and their answers do not tell ({seen}): count "
            "the pages of both from 1, or leave the column empty"
        )
    is_other = there > here if expected else answers[other] >= max(SHIFTED, TIMES * answers[0], len(asked) / 2)
    if expected or (answers[other] > answers[0] and 2 * answers[0] < len(asked)):
        page = asked[0][0].page or 0
        check = "" if is_other or expected else ": check how both count pages"
        note(f"{where}: page {page} is taken to be page {page + other * is_other} of the documents ({seen}){check}")
    return other * is_other


def _with_answers(
    asked: Sequence[tuple[OwnQuestion, Sequence[Passage]]], by_id: Mapping[str, Passage]
) -> list[dict[int, bool]]:
    """For each question whether the pages near the one that it names have an answer, by distance."""
    by_distance: list[dict[int, bool]] = [{} for _ in asked]
    for (question, passages), near in zip(asked, by_distance, strict=True):
        for passage in passages:
            text = by_id.get(passage.copy_of or "", passage)
            for shift in (page - (question.page or 0) for page in passage.pages):
                if abs(shift) <= REACH and not near.get(shift):
                    near[shift] = words_check(text, question.answers)
    return by_distance


def _named(
    question: OwnQuestion, in_file: Sequence[Passage] | None, shared: Sequence[str], path: Path, page_shift: int
) -> Named | None:
    where = f"{path}, line {question.line}"
    if in_file is not None and question.page is not None:
        pages = {page for passage in in_file for page in passage.pages}
        in_file = [passage for passage in in_file if question.page + page_shift in passage.pages]
        if not in_file:
            which = f"pages {min(pages)} to {max(pages)}" if pages else "no pages"
            raise UserError(
                f"{where}, column 'page': {question.file} has no text on page {question.page} (it has {which}); fix "
                f"the page or leave it empty"
            )
    ids = None if in_file is None else list(dict.fromkeys(passage.copy_of or passage.id for passage in in_file))
    if question.words is not None:
        with_words = [id_ for id_ in shared if ids is None or id_ in set(ids)]
        if not with_words:
            raise UserError(
                f"{where}, column 'text': no passage{f' of {question.file}' if question.file else ''} has the words "
                f"{quoted(question.words, 60)}; copy them from the document, or leave the column empty"
            )
        return Named("text", tuple(with_words))
    return None if ids is None else Named("file" if question.page is None else "page", tuple(ids))


class FileNames:
    """The names of a corpus's files and documents, and their short forms.

    names_of: the names of each passage, shortest first, see `Passage.files`.
    """

    def __init__(self, names_of: Iterable[Sequence[str]]) -> None:
        self._exact: set[str] = set()
        # By the file (or else the document), and by what comes next, such as a row's own id.
        self._short: list[dict[str, set[str]]] = [defaultdict(set), defaultdict(set)]
        for names in names_of:
            self._exact.update(names)
            for shorts, name in zip(self._short, names, strict=False):
                for short in _short_names(name):
                    shorts[short].add(name)

    def resolve(self, question: OwnQuestion, path: Path) -> str | None:
        """The name of the file that a question refers to, in full, by its last parts or without its ending; None for no
        file.
        """
        if question.file is None or question.file in self._exact:
            return question.file
        where = f"{path}, line {question.line}, column 'file'"
        wanted = _comparable(question.file)
        fitting = (
            sorted(name for name in shorts.get(wanted.name, ()) if _folders_agree(_comparable(name), wanted))
            for shorts in self._short
        )
        matches = next(filter(None, fitting), [])
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UserError(f"{where}: {question.file} is one of {', '.join(matches[:LISTED])}; give more of its path")
        all_names = sorted({name for names in self._short[0].values() for name in names})
        raise UserError(
            f"{where}: {question.file} is not among the documents ({first_of(all_names, LISTED)}); fix the name, "
            f"or leave the column empty to have its passage looked for"
        )


def _comparable(name: str) -> PurePosixPath:
    """The path in lower case, with slashes and composed characters: macOS writes "ü" as two."""
    return PurePosixPath(normalize("NFC", name.replace("\\", "/").lower()))


def _short_names(name: str) -> set[str]:
    """The short forms of a file name: without folders, without .gz, without its ending."""
    base = _comparable(name).name
    unpacked = base.removesuffix(".gz")
    return {base, unpacked, PurePosixPath(unpacked).stem}


def _folders_agree(name: PurePosixPath, wanted: PurePosixPath) -> bool:
    """Whether the folders of two paths agree, compared from the last one up to the shorter path."""
    return all(folder == other for folder, other in zip(name.parts[-2::-1], wanted.parts[-2::-1], strict=False))


def _by_file(passages: Iterable[Passage], files: set[str]) -> dict[str, list[Passage]]:
    by_file: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        for name in files.intersection(passage.files):
            by_file[name].append(passage)
    return by_file


def _shared_runs(words: Sequence[str | None], passages: Iterable[Passage]) -> list[list[str]]:
    """For each text the ids of passages that share runs of words with it, most runs first. Words are compared as those
    of answers.
    """
    wanted: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, text in enumerate(words):
        for run in {run for form in token_forms(text or "") for run in _runs(form, min(RUN, len(form)))}:
            wanted[run].append(number)
    lengths = sorted({len(run) for run in wanted})
    counts: list[Counter[str]] = [Counter() for _ in words]
    for passage in passages if wanted else ():
        forms = token_forms(passage.text)
        for run in {run for form in forms for length in lengths for run in _runs(form, length)} & wanted.keys():
            for number in wanted[run]:
                counts[number][passage.id] += 1
    return [[id_ for id_, _ in count.most_common()] for count in counts]


def _runs(tokens: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(tokens[start : start + length]) for start in range(len(tokens) - length + 1)) if length else iter(())


#: Columns that are read; only copies of gold_passages.csv have the last two.
FOUND = "found"
COLUMNS = ("question", "passage", FOUND, "excerpt")
#: Mark of a cut at the beginning or end of an excerpt.
CUT = "..."


@dataclass(frozen=True)
class Correction:
    """The user's correction of the passage for a question."""

    passage: str
    """The id of the user's passage, '' to leave the question out."""
    where: str
    """The file and line of the correction."""
    before_correction: str = ""
    """The id of the passage when the table was copied, '' if missing."""
    excerpt: str = ""
    """Words of that passage or the user's, '' if missing."""

    def is_of_other_texts(self, texts: Mapping[str, str]) -> bool:
        """Whether the documents have changed since: neither passage contains the excerpt. texts: of passages, by id."""
        words = self.excerpt.removeprefix(CUT).removesuffix(CUT).strip()
        return bool(self.passage and words) and not any(
            words in texts.get(id_, "") for id_ in (self.passage, self.before_correction)
        )


def read_corrections(path: Path, questions: Collection[str]) -> dict[str, Correction]:
    """The corrections by question; `UserError` with file and line for an unknown or repeated question.

    Questions are compared without regard to white space. A row that still has the passage `found` in it is no
    correction, whatever is found now.
    """
    corrections: dict[str, Correction] = {}
    named: set[str] = set()
    by_text = {single_spaced(question): question for question in questions}
    for row in read_rows(path):
        for column in ("question", "passage"):
            if column not in row.values:
                raise UserError(f"{row.where()}: no column '{column}', found {', '.join(row.values)}; rename a column")
        row_question, passage, before, excerpt = map(row.text, COLUMNS)
        question = by_text.get(single_spaced(row_question))
        if question is None:
            close = get_close_matches(row_question, questions, n=1)
            hint = f" (did you mean {quoted(close[0])}?)" if close else ""
            raise UserError(f"{row.where('question')}: {quoted(row_question)} is not among the questions{hint}")
        if question in named:
            raise UserError(f"{row.where('question')}: {quoted(question)} occurs twice; remove one of them")
        named.add(question)
        if passage != before or FOUND not in row.values:
            corrections[question] = Correction(passage, row.where("passage"), before, excerpt)
    return corrections


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
    """The gold passage found for a question."""

    how: str
    """The origin of the passage, or the reason for its absence."""
    passage: Passage | None
    """The passage, None if there is none."""
    rank: int | None
    """The rank from 1 among the retrieved passages, None if it is not one of them."""
    with_answer: int
    """The number of retrieved or named passages with an answer."""
    note: str
    """A hint for the user."""
    before_correction: str | None
    """The id of the passage before the user's correction, None if there was none."""


def find_gold(
    record: QuestionRecord, retrieved: Sequence[Passage], named: Named | None, passages: Mapping[str | int, Passage]
) -> Gold:
    """The gold passage of a question.

    retrieved: best first; passages: named passages by id. Among several named passages the first
    retrieved one with an answer is taken; one named by its words, or alone, may lack an answer.
    """
    answers = record.answers
    ranks = {passage.id: rank for rank, passage in enumerate(retrieved, start=1)}
    asked_for = [passages[id_] for id_ in named.passages] if named else []
    if named and named.by != "text":
        asked_for.sort(key=lambda passage: ranks.get(passage.id, len(ranks) + 1))
    everywhere = {passage.id: passage for passage in (*retrieved, *asked_for)}
    having = {id_ for id_, passage in everywhere.items() if words_check(passage, answers)}
    # A passage named by its words, or alone, is taken with or without an answer.
    certain = asked_for[0] if named and (named.by == "text" or len(asked_for) == 1) else None
    first = next((passage for passage in (asked_for if named else retrieved) if passage.id in having), certain)
    if first is None:
        where = f"the {len(asked_for)} passages named" if named else f"the {len(retrieved)} passages retrieved"
        is_left_out = named is not None and not asked_for
        why = "its file is left out" if is_left_out else f"none of the answers is in {where}"
        return Gold(NONE, None, None, len(having), why, None)
    if first is certain:
        # A yes, a no or a letter need not be in the passage.
        is_sound = first.id in having or all(map(choice_of, answers))
        note = "" if is_sound else "none of the answers is in it"
    else:
        note = _short_note([answer for answer in answers if words_check(first, [answer])])
    rank = ranks.get(first.id)
    if named is None and rank is not None and rank > NEAR:
        note = "; ".join(filter(None, [note, f"only the {ordinal(rank)} retrieved: may be another passage's answer"]))
    return Gold(named.by if named else FIRST_RETRIEVED, first, rank, len(having), note, first.id)


def corrected(gold: Gold, retrieved: Sequence[Passage], passage: Passage | None, answers: Sequence[str]) -> Gold:
    """The result with the user's passage instead, None to leave the question out."""
    if passage is None:
        left_out = Gold(LEFT_OUT, None, None, gold.with_answer, "left out by you", gold.before_correction)
        return gold if gold.passage is None else left_out
    if gold.passage is not None and gold.passage.id == passage.id:
        return gold
    rank = next((rank for rank, hit in enumerate(retrieved, start=1) if hit.id == passage.id), None)
    note = "" if words_check(passage, answers) else "none of the answers is in it"
    return Gold(CORRECTED, passage, rank, gold.with_answer, note, gold.before_correction)


def gold_document(passage: Passage, check: Check, answers: Sequence[str]) -> Document:
    """The passage as a gold document."""
    return Document.from_fields(
        passage.title, passage.text, id=passage.id, has_answer=check(passage, answers), is_gold=True
    )


def gold_frame(name: str, records: Sequence[QuestionRecord], golds: Sequence[Gold]) -> "pd.DataFrame":
    """The table of gold passages: one row per question."""
    import pandas as pd

    rows: list[GoldPassagesRow] = [
        {
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
            "found": gold.before_correction,
            "written_by": record.fields.get(WRITER) or None,
        }
        for record, gold in zip(records, golds, strict=True)
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(("line", "rank", "n_with_answer"), "Int64"))


def excerpt(text: str, answers: Iterable[str]) -> str:
    """The text around the first literal answer, or the beginning of the text."""
    lowered = text.lower()
    places = [(lowered.find(answer.lower()), len(answer)) for answer in answers]
    start, length = min((place for place in places if place[0] >= 0), default=(0, 0))
    begin, end = max(0, start - AROUND), min(len(text), start + length + AROUND)
    return f"{'...' if begin else ''}{text[begin:end].strip()}{'...' if end < len(text) else ''}"


def summary(name: str, golds: Sequence[Gold]) -> Iterator[str]:
    """The result in sentences, for the console."""
    counts = Counter(gold.how for gold in golds)
    with_passage = sum(gold.passage is not None for gold in golds)
    ways = ", ".join(f"{counts[how]} {words}" for how, words in IN_WORDS.items() if counts[how])
    yield f"{name}: {with_passage} of {len(golds)} questions have a gold passage{f' ({ways})' if ways else ''}"
    if lacking := len(golds) - with_passage:
        yield f"{name}: questions without one, left out at all positions: {lacking} (see 'note')"
    if several := sum(gold.with_answer > 1 for gold in golds):
        yield f"{name}: {several} questions have an answer in several passages; the others are no distractors"
    if doubtful := sum(bool(gold.note) and gold.passage is not None for gold in golds):
        yield f"{name}: {doubtful} gold passages to look at: the column 'note' says why"


def sample_to_judge(records: Sequence[QuestionRecord], golds: Sequence[Gold], seed: int) -> list[str]:
    """Lines on some questions with retrieved passages, sampled by the seed, for the user to judge."""
    retrieved = [pair for pair in zip(records, golds, strict=True) if pair[1].how == FIRST_RETRIEVED]
    drawn = random.Random(f"{seed}/gold_passages").sample(range(len(retrieved)), min(SAMPLED, len(retrieved)))
    return [
        f"  {record.text}\n    {' | '.join(record.answers)} <- {gold.passage.id}: "
        f"{excerpt(gold.passage.text, record.answers)}"
        for record, gold in (retrieved[number] for number in sorted(drawn))
        if gold.passage
    ]


def _short_note(matched: Sequence[str]) -> str:
    """A hint if all answers that a passage was chosen for are short or common words."""
    if any(len(answer) > SHORT and answer.lower() not in COMMON for answer in matched):
        return ""
    return f"'{matched[0]}' may be in it by chance"
