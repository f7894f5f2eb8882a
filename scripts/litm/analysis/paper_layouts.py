"""Contents and layouts of the paper's Tables 1 to 7."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Columns of one experiment and size under a heading; several positions have headings of their own."""

    heading: str
    experiment: str
    size: int


@dataclass(frozen=True)
class Layout:
    """A table of the paper: of accuracies, or of the lengths of prompts in tokens."""

    caption: str
    groups: tuple[Group, ...]
    is_of_tokens: bool = False


_WITHOUT_DISTRACTORS = (Group("Closed-book", "closed_book_qa", 0), Group("Oracle", "oracle_qa", 1))
_DOCUMENTS = {size: Group(f"{size} documents", "multi_document_qa", size) for size in (10, 20, 30)}
_PAIRS = tuple(Group(f"{size} pairs", "kv_retrieval", size) for size in (75, 140, 300))
LAYOUTS = {
    1: Layout("Closed-book and oracle accuracy (%)", _WITHOUT_DISTRACTORS),
    2: Layout("Tokens of closed-book and oracle prompts", _WITHOUT_DISTRACTORS, is_of_tokens=True),
    3: Layout("Tokens of multi-document question answering prompts", tuple(_DOCUMENTS.values()), is_of_tokens=True),
    4: Layout("Tokens of key-value retrieval prompts", _PAIRS, is_of_tokens=True),
    5: Layout("Accuracy (%) with 10 documents, by index of the document with the answer", (_DOCUMENTS[10],)),
    6: Layout("Accuracy (%) with 20 documents, by index of the document with the answer", (_DOCUMENTS[20],)),
    7: Layout("Accuracy (%) with 30 documents, by index of the document with the answer", (_DOCUMENTS[30],)),
}
