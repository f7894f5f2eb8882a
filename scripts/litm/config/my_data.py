"""`my_data`: catalogue entries for a user's documents and questions.

A user could have written the same entries under `define`, and may replace their keys there. No later stage knows of
`my_data`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import model_validator

from litm.base.files import file_kind
from litm.base.messages import UserError
from litm.base.records import read_json
from litm.config.models import ApiModel, Model
from litm.config.schema import Entry, locate
from litm.corpora.documents import file_name, has_chunks, ignored_files, passages_of, source_files
from litm.corpora.passages import SOURCES, CorpusSettings, Passage
from litm.corpora.retrieved import has_texts, hits_of_questions, retrieved
from litm.models.configuration import CONTEXT_WINDOW_NAMES
from litm.models.files import is_gguf
from litm.models.gguf import read_gguf
from litm.placements import AS_RETRIEVED, gold_positions
from litm.questions.own_questions import (
    KINDS,
    LONG_ANSWER,
    OwnQuestion,
    column_names,
    long_answers,
    read_own_questions,
    used_columns,
)
from litm.records import Cell
from litm.retrieval.gold import FileNames, read_corrections

#: Characters per token, assumed where no tokenizer is available: fewer than in English text, about as in code.
CHARACTERS_OF_TOKEN = 3


def known_window(model: Entry, root: Path) -> int | None:
    """A model's limit of tokens of prompt and answer, from its entry, GGUF file or folder; None if unknown."""
    if isinstance(model, ApiModel | Model) and model.context_window is not None:
        return model.context_window
    path = model.stored_at(root) if isinstance(model, Model) else None
    if path is None:
        return None
    if is_gguf(path):
        return read_gguf(Path(path)).window
    file = Path(path) / "config.json"
    values = read_json(file) if file.is_file() else {}
    return next((values[name] for name in CONTEXT_WINDOW_NAMES if isinstance(values.get(name), int)), None)


def count_tokens(model: Entry, texts: Sequence[str], root: Path) -> int:
    """Tokens of texts, counted by the tokenizer.json in a model's folder; without one, estimated from their length."""
    path = model.stored_at(root) if isinstance(model, Model) else None
    file = Path(path, "tokenizer.json") if path is not None else None
    if file is None or not file.is_file():
        return sum(map(len, texts)) // CHARACTERS_OF_TOKEN
    from tokenizers import Tokenizer

    return sum(len(one.ids) for one in Tokenizer.from_file(str(file)).encode_batch(list(texts)))


#: Names of the entries. A user's `define` may replace their keys.
CORPUS, ASKED, QUESTIONS, CANDIDATES, RETRIEVED = (
    "my_documents", "my_all_questions", "my_questions_with_gold", "my_candidates", "my_retrieved",
)  # fmt: skip
MY_POSITIONS, MY_AS_RETRIEVED = "my_positions", "my_as_retrieved"
MY_CLOSED_BOOK, MY_ORACLE = "my_closed_book", "my_oracle"
EXPERIMENTS = (MY_POSITIONS, MY_AS_RETRIEVED, MY_CLOSED_BOOK, MY_ORACLE)
RETRIEVER, SYSTEM = "bm25", "my_system"
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


class MyData(Entry):
    """Your own documents and questions; the experiments on them follow by themselves."""

    documents: str | None = None
    """A folder, or one file, of documents: .txt, .md, .html, .pdf, .jsonl, .json, .tsv, .csv; relative to the working
    directory or the project. Not with a `retrieved` that has the texts.
    """
    questions: str
    """A table (.csv, .tsv, .json, .jsonl) with the columns question and answer (several separated by |, or a list) and,
    if known, the place of the answer: file, page, text (words of the passage).
    """
    corrections: str | None = None
    """A copy of results/tables/gold_passages.csv in which you have corrected the column passage (an id; empty leaves
    the question out).
    """
    retrieved: str | None = None
    """Results of your own retrieval system for the questions, instead of BM25: .jsonl or .json with the texts
    (LangChain's and LlamaIndex' objects, with scores), or a TREC run with the ids of `documents`.
    """

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
    """The result of `my_data`. entries: by kind and name; notes: the choices and their reasons, for the console;
    questions: their number; limit: what limits the largest size, in words.
    """

    entries: Mapping[str, Mapping[str, dict]]
    notes: tuple[str, ...]
    questions: int = 0
    limit: str = ""


@dataclass(frozen=True)
class _Texts:
    """The user's documents; only the first are read.

    source, path: of the corpus; files: their names; are_whole: whether documents are passages as they are; first: the
    first passages with their titles, at most `LOOKED_AT`; ignored: a sentence on other files.
    """

    source: str
    path: Path
    files: tuple[str, ...]
    are_whole: bool
    first: tuple[str, ...]
    ignored: str


def read_my_data(my_data: MyData, models: Mapping[str, Entry], root: Path) -> MyEntries:
    """The entries for a user's documents and questions, and the choices made.

    models: the selected ones by name. Raises `UserError`, with file, line and column, for the first mistake in the
    questions, in the retrieved results and in the first documents, and for too few documents.
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
        tuple(_notes(texts, table, questions, run)),
        len(questions),
        why,
    )


def _look_at(my_data: MyData, run: Path | None, root: Path) -> _Texts:
    if my_data.documents is None:
        assert run is not None, "one of both is given"
        found = islice(retrieved(run, CorpusSettings()), LOOKED_AT)
        return _Texts("retrieved", run, (run.name,), True, tuple(map(_shown, found)), "")
    folder = Path(locate(my_data.documents, root, "config.my_data.documents"))
    if all((folder / name).is_file() for name in BEIR):
        folder = folder / BEIR[0]
    files = source_files(folder)
    _check_tables_are_no_documents(my_data, files, root)
    # A run names documents by id, and documents that are cut would lose theirs.
    are_whole = run is not None or all(map(has_chunks, files))
    found = islice(passages_of(folder, files, None if are_whole else WORDS), LOOKED_AT)
    names = tuple(file_name(folder, file) for file in files)
    return _Texts("documents", folder, names, are_whole, tuple(map(_shown, found)), ignored_files(folder, files))


def _shown(found: tuple[str, Passage]) -> str:
    """The text of a passage in a prompt."""
    return f"{found[1].title} {found[1].text}"


def _check_files(questions: list[OwnQuestion], texts: _Texts, table: Path) -> None:
    """Raise `UserError` for a question that names a missing file, if documents are files."""
    if any(file_kind(name) in KINDS for name in texts.files):
        # The names of chunks and rows are known only after all documents are read.
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
    """The number of passages that fit a model's window, and the window in tokens; None if it is unknown."""
    window = known_window(model, root)
    if window is None or not texts.first:
        return None
    tokens = count_tokens(model, texts.first, root) / len(texts.first)
    return max(0, int((window - TOKENS_BESIDE) / (tokens * LONGER + TOKENS_OF_LABEL))), window


def _sizes(passages: int, limits: Mapping[str, int]) -> tuple[list[int], str]:
    """Sizes that fit, largest first, and the reason for the limit. limits: further limits in passages, by reason."""
    most, why = SIZES[0], f"{SIZES[0]} are the most by default"
    for reason, limit in {f"half of the {passages} passages": passages // SHARE, **limits}.items():
        if limit < most:
            most, why = limit, reason
    sizes = [size for size in SIZES if size <= most]
    if not sizes:
        raise UserError(
            f"config.my_data: a context needs {SIZES[-1]} passages or more, and {why}: add documents, or take a model "
            f"with a longer window"
        )
    return sizes, why


def position_notes(mine: MyEntries, cells: Iterable[Cell]) -> list[str]:
    """A line on the contexts of `my_positions` as it runs, and the reason if the sizes are those chosen here.

    cells: of the experiment, with the values of `define`; none if it is not selected.
    """
    places: dict[int, list[int]] = {}
    for cell in cells:
        places.setdefault(cell.size, []).extend(gold_positions(cell.placement))
    if not places:
        return []
    words = "; ".join(f"{', '.join(map(str, sorted(at)))} of {size} passages" for size, at in sorted(places.items()))
    chosen = mine.entries["experiments"][MY_POSITIONS]["positions"]
    why = f" ({mine.limit})" if {str(size): sorted(at) for size, at in places.items()} == chosen else ""
    return [f"my_data: {MY_POSITIONS}: the passage with the answer, counted from 0, is at {words}{why}"]


def _positions(sizes: list[int]) -> dict[str, list[int]]:
    """Five positions of the largest size, and three of the largest size of at most half of it."""
    largest = sizes[0]
    smaller = next((size for size in sizes if size * 2 <= largest and size > 2), None)
    chosen = {largest: 5} | ({smaller: 3} if smaller else {})
    return {
        str(size): sorted({step * (size - 1) // (number - 1) for step in range(number)})
        for size, number in sorted(chosen.items())
    }


def _retriever(run: Path | None, numbers: list[int]) -> dict[str, dict]:
    """The entry of the user's retrieval system by name; {} if BM25 retrieves."""
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
            RETRIEVED: {"questions": ASKED, "kind": AS_RETRIEVED, **made_of},
        },
        "experiments": _experiments(sizes),
        "figures": _figures(),
    }


def _experiments(sizes: list[int]) -> dict[str, dict]:
    return {
        MY_POSITIONS: {
            "task": "multi_document_qa",
            "title": "Your documents: the passage with the answer at each position",
            "dataset": CANDIDATES,
            "positions": _positions(sizes),
            "closed_book": MY_CLOSED_BOOK,
            "oracle": MY_ORACLE,
        },
        MY_AS_RETRIEVED: {
            "task": "open_domain_qa",
            "title": "Your documents as retrieved",
            "dataset": RETRIEVED,
            "sizes": sorted({1, *(size for size in sizes if size > 2)}),
            # With two passages both orders are the same.
            **({"remedies": {"order": list(ORDERS)}} if sizes[0] > 2 else {}),
        },
        MY_CLOSED_BOOK: {"task": "closed_book_qa", "title": "Your questions, closed book", "dataset": QUESTIONS},
        MY_ORACLE: {"task": "oracle_qa", "title": "Your questions, oracle", "dataset": QUESTIONS},
    }


def _figures() -> dict[str, dict]:
    return {
        MY_POSITIONS: {
            "title": "Your documents",
            "experiments": [MY_POSITIONS],
            "references": {MY_CLOSED_BOOK: "closed book", MY_ORACLE: "oracle"},
            "panel_title": "{size} passages",
            "x_label": "Position of the passage with the answer",
        },
        MY_AS_RETRIEVED: {
            "kind": "accuracy_by_size",
            "title": "Your documents as retrieved",
            "experiments": [MY_AS_RETRIEVED],
            "x_label": "Number of retrieved passages",
        },
    }


def _notes(texts: _Texts, table: Path, questions: list[OwnQuestion], run: Path | None) -> list[str]:
    used, unused = used_columns(column_names(table))
    number = f"{len(texts.first):,}" if len(texts.first) < LOOKED_AT else f"{LOOKED_AT} or more"
    cut = "kept as they are" if texts.are_whole else f"of at most {WORDS} words"
    notes = [
        f"my_data: {texts.path}: {len(texts.files)} files, {number} passages {cut}",
        *([f"my_data: {texts.path}: {texts.ignored}"] if texts.ignored else []),
        *([f"my_data: {run}: its retrieved passages are used instead of BM25's"] if run else []),
        f"my_data: {table}: {len(questions)} questions; columns {', '.join(used)}"
        + (f"; also kept: {', '.join(unused)}" if unused else ""),
        f"my_data: {MY_AS_RETRIEVED} in the order of the retriever, and {' and '.join(ORDERS)}; {MY_CLOSED_BOOK}; "
        f"{MY_ORACLE}; define.experiments changes them",
    ]
    if long := long_answers(questions):
        notes.append(
            f"my_data: {table}: {long} questions have only answers of more than {LONG_ANSWER} words: an answer is "
            "right only if it is repeated word for word, so write short ones"
        )
    return notes
