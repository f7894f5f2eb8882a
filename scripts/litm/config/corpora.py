"""Corpora of the configuration, and the question sets that the workflow makes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from litm.base.errors import UserError
from litm.base.schema import Entry, Names, choose, one_of
from litm.config.values import check_names, locate
from litm.corpora.source import CorpusSettings
from litm.corpora.sources import is_generator, passage_words, source_names
from litm.corpora.sources.documents import source_files

#: Question sets that are derived from annotations have this source; the others are generated with a corpus.
NATURAL_QUESTIONS = "natural_questions"


class CorpusEntry(Entry):
    """Passages to search, and to take distractors from."""

    source: Annotated[str, one_of(source_names)] = Field(
        description="Where the text comes from, a module of scripts/litm/corpora: dpr_passages (a file in the format "
        "of psgs_w100.tsv.gz), wikipedia_dump (pages-articles.xml.bz2), documents (a folder or file of your own: .txt, "
        ".jsonl, .tsv, .csv, each also with .gz), mini_encyclopedia or mini_gazetteer (made up, with questions)."
    )
    dataset: str | None = Field(None, description="The dataset that is the source's file.")
    path: str | None = Field(
        None,
        description="The source's file or folder, from the working directory or the project; instead of dataset.",
    )
    passage_words: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Longest passage in words: longer texts are cut into disjoint passages; null keeps them as they "
        "are. Left out, it is the source's own (100 for wikipedia_dump and documents).",
    )
    passages: Annotated[int, Field(ge=1)] | None = Field(
        None, description="How many passages to generate (mini_encyclopedia, mini_gazetteer)."
    )
    passages_per_shard: int = Field(
        100_000, ge=1, description="Passages of one shard. Each shard is encoded by a job of its own."
    )
    shards: int = Field(1, ge=1, description="Number of shards. If it is too low, the job says what it must be.")

    @model_validator(mode="after")
    def _check(self) -> "CorpusEntry":
        generated, source = is_generator(self.source), self.source
        if len([one for one in (self.dataset, self.path) if one is not None]) != (0 if generated else 1):
            wanted = "neither 'dataset' nor 'path'" if generated else "either 'dataset' or 'path'"
            raise ValueError(f"the source {source} takes {wanted}")
        if generated and self.passages is None:
            raise ValueError("'passages' must say how many to generate")
        if not generated and self.passages is not None:
            raise ValueError(f"'passages' is only for what is generated; the source {source} reads files")
        return self


class Corpus(CorpusEntry):
    """A corpus with its settings, and the files of its `path`."""

    settings: CorpusSettings
    files: tuple[str, ...]


def read_corpus(entry: CorpusEntry, datasets: Iterable[str], seed: int, root: Path) -> Corpus:
    """The corpus of an entry; `UserError` for an unknown dataset, or a path where nothing is."""
    if entry.dataset is not None:
        choose([entry.dataset], datasets, f"{entry.where}.dataset")
    is_given = "passage_words" in entry.model_fields_set
    words = entry.passage_words if is_given else passage_words(entry.source)
    settings = CorpusSettings(words, entry.passages, seed if is_generator(entry.source) else None)
    path = locate(entry.path, root, f"{entry.where}.path") if entry.path is not None else None
    return entry.become(Corpus, settings=settings, path=path, files=_files(entry, path))


def _files(entry: CorpusEntry, path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    if entry.source == "documents":
        try:
            files = tuple(str(file) for file in source_files(Path(path)))
        except UserError as error:
            raise UserError(f"{entry.where}.path: {error}") from error
        check_names(files, f"{entry.where}.path")
        return files
    if not Path(path).is_file():
        raise UserError(f"{entry.where}.path: {path} is not a file")
    return (path,)


class QuestionSetEntry(Entry):
    """Questions that the workflow makes. A file of questions is a dataset and needs no entry here."""

    corpus: str | None = Field(None, description="A generated corpus, whose questions these are.")
    nq_open: str | None = Field(None, description="Dataset with the questions and answers of NQ-Open.")
    annotations: Names = Field(
        (),
        description="Datasets with the annotations of NaturalQuestions, from which the gold paragraphs are taken: its "
        "original or simplified files, or the file of oracle questions that the paper's authors released.",
    )

    @model_validator(mode="after")
    def _check(self) -> "QuestionSetEntry":
        of_corpus, given = self.corpus is not None, (self.nq_open is not None, bool(self.annotations))
        if any(given) if of_corpus else not all(given):
            raise ValueError("give either 'corpus', or 'nq_open' and 'annotations'")
        return self


class QuestionSet(QuestionSetEntry):
    """A question set with its source: that of its corpus, or `NATURAL_QUESTIONS`."""

    source: str


def read_question_set(entry: QuestionSetEntry, datasets: Iterable[str], corpora: Mapping[str, Corpus]) -> QuestionSet:
    """The question set of an entry; `UserError` for unknown names, or a corpus without questions."""
    if entry.corpus is not None:
        choose([entry.corpus], corpora, f"{entry.where}.corpus")
        source = corpora[entry.corpus].source
        if not is_generator(source):
            raise UserError(f"{entry.where}.corpus: only a generated corpus has questions, {entry.corpus} is {source}")
        return entry.become(QuestionSet, source=source)
    datasets = list(datasets)
    choose(filter(None, [entry.nq_open]), datasets, f"{entry.where}.nq_open")
    annotations = choose(entry.annotations, datasets, f"{entry.where}.annotations")
    return entry.become(QuestionSet, source=NATURAL_QUESTIONS, annotations=tuple(annotations))
