"""The method bm25s: BM25 by the library bm25s (Lù 2024), with Lucene's formula and without Java.

Its hits were compared with Lucene's on the questions of NaturalQuestions, see benchmarks/results.md.
"""

import shutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from litm.base.json_files import read_json, write_json
from litm.base.loading import hidden
from litm.base.messages import UNSPACED
from litm.base.progress import progress_bar
from litm.base.store import existing
from litm.corpora.passages import Passage
from litm.retrieval.search import Hit, SearchResult, SearchTask

if TYPE_CHECKING:
    import numpy as np

#: Version: raise it if words or scores change, because the store keeps existing indexes.
RECIPE = 1
#: The words that Lucene's English analyzer leaves out, and the name of the stemmer (Porter 1980), which it has too.
STOP_WORDS = {
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
}  # fmt: skip
STEMMER = "porter"
#: Decimals of a score: sums of a few float64 are the same to these on any processor.
DECIMALS = 6
#: File of an index with the ids of its passages.
IDS = "ids.json"


def software() -> dict[str, str]:
    """The libraries that make an index and their versions."""
    return {"bm25s": version("bm25s"), "stemmer": f"{STEMMER} of PyStemmer {version('PyStemmer')}"}


# --- Words


def words_of(text: str) -> list[str]:
    """The words of a text or a question as they are compared: without case, English stop words and endings.

    Of Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer each two adjacent letters are a word, because words are
    not divided by spaces or, in Korean, have particles; each Chinese character is one, too.
    """
    possessive, word = _patterns()[:2]
    words: list[str] = []
    for match in word.finditer(possessive.sub("", normalize("NFKC", text).casefold())):
        if match["letters"]:
            words += _pairs(match["letters"])
        elif match[0] not in STOP_WORDS:
            words.append(_stemmer().stemWord(match[0]))
    return words


def _pairs(letters: str) -> list[str]:
    """Each two adjacent letters, with their marks, and the Chinese ones alone; a single letter is itself."""
    _, _, letter_pattern, chinese = _patterns()
    separate = letter_pattern.findall(letters)
    if len(separate) == 1:
        return separate
    return [*map("".join, pairwise(separate)), *(letter for letter in separate if chinese.match(letter))]


@cache
def _patterns() -> tuple[Any, ...]:
    """Patterns of the English possessive, of a word or run of `letters` without spaces, of a letter, of a Chinese one.

    By the package regex: the standard library's `re` ends words at the vowel signs of Hindi and many others.
    """
    import regex

    joined = rf"[{UNSPACED}\p{{Hangul}}]"
    return (
        regex.compile("['\u2019]s\\b"),
        regex.compile(rf"(?P<letters>{joined}+)|[\w--{joined}]+", regex.VERSION1),
        regex.compile(r"\P{M}\p{M}*|\p{M}+"),
        regex.compile(r"\p{Han}"),
    )


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer(STEMMER)


# --- Index and search


def _library() -> Any:
    """The library, without what it would import for speed: it takes longer than a search in a user's documents."""
    with hidden("jax", "numba", "scipy"):
        import bm25s
    return bm25s


def build_index(passages: Iterable[Passage], total: int, folder: Path, k1: float, b: float) -> None:
    """Build an index of titles and texts in `folder`, which is emptied first."""
    ids: list[str] = []
    documents: list[list[int]] = []
    numbers: dict[str, int] = {}
    with progress_bar(total, "indexing", "passages") as bar:
        for passage in passages:
            ids.append(passage.id)
            words = words_of(f"{passage.title}\n{passage.text}")
            documents.append([numbers.setdefault(word, len(numbers)) for word in words])
            bar.update()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / IDS, {"ids": ids})
    # The library cannot index a corpus without words.
    if numbers:
        index = _library().BM25(method="lucene", k1=k1, b=b, dtype="float64")
        index.index((documents, numbers), create_empty_token=False, show_progress=False)
        index.save(folder, show_progress=False)


def search(folder: Path, questions: Sequence[str], hits: int) -> list[list[Hit]]:
    """The best passages for each question, at most `hits`, best first, ties by id.

    A question without a word of the corpus has no hits.
    """
    ids = read_json(folder / IDS)["ids"]
    is_empty = [path.name for path in folder.iterdir()] == [IDS]
    index: Any = None if is_empty else _library().BM25.load(folder)
    rankings: list[list[Hit]] = []
    with progress_bar(len(questions), "searching", "questions") as bar:
        for question in questions:
            words = words_of(question) if index else []
            rankings.append(_best(index.get_scores(words), ids, hits) if words else [])
            bar.update()
    return rankings


def _best(scores: "np.ndarray", ids: Sequence[str], hits: int) -> list[Hit]:
    """The passages with the highest scores above 0, ties by id. scores: one for each id."""
    import numpy as np

    rows = np.flatnonzero(scores)
    rounded = np.round(scores[rows], DECIMALS)
    if len(rows) > hits:
        least = np.partition(rounded, -hits)[-hits]
        rows, rounded = rows[rounded >= least], rounded[rounded >= least]
    scored: list[Hit] = [(ids[row], score) for row, score in zip(rows.tolist(), rounded.tolist(), strict=True)]
    return sorted(scored, key=lambda hit: (-hit[1], str(hit[0])))[:hits]


def find(task: SearchTask, questions: Sequence[str]) -> SearchResult:
    """The hits of each question."""
    folder = existing(read_json(task.indexes[0])["entry"], "index_bm25s")
    return SearchResult(search(folder, questions, task.search["hits"]))
