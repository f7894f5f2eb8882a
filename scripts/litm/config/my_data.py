"""`my_data`: a user's documents and questions, turned into the catalogue entries that ask about them.

The entries are what a user could have written under `define`, which may still replace keys of theirs. Everything after
them knows nothing of `my_data`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import Field, model_validator

from litm.base.errors import UserError
from litm.base.schema import Entry
from litm.config.context_windows import count_tokens, known_window
from litm.config.values import locate
from litm.corpora.passages import Passage
from litm.corpora.source import CorpusSettings
from litm.corpora.sources import retrieved
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
from litm.retrieval.recorded_hits import has_texts, hits_of_questions

#: Names of the entries. A user's `define` may change keys of them.
CORPUS, ASKED, QUESTIONS, CANDIDATES, RETRIEVED = (
    "my_documents", "my_asked", "my_questions", "my_candidates", "my_retrieved",
)  # fmt: skip
POSITIONS, AS_RETRIEVED, CLOSED_BOOK, ORACLE = "my_positions", "my_as_retrieved", "my_closed_book", "my_oracle"
EXPERIMENTS = (POSITIONS, AS_RETRIEVED, CLOSED_BOOK, ORACLE)
RETRIEVER, SYSTEM = "bm25", "my_system"
#: The files of a BEIR folder: the first one has the documents.
BEIR = ("corpus.jsonl", "queries.jsonl")
#: Of ten questions as many have at least the documents of the largest size, where a system has retrieved them.
OF_TEN = 9
#: Sizes of contexts: the largest that fits is taken, and for positions one more of at most half of it.
SIZES = (20, 10, 5, 3, 2)
#: Orders that are tried besides that of the retriever: the best last, and the best at both ends.
ORDERS = ("reversed", "ends")
#: Passages that are looked at to choose sizes: more do not change the choice.
LOOKED_AT = 200
#: A context has at most half of the passages: the others must be passages without an answer.
SHARE = 2
#: Tokens of the label of a passage, and of the rest of a prompt with its answer. How much more than the mean of the
#: passages those of a context have: the retrieved ones are the longer ones.
TOKENS_OF_LABEL, TOKENS_BESIDE, LONGER = 15, 300, 1.3


class MyData(Entry):
    """Your own documents and questions, and nothing else: what is asked about them follows."""

    documents: str | None = Field(
        None,
        description="A folder, or one file, of documents: .txt, .md, .html, .pdf, .jsonl, .json, .tsv, .csv; from the "
        "working directory or the project. Not with a `retrieved` that has the texts.",
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
    retrieved: str | None = Field(
        None,
        description="What a retrieval system of yours has retrieved for the questions, instead of BM25: .jsonl or "
        ".json with the texts (LangChain's and LlamaIndex' objects, with scores), or a TREC run of the ids of "
        "`documents`.",
    )

    @model_validator(mode="after")
    def _check(self) -> "MyData":
        texts = self.retrieved is not None and has_texts(self.retrieved)
        if texts and self.documents is not None:
            raise ValueError("'retrieved' has the texts: leave 'documents' out")
        if not texts and self.documents is None:
            raise ValueError("'documents' is missing: a folder, or one file, of documents")
        return self


@dataclass(frozen=True)
class MyEntries:
    """What `my_data` stands for. entries: by kind and name; notes: what was chosen and why, for the console."""

    entries: Mapping[str, Mapping[str, dict]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Texts:
    """Documents as far as they were looked at.

    source, path: of the corpus; files: by name; are_whole: whether they are passages as they are; first: the first
    passages with their titles, at most `LOOKED_AT`; ignored: a sentence on other files.
    """

    source: str
    path: Path
    files: tuple[str, ...]
    are_whole: bool
    first: tuple[str, ...]
    ignored: str


def read_my_data(my_data: MyData, models: Mapping[str, Entry], root: Path) -> MyEntries:
    """The entries for a user's documents and questions, and what was chosen.

    models: the selected ones by name. Raises `UserError`, with file, line and column, for the first mistake in the
    questions, in what was retrieved and in the first documents, and for documents that are too few.
    """
    where = "config.my_data"
    table = Path(locate(my_data.questions, root, f"{where}.questions"))
    if not table.is_file():
        raise UserError(f"{where}.questions: {table} is not a file; name a table of questions (.csv, .json, ...)")
    questions = read_own_questions(table)
    run = Path(locate(my_data.retrieved, root, f"{where}.retrieved")) if my_data.retrieved else None
    texts = _look_at(my_data, run, root)
    _check_files(questions, texts, table)
    corrections = _corrections(my_data, questions, root)
    fitting = {name: _fitting(model, texts, root) for name, model in models.items()}
    limits = {
        f"about {fit[0]} fit the window of {name}, {fit[1]:,} tokens": fit[0] for name, fit in fitting.items() if fit
    }
    numbers: list[int] = []
    if run is not None:
        numbers = sorted(map(len, hits_of_questions(run, [one.to_record(None) for one in questions]).values()))
        most = numbers[len(numbers) * (10 - OF_TEN) // 10]
        limits[f"{OF_TEN} of 10 questions have {most} retrieved"] = most
    sizes, why = _sizes(len(texts.first), limits)
    return MyEntries(
        _entries(texts, str(table), _retriever(run, numbers), corrections, sizes),
        tuple(_notes(texts, table, questions, run, sizes, why)),
    )


def _look_at(my_data: MyData, run: Path | None, root: Path) -> _Texts:
    if my_data.documents is None:
        assert run is not None, "one of both is given"
        found = islice(retrieved.passages(run, CorpusSettings()), LOOKED_AT)
        return _Texts("retrieved", run, (run.name,), True, tuple(map(_shown, found)), "")
    folder = Path(locate(my_data.documents, root, "config.my_data.documents"))
    if all((folder / name).is_file() for name in BEIR):
        folder = folder / BEIR[0]
    files = source_files(folder)
    _check_tables_are_no_documents(my_data, files, root)
    # A run names documents by their ids, which those that are cut would lose.
    are_whole = run is not None or all(map(has_chunks, files))
    found = islice(passages_of(folder, files, None if are_whole else PASSAGE_WORDS), LOOKED_AT)
    names = tuple(file_name(folder, file) for file in files)
    return _Texts("documents", folder, names, are_whole, tuple(map(_shown, found)), ignored_files(folder, files))


def _shown(found: tuple[str, Passage]) -> str:
    """A passage as a prompt shows it."""
    return f"{found[1].title} {found[1].text}"


def _check_files(questions: list[OwnQuestion], texts: _Texts, table: Path) -> None:
    """Raise `UserError` for a question that names a file which is not there, where documents are files."""
    if any(name.removesuffix(".gz").endswith((".json", ".jsonl", ".csv", ".tsv")) for name in texts.files):
        # Chunks and rows have names of their own, which are known when all have been read.
        return
    names = FileNames([name] for name in texts.files)
    for question in questions:
        names.resolve(question, table)


def _check_tables_are_no_documents(my_data: MyData, files: list[Path], root: Path) -> None:
    """Raise `UserError` if another file of `my_data` is among the documents: it would be retrieved like them."""
    documents = {file.resolve() for file in files}
    for key in ("questions", "corrections", "retrieved"):
        given, where = getattr(my_data, key), f"config.my_data.{key}"
        if given and Path(locate(given, root, where)).resolve() in documents:
            raise UserError(
                f"{where}: {given} is among the documents ({my_data.documents}), so it would be retrieved like them; "
                f"move it out of there"
            )


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
    return max(0, int((window - TOKENS_BESIDE) / (tokens * LONGER + TOKENS_OF_LABEL))), window


def _sizes(passages: int, limits: Mapping[str, int]) -> tuple[list[int], str]:
    """The sizes that fit, largest first, and what limits them. limits: other numbers of passages, by their reasons."""
    most, why = SIZES[0], f"{SIZES[0]} is the most that is chosen by itself"
    for reason, limit in {f"half of the {passages} passages there are": passages // SHARE, **limits}.items():
        if limit < most:
            most, why = limit, reason
    sizes = [size for size in SIZES if size <= most]
    if not sizes:
        raise UserError(
            f"config.my_data: a context needs {SIZES[-1]} passages or more, and {why}: add documents, or take a model "
            f"with a longer window"
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


def _retriever(run: Path | None, numbers: list[int]) -> dict[str, dict]:
    """The entry for what a system has retrieved, by its name; none if it is BM25 that retrieves."""
    if run is None:
        return {}
    return {SYSTEM: {"method": "recorded", "path": str(run), "questions": ASKED, "hits": max(1, *numbers)}}


def _entries(
    texts: _Texts, table: str, own: dict[str, dict], corrections: str | None, sizes: list[int]
) -> dict[str, dict[str, dict]]:
    whole = {"passage_words": None} if texts.are_whole else {}
    retriever = next(iter(own), RETRIEVER)
    made_of = {"corpus": CORPUS, "retriever": retriever, "documents": sizes[0], "too_few": "fill"}
    return {
        "corpora": {CORPUS: {"source": texts.source, "path": str(texts.path), **whole}},
        "retrievers": own,
        "questions": {
            ASKED: {"file": table, "corpus": CORPUS},
            QUESTIONS: {
                "gold_of": ASKED,
                "retriever": retriever,
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
                # Two passages are too few for both orders to be others.
                **({"remedies": {"order": list(ORDERS)}} if sizes[0] > 2 else {}),
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
    texts: _Texts, table: Path, questions: list[OwnQuestion], run: Path | None, sizes: list[int], why: str
) -> list[str]:
    used, unused = used_columns(column_names(table))
    number = f"{len(texts.first):,}" if len(texts.first) < LOOKED_AT else f"{LOOKED_AT} or more"
    cut = "kept as they are" if texts.are_whole else f"of at most {PASSAGE_WORDS} words"
    places = "; ".join(
        f"{size} passages with the answer at {', '.join(map(str, at))}" for size, at in _positions(sizes).items()
    )
    notes = [
        f"my_data: {texts.path}: {len(texts.files)} files, {number} passages {cut}",
        *([f"my_data: {texts.path}: {texts.ignored}"] if texts.ignored else []),
        *([f"my_data: {run}: what it has retrieved is taken instead of what BM25 would find"] if run else []),
        f"my_data: {table}: {len(questions)} questions; columns {', '.join(used)}"
        + (f"; also kept: {', '.join(unused)}" if unused else ""),
        f"my_data: {POSITIONS}: {places} (why no more passages: {why})",
        f"my_data: {AS_RETRIEVED} in the order of the retriever, and {' and '.join(ORDERS)}; {CLOSED_BOOK}; {ORACLE}; "
        "define.experiments changes them",
    ]
    if long := long_answers(questions):
        notes.append(
            f"my_data: {table}: {long} questions have only answers of more than {LONG_ANSWER} words: one counts "
            f"as given where it is repeated word for word, so write short ones"
        )
    return notes
