"""Data of the configuration: datasets, corpora and question sets."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from litm.base.download import find_in_mirror
from litm.base.messages import UserError
from litm.base.schema import (
    FILLED_IN,
    Answer,
    Count,
    Entry,
    Made,
    Names,
    NoPassword,
    PathTo,
    Place,
    Positive,
    Ref,
    Workflow,
    check_names,
    is_anything,
    is_file,
    one_of,
)
from litm.corpora.documents import source_files
from litm.corpora.passages import SOURCES, CorpusSettings, is_generator

#: Sources of question sets: annotations, a user's table, a user's table with gold passages found, the first questions
#: of a dataset, made-up facts in a user's text, and in a user's session, and those that a model writes about a user's
#: text. All other question sets are generated with a corpus.
NATURAL_QUESTIONS, OWN_FILE, FOUND_GOLD, FIRST_OF, PLANTED, IN_SESSION, WRITTEN = (
    "natural_questions", "own_file", "found_gold", "first_of", "planted", "in_session", "written",
)  # fmt: skip
#: Allowed combinations of keys in an entry of questions, each with its source; "" for that of a generated corpus.
QUESTION_KEYS = {
    frozenset({"corpus"}): "",
    frozenset({"nq_open", "annotations"}): NATURAL_QUESTIONS,
    frozenset({"file", "corpus"}): OWN_FILE,
    frozenset({"gold_of", "retriever"}): FOUND_GOLD,
    frozenset({"dataset"}): FIRST_OF,
    frozenset({"facts", "corpus"}): PLANTED,
    frozenset({"facts", "session"}): IN_SESSION,
    frozenset({"written_by", "corpus"}): WRITTEN,
}
#: Those of questions that are made of a user's text.
MADE_KEYS = ({"facts", "corpus"}, {"facts", "session"}, {"written_by", "corpus"})
#: What is done to a session, against forgetting.
SESSION_KEYS = ("repeat", "result_words", "keep_results", "compacted")


class Dataset(Entry):
    """One file: either local, or remote, in which case it is downloaded and checked."""

    has_roles: ClassVar[bool] = True

    path: Annotated[
        str | None, PathTo(is_file), Place("the content of the file makes the prompts, its place does not matter")
    ] = None
    """A local file, whose checksum is not verified. null means that you must supply it; until then, experiments that
    need it are left out.
    """
    url: Annotated[
        Annotated[str, Field(pattern="^(https?|ftp|file)://.*[^/]$"), NoPassword] | None,
        Place("the origin of the file"),
    ] = None
    """Address of the file. It is downloaded unless data_mirror has a file with its base name."""
    sha256: Annotated[Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None, Workflow("a check of the file")] = None
    """The sha256 of the remote file."""
    git_blob: Annotated[Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None, Workflow("as `sha256`")] = None
    """The id of the remote file in its git repository (git ls-tree), if the sha256 is unknown. Ignored if there is a
    sha256.
    """
    megabytes: Annotated[Positive | None, Workflow("for the cost before a run")] = None
    """Approximate size of the remote file, for the cost of a study if its server does not tell."""
    labels: Annotated[
        Literal["ambignq", "situatedqa", "jsonl", "txt"] | None, Answer("through the prompts: the format of the file")
    ] = None
    """Format of a file that selects questions: ambignq (AmbigNQ's annotations; unambiguous questions are kept),
    situatedqa (SituatedQA's labels; questions that do not depend on time are kept), jsonl (lines with question and
    keep), or txt (one question to keep per line).
    """
    version: Annotated[Literal["v1", "v2", "released"] | None, Workflow("for the comparison with published values")] = (
        None
    )
    """Version of the authors' data in the file, for comparison with published values: contexts before (v1) or since
    (v2) January 2024, or a file with a single version (released). Omitted for other data.
    """
    other_versions: Annotated[
        dict[Literal["v1", "v2"], str] | None,
        Ref("datasets"),
        Workflow("by the prompts of the dataset that replaces this one"),
    ] = None
    """Datasets with other versions of the file, by version, as in {v1: nq_open_20_documents_v1}. If the config's
    data_version selects one, experiments use it instead of this file.
    """
    file: Annotated[str, Field(pattern="^[^/{}]+$"), Place("the file's name here")] = FILLED_IN
    """Base name of the remote file, here and in data_mirror. If omitted, the URL's."""

    @property
    def is_to_supply(self) -> bool:
        """Whether it is a file that the user has not supplied yet."""
        return "path" in self.model_fields_set and self.path is None and self.url is None

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if (self.path is None) == (self.url is None) and not self.is_to_supply:
            yield "give either 'path' or 'url' (with 'sha256')"
        if self.url and not self.checksum:
            yield "a remote file needs its 'sha256' or its 'git_blob'"

    @property
    def checksum(self) -> str:
        """Checksum of a remote file: a sha256 or a git blob id; "" for a local file."""
        return self.sha256 or self.git_blob or ""

    def availability(self, folder: Path, mirror: str | None) -> str:
        """Where a remote file is, in words; "" if it is neither in the folder of fetched files nor in the mirror."""
        if (folder / self.file).exists():
            return "fetched"
        return "in the mirror" if find_in_mirror(mirror, self.file, self.url or "", self.checksum) else ""

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with the local file's path or the remote file's base name; `UserError` if there is no file."""
        if self.path is not None:
            return super().located(root, entries).changed(sha256=None, git_blob=None, file="")
        file = self.file or (self.url or "").rsplit("/", 1)[-1]
        check_names([file], f"{self.where}.url")
        return self.changed(file=file)


def check_file_names(datasets: Mapping[str, Dataset]) -> None:
    """Raise `UserError` for two remote files with one base name, which would be confused."""
    by_file: dict[str, Dataset] = {}
    for dataset in datasets.values():
        other = by_file.setdefault(dataset.file, dataset) if dataset.url else dataset
        if other.checksum != dataset.checksum:
            raise UserError(
                f"datasets.{dataset.name}: {other.name} is another file with the same base name {dataset.file}; "
                f"give one of them a 'file' of its own"
            )


def of_version(name: str, version: str | None, datasets: Mapping[str, Dataset]) -> str:
    """The name of the dataset that replaces `name` in the wanted version.

    version: None for `name` itself. Raises `UserError` if `other_versions` names a dataset of another version.
    """
    others = datasets[name].other_versions or {} if name in datasets else {}
    other = dict[str, str](others.items()).get(version or "", name)
    if other != name and datasets[other].version != version:
        raise UserError(
            f"datasets.{name}.other_versions.{version}: {other} has 'version: {datasets[other].version}'; it must be "
            f"{version}"
        )
    return other


class Corpus(Entry):
    """Passages that are searched and that supply distractors."""

    source: Annotated[str, one_of(lambda: sorted(SOURCES))]
    """Source of the text, a module of scripts/litm/corpora: dpr_passages (a file in the format of psgs_w100.tsv.gz),
    wikipedia_dump (pages-articles.xml.bz2), documents (your own folder or file: .txt, .md, .html, .pdf, .docx, .pptx,
    .xlsx, .epub, .jsonl, .json, .tsv, .csv, those of text also with .gz), mini_encyclopedia, mini_gazetteer (both made
    up, with questions), retrieved (the texts in a file of a retriever with `method: recorded`).
    """
    dataset: Annotated[str | None, Ref("datasets", "questions.dataset")] = None
    """The dataset with the source's file, or an entry of questions with a `dataset`."""
    path: Annotated[str | None, PathTo(is_anything)] = None
    """The source's file or folder, relative to the working directory or the project; instead of `dataset`."""
    passage_words: Count | None = None
    """Maximum number of words per passage: longer texts are cut into disjoint passages; null keeps texts whole. If
    omitted, the source's default (100 for wikipedia_dump and documents).
    """
    passages: Count | None = None
    """Number of passages to generate (mini_encyclopedia, mini_gazetteer)."""
    passages_per_shard: Count = 100_000
    """Passages per shard. Each shard is encoded by its own job."""
    shards: Count = 1
    """Number of shards. If it is too low, the job reports the required number."""
    seed: Made[int] = 0
    """The config's seed."""
    files: Made[tuple[str, ...]] = ()
    """The files of `path`."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        generated, source = is_generator(self.source), self.source
        if len([place for place in (self.dataset, self.path) if place is not None]) != (0 if generated else 1):
            wanted = "neither 'dataset' nor 'path'" if generated else "either 'dataset' or 'path'"
            yield f"the source {source} takes {wanted}"
        if generated and self.passages is None:
            yield "'passages' is missing: the number of passages to generate"
        if not generated and self.passages is not None:
            yield f"'passages' is only for generated sources; the source {source} reads files"

    @property
    def settings(self) -> CorpusSettings:
        """The settings that change the passages; the seed only if they are generated."""
        is_given = "passage_words" in self.model_fields_set
        words = self.passage_words if is_given else SOURCES[self.source].passage_words
        return CorpusSettings(words, self.passages, self.seed if is_generator(self.source) else None)

    def located(self, root: Path, entries: Mapping[str, Mapping]) -> Self:
        """The entry with its path and the files there; `UserError` for a missing path."""
        entry, where = super().located(root, entries), f"{self.where}.path"
        if entry.path is None:
            return entry
        if entry.source != "documents":
            is_file(entry.path, where)
            return entry.changed(files=(entry.path,))
        try:
            files = tuple(map(str, source_files(Path(entry.path))))
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
        check_names(files, where)
        return entry.changed(files=files)


class QuestionSet(Entry):
    """Questions that the workflow makes, or reads from your own table. A file in the released format is a dataset and
    needs no entry here.
    """

    corpus: Annotated[str | None, Ref("corpora")] = None
    """The generated corpus that includes these questions, or the corpus that the questions in `file` are about."""
    dataset: Annotated[str | None, Ref("datasets")] = None
    """A dataset in the released format. Its first `questions` are used, for candidates from a small part of it, or as
    the `dataset` of a corpus.
    """
    questions: Count | None = None
    """Number of questions to use, from the start of `dataset` or of a generated corpus. If omitted, all (for a
    generated corpus, one per passage). All of them are searched, so a larger `examples` needs no new search.
    """
    nq_open: Annotated[str | None, Ref("datasets")] = None
    """Dataset with the questions and answers of NQ-Open."""
    annotations: Annotated[Names, Ref("datasets")] = ()
    """Datasets with the annotations of NaturalQuestions, which give the gold paragraphs: the original or simplified
    files, or the oracle questions released by the paper's authors.
    """
    file: Annotated[str | None, PathTo(is_anything)] = None
    """A table of your own questions (.csv, .tsv, .json, .jsonl) about `corpus`. Columns: question, answer and, if
    known, file, page and text (words of the passage with the answer).
    """
    gold_of: Annotated[str | None, Ref("questions.file")] = None
    """A question set with a `file` whose gold passages are to be found: the passage that the file names, or else the
    first with an answer that `retriever` finds.
    """
    retriever: Annotated[str | None, Ref("retrievers")] = None
    """The retriever that finds the passages of `gold_of`."""
    corrections: Annotated[str | None, PathTo(is_anything)] = None
    """A table of question and passage (an id; empty leaves the question out) that overrides the passages found for
    `gold_of`: your edited copy of results/tables/gold_passages.csv.
    """
    facts: Literal["stated", "linked", "said", "in_tool_result", "instruction", "instruction_of_system"] | None = None
    """Makes up `questions` facts. In `corpus`: stated (in words of the question) or linked (in other words; another
    sentence at the start of the context links the two). In `session`: said (by the user), in_tool_result (of a file
    that is read), or instruction and instruction_of_system (that must still be followed at the end).
    """
    documents: Count | None = None
    """Passages of the largest context of `facts` in a corpus: consecutive ones, from a random place on."""
    session: Annotated[str | None, PathTo(is_file)] = None
    """The file of a session of an agent or a chat (docs/your_haystack.md). Its secrets are masked."""
    repeat: bool = False
    """Whether an instruction stands before the question once more."""
    result_words: Count | None = None
    """Words to which the results of tools in `session` are shortened. If omitted, they are kept."""
    keep_results: Count | None = None
    """Steps at the end of a context whose results of tools in `session` are kept; earlier ones are dropped. If omitted,
    all.
    """
    compacted: Annotated[str | None, PathTo(is_file)] = None
    """A file with a summary that stands in place of the first half of the steps of a context in `session`. Its secrets
    are masked.
    """
    written_by: Annotated[str | None, Ref("models")] = None
    """A model that writes a question from each of `questions` passages of `corpus` (docs/your_haystack.md)."""
    checked_by: Annotated[str | None, Ref("models")] = None
    """The model that checks them, with the passage and without it. If omitted, `written_by`."""
    source: Made[str] = ""
    """A value of `QUESTION_KEYS`, or the source of its generated corpus."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        keys = self._given
        if keys not in QUESTION_KEYS or (self.corrections and not self.gold_of):
            yield (
                "give either 'corpus', 'nq_open' and 'annotations', 'file' and 'corpus', 'dataset' and 'questions', or "
                "'gold_of' and 'retriever' (with or without 'corrections'), or 'facts' and 'corpus' or 'session', or "
                "'written_by' and 'corpus'"
            )
        if self.questions is not None and keys not in ({"corpus"}, {"dataset"}, *MADE_KEYS):
            yield "'questions' is only for a generated corpus or a dataset; 'examples' of an experiment takes the first"
        if keys == {"dataset"} and self.questions is None:
            yield "'questions' is missing: the number of questions to take of the dataset"
        if (keys == {"facts", "corpus"}) != (self.documents is not None):
            yield "'documents' (passages of the largest context), 'facts' and 'corpus' go together"
        if self.facts and self.questions is None:
            yield "'questions' is missing: the number of made-up facts"
        if self.written_by and self.questions is None:
            yield "'questions' is missing: the number of passages to write one from"
        if self.checked_by and not self.written_by:
            yield "'checked_by' is for questions with 'written_by'"
        if self.facts and (self.facts in ("stated", "linked")) != (self.session is None):
            yield f"'facts: {self.facts}' is for {'a corpus' if self.session else 'a session'}"
        treatment = next((key for key in SESSION_KEYS if getattr(self, key)), None)
        if treatment and not self.session:
            yield f"'{treatment}' is for a 'session'"

    @property
    def _given(self) -> frozenset[str]:
        """The keys that it has of those that go together."""
        return frozenset(key for keys in QUESTION_KEYS for key in keys if getattr(self, key))

    def with_source(self, corpora: Mapping[str, Corpus], entries: Mapping[str, "QuestionSet"]) -> Self:
        """The entry with its source and corpus; `UserError` for a corpus without questions. entries: all question
        sets.
        """
        corpus = entries[self.gold_of].corpus if self.gold_of else self.corpus
        source = QUESTION_KEYS[self._given] or corpora[corpus or ""].source
        if source not in QUESTION_KEYS.values() and not is_generator(source):
            raise UserError(
                f"{self.where}.corpus: only a generated corpus has questions, the source of {self.corpus} is {source}"
            )
        return self.changed(source=source, corpus=corpus, annotations=tuple(dict.fromkeys(self.annotations)))
