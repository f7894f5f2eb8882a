"""Words to avoid in the repository's texts."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Patterns to avoid, each with its replacement. Lookarounds spare the phrases in which a word is right; a space also
#: matches the end of a line.
WORDS = {
    r"\bbeside\b": "next to, apart from, as well as",
    r"(?<!leave\s)(?<!left\s)(?<!clock\sis\s)\bbehind\b(?! an? | the proxy)": "after, on (a server)",
    r"\bin the place of\b": "instead of",
    r"(?<!some\s)\bof which\b": "whose, and ... of them",
    r"\blest\b": "so that ... not",
    r"\bin vain\b": "without an answer, without success",
    r"\bso many\b": "the number",
    r"\bgo(?:es)? on\b": "resume, continue",
    r"\b(?:is|are) there twice\b": "occurs twice",
    r"\bmend(?:s|ing)?\b": "fix, repair",
    r"\bwhat is there\b": "the noun",
    r"\bsays so\b": "says (what), reports",
    r"\ball there is\b": "all (and the noun)",
}
#: The space between two words, also over two lines of a comment.
GAP = r"\s+(?:#:?\s+)?"
SUFFIXES = (".py", ".md", ".smk", ".yaml", ".yml")
NAMES = ("Makefile", "Snakefile")
#: Folders at the top that hold no texts of the project, or generated ones.
SKIPPED = (".git", ".venv", ".venv-docs", ".snakemake", "results", "site")
#: Texts that prompts and recorded answers are made of: changing a word changes results. And this list.
DATA = (
    "workflow_tests/examples/test_suite_tasks.py",
    "workflow_tests/support/paper_miniature.py",
    "workflow_tests/workflow/test_words.py",
)


def texts() -> list[Path]:
    """The files that are checked, relative to the project's folder."""
    tops = [top for top in ROOT.iterdir() if top.name not in SKIPPED]
    files = [path for top in tops for path in ([top] if top.is_file() else top.rglob("*"))]
    names = (path.relative_to(ROOT) for path in files if path.suffix in SUFFIXES or path.name in NAMES)
    return sorted(name for name in names if not str(name).startswith(DATA))


def findings(text: str) -> list[tuple[int, str, str]]:
    """Line number from 1, words and replacement of each hit."""
    hits = (
        (hit, better)
        for pattern, better in WORDS.items()
        for hit in re.finditer(pattern.replace(" ", GAP), text, re.IGNORECASE)
    )
    return sorted((text.count("\n", 0, hit.start()) + 1, " ".join(hit[0].split()), better) for hit, better in hits)


def test_no_text_has_a_word_of_the_list():
    hits = [
        f"{path}:{line}: '{words}': {better}"
        for path in texts()
        for line, words, better in findings((ROOT / path).read_text())
    ]
    assert not hits, "\n" + "\n".join(hits)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("It is\nbeside the point.\n", [2]),
        ("# Results, of\n# which few count.\n", [1]),
        ("    #: Files in\n    #:   the place of others.\n", [1]),
        ("The model is behind an API.\n", []),
        ("There are five files, some of which are empty.\n", []),
        ("After a kill, no temporary files are left behind.\n", []),
        ("the job goes on\n\nand says so\n", [1, 3]),
    ],
)
def test_hits_are_found_across_lines_and_allowed_phrases_are_not(text, lines):
    assert [line for line, _, _ in findings(text)] == lines
