"""Corrections of gold passages: the user's edited table of questions and passage ids."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from litm.base.messages import UserError, quoted, single_spaced
from litm.questions.own_rows import Row, read_rows

#: Columns that are read; only copies of gold_passages.csv have the last two.
FOUND = "found"
COLUMNS = ("question", "passage", FOUND, "excerpt")
#: Mark of a cut at the beginning or end of an excerpt.
CUT = "..."


@dataclass(frozen=True)
class Correction:
    """The user's passage for a question, '' to leave the question out; where: file and line.

    found, excerpt: the passage when the table was copied, and words of that passage or the user's; '' if missing.
    """

    passage: str
    where: str
    found: str = ""
    excerpt: str = ""

    def is_of_other_texts(self, texts: Mapping[str, str]) -> bool:
        """Whether the documents have changed since: neither passage contains the excerpt. texts: of passages, by id."""
        words = self.excerpt.removeprefix(CUT).removesuffix(CUT).strip()
        return bool(self.passage and words) and not any(
            words in texts.get(id_, "") for id_ in (self.passage, self.found)
        )


def read_corrections(path: Path, questions: Collection[str]) -> dict[str, Correction]:
    """The corrections by question; `UserError` with file and line for an unknown or repeated question.

    Questions are compared without regard to white space. A row that still has the passage `found` in it is no
    correction, whatever is found now.
    """
    found: dict[str, Correction] = {}
    untouched: set[str] = set()
    known = {single_spaced(question): question for question in questions}
    for row in read_rows(path):
        where = f"{path}, line {row.line}"
        for column in ("question", "passage"):
            if column not in row.values:
                raise UserError(f"{where}: no column '{column}', found {', '.join(row.values)}; rename a column")
        given, passage, before, excerpt = (_text(row, column, where) for column in COLUMNS)
        question = known.get(single_spaced(given))
        if question is None:
            close = get_close_matches(given, questions, n=1)
            hint = f" (did you mean {quoted(close[0])}?)" if close else ""
            raise UserError(f"{where}, column 'question': {quoted(given)} is not among the questions{hint}")
        if question in found:
            raise UserError(f"{where}, column 'question': {quoted(question)} occurs twice; remove one of them")
        found[question] = Correction(passage, f"{where}, column 'passage'", before, excerpt)
        if passage == before and FOUND in row.values:
            untouched.add(question)
    return {question: one for question, one in found.items() if question not in untouched}


def _text(row: Row, column: str, where: str) -> str:
    value = row.values.get(column)
    if not isinstance(value, str | None):
        raise UserError(f"{where}, column '{column}': must be a text, found {quoted(value)}")
    return (value or "").strip()
