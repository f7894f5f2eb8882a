"""`my_data`: a user's documents and questions, turned into the catalogue entries that ask about them.

The entries are what a user could have written under `define`, which may still replace keys of theirs. Everything after
them knows nothing of `my_data`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import Field

from litm.base.errors import UserError
from litm.base.schema import Entry
from litm.config.context_windows import count_tokens, known_window
from litm.config.values import locate
from litm.corpora.sources.documents import (
    PASSAGE_WORDS,
    file_name,
    has_chunks,
    ignored_files,
    passages_of,
    source_files,
)
from litm.questions.own_questions import LONG_ANSWER, OwnQuestion, long_answers, read_own_questions, used_columns
from litm.questions.own_rows import column_names
from litm.retrieval.corrections import read_corrections
from litm.retrieval.named_passages import FileNames

#: Names of the entries. A user's `define` may change keys of them.
CORPUS, ASKED, QUESTIONS, CANDIDATES, RETRIEVED = (
    "my_documents", "my_asked", "my_questions", "my_candidates", "my_retrieved",
)  # fmt: skip
POSITIONS, AS_RETRIEVED, CLOSED_BOOK, ORACLE = "my_positions", "my_as_retrieved", "my_closed_book", "my_oracle"
EXPERIMENTS = (POSITIONS, AS_RETRIEVED, CLOSED_BOOK, ORACLE)
RETRIEVER = "bm25"
#: Sizes of contexts: the largest that fits is taken, and for positions one more of at most half of it.
SIZES = (20, 10, 5, 3, 2)
#: Passages that are looked at to choose sizes: more do not change the choice.
LOOKED_AT = 200
#: A context has at most half of the passages: the others must be passages without an answer.
SHARE = 2
#: Tokens of the label of a passage, and of the rest of a prompt with its answer. How much more than the mean of the
#: passages those of a context have: the retrieved ones are the longer ones.
TOKENS_OF_LABEL, TOKENS_BESIDE, LONGER = 15, 300, 1.3


class MyData(Entry):
    """Your own documents and questions, and nothing else: what is asked about them follows."""

    documents: str = Field(
        description="A folder, or one file, of documents: .txt, .md, .html, .pdf, .jsonl, .json, .tsv, .csv; from the "
        "working directory or the project."
    )
    questions: str = Field(
        description="A table (.csv, .tsv, .json, .jsonl) with the columns question and answer (several with | between "
        "them, or a list) and, if known, where it is answered: file, page, text (words of the passage)."
    )
    corrections: str | None = Field(
        None,
        description="A copy of results/tables/gold_passages.csv in which you have changed the column passage where the "
        "wrong one was found (an id; empty leaves the question out).",
    )


@dataclass(frozen=True)
class MyEntries:
    """What `my_data` stands for. entries: by kind and name; notes: what was chosen and why, for the console."""

    entries: Mapping[str, Mapping[str, dict]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Texts:
    """Documents as far as they were looked at. first: the first passages with their titles, at most `LOOKED_AT`."""

    files: tuple[str, ...]
    are_chunks: bool
    first: tuple[str, ...]
    ignored: str


def read_my_data(my_data: MyData, models: Mapping[str, Entry], root: Path) -> MyEntries:
    """The entries for a user's documents and questions, and what was chosen.

    models: the selected ones by name. Raises `UserError`, with file, line and column, for the first mistake in the
    questions and in the first documents, and for documents that are too few.
    """
    where = "config.my_data"
    folder = Path(locate(my_data.documents, root, f"{where}.documents"))
    table = Path(locate(my_data.questions, root, f"{where}.questions"))
    if not table.is_file():
        raise UserError(f"{where}.questions: {table} is not a file; name a table of questions (.csv, .json, ...)")
    questions = read_own_questions(table)
    texts = _look_at(folder)
    _check_files(questions, texts, table)
    corrections = _corrections(my_data, questions, root)
    fitting = {name: _fitting(model, texts, root) for name, model in models.items()}
    sizes, why = _sizes(len(texts.first), {name: fit for name, fit in fitting.items() if fit})
    return MyEntries(
        _entries(my_data, str(folder), str(table), corrections, sizes, texts.are_chunks),
        tuple(_notes(folder, table, questions, texts, sizes, why)),
    )


def _look_at(folder: Path) -> _Texts:
    files = source_files(folder)
    are_chunks = all(map(has_chunks, files))
    first = islice(passages_of(folder, files, None if are_chunks else PASSAGE_WORDS), LOOKED_AT)
    seen = tuple(f"{passage.title} {passage.text}" for _, passage in first)
    return _Texts(tuple(file_name(folder, file) for file in files), are_chunks, seen, ignored_files(folder, files))


def _check_files(questions: list[OwnQuestion], texts: _Texts, table: Path) -> None:
    """Raise `UserError` for a question that names a file which is not there, where documents are files."""
    if any(name.removesuffix(".gz").endswith((".json", ".jsonl", ".csv", ".tsv")) for name in texts.files):
        # Chunks and rows have names of their own, which are known when all have been read.
        return
    names = FileNames([name] for name in texts.files)
    for question in questions:
        names.resolve(question, table)


def _corrections(my_data: MyData, questions: list[OwnQuestion], root: Path) -> str | None:
    if my_data.corrections is None:
        return None
    where = "config.my_data.corrections"
    path = locate(my_data.corrections, root, where)
    if Path(path).resolve().is_relative_to(Path("results").resolve()):
        raise UserError(f"{where}: {path} is written anew by every run; copy it out of results/ and name the copy")
    read_corrections(Path(path), {question.text for question in questions})
    return path


def _fitting(model: Entry, texts: _Texts, root: Path) -> tuple[int, int] | None:
    """How many passages fit the window of a model, and that window; None if it is not known."""
    window = known_window(model, root)
    if window is None or not texts.first:
        return None
    tokens = count_tokens(model, texts.first, root) / len(texts.first)
    return int((window - TOKENS_BESIDE) / (tokens * LONGER + TOKENS_OF_LABEL)), window


def _sizes(passages: int, fitting: Mapping[str, tuple[int, int]]) -> tuple[list[int], str]:
    """The sizes that fit, largest first, and what limits them. fitting: see `_fitting`, by the name of the model."""
    most, why = SIZES[0], f"{SIZES[0]} is the most that is chosen by itself"
    if passages // SHARE < most:
        most, why = passages // SHARE, f"half of the {passages} passages there are"
    for name, (fit, window) in fitting.items():
        if fit < most:
            most, why = fit, f"about {fit} fit the window of {name}, {window:,} tokens"
    sizes = [size for size in SIZES if size <= most]
    if not sizes:
        raise UserError(
            f"config.my_data.documents: too few for a choice: contexts of {SIZES[-1]} passages need "
            f"{SIZES[-1] * SHARE} passages in all, and a window that they fit ({why}); add documents"
        )
    return sizes, why


def _positions(sizes: list[int]) -> dict[str, list[int]]:
    """Five positions of the largest size, and three of the largest that is at most half of it."""
    largest = sizes[0]
    smaller = next((size for size in sizes if size * 2 <= largest and size > 2), None)
    chosen = {largest: 5} | ({smaller: 3} if smaller else {})
    return {
        str(size): sorted({step * (size - 1) // (number - 1) for step in range(number)})
        for size, number in sorted(chosen.items())
    }


def _entries(
    my_data: MyData, folder: str, table: str, corrections: str | None, sizes: list[int], are_chunks: bool
) -> dict[str, dict[str, dict]]:
    cut = {"passage_words": None} if are_chunks else {}
    made_of = {"corpus": CORPUS, "retriever": RETRIEVER, "documents": sizes[0], "too_few": "fill"}
    return {
        "corpora": {CORPUS: {"source": "documents", "path": folder, **cut}},
        "questions": {
            ASKED: {"file": table, "corpus": CORPUS},
            QUESTIONS: {
                "gold_of": ASKED,
                "retriever": RETRIEVER,
                **({"corrections": corrections} if corrections else {}),
            },
        },
        "candidates": {
            CANDIDATES: {"questions": QUESTIONS, **made_of},
            RETRIEVED: {"questions": ASKED, "kind": "as_retrieved", **made_of},
        },
        "experiments": {
            POSITIONS: {
                "task": "multi_document_qa",
                "title": "Your documents: the passage with the answer at each position",
                "dataset": CANDIDATES,
                "positions": _positions(sizes),
                "closed_book": CLOSED_BOOK,
                "oracle": ORACLE,
            },
            AS_RETRIEVED: {
                "task": "open_domain_qa",
                "title": "Your documents as retrieved",
                "dataset": RETRIEVED,
                "sizes": sorted({1, *(size for size in sizes if size > 2)}),
            },
            CLOSED_BOOK: {"task": "closed_book_qa", "title": "Your questions, closed book", "dataset": QUESTIONS},
            ORACLE: {"task": "oracle_qa", "title": "Your questions, oracle", "dataset": QUESTIONS},
        },
        "figures": {
            POSITIONS: {
                "title": "Your documents",
                "experiments": [POSITIONS],
                "references": {CLOSED_BOOK: "closed book", ORACLE: "oracle"},
                "panel_title": "{size} passages",
                "x_label": "Position of the passage with the answer",
            },
            AS_RETRIEVED: {
                "kind": "accuracy_by_size",
                "title": "Your documents as retrieved",
                "experiments": [AS_RETRIEVED],
                "x_label": "Number of retrieved passages",
            },
        },
    }


def _notes(
    folder: Path, table: Path, questions: list[OwnQuestion], texts: _Texts, sizes: list[int], why: str
) -> list[str]:
    used, unused = used_columns(column_names(table))
    number = f"{len(texts.first):,}" if len(texts.first) < LOOKED_AT else f"{LOOKED_AT} or more"
    cut = "kept as they are" if texts.are_chunks else f"of at most {PASSAGE_WORDS} words"
    places = "; ".join(
        f"{size} passages with the answer at {', '.join(map(str, at))}" for size, at in _positions(sizes).items()
    )
    notes = [
        f"my_data: {folder}: {len(texts.files)} files, {number} passages {cut}",
        *([f"my_data: {folder}: {texts.ignored}"] if texts.ignored else []),
        f"my_data: {table}: {len(questions)} questions; columns {', '.join(used)}"
        + (f"; kept and not used: {', '.join(unused)}" if unused else ""),
        f"my_data: {POSITIONS}: {places}; and {AS_RETRIEVED}, {CLOSED_BOOK}, {ORACLE} (why no more passages: {why}); "
        "define.experiments changes them",
    ]
    if long := long_answers(questions):
        notes.append(
            f"my_data: {table}: {long} questions have only answers of more than {LONG_ANSWER} words: one counts "
            f"as given where it is repeated word for word, so write short ones"
        )
    return notes
