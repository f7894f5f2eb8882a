"""The source dpr_passages: DPR's passages of Wikipedia, `psgs_w100.tsv`, plain or gzip, with columns id, text, title.

The 21 million passages are the English Wikipedia of December 2018 in blocks of 100 words (Karpukhin et al. 2020,
"Dense Passage Retrieval for Open-Domain Question Answering", section 4.1). They stay whole unless `passage_words` is
shorter.
"""

from collections.abc import Iterator
from pathlib import Path

from litm.base.messages import UserError
from litm.base.records import read_table
from litm.corpora.passages import Passage, cut_text
from litm.corpora.source import CorpusSettings, needed

HEADER = ["id", "text", "title"]


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage), with the file's ids; a block that is cut gets `id:n`, n from 0.

    Raises `UserError` for a wrong header, a wrong number of fields, a blank text or id, and as `read_table`.
    """
    path = needed(source, "DPR's psgs_w100.tsv or psgs_w100.tsv.gz")
    rows = read_table(path, delimiter="\t")
    _check_header(path, next(rows, None))
    for line, row in rows:
        try:
            id_, text, title = row
        except ValueError:
            raise UserError(
                f"{path}, line {line}: {len(row)} fields between tabs, but id, text and title are 3; fix the line"
            ) from None
        if not id_ or not text or text.isspace() or id_.isspace():
            empty = "text" if id_.strip() else "id"
            raise UserError(f"{path}, line {line}: the {empty} is empty; fill it or remove the line")
        where = f"{path}, line {line}"
        if settings.passage_words is None:
            yield where, Passage(id_, title, text)
        else:
            blocks = cut_text(text, settings.passage_words)
            for number, block in enumerate(blocks):
                yield where, Passage(id_ if len(blocks) == 1 else f"{id_}:{number}", title, block)


def _check_header(path: Path, first: tuple[int, list[str]] | None) -> None:
    if first is None:
        raise UserError(f"{path}: the file is empty; get it again")
    if first[1] != HEADER:
        found = "\t".join(first[1])
        raise UserError(
            f"{path}, line {first[0]}: the header is {found[:80]!r}, but must be {chr(9).join(HEADER)!r}; "
            f"for another table use the source 'documents'"
        )
