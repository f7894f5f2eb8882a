"""Content of inputs as a param of rules: Snakemake itself notices only newer files, not replaced ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from litm.base.messages import note
from litm.base.store import state_with_links
from litm.models.file_digests import DIGESTS, KEPT_FROM, FileDigests, content_digest
from litm.models.gguf import is_gguf
from litm.workflow.wildcards import Wildcards

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
