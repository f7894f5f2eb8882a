"""`my_data`: catalogue entries for a user's documents and questions; `my_haystack` has those without questions.

They are those of resources/my_data.yaml, filled in. A user could have written the same entries under `define`, and may
replace their keys there. No later stage knows of `my_data`.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, islice
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

from litm.base.files import file_kind
from litm.base.messages import UserError, counted
from litm.base.schema import AsGiven, Entry, PathTo, is_anything, is_file, locate
from litm.config.writing import WrittenQuestions, in_words, written_keys
from litm.config.yaml_files import read_yaml
from litm.corpora.documents import Omissions, file_name, has_chunks, ignored_files, passages_of, source_files
from litm.corpora.passages import SOURCES, CorpusSettings, Passage
from litm.corpora.retrieved import has_texts, hits_of_questions, retrieved
from litm.engines.model_entries import AnyModel
from litm.engines.model_files import count_tokens, known_window
from litm.placements import gold_positions
from litm.questions.own_questions import KINDS, LONG_ANSWER, OwnTable, long_answers, read_own_table
from litm.questions.released_format import WRITER
from litm.records.cells import Cell
from litm.retrieval.gold import FileNames, read_corrections

#: Names of the entries. A user's `define` may replace their keys.
CORPUS, ASKED, QUESTIONS = "my_documents", "my_all_questions", "my_questions_with_gold"
MY_POSITIONS, MY_AS_RETRIEVED = "my_positions", "my_as_retrieved"
MY_CLOSED_BOOK, MY_ORACLE = "my_closed_book", "my_oracle"
MY_EXPERIMENTS = (MY_POSITIONS, MY_AS_RETRIEVED, MY_CLOSED_BOOK, MY_ORACLE)
RETRIEVER, SYSTEM = "bm25s", "my_system"
#: Files of a BEIR folder: documents and questions.
BEIR = ("corpus.jsonl", "queries.jsonl")
#: Questions of ten for which a user's system must have retrieved as many documents as the largest size.
OF_TEN = 9
#: Passages per context: the largest that fits is chosen, and for positions a second one of at most half of it.
SIZES = (20, 10, 5, 3, 2)
#: Orders that are tried in addition to the retriever's: best last, and best at both ends.
ORDERS = ("reversed", "ends")
#: Words of the longest passage.
WORDS = SOURCES["documents"].passage_words
#: Passages read to choose sizes: more would not change the choice.
LOOKED_AT = 200
#: Passages of the corpus per passage of a context, at least: distractors must be passages without an answer.
SHARE = 2
#: Tokens of a passage's label, and of the rest of a prompt with its answer. Ratio of the mean length of retrieved
#: passages to that of all passages: longer ones are retrieved more often.
TOKENS_OF_LABEL, TOKENS_BESIDE, LONGER = 15, 300, 1.3
#: Contexts of passages drawn at random, and those of them that must fit.
DRAWN, MUST_FIT = 1000, 900
#: Length of a context: tokens, or a share of a window.
Length = Annotated[float, Field(gt=0), AsGiven]


def _is_table(path: str, where: str) -> None:
    is_file(path, where, "; name a table of questions (.csv, .json, ...)")


def _is_no_result(path: str, where: str) -> None:
    if Path(path).resolve().is_relative_to(Path("results").resolve()):
        raise UserError(f"{where}: {path} is written anew by every run; copy it out of results/ and name the copy")


class MyData(Entry):
    """Your own documents and questions; the experiments on them follow by themselves."""

    documents: Annotated[str | None, PathTo(is_anything)] = None
    """A folder, or one file, of documents: .txt, .md, .html, .pdf, .docx, .pptx, .xlsx, .epub, .jsonl, .json, .tsv,
    .csv; relative to the working directory or the project. Not with a `retrieved` that has the texts.
    """
    questions: Annotated[str | WrittenQuestions | None, PathTo(_is_table)] = None
    """A table (.csv, .tsv, .json, .jsonl, .parquet) with the columns question and answer (several separated by |, or a
    list) and, if known, the place of the answer: file, page, text (words of the passage); or {by: MODEL, number: 100},
    and a model writes them. If omitted, made-up facts are put into the documents and asked for
    (docs/your_haystack.md).
    """
    session: Annotated[str | None, PathTo(is_file)] = None
    """Instead of documents, the session of an agent or a chat (docs/your_haystack.md), in which facts and instructions
    are placed: messages of OpenAI, Anthropic, LangChain or LlamaIndex, a session file of Claude Code or Codex, or a
    chat as text. Its secrets are masked.
    """
    compacted: Annotated[str | None, PathTo(is_file)] = None
    """With a session: a summary of its first half, such as your agent writes when it compacts. It stands in place of
    the first half of each context, and is compared with the whole session.
    """
    lengths: Annotated[tuple[Length, ...], Field(strict=False, min_length=1)] | None = None
    """Without questions: the lengths of contexts, in tokens or, up to 1, as shares of the model's window, as in [4000,
    16000] or [0.25, 0.5]. If omitted, from 6 % to 90 % of the smallest window.
    """
    corrections: Annotated[str | None, PathTo(_is_no_result)] = None
    """A copy of results/tables/gold_passages.csv in which you have corrected the column passage (an id; empty leaves
    the question out).
    """
    retrieved: Annotated[str | None, PathTo(is_anything)] = None
    """Results of your own retrieval system for the questions, instead of BM25: .jsonl or .json with the texts
    (LangChain's and LlamaIndex' objects, with scores), or a TREC run with the ids of `documents`.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        texts = self.retrieved is not None and has_texts(self.retrieved)
        if texts and self.documents is not None:
            yield "'retrieved' has the texts: leave 'documents' out"
        if not texts and self.documents is None and self.session is None:
            yield "'documents' is missing: a folder, or one file, of documents"
        if self.session is not None and (self.documents or self.questions):
            yield "'session' is read alone: leave 'documents' and 'questions' out"
        if self.compacted is not None and self.session is None:
            yield "'compacted' needs 'session': the summary stands in place of its first half"
        for key in ("corrections", "retrieved"):
            if not isinstance(self.questions, str) and getattr(self, key) is not None:
                yield f"'{key}' needs 'questions': a table of questions and answers"
        if self.questions is not None and self.lengths is not None:
            yield "'lengths' is for documents without 'questions'; with them, define.experiments has the sizes"


@dataclass(frozen=True)
class MyEntries:
    """The result of `my_data`."""

    entries: Mapping[str, Mapping[str, dict]]
    """Catalogue entries, by kind and name."""
    notes: tuple[str, ...] = ()
    """Choices and their reasons, for the console."""
    limit: str = ""
    """What limits the largest size, in words."""
    kept: tuple[str, ...] = ()
    """Columns of the questions for clusters."""
    experiments: tuple[str, ...] = ()
    """The names of its experiments."""

    def lines(self, cells: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
        """All notes, with those on the experiments as they run, and the reason if the sizes are those chosen here.

        cells: those of each selected experiment, with the values of `define`.
        """
        yield from self.notes
        # Those of remedies are named after their experiment.
        if names := [name for name in cells if name.partition("-")[0] in self.experiments]:
            yield f"my_data: {', '.join(names)}; define.experiments changes them"
        places: dict[int, list[int]] = {}
        for cell in cells.get(MY_POSITIONS, ()) if self.entries else ():
            places.setdefault(cell.size, []).extend(gold_positions(cell.placement))
        if places:
            at = {str(size): sorted(positions) for size, positions in sorted(places.items())}
            words = "; ".join(f"{', '.join(map(str, positions))} of {size} passages" for size, positions in at.items())
            chosen = self.entries["experiments"][MY_POSITIONS]["positions"]
            why = f" ({self.limit})" if at == chosen else ""
            yield f"my_data: {MY_POSITIONS}: the passage with the answer, counted from 0, is at {words}{why}"
        if sizes := sorted({cell.size for cell in cells.get(MY_AS_RETRIEVED, ())}):
            yield f"my_data: {MY_AS_RETRIEVED}: the first {', '.join(map(str, sizes))} passages of the retriever"


@dataclass(frozen=True)
class Texts:
    """The user's documents; only the first are read."""

    source: str
    """Source of the corpus."""
    path: Path
    """Path of the corpus."""
    files: tuple[str, ...]
    """Names of the files."""
    are_whole: bool
    """Whether documents are passages as they are."""
    first: tuple[str, ...]
    """First passages with their titles."""
    places: tuple[str, ...]
    """File and line of each of the first passages."""
    left_out: tuple[str, ...] = ()
    """Sentences on what is left out of the first passages, and on other files."""
    copies: int = 0
    """Number of copies among the first passages."""


def read_my_data(as_written: MyData, models: Mapping[str, AnyModel], root: Path) -> MyEntries:
    """The entries for a user's documents and questions, and the choices made.

    models: the selected ones by name. Raises `UserError`, with file, line and column, for the first mistake in the
    questions, in the retrieved results and in the first documents, and for too few documents.
    """
    mine = as_written.placed("config.my_data").located(root, {})
    texts = look_at(mine, as_written)
    file = mine.questions if isinstance(mine.questions, str) else ""
    table = read_own_table(Path(file)) if file else OwnTable((), (), ())
    questions = table.questions
    if not any(file_kind(name) in (*KINDS, ".xlsx") for name in texts.files):
        # The names of chunks and rows are known only after all documents are read.
        names = FileNames([name] for name in texts.files)
        for question in questions:
            names.resolve(question, Path(file))
    if mine.corrections is not None:
        read_corrections(Path(mine.corrections), {question.text for question in questions})
    limits = [
        _Limit(SIZES[0], f"{SIZES[0]} are the most by default"),
        _Limit(len(texts.first) // SHARE, f"half of the {len(texts.first)} passages", "add documents"),
    ]
    limits += [limit for name, model in models.items() if (limit := _fitting(name, model, texts, root))]
    hits: list[int] = []
    retrieved_notes: tuple[str, ...] = ()
    if mine.retrieved is not None:
        recorded = hits_of_questions(Path(mine.retrieved), [question.to_record(None) for question in questions])
        hits = sorted(len(question_hits) for question_hits in recorded.hits.values() if question_hits)
        retrieved_notes = recorded.notes
        most = hits[len(hits) * (10 - OF_TEN) // 10]
        limits.append(_Limit(most, f"{OF_TEN} of 10 questions have {most} retrieved", "retrieve more"))
    sizes, why = _sizes(limits)
    entries = _entries(read_yaml(root / "resources" / "my_data.yaml"), mine, texts, hits, sizes)
    kept = tuple({name: None for question in questions for name in question.more or ()})
    notes = [
        *_notes(texts, mine, table),
        *(f"my_data: {line}" for line in retrieved_notes),
        *(f"my_data: {limit.left_out}" for limit in limits if limit.left_out),
    ]
    return MyEntries(entries, tuple(notes), why, kept, MY_EXPERIMENTS)


def look_at(mine: MyData, as_written: MyData, most: int = LOOKED_AT) -> Texts:
    """The documents of `mine`, whose paths are located; `as_written` has those of the config. most: passages read."""
    if mine.documents is None:
        run = Path(mine.retrieved or "")
        retrieved_passages = islice(retrieved(run, CorpusSettings()), LOOKED_AT)
        places, first = _shown(retrieved_passages)
        return Texts("retrieved", run, (run.name,), True, first, places)
    folder = Path(mine.documents)
    if all((folder / name).is_file() for name in BEIR):
        folder = folder / BEIR[0]
    files = source_files(folder)
    documents = {file.resolve() for file in files}
    for key in ("questions", "corrections", "retrieved"):
        path = getattr(mine, key)
        if isinstance(path, str) and Path(path).resolve() in documents:
            raise UserError(
                f"{mine.where}.{key}: {getattr(as_written, key)} is among the documents ({as_written.documents}), so "
                "it would be retrieved like them; move it out of there"
            )
    # A run names documents by id, and documents that are cut would lose theirs.
    are_whole = mine.retrieved is not None or all(map(has_chunks, files))
    omitted = Omissions()
    passages = passages_of(folder, files, None if are_whole else WORDS, omitted)
    looked = list(islice((placed for placed in passages if placed[1].text), most))
    places, first = _shown(placed for placed in looked if placed[1].copy_of is None)
    names = tuple(file_name(folder, file) for file in files)
    left_out = tuple(filter(None, (ignored_files(folder, files), *omitted.lines())))
    return Texts("documents", folder, names, are_whole, first, places, left_out, len(looked) - len(first))


def _shown(passages: Iterable[tuple[str, Passage]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The places of passages, and their texts in a prompt."""
    shown = [(where, f"{passage.title} {passage.text}") for where, passage in passages]
    return tuple(where for where, _ in shown), tuple(text for _, text in shown)


@dataclass(frozen=True)
class _Limit:
    """A limit of the number of passages in a context."""

    most: int
    """Largest number of passages."""
    why: str
    """Reason for the limit."""
    remedy: str = ""
    """What would raise the limit."""
    left_out: str = ""
    """What the limit leaves out."""


def _fitting(name: str, model: AnyModel, texts: Texts, root: Path) -> _Limit | None:
    """The number of passages that fit a model's window; None if the window is unknown."""
    window, count = token_counter(model, root)
    if not window or not texts.first:
        return None
    tokens = count(texts.first)
    fit = _number_fitting(tokens, window - TOKENS_BESIDE)
    most, place = max(zip(tokens, texts.places, strict=True))
    largest = f"such as {place} with about {most:,} tokens"
    remedy = f"shorten the largest passages, {largest}, or take a model with a longer window"
    too_long = sum(count + TOKENS_OF_LABEL > window - TOKENS_BESIDE for count in tokens)
    left_out = f"no prompt with one of {counted(too_long, 'passage')}, {largest}, fits the window of {name}"
    why = f"about {fit} fit the window of {name}, {window:,} tokens"
    return _Limit(fit, why, remedy, left_out if too_long else "")


def token_counter(
    model: AnyModel, root: Path, of_most: float = 1.0
) -> tuple[int | None, Callable[[Sequence[str]], Sequence[int]]]:
    """A model's window, None if it is not known, and the function that counts the tokens of texts: by its tokenizer, or
    else by their characters; of_most: see `count_tokens`.
    """
    path = model.stored_at(root)
    window = getattr(model, "context_window", None) or (path and known_window(path)) or None
    if tokenizer := getattr(model, "tokenizer", None):
        # A dataset has a name instead of a path, and its file may not be here yet.
        with suppress(UserError):
            path = locate(tokenizer, root, "tokenizer")
    return window, lambda texts: count_tokens(path, texts, of_most)


def _number_fitting(tokens: Sequence[int], room: int) -> int:
    """The number of passages that fit a context by their mean, and at which most contexts drawn at random fit.

    tokens: of passages; those that alone are too long are in no context that is asked, and so do not count. room: in
    tokens.
    """
    fitting = [count for count in tokens if count + TOKENS_OF_LABEL <= room]
    if not fitting:
        return 0
    draw = random.Random(0)
    contexts = [[*accumulate(draw.choices(fitting, k=SIZES[0]))] for _ in range(DRAWN)]
    number = int(room / (fmean(fitting) * LONGER + TOKENS_OF_LABEL))
    while (
        0 < number <= SIZES[0]
        and sum(totals[number - 1] + number * TOKENS_OF_LABEL <= room for totals in contexts) < MUST_FIT
    ):
        number -= 1
    return number


def _sizes(limits: Sequence[_Limit]) -> tuple[list[int], str]:
    """Sizes that fit, largest first, and the reason for the limit."""
    limit = min(limits, key=attrgetter("most"))
    sizes = [size for size in SIZES if size <= limit.most]
    if not sizes:
        raise UserError(
            f"config.my_data: a context needs {SIZES[-1]} passages or more, and {limit.why}: {limit.remedy}"
        )
    return sizes, limit.why


def _positions(sizes: list[int]) -> dict[str, list[int]]:
    """Five positions of the largest size, and three of the largest size of at most half of it."""
    largest = sizes[0]
    smaller = next((size for size in sizes if size * 2 <= largest and size > 2), None)
    chosen = {largest: 5} | ({smaller: 3} if smaller else {})
    return {
        str(size): sorted({step * (size - 1) // (number - 1) for step in range(number)})
        for size, number in sorted(chosen.items())
    }


def _entries(
    entries: dict[str, dict[str, Any]], mine: MyData, texts: Texts, hits: list[int], sizes: list[int]
) -> dict[str, dict[str, dict]]:
    """The entries of my_data.yaml, filled in. hits: passages per question of the user's retrieval system, ascending."""
    retriever = {"retriever": RETRIEVER}
    if mine.retrieved is not None:
        retriever = {"retriever": SYSTEM}
        entries["retrievers"] = {
            SYSTEM: {"method": "recorded", "path": mine.retrieved, "questions": ASKED, "hits": max(1, *hits)}
        }
    whole = {"passage_words": None} if texts.are_whole else {}
    entries["corpora"][CORPUS] = {"source": texts.source, "path": str(texts.path), **whole}
    if isinstance(mine.questions, str):
        entries["questions"][ASKED]["file"] = mine.questions
        entries["questions"][QUESTIONS] |= {**retriever, "corrections": mine.corrections}
    elif mine.questions:
        entries["questions"] = {QUESTIONS: {"corpus": CORPUS, **written_keys(mine.questions)}}
        entries["candidates"]["my_retrieved"]["questions"] = QUESTIONS
    for candidates in entries["candidates"].values():
        candidates |= {**retriever, "documents": sizes[0]}
    experiments = entries["experiments"]
    experiments[MY_POSITIONS]["positions"] = _positions(sizes)
    experiments[MY_AS_RETRIEVED]["sizes"] = sorted({1, *(size for size in sizes if size > 2)})
    # With two passages both orders are the same.
    if sizes[0] > 2:
        experiments[MY_AS_RETRIEVED]["remedies"] = {"order": list(ORDERS)}
    return entries


def text_notes(texts: Texts, most: int = LOOKED_AT) -> list[str]:
    """What the documents are, and what is left out of them. most: passages read at most."""
    more = " or more" if len(texts.first) + texts.copies == most else ""
    copies = f"; left out as copies of these: {texts.copies}{more}" if texts.copies else ""
    cut = "kept as they are" if texts.are_whole else f"of at most {WORDS} words"
    return [
        f"my_data: {texts.path}: {len(texts.files)} files, {len(texts.first)}{more} passages {cut}{copies}",
        *(f"my_data: {texts.path}: {line}" for line in texts.left_out),
    ]


def _notes(texts: Texts, mine: MyData, table: OwnTable) -> list[str]:
    if mine.questions and not isinstance(mine.questions, str):
        return [*text_notes(texts), f"my_data: {in_words(mine.questions)}"]
    notes = [
        *text_notes(texts),
        *([f"my_data: {mine.retrieved}: its retrieved passages are used instead of BM25's"] if mine.retrieved else []),
        f"my_data: {mine.questions}: {len(table.questions)} questions; columns {', '.join(table.used)}"
        + (f"; also kept: {', '.join(table.kept)}" if table.kept else ""),
        *(f"my_data: {mine.questions}: {note}" for note in table.notes),
    ]
    if WRITER in table.kept:
        notes.append(f"my_data: {mine.questions}: a model wrote the questions, as its column {WRITER} says")
    notes.append(
        f"my_data: {mine.questions}: answers count as whole words (metric: whole_words); best_subspan_em, as metric in "
        "define.experiments, also finds them inside words"
    )
    if long := long_answers(table.questions):
        notes.append(
            f"my_data: {mine.questions}: {long} questions have only answers of more than {LONG_ANSWER} words: an "
            "answer is right only if it is repeated word for word, so write short ones"
        )
    return notes
