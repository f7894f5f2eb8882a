"""BM25 (Robertson and Zaragoza 2009) with Lucene, through pyserini (Lin et al. 2021).

The classes of its Java archive are called directly: its Python modules add nothing, but import torch, transformers and
all encoders, which takes longer than a small search.
"""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.progress import in_batches, progress_bar
from litm.corpora.passages import Passage
from litm.retrieval.java import start_java
from litm.retrieval.method import Hit

#: Version: raise it if the indexed text changes, because the store keeps existing indexes.
RECIPE = 1
#: Passages indexed, or questions searched, at a time.
PASSAGES_AT_A_TIME = 10_000
QUESTIONS_AT_A_TIME = 4_000
#: Passages of a corpus that is indexed and searched in seconds.
SMALL_CORPUS = 10_000


def build_index(passages: Iterable[Passage], total: int, folder: Path, threads: int, memory_mb: int) -> None:
    """Build a Lucene index of titles and texts in `folder`, which is emptied first."""
    start_java(memory_mb, is_short=total <= SMALL_CORPUS)
    from jnius import autoclass

    document = autoclass("io.anserini.collection.JsonCollection$Document")
    shutil.rmtree(folder, ignore_errors=True)
    append = False
    indexer = autoclass("io.anserini.index.SimpleIndexer")(str(folder), append, threads)
    with progress_bar(total, "indexing", "passages") as bar:
        for batch in in_batches(passages, PASSAGES_AT_A_TIME):
            indexer.addJsonDocuments([document.fromFields(p.id, f"{p.title}\n{p.text}") for p in batch])
            bar.update(len(batch))
    indexer.close()
    _check_index(folder, total)


def _check_index(folder: Path, total: int) -> None:
    """Check the number of indexed passages: Lucene only logs its write errors."""
    from jnius import JavaException, autoclass

    try:
        found = autoclass("io.anserini.search.SimpleSearcher")(str(folder)).get_total_num_docs()
    except JavaException:
        found = 0
    if found != total:
        raise UserError(
            f"{folder}: Lucene wrote {found} of {total} passages, the log says why (a full disk?); fix that and run "
            f"the same command again"
        )


def search(
    folder: Path,
    questions: Sequence[str],
    hits: int,
    k1: float,
    b: float,
    threads: int,
    memory_mb: int,
    is_short: bool = False,
) -> list[list[Hit]]:
    """The best passages for each question, at most `hits`, best first, ties by id; is_short as in `start_java`.

    Anserini breaks ties, so that hits do not depend on the order of indexing. A question without a word of the corpus
    has no hits.
    """
    start_java(memory_mb, is_short)
    from jnius import autoclass

    searcher = autoclass("io.anserini.search.SimpleSearcher")(str(folder))
    searcher.set_bm25(k1, b)
    found: list[list[Hit]] = []
    with progress_bar(len(questions), "searching", "questions") as bar:
        for batch in in_batches(questions, QUESTIONS_AT_A_TIME):
            names = [str(index) for index in range(len(batch))]
            results = searcher.batch_search(_strings(batch), _strings(names), hits, threads)
            found.extend([(hit.docid, hit.score) for hit in results.get(name)] for name in names)
            bar.update(len(batch))
    return found


def _strings(texts: Sequence[str]) -> Any:
    """The texts as a Java list."""
    from jnius import autoclass

    strings = autoclass("java.util.ArrayList")()
    for text in texts:
        strings.add(text)
    return strings
