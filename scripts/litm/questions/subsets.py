"""Subsets of questions: by labels (paper, Appendix A), and by a seeded sample (Appendix D)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.files import read_text
from litm.base.json_files import parse_json, read_jsonl
from litm.base.messages import UserError, quoted
from litm.base.store import text_sha256
from litm.records.questions import Question


def match_key(text: str) -> str:
    """A question's text in lower case with single spaces and without a final question mark."""
    return " ".join(text.lower().split()).removesuffix("?").rstrip()


def read_labels(path: str | Path, format: str) -> dict[str, bool]:
    """For each labelled question, by its `match_key`, whether to keep it.

    Raises `UserError` for a format that is not in `FORMATS`, and for a file that does not follow its format (naming
    file and line or item) or has no labels.
    """
    if format not in FORMATS:
        raise UserError(f"labels {path}: unknown format {format!r}, choose one of {', '.join(FORMATS)}")
    labels: dict[str, bool] = {}
    for text, keep in FORMATS[format](Path(path)):
        key = match_key(text)
        labels[key] = labels.get(key, True) and keep
    if not labels:
        raise UserError(f"{path}: there are no labels in it")
    return labels


def _ambignq(path: Path) -> Iterator[tuple[str, bool]]:
    """AmbigNQ (Min et al. 2020), train_light.json, dev_light.json or the full files: a JSON list of {"question",
    "annotations": [{"type": "singleAnswer" or "multipleQAs", ...}]}. Kept: questions whose annotations are all single
    answers. The paper names these annotations, but not its treatment of several annotations of a question.
    """
    records = parse_json(read_text(path), f"{path}: not a JSON file of AmbigNQ")
    if not isinstance(records, list):
        raise UserError(f"{path}: expected a JSON list of AmbigNQ's records, found {type(records).__name__}")
    for number, record in enumerate(records, start=1):
        where = f"{path}, item {number}"
        text = _question(record, where)
        annotations = record.get("annotations")
        types = [a.get("type") if isinstance(a, dict) else None for a in annotations or []]
        if not types or not all(kind in ("singleAnswer", "multipleQAs") for kind in types):
            raise UserError(
                f'{where}: \'annotations\' must be a list of objects with "type": "singleAnswer" or "multipleQAs"'
            )
        yield text, all(kind == "singleAnswer" for kind in types)


def _situatedqa(path: Path) -> Iterator[tuple[str, bool]]:
    """SituatedQA (Zhang and Choi 2021), data/id_data/temp.{train,dev,test}.jsonl or geo.*: {"question",
    "source_dataset", "is_dependent": "yes" or "no", "id"}. Its README calls the label `label`, true or false; both are
    read. Kept: questions whose answer does not depend on the context.
    """
    return _flags(
        path, ("is_dependent", "label"), {"yes": False, "no": True, True: False, False: True}, '"yes" or "no"'
    )


def _keep_flags(path: Path) -> Iterator[tuple[str, bool]]:
    """JSON Lines of {"question", "keep": true or false}."""
    return _flags(path, ("keep",), {True: True, False: False}, "true or false")


def _flags(path: Path, names: Sequence[str], kept: Mapping[Any, bool], wanted: str) -> Iterator[tuple[str, bool]]:
    """The questions of JSON Lines, and whether the first of these fields that is there says to keep them."""
    for number, record in read_jsonl(path):
        where = f"{path}, line {number}"
        text, flag = _question(record, where), next((record[name] for name in names if name in record), None)
        if not isinstance(flag, str | bool) or flag not in kept:
            raise UserError(f"{where}: '{names[0]}' must be {wanted}, found {quoted(flag)}")
        yield text, kept[flag]


def _question_list(path: Path) -> Iterator[tuple[str, bool]]:
    """Text file with a question to keep on each non-blank line. Questions that are not listed count as unlabelled."""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.lstrip().startswith(("{", "[")):
            raise UserError(f"{path}, line {number}: expected a question, found JSON; is it another format?")
        if line.strip():
            yield line, True


def _question(record: object, where: str) -> str:
    text = record.get("question") if isinstance(record, dict) else None
    if not isinstance(text, str) or not match_key(text):
        raise UserError(f"{where}: the field 'question', a text, is missing")
    return text


#: Readers by the format's name in a config; their docstrings describe the files.
FORMATS: dict[str, Callable[[Path], Iterator[tuple[str, bool]]]] = {
    "ambignq": _ambignq,
    "situatedqa": _situatedqa,
    "jsonl": _keep_flags,
    "txt": _question_list,
}


@dataclass(frozen=True)
class Coverage:
    """The numbers of questions that labels cover."""

    questions: int
    """Number of questions."""
    labelled: int
    """Number of questions with a label."""
    kept: int
    """Number of questions that the labels keep."""


def select(questions: Iterable[Question], labels: Mapping[str, bool]) -> tuple[list[Question], Coverage]:
    """The questions that the labels keep, in their order; questions without a label are left out and counted.

    Raises `UserError` if no question is labelled, or none is kept.
    """
    questions = list(questions)
    verdicts = [labels.get(match_key(question.text)) for question in questions]
    kept = [question for question, keep in zip(questions, verdicts, strict=True) if keep]
    coverage = Coverage(len(questions), sum(keep is not None for keep in verdicts), len(kept))
    if not coverage.labelled:
        raise UserError(
            f"none of the {coverage.questions} questions is among the {len(labels)} labelled ones: "
            "give labels of these questions"
        )
    if not kept:
        raise UserError(
            f"the labels keep none of the {coverage.questions} questions ({coverage.labelled} of them have a label)"
        )
    return kept, coverage


def first_by_digest(questions: Sequence[Question], n: int, seed: int) -> list[Question]:
    """A random sample of `n` questions, in their order, that depends only on the seed and the ids.

    The questions with the smallest SHA-256 of `{seed}/{id}`: a larger sample contains a smaller one, and adding or
    removing another question changes at most one. Raises `UserError` if there are fewer than `n`.
    """
    if n > len(questions):
        raise UserError(f"a sample of {n} questions was asked for, there are only {len(questions)}")
    digests = [text_sha256(f"{seed}/{question.id}") for question in questions]
    chosen = set(sorted(range(len(questions)), key=digests.__getitem__)[:n])
    return [question for index, question in enumerate(questions) if index in chosen]
