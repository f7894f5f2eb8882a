"""Named passages: passages that users identify by a file, a page or words."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from litm.answers.dpr import dpr_tokens
from litm.base.messages import UserError, quoted
from litm.corpora.passages import Passage
from litm.questions.own_questions import Named, OwnQuestion

#: Words in a row that a passage must share with the user's words: a longer text may be cut into several passages.
RUN = 8
#: File names listed in an error.
LISTED = 5


def find_named(questions: Sequence[OwnQuestion], passages: Iterable[Passage], path: Path) -> list[Named | None]:
    """For each question the passages that it names by file, page and words; None if it names nothing.

    Raises `UserError` with line and column in `path`, the file of questions, for a file that is unknown or ambiguous, a
    page without text, and words that no passage contains.
    """
    if not any(one.file or one.words for one in questions):
        return [None] * len(questions)
    corpus = list(passages)
    files = FileNames(passage.files for passage in corpus)
    resolved = [files.resolve(one, path) for one in questions]
    in_file = _by_file(corpus, {file for file in resolved if file})
    shared = _shared_runs([one.words for one in questions], corpus)
    return [
        _named(question, in_file[file] if file else None, shared[number], path)
        for number, (question, file) in enumerate(zip(questions, resolved, strict=True))
    ]


def _named(question: OwnQuestion, in_file: Sequence[Passage] | None, shared: Sequence[str], path: Path) -> Named | None:
    where = f"{path}, line {question.line}"
    if in_file is not None and question.page is not None:
        pages = {page for passage in in_file for page in passage.pages}
        in_file = [passage for passage in in_file if question.page in passage.pages]
        if not in_file:
            which = f"pages {min(pages)} to {max(pages)}" if pages else "no pages"
            raise UserError(
                f"{where}, column 'page': {question.file} has no text on page {question.page} (it has {which}); fix "
                f"the page or leave it empty"
            )
    ids = None if in_file is None else [passage.id for passage in in_file]
    if question.words is not None:
        found = [id_ for id_ in shared if ids is None or id_ in set(ids)]
        if not found:
            raise UserError(
                f"{where}, column 'text': no passage{f' of {question.file}' if question.file else ''} has the words "
                f"{quoted(question.words, 60)}; copy them from the document, or leave the column empty"
            )
        return Named("text", tuple(found))
    return None if ids is None else Named("file" if question.page is None else "page", tuple(ids))


class FileNames:
    """The names of a corpus's files and documents, and their short forms.

    names_of: the names of each passage, shortest first, see `Passage.files`.
    """

    def __init__(self, names_of: Iterable[Sequence[str]]) -> None:
        self._exact: set[str] = set()
        self._short: dict[str, set[str]] = defaultdict(set)
        for names in names_of:
            self._exact.update(names)
            for short in _short_names(names[0]):
                self._short[short].add(names[0])

    def resolve(self, question: OwnQuestion, path: Path) -> str | None:
        """The name of the file that a question refers to, in full, by its last parts or without its ending; None for no
        file.
        """
        if question.file is None or question.file in self._exact:
            return question.file
        where = f"{path}, line {question.line}, column 'file'"
        found = sorted(
            name for name in self._short.get(_own_name(question.file), ()) if _folders_agree(name, question.file)
        )
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"{where}: {question.file} is one of {', '.join(found[:LISTED])}; give more of its path")
        known = sorted({name for names in self._short.values() for name in names})
        more = f" and {len(known) - LISTED:,} more" if len(known) > LISTED else ""
        raise UserError(
            f"{where}: {question.file} is not among the documents ({', '.join(known[:LISTED])}{more}); fix the name, "
            f"or leave the column empty to have its passage looked for"
        )


def _own_name(name: str) -> str:
    """The file's own name, without its folders, in lower case."""
    return PurePosixPath(name.replace("\\", "/")).name.lower()


def _short_names(name: str) -> set[str]:
    """The short forms of a file name: without folders, without .gz, without its ending."""
    own = _own_name(name)
    unpacked = own.removesuffix(".gz")
    return {own, unpacked, PurePosixPath(unpacked).stem}


def _folders_agree(name: str, given: str) -> bool:
    """Whether the folders of two paths agree, compared from the last one up to the shorter path."""
    ours, theirs = (PurePosixPath(one.replace("\\", "/").lower()).parent.parts for one in (name, given))
    return all(one == other for one, other in zip(reversed(ours), reversed(theirs), strict=False))


def _by_file(passages: Iterable[Passage], files: set[str]) -> dict[str, list[Passage]]:
    found: dict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        for name in files.intersection(passage.files):
            found[name].append(passage)
    return found


def _shared_runs(words: Sequence[str | None], passages: Iterable[Passage]) -> list[list[str]]:
    """For each text the ids of passages that share runs of words with it, most runs first."""
    wanted: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, text in enumerate(words):
        tokens = dpr_tokens(text) if text else []
        for run in set(_runs(tokens, min(RUN, len(tokens)))):
            wanted[run].append(number)
    lengths = sorted({len(run) for run in wanted})
    counts: list[Counter[str]] = [Counter() for _ in words]
    for passage in passages if wanted else ():
        tokens = dpr_tokens(passage.text)
        for length in lengths:
            for run in _runs(tokens, length):
                for number in wanted.get(run, ()):
                    counts[number][passage.id] += 1
    return [[id_ for id_, _ in count.most_common()] for count in counts]


def _runs(tokens: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(tokens[start : start + length]) for start in range(len(tokens) - length + 1)) if length else iter(())
