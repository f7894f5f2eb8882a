"""Corpora of the configuration, and question sets made by the workflow."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from litm.base.messages import UserError
from litm.base.schema import Entry, Names, choose, one_of
from litm.config.values import check_names, locate
from litm.corpora.source import CorpusSettings
from litm.corpora.sources import is_generator, passage_words, source_names
from litm.corpora.sources.documents import source_files

#: Sources of question sets: annotations, a user's table, a user's table with gold passages found, and the first
#: questions of a dataset. All other question sets are generated with a corpus.
NATURAL_QUESTIONS, OWN_FILE, FOUND_GOLD, FIRST_OF = "natural_questions", "own_file", "found_gold", "first_of"
#: Allowed combinations of keys in an entry of questions.
QUESTION_KEYS = ({"corpus"}, {"nq_open", "annotations"}, {"file", "corpus"}, {"gold_of", "retriever"}, {"dataset"})


class CorpusEntry(Entry):
    """Passages to search and to take distractors from."""

    source: Annotated[str, one_of(source_names)]
    """Source of the text, a module of scripts/litm/corpora: dpr_passages (a file in the format of psgs_w100.tsv.gz),
    wikipedia_dump (pages-articles.xml.bz2), documents (your own folder or file: .txt, .md, .html, .pdf, .jsonl, .json,
    .tsv, .csv, all except .pdf also with .gz), mini_encyclopedia, mini_gazetteer (both made up, with questions),
    retrieved (the texts in a file of a retriever with `method: recorded`).
    """
    dataset: str | None = None
    """The dataset with the source's file, or an entry of questions with a `dataset`."""
    path: str | None = None
    """The source's file or folder, relative to the working directory or the project; instead of `dataset`."""
    passage_words: Annotated[int, Field(ge=1)] | None = None
    """Words of the longest passage: longer texts are cut into disjoint passages; null keeps texts whole. If left out,
    the source's default (100 for wikipedia_dump and documents).
    """
    passages: Annotated[int, Field(ge=1)] | None = None
    """Number of passages to generate (mini_encyclopedia, mini_gazetteer)."""
    passages_per_shard: int = Field(100_000, ge=1)
    """Passages per shard. Each shard is encoded by a job of its own."""
    shards: int = Field(1, ge=1)
    """Number of shards. If it is too low, the job names the necessary number."""

    @model_validator(mode="after")
    def _check(self) -> "CorpusEntry":
        generated, source = is_generator(self.source), self.source
        if len([one for one in (self.dataset, self.path) if one is not None]) != (0 if generated else 1):
            wanted = "neither 'dataset' nor 'path'" if generated else "either 'dataset' or 'path'"
            raise ValueError(f"the source {source} takes {wanted}")
        if generated and self.passages is None:
            raise ValueError("'passages' is missing: the number of passages to generate")
        if not generated and self.passages is not None:
            raise ValueError(f"'passages' is only for generated sources; the source {source} reads files")
        return self


class Corpus(CorpusEntry):
    """A corpus with its settings and the files of its `path`."""

    settings: CorpusSettings
    files: tuple[str, ...]


def read_corpus(entry: CorpusEntry, datasets: Iterable[str], seed: int, root: Path) -> Corpus:
    """The corpus of an entry; `UserError` for an unknown dataset or a missing path."""
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
    """Questions that the workflow makes or reads from your own table. A file in the released format is a dataset and
    needs no entry here.
    """

    corpus: str | None = None
    """The generated corpus that these questions come with, or the corpus that `file` asks about."""
    dataset: str | None = None
    """A dataset in the released format: its first `questions` are taken, for candidates from a small part of it, or as
    the `dataset` of a corpus.
    """
    questions: Annotated[int, Field(ge=1)] | None = None
    """Number of questions to take of `dataset` or of a generated corpus, the first ones; if left out all (of a
    generated corpus, one for each passage). All that are taken are searched, so that a larger `examples` searches
    nothing again.
    """
    nq_open: str | None = None
    """Dataset with the questions and answers of NQ-Open."""
    annotations: Names = ()
    """Datasets with the annotations of NaturalQuestions, which give the gold paragraphs: the original or simplified
    files, or the oracle questions released by the paper's authors.
    """
    file: str | None = None
    """A table of your own questions (.csv, .tsv, .json, .jsonl) about `corpus`. Columns: question, answer and, if
    known, file, page and text (words of the passage with the answer).
    """
    gold_of: str | None = None
    """A question set with a `file`, to find gold passages for: the passage that the file names, else the first with an
    answer that `retriever` finds.
    """
    retriever: str | None = None
    """The retriever that finds the passages of `gold_of`."""
    corrections: str | None = None
    """A table of question and passage (an id; empty leaves the question out) that overrides the passages found for
    `gold_of`: your edited copy of results/tables/gold_passages.csv.
    """

    @model_validator(mode="after")
    def _check(self) -> "QuestionSetEntry":
        keys = ("dataset", "corpus", "nq_open", "annotations", "file", "gold_of", "retriever", "corrections")
        given = {key for key in keys if getattr(self, key)}
        if given - {"corrections"} not in QUESTION_KEYS or ("corrections" in given) > ("gold_of" in given):
            raise ValueError(
                "give either 'corpus', 'nq_open' and 'annotations', 'file' and 'corpus', 'dataset' and 'questions', or "
                "'gold_of' and 'retriever' (with or without 'corrections')"
            )
        if self.questions is not None and given not in ({"corpus"}, {"dataset"}):
            raise ValueError(
                "'questions' is only for a generated corpus or a dataset; 'examples' of an experiment takes the first"
            )
        if given == {"dataset"} and self.questions is None:
            raise ValueError("'questions' is missing: the number of questions to take of the dataset")
        return self


class QuestionSet(QuestionSetEntry):
    """A question set with its source.

    source: its corpus' source, `NATURAL_QUESTIONS`, `OWN_FILE`, `FOUND_GOLD` or `FIRST_OF`.
    """

    source: str


def read_question_set(
    entry: QuestionSetEntry,
    datasets: Iterable[str],
    corpora: Mapping[str, Corpus],
    retrievers: Iterable[str],
    entries: Mapping[str, QuestionSetEntry],
    root: Path,
) -> QuestionSet:
    """The question set of an entry; `UserError` for unknown names or a corpus without questions.

    entries: all question sets by name.
    """
    if entry.gold_of is not None:
        own = [name for name, one in entries.items() if one.file is not None]
        choose([entry.gold_of], own, f"{entry.where}.gold_of")
        choose(filter(None, [entry.retriever]), retrievers, f"{entry.where}.retriever")
        corrections = locate(entry.corrections, root, f"{entry.where}.corrections") if entry.corrections else None
        corpus = entries[entry.gold_of].corpus
        return entry.become(QuestionSet, source=FOUND_GOLD, corpus=corpus, corrections=corrections)
    if entry.corpus is not None:
        choose([entry.corpus], corpora, f"{entry.where}.corpus")
        if entry.file is not None:
            return entry.become(QuestionSet, source=OWN_FILE, file=locate(entry.file, root, f"{entry.where}.file"))
        source = corpora[entry.corpus].source
        if not is_generator(source):
            raise UserError(
                f"{entry.where}.corpus: only a generated corpus has questions, the source of {entry.corpus} is {source}"
            )
        return entry.become(QuestionSet, source=source)
    datasets = list(datasets)
    if entry.dataset is not None:
        choose([entry.dataset], datasets, f"{entry.where}.dataset")
        return entry.become(QuestionSet, source=FIRST_OF)
    choose(filter(None, [entry.nq_open]), datasets, f"{entry.where}.nq_open")
    annotations = choose(entry.annotations, datasets, f"{entry.where}.annotations")
    return entry.become(QuestionSet, source=NATURAL_QUESTIONS, annotations=tuple(annotations))
