"""Content of inputs as a param of rules: Snakemake itself notices only newer files, not replaced ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from litm.base.messages import note
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

Files = str | Iterable[str] | Mapping[str, str | Iterable[str]]
Source = Files | Callable[[Wildcards], Files]


def _say_reading(file: Path) -> None:
    if (size := file.stat().st_size) >= WORTH_A_LINE:
        note(f"{file}: hashing its {size / 1e9:.1f} GB, and again only if it changes")


class ContentPlan:
    """Params that change if an input is replaced, regardless of file times.

    `content=PLAN.content(PLAN.examples.dataset, PLAN.examples.code)`: the rule's inputs, except those made by other
    rules. is_output: whether a rule makes a file or folder with this path.
    """

    def __init__(self, is_output: Callable[[str], bool] = lambda path: True) -> None:
        self._is_output = cache(is_output)
        self._known = FileDigests(DIGESTS, "inputs", kept_from=KEPT_FROM)
        # Cached: many jobs share inputs, and all jobs of a run must see the same content.
        self._digest = cache(lambda paths: content_digest(map(Path, paths), self._sha256))

    def __call__(self, *sources: Source) -> Callable[[Wildcards], str]:
        """The param for the inputs `sources`: files, or methods that are called with a job's wildcards."""

        def content(wildcards: Wildcards) -> str:
            named = (source(wildcards) if callable(source) else source for source in sources)
            digests = [self._digest(tuple(self._own(files))) for files in named]
            return " ".join(one[:16] for one in digests)

        return content

    def _sha256(self, file: Path) -> str:
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
