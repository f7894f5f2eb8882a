"""What all rules use: patterns of wildcards, the project's files, the modules of a program, the content of inputs."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from litm.base.messages import note
from litm.base.store import state_with_links
from litm.config.catalogue import CATALOGUES
from litm.domain.placement import AS_RETRIEVED, GOLD_AT, GOLD_AT_DEPTH, NO_GOLD
from litm.models.file_digests import DIGESTS, KEPT_FROM, FileDigests, content_digest
from litm.models.gguf import is_gguf

#: A regular expression that matches every placement.
PLACEMENT = rf"{GOLD_AT.pattern}|{GOLD_AT_DEPTH.pattern}|{NO_GOLD}|{AS_RETRIEVED}"


class Wildcards(Protocol):
    """A job's wildcards as texts; a job has those in its rule's outputs."""

    candidates: str
    corpus: str
    derived: str
    experiment: str
    figure: str
    file: str
    first: str
    found: str
    generated: str
    model: str
    number: str
    own: str
    part: str
    questions: str
    dataset: str
    reranker: str
    retriever: str
    size: str
    table: str


def any_of(names: Iterable[object]) -> str:
    """A regular expression for exactly these names; without names it matches nothing."""
    return "|".join(re.escape(str(name)) for name in names) or "(?!)"


class ProjectFiles:
    """Paths of the project's files relative to the working directory, so that a moved checkout has the same inputs.

    root: the project's folder. Programs are found by their names anywhere in `root`/scripts outside the library.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._scripts = root / "scripts"
        self._programs = _programs(self._scripts)
        # Cached, because many jobs use the same files.
        self._code = cache(self._find_code)

    def file(self, *parts: str) -> str:
        """A file or folder of the project."""
        return os.path.relpath(self._root.joinpath(*parts))

    def unread_copies(self) -> list[str]:
        """A line for each catalogue in config/ here that differs from the project's, which alone is read.

        `snakedeploy` copies the whole folder, and an edit of such a copy would change nothing.
        """
        copies = [Path("config", f"{kind}.yaml") for kind in CATALOGUES]
        return [
            f"{copy} differs from the workflow's and is not read: put your entries under 'define' in config/config.yaml"
            for copy in copies
            if copy.is_file() and copy.read_bytes() != (self._root / copy).read_bytes()
        ]

    def code(self, program: str, *modules: str) -> list[str]:
        """A program (`generate.py`) and all modules that it imports, the program first; and the words that they read.

        modules: those that the program imports by a computed name (`litm.inference.engines.vllm`). Raises `LookupError`
        for a missing program or module.
        """
        return list(self._code(program, *modules))

    def _find_code(self, program: str, *modules: str) -> tuple[str, ...]:
        if program not in self._programs:
            raise LookupError(f"{self._scripts} has no program {program}")
        starts = [self._programs[program], *map(self._module, modules)]
        files = dict.fromkeys(file for start in starts for file in local_modules(start, self._scripts))
        if self._scripts / "litm" / "corpora" / "made_up.py" in files:
            files |= dict.fromkeys(sorted(self._root.glob("resources/words/*.toml")))
        return tuple(map(os.path.relpath, files))

    def _module(self, name: str) -> Path:
        path = self._scripts.joinpath(*name.split(".")).with_suffix(".py")
        if not path.is_file():
            raise LookupError(f"{self._scripts} has no module {name}")
        return path


def _programs(scripts: Path) -> dict[str, Path]:
    """The path of each program by its name; `LookupError` for two of the same name."""
    found: dict[str, Path] = {}
    for path in sorted(scripts.rglob("*.py")):
        if path.relative_to(scripts).parts[0] == "litm":
            continue
        if path.name in found:
            raise LookupError(f"{path} and {found[path.name]} have the same name")
        found[path.name] = path
    return found


#: An import statement: the module and the names that are imported from it, or the modules.
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^;\n]*)|import[ \t]+([^;\n]*))", re.MULTILINE
)
_COMMENT = re.compile(r"#.*")
#: The first word of what is between commas, without `as ...`.
_NAME = re.compile(r"(?:^|,)\s*([\w.]+)")


@cache
def local_modules(script: Path, package_root: Path) -> tuple[Path, ...]:
    """The script and every module under `package_root` that it imports, directly or not, sorted, script first.

    Follows `import` and `from ... import` statements anywhere in a file; modules imported by a computed name are not
    found and must be listed by the rule.
    """
    found = {script}
    waiting = [script]
    while waiting:
        new = _imported_files(waiting.pop(), package_root) - found
        found |= new
        waiting.extend(new)
    return (script, *sorted(found - {script}))


@cache
def _imported_files(path: Path, package_root: Path) -> frozenset[Path]:
    names = imported_names(path.read_text(encoding="utf-8"))
    return frozenset(file for name in names for file in _module_files(name, package_root))


def imported_names(text: str) -> set[str]:
    """The modules that the code `text` imports, and the names that it imports from modules, which may be modules too.

    Relative imports are left out. A pattern finds them, because a parser takes a second for all programs, at each
    start. It may find more than Python does, such as a line of a docstring, but no less.
    """
    names: set[str] = set()
    for module, imported, modules in _IMPORT.findall(text.replace("\\\n", " ")):
        first = _NAME.findall(_COMMENT.sub("", modules or imported).strip("()"))
        if modules:
            names.update(first)
        elif not module.startswith("."):
            names.update([module, *(f"{module}.{name}" for name in first)])
    return names


@cache
def _module_files(name: str, package_root: Path) -> tuple[Path, ...]:
    """The files of a module and of the packages around it, if they are the project's."""
    parts = name.split(".")
    files = [package_root.joinpath(*parts[:count], "__init__.py") for count in range(1, len(parts) + 1)]
    files.append(package_root.joinpath(*parts).with_suffix(".py"))
    return tuple(file for file in files if file.is_file())


#: Folder of files made by rules, whose changes Snakemake notices.
MADE_HERE = "results/"
#: Bytes; the same as `max-checksum-file-size` in the profiles. Digests of larger files, mostly weights, are kept with
#: those of their model, for identify_model and later starts to look up.
LARGE = 104857600
#: Bytes of a file whose hashing takes seconds and is reported.
WORTH_A_LINE = 1 << 30

#: Files that are named each by a line of its own.
NAMED_FILES = 5

Files = str | Iterable[str] | Mapping[str, str | Iterable[str]]
Source = Files | Callable[[Wildcards], Files]


def _say_reading(file: Path) -> None:
    if (size := file.stat().st_size) >= WORTH_A_LINE:
        note(f"{file}: hashing its {size / 1e9:.1f} GB, and again only if it changes")


def replaced_lines(replaced: Iterable[tuple[Path, bool]]) -> list[str]:
    """A line for each input that was replaced during a run, with the remedy; one for those after the first few.

    replaced: see `ContentPlan.replaced`.
    """
    lines = [
        f"{file} was replaced during this run{' and has its content of before again' if is_back else ''}: results may "
        "be of either content; run the same command with --forceall, which asks nothing again that was answered"
        for file, is_back in replaced
    ]
    more = len(lines) - NAMED_FILES
    return lines if more < 1 else [*lines[:NAMED_FILES], f"{more} more files were replaced during this run"]


class ContentPlan:
    """Params that change if an input is replaced, regardless of file times.

    `content=PLAN.content(PLAN.examples.dataset, PLAN.examples.code)`: the rule's inputs, except those made by other
    rules. is_output: whether a rule makes a file or folder with this path.
    """

    def __init__(self, is_output: Callable[[str], bool] = lambda path: True) -> None:
        self._is_output = cache(is_output)
        self._known = FileDigests(DIGESTS, "inputs", kept_from=KEPT_FROM)
        # Cached: many jobs share inputs, and all jobs of a run must see the same content.
        sha256 = cache(self._sha256)
        self._digest = cache(lambda paths: content_digest(map(Path, paths), sha256))
        #: State and sha256 of each file when it was hashed.
        self._hashed: dict[Path, tuple[list | None, str]] = {}

    def __call__(self, *sources: Source) -> Callable[[Wildcards], str]:
        """The param for the inputs `sources`: files, or methods that are called with a job's wildcards."""

        def content(wildcards: Wildcards) -> str:
            named = (source(wildcards) if callable(source) else source for source in sources)
            digests = [self._digest(tuple(self._own(files))) for files in named]
            return " ".join(one[:16] for one in digests)

        return content

    def replaced(self) -> list[tuple[Path, bool]]:
        """The inputs that were replaced or removed since they were hashed, by path, each with whether it has the same
        content again.

        Jobs in between may have read another content. Snakemake's records have the content of the start, so no later
        start can tell once it is back.
        """
        moved = ((file, sha256) for file, (state, sha256) in self._hashed.items() if state_with_links(file) != state)
        now = ((file, file.exists() and self._current_sha256(file), sha256) for file, sha256 in moved)
        return sorted((file, found == sha256) for file, found, sha256 in now)

    def _sha256(self, file: Path) -> str:
        state = state_with_links(file)
        sha256 = self._current_sha256(file)
        self._hashed[file] = (state, sha256)
        return sha256

    def _current_sha256(self, file: Path) -> str:
        if file.stat().st_size < LARGE:
            return self._known.sha256(file)
        kept = FileDigests(DIGESTS, str(file if is_gguf(file) else file.parent))
        return kept.sha256(file, before=_say_reading)

    def _own(self, files: Files) -> Iterator[str]:
        if isinstance(files, str):
            if not self._is_made(files):
                yield files
            return
        for one in files.values() if isinstance(files, Mapping) else files:
            yield from self._own(one)

    def _is_made(self, file: str) -> bool:
        """Whether a rule makes a file, or a folder around it; users' files may be in `results/` too."""
        if not file.startswith(MADE_HERE):
            return False
        # Without the last two parents, `results` and `.`.
        return any(self._is_output(str(path)) for path in (Path(file), *list(Path(file).parents)[:-2]))


def job_environment(python: str, scripts: str, environment: Mapping[str, str]) -> dict[str, str]:
    """PATH and PYTHONPATH for jobs.

    Rules call `python`: the interpreter that runs Snakemake (`python`), unless an environment is activated on top.
    Programs import the library from the folder `scripts`, wherever they are and whatever runs the job.
    """
    first = {"PATH": str(Path(python).parent), "PYTHONPATH": scripts}
    return {name: os.pathsep.join(filter(None, [folder, environment.get(name)])) for name, folder in first.items()}
