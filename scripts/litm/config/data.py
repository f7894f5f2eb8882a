"""The part of the configuration that says where questions and documents come from: files, corpora, retrievers,
candidates.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.config.catalogue import choose
from litm.corpora import GENERATORS, PASSAGE_WORDS, CorpusSettings, source_names
from litm.corpora.documents import source_files
from litm.domain.placement import AS_RETRIEVED
from litm.errors import UserError
from litm.identity import check_model_folder, has_tokenizer
from litm.retrieval import EXACT, INDEXES, METHODS
from litm.retrieval.candidates import GOLD_AND_RANDOM, GOLD_AND_RETRIEVED, CandidateSettings

#: Question sets that are derived from annotations have this source; the others are generated with a corpus.
NATURAL_QUESTIONS = "natural_questions"


@dataclass(frozen=True)
class Dataset:
    """A named file: at a path of the user's, or remote, checked by its sha256.

    file: the base name that a remote file has here, and under which it is looked for in `data_mirror`; labels: the
    format of a file that says which questions to keep, None for any other file; version: which data of the paper's
    authors it is, None for any other file.
    """

    name: str
    path: str | None
    url: str | None
    file: str
    sha256: str | None
    labels: str | None
    version: str | None


@dataclass(frozen=True)
class Corpus:
    """A named collection of passages: its source with the dataset, or path and files, that it reads, and how it is
    cut into shards.
    """

    name: str
    source: str
    dataset: str | None
    path: str | None
    files: tuple[str, ...]
    settings: CorpusSettings
    passages_per_shard: int
    shards: int


@dataclass(frozen=True)
class Retriever:
    """A named way to find passages.

    location: path, hub and revision of an encoder; encoding: what changes a vector; search: what else changes what
    is found; index: what changes an approximate index; the rest changes no result.
    """

    name: str
    method: str
    location: Mapping[str, str | None]
    encoding: Mapping
    index: Mapping
    search: Mapping
    device: str
    batch_tokens: int | None
    threads: int


@dataclass(frozen=True)
class QuestionSet:
    """Named questions that the workflow makes: from NaturalQuestions annotations, or by the generator of a corpus."""

    name: str
    source: str
    nq_open: str | None
    annotations: tuple[str, ...]
    corpus: str | None


@dataclass(frozen=True)
class Candidates:
    """Named questions with the documents that their contexts are made of."""

    name: str
    questions: str
    corpus: str
    retriever: str | None
    settings: CandidateSettings


def read_dataset(name: str, entry: Mapping, root: Path) -> Dataset:
    """An entry of datasets.yaml; `UserError` for one without path or url, or a path where no file is."""
    if ("path" in entry) == ("url" in entry):
        raise UserError(f"datasets.{name}: give either 'path' or 'url' (with 'sha256')")
    if "path" in entry:
        path = locate(entry["path"], root, f"datasets.{name}.path")
        if not Path(path).is_file():
            raise UserError(f"datasets.{name}.path: {path} is not a file")
        return Dataset(name, path, None, "", None, entry.get("labels"), entry.get("version"))
    if "sha256" not in entry:
        raise UserError(f"datasets.{name}: a remote file needs its 'sha256'")
    file = entry.get("file", entry["url"].rsplit("/", 1)[-1])
    return Dataset(name, None, entry["url"], file, entry["sha256"], entry.get("labels"), entry.get("version"))


def check_file_names(datasets: Mapping[str, Dataset]) -> None:
    """Two datasets of one base name would be served for one another, unless they are the same file."""
    by_file: dict[str, Dataset] = {}
    for dataset in datasets.values():
        other = by_file.setdefault(dataset.file, dataset) if dataset.url else dataset
        if other.sha256 != dataset.sha256:
            raise UserError(
                f"datasets.{dataset.name}: {other.name} is another file with the same base name {dataset.file}; "
                f"give one of them a 'file' of its own"
            )


def read_corpus(name: str, entry: Mapping, datasets: Iterable[str], seed: int, root: Path) -> Corpus:
    """An entry of corpora.yaml; `UserError` for an unknown source or dataset, or a path where nothing is."""
    where = f"corpora.{name}"
    choose([entry["source"]], source_names(), f"{where}.source")
    generated = entry["source"] in GENERATORS
    given = [key for key in ("dataset", "path") if key in entry]
    if len(given) != (0 if generated else 1):
        wanted = "neither 'dataset' nor 'path'" if generated else "either 'dataset' or 'path'"
        raise UserError(f"{where}: the source {entry['source']} takes {wanted}")
    if "dataset" in entry:
        choose([entry["dataset"]], datasets, f"{where}.dataset")
    if generated and "passages" not in entry:
        raise UserError(f"{where}: 'passages' must say how many to generate")
    if not generated and "passages" in entry:
        raise UserError(f"{where}: 'passages' is only for what is generated; the source {entry['source']} reads files")
    words = entry.get("passage_words", PASSAGE_WORDS.get(entry["source"]))
    settings = CorpusSettings(words, entry.get("passages"), seed if generated else None)
    path = locate(entry["path"], root, f"{where}.path") if "path" in entry else None
    files: tuple[str, ...] = ()
    if path is not None:
        if entry["source"] == "documents":
            try:
                files = tuple(str(file) for file in source_files(Path(path)))
            except UserError as error:
                raise UserError(f"{where}.path: {error}") from error
        elif Path(path).is_file():
            files = (path,)
        else:
            raise UserError(f"{where}.path: {path} is not a file")
    return Corpus(
        name=name,
        source=entry["source"],
        dataset=entry.get("dataset"),
        path=path,
        files=files,
        settings=settings,
        passages_per_shard=entry.get("passages_per_shard", 100_000),
        shards=entry.get("shards", 1),
    )


def read_retriever(name: str, entry: Mapping, root: Path) -> Retriever:
    """An entry of retrievers.yaml; `UserError` for a key of another method, or an encoder that is not there."""
    where, method = f"retrievers.{name}", entry["method"]
    foreign = {key for other, keys in METHODS.items() if other != method for key in keys} - set(METHODS[method])
    for key in entry:
        if key in foreign:
            raise UserError(f"{where}: '{key}' is not for the method {method}; its keys: {', '.join(METHODS[method])}")
    path = entry.get("path")
    hits = entry.get("hits", 100)
    if method == "bm25":
        encoding, index = {}, {}
        search = {"hits": hits, "k1": entry.get("k1", 0.9), "b": entry.get("b", 0.4)}
    else:
        if ("path" in entry) == ("hub" in entry):
            raise UserError(f"{where}: give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
        if path is not None:
            path = _encoder_folder(path, root, where)
        encoding, index = _encoding(entry), _index(entry, where)
        search = {"hits": hits, "query_prefix": entry.get("query_prefix", "")}
    return Retriever(
        name=name,
        method=method,
        location={"path": path, "hub": entry.get("hub"), "revision": entry.get("revision")},
        encoding=encoding,
        index=index,
        search=search,
        device=entry.get("device", "auto"),
        batch_tokens=entry.get("batch_tokens"),
        threads=entry.get("threads", 8),
    )


def _encoder_folder(path: str, root: Path, where: str) -> str:
    path = locate(path, root, f"{where}.path")
    check_model_folder(Path(path))
    if not has_tokenizer(Path(path)):
        raise UserError(f"{where}.path: {path} has no tokenizer: copy the encoder's there")
    return path


def _encoding(entry: Mapping) -> dict:
    return {
        "pooling": entry.get("pooling", "mean"),
        "normalize": entry.get("normalize", False),
        "max_tokens": entry.get("max_tokens", 512),
        "dtype": entry.get("dtype", "float32"),
        "passage_prefix": entry.get("passage_prefix", ""),
    }


def _index(entry: Mapping, where: str) -> dict:
    kind = entry.get("index", EXACT)
    defaults = {"links": 32, "explored": 256, "lists": 1024, "probes": 32}
    for key in defaults:
        if key in entry and key not in INDEXES[kind]:
            raise UserError(f"{where}: '{key}' is not for 'index: {kind}'")
    return {"kind": kind, **{key: entry.get(key, defaults[key]) for key in INDEXES[kind]}}


def read_question_set(name: str, entry: Mapping, datasets: Iterable[str], corpora: Mapping[str, Corpus]) -> QuestionSet:
    """An entry of questions.yaml; `UserError` unless it names its files or a corpus that has questions."""
    where = f"questions.{name}"
    if "corpus" in entry:
        if "nq_open" in entry or "annotations" in entry:
            raise UserError(f"{where}: give either 'corpus', or 'nq_open' and 'annotations'")
        choose([entry["corpus"]], corpora, f"{where}.corpus")
        source = corpora[entry["corpus"]].source
        if source not in GENERATORS:
            raise UserError(f"{where}.corpus: only a generated corpus has questions, {entry['corpus']} is {source}")
        return QuestionSet(name, source, None, (), entry["corpus"])
    if "nq_open" not in entry or "annotations" not in entry:
        raise UserError(f"{where}: give either 'corpus', or 'nq_open' and 'annotations'")
    datasets = list(datasets)
    choose([entry["nq_open"]], datasets, f"{where}.nq_open")
    annotations = choose(entry["annotations"], datasets, f"{where}.annotations")
    return QuestionSet(name, NATURAL_QUESTIONS, entry["nq_open"], tuple(annotations), None)


def read_candidates(
    name: str, entry: Mapping, questions: Iterable[str], corpora: Iterable[str], retrievers: Iterable[str], seed: int
) -> Candidates:
    """An entry of candidates.yaml; `UserError` for unknown names, or a retriever where none is used."""
    where = f"candidates.{name}"
    choose([entry["questions"]], questions, f"{where}.questions")
    choose([entry["corpus"]], corpora, f"{where}.corpus")
    settings = CandidateSettings(
        kind=entry.get("kind", GOLD_AND_RETRIEVED),
        documents=entry["documents"],
        distractor_check=entry.get("distractor_check", "dpr"),
        too_few=entry.get("too_few", "error"),
        seed=seed if entry.get("kind") == GOLD_AND_RANDOM else None,
    )
    if settings.kind == GOLD_AND_RANDOM:
        if "retriever" in entry:
            raise UserError(f"{where}: {GOLD_AND_RANDOM} takes no 'retriever'")
    else:
        if "retriever" not in entry:
            raise UserError(f"{where}: {settings.kind} needs a 'retriever'")
        choose([entry["retriever"]], retrievers, f"{where}.retriever")
    return Candidates(name, entry["questions"], entry["corpus"], entry.get("retriever"), settings)


def check_hits(candidates: Candidates, retrievers: Mapping[str, Retriever]) -> None:
    """Raise `UserError` for candidates of more documents than their retriever finds."""
    if candidates.retriever is None:
        return
    settings, hits = candidates.settings, retrievers[candidates.retriever].search["hits"]
    if hits < settings.documents - (0 if settings.kind == AS_RETRIEVED else 1):
        raise UserError(
            f"candidates.{candidates.name}.documents: {settings.documents} are more than the {hits} 'hits' of the "
            f"retriever {candidates.retriever}"
        )


def check_one_namespace(**kinds: Iterable[str]) -> None:
    """Experiments name datasets, questions and candidates alike: no name may be two of them."""
    owner: dict[str, str] = {}
    for kind, names in kinds.items():
        for name in names:
            if name in owner:
                raise UserError(f"{kind}.{name}: {owner[name]} has an entry of that name too; rename one")
            owner[name] = kind


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, found from the working directory or else from the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. `UserError` if there is nothing.
    """
    for candidate in (Path(path).expanduser(), root / path):
        if candidate.exists():
            return str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
    raise UserError(f"{where}: {path} does not exist (looked from {Path.cwd()} and from the project's folder)")
