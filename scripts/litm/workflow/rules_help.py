"""What the rules are written with: entries that wildcards name, commands of programs, and params that re-run jobs."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, partial
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from litm.base.extensions import file_of, folder_of, full_name, in_use
from litm.base.files import can_write, from_here
from litm.base.messages import note
from litm.base.store import digest, file_sha256
from litm.models.identity import DIGESTS, KEPT_FROM, FileDigests, content_digest
from litm.models.locations import is_gguf
from litm.placements import ABSENT, AS_RETRIEVED, GOLD_AT, GOLD_AT_DEPTH, NO_GOLD

#: A job's wildcards, by name and in the order of its rule's output.
Wildcards = Any
#: A regular expression that matches every placement.
PLACEMENT = rf"{GOLD_AT.pattern}|{GOLD_AT_DEPTH.pattern}|{NO_GOLD}|{AS_RETRIEVED}|{ABSENT}"

#: Folder of files made by rules, whose changes Snakemake notices.
MADE_HERE = "results/"
#: Bytes; the same as `max-checksum-file-size` in the profiles. Digests of larger files, mostly weights, are kept with
#: those of their model, for identify_model and later starts to look up.
LARGE = 104857600
#: Bytes of a file whose hashing takes seconds and is reported.
WORTH_A_LINE = 1 << 30

#: The first words of params that have digests of code, and of the content of inputs.
CODE, CONTENTS = "code", "contents"

#: The module that makes up texts, and the files of its words.
MADE_UP, WORDS = Path("litm", "corpora", "made_up.py"), "resources/words/*.toml"

#: An import statement: the module and the names that are imported from it, or the modules.
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^;\n]*)|import[ \t]+([^;\n]*))", re.MULTILINE
)
_COMMENT = re.compile(r"#.*")
#: Imports that only a type checker reads.
_OF_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)+", re.MULTILINE)
#: The first word of what is between commas, without `as ...`.
_NAME = re.compile(r"(?:^|,)\s*([\w.]+)")


def any_of(names: Iterable[object]) -> str:
    """A regular expression for exactly these names; without names it matches nothing."""
    return "|".join(re.escape(str(name)) for name in names) or "(?!)"


class Each:
    """The entry that a job's wildcards name: `Each(...).metric` is a function that gives its `metric` for them.

    A key that is a method gives what the method returns.
    """

    def __init__(self, entry: Callable[[Wildcards], Any]) -> None:
        self._entry = entry

    def __getattr__(self, key: str) -> Callable[[Wildcards], Any]:
        def value(wildcards: Wildcards) -> Any:
            attribute = getattr(self._entry(wildcards), key)
            return attribute() if callable(attribute) else attribute

        return value

    def keys(self, names: str) -> dict[str, Callable[[Wildcards], Any]]:
        """Several keys of the entry, by their names."""
        return {name: getattr(self, name) for name in names.split()}

    def __call__(self, what: str | Callable[[Any], Any]) -> Callable[[Wildcards], Any]:
        """A function of wildcards: `what` of the entry, or the path `what` with the entry's keys in braces.

        There is no path (`[]`) if one of its keys has no value.
        """
        if callable(what):
            return lambda wildcards: what(self._entry(wildcards))
        keys = re.findall(r"{(\w+)}", what)

        def path(wildcards: Wildcards) -> str | list[str]:
            values = {key: getattr(self._entry(wildcards), key) for key in keys}
            return [] if None in values.values() else what.format(**values)

        return path


def option(name: str, value: Any) -> list[str]:
    """The words of a program's option: `--name value`, `--name` for True, none for None and False.

    A list of texts is several values; an entry, a mapping or another list is JSON.
    """
    if value is None or value is False:
        return []
    words = [f"--{name.replace('_', '-')}"]
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return [*words, *value]
    if isinstance(value, str | int | float):
        return words if value is True or value == "" else [*words, str(value)]
    return [*words, as_json(value)]


def as_json(value: Any) -> str:
    """Canonical JSON, in which a dataclass is a mapping of its fields."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=asdict)


class Programs:
    """The project's programs as rules use them.

    root: the project's folder; programs are found by their names anywhere in its `scripts`, apart from the library.
    is_output: whether a rule makes a file or folder of this path. inputs_with: the inputs, as they are written, of the
    rule that has a function among its params. Paths are relative to the working directory, so that a moved checkout has
    the same ones.
    """

    def __init__(
        self,
        root: Path,
        is_output: Callable[[str], bool] = lambda path: True,
        inputs_with: Callable[[Callable], Sequence[Any]] = lambda param: (),
    ) -> None:
        self._root = root
        self._scripts = root / "scripts"
        self._paths = _by_name(self._scripts)
        self._inputs_with = inputs_with
        # Cached: many jobs have the same code and inputs, and all jobs of a run must see the same content.
        self._is_output = cache(is_output)
        self._code_digest = cache(self._digest_of_code)
        # Most programs are made of the same modules.
        self._with_data = cache(_with_data)
        self._place = cache(lambda file: file.relative_to(_root_of(file, root)).as_posix())
        self._digests = FileDigests(DIGESTS, "inputs", kept_from=KEPT_FROM)
        sha256 = cache(self._sha256)
        self._content = cache(lambda files: content_digest(map(Path, files), sha256)[:16])

    def file(self, *parts: str) -> str:
        """A file or folder of the project."""
        return from_here(self._root.joinpath(*parts))

    # What a rule runs

    def command(self, program: str, options: str, is_by_code: bool = True) -> str:
        """The shell text of a rule that runs a program with options, and shows its messages and keeps them in the log.

        The digest of the program and of all modules that it imports is in the text, so that Snakemake tells when they
        were edited, unless its result does not depend on them.
        """
        if program not in self._paths:
            raise LookupError(f"{self._scripts} has no program {program}.py")
        path = self._paths[program]
        code = f"LITM_CODE={self._code_digest(path)} " if is_by_code else ""
        # By a variable, so that a project or a study that was moved re-runs nothing. A cluster and a lost terminal end
        # all processes of a job at once; the log still has to receive the program's last message.
        return (
            f'{code}python "$LITM_SCRIPTS/{path.relative_to(self._scripts).as_posix()}" {options} '
            "2>&1 | (trap '' TERM HUP; tee -i {log:q})"
        )

    def settings(self, **named: Any) -> dict[str, Callable]:
        """Params of a rule: each setting as the words of the program's option of its name, `--metric exact_code`, and
        `contents`, a digest of the inputs that no rule makes, whatever their times (Snakemake sees only newer files).

        Values may be functions of wildcards. Snakemake compares the set of all params, not one by one: each has its
        name in it.
        """

        def contents(wildcards: Wildcards) -> str:
            digests = [self._content_of(item, wildcards) for item in inputs()]
            return f"{CONTENTS} {' '.join(filter(None, digests))}"

        # Known once all rules are read. A rule that another one is made of may share these params and its inputs.
        inputs = cache(lambda: self._inputs_with(contents))
        return {**{name: _each(value, partial(_words_of, name)) for name, value in named.items()}, "contents": contents}

    def code(self, package: str, names: str | Callable[[Wildcards], str | Iterable[str]]) -> Callable[[Wildcards], str]:
        """A param, the digests of modules that a program imports by names from the settings, and of all they import.

        package: that of the modules, below litm; "" if their names have it. Full names, also of extensions, stay.
        """

        def digests(wanted: str | Iterable[str]) -> str:
            modules = [wanted] if isinstance(wanted, str) else wanted
            return " ".join([CODE, *(self._module_digest(package, name) for name in modules)])

        return _each(names, digests)

    def _module_digest(self, package: str, name: str) -> str:
        module = full_name(package, name)
        path = file_of(module, self._scripts)
        if not path.is_file():
            raise LookupError(f"{self._scripts} has no module {module}")
        return self._code_digest(path)

    def _digest_of_code(self, path: Path) -> str:
        files = [file for module in local_modules(path, self._scripts) for file in self._with_data(module)]
        if self._scripts / MADE_UP in files:
            files += sorted(self._root.glob(WORDS))
        return digest({self._place(file): file_digest(file) for file in files})[:16]

    # The content of inputs

    def _content_of(self, item: Any, wildcards: Wildcards) -> str:
        """The digest of what an input has of files that no rule makes; "" for none that is written without a function.

        A function has a digest in any case, so that the place of each tells its input.
        """
        files = tuple(self._files_not_made(item(wildcards) if callable(item) else item))
        return self._content(files) if files or callable(item) else ""

    def _files_not_made(self, files: str | Iterable[str] | Mapping[str, str | Iterable[str]]) -> Iterator[str]:
        if isinstance(files, str):
            if not self._is_made(files):
                yield files
            return
        for part in files.values() if isinstance(files, Mapping) else files:
            yield from self._files_not_made(part)

    def _is_made(self, file: str) -> bool:
        """Whether a rule makes a file, or a folder around it; users' files may be in `results/` too."""
        if not file.startswith(MADE_HERE):
            return False
        # A pattern is of files that a rule makes. Without the last two parents, `results` and `.`.
        return "{" in file or any(self._is_output(str(path)) for path in (Path(file), *list(Path(file).parents)[:-2]))

    def _sha256(self, file: Path) -> str:
        if file.stat().st_size < LARGE:
            return self._digests.sha256(file)
        kept = FileDigests(DIGESTS, str(file if is_gguf(file) else file.parent))
        return kept.sha256(file, before=_say_reading)


def output_test(workflow: Any) -> Callable[[str], bool]:
    """A function that tells whether a rule makes a file or folder of a path, to be called after all rules are read.

    workflow: Snakemake's. Only rules with outputs in the path's folder are asked: the others take most of the time.
    """

    @cache
    def rules_of(folder: str) -> list[Any]:
        starts = [(rule, str(output).partition("{")[0]) for rule in workflow.rules for output in rule.output]
        return [rule for rule, start in starts if start.startswith(folder) or folder.startswith(start)]

    return lambda path: any(rule.is_producer(path) for rule in rules_of("/".join(path.split("/")[:2])))


def inputs_with(workflow: Any, proxy: Callable[[Any], Any]) -> Callable[[Callable], Sequence[Any]]:
    """A function that gives the inputs of the rule that has a function among its params, after all rules are read.

    workflow, proxy: Snakemake's; the latter gives the inputs of a rule by their names.
    """
    return lambda param: next(proxy(rule).input for rule in workflow.rules if param in rule.params)


def _say_reading(file: Path) -> None:
    if (size := file.stat().st_size) >= WORTH_A_LINE:
        note(f"{file}: hashing its {size / 1e9:.1f} GB, and again only if it changes")


def compared(**named: Any) -> dict[str, Callable[[Wildcards], str]]:
    """Params that are no options of the program, and re-run a job too. Values may be functions of wildcards."""
    return {name: _each(value, partial("{} {}".format, name)) for name, value in named.items()}


def named_files(wildcards: Wildcards, input: Any, output: Any) -> str:
    """A param, each named input and output as an option of its name; Snakemake does not compare what has inputs."""
    return shlex.join([word for name, value in [*input.items(), *output.items()] for word in option(name, value)])


def _words_of(name: str, value: Any) -> str:
    return shlex.join(option(name, value))


def _each(value: Any, words: Callable[[Any], str]) -> Callable[[Wildcards], str]:
    """A function of wildcards: `words` of a value, or of what a value gives for the wildcards."""
    return lambda wildcards: words(value(wildcards) if callable(value) else value)


def _by_name(scripts: Path) -> dict[str, Path]:
    """The path of each program by its name; `LookupError` for two of the same name."""
    programs: dict[str, Path] = {}
    for path in sorted(scripts.rglob("*.py")):
        if path.relative_to(scripts).parts[0] == "litm":
            continue
        if path.stem in programs:
            raise LookupError(f"{path} and {programs[path.stem]} have the same name")
        programs[path.stem] = path
    return programs


# Modules of a program


@cache
def local_modules(script: Path, package_root: Path) -> tuple[Path, ...]:
    """The script and every module under `package_root` that it imports, directly or not, sorted, script first.

    Follows `import` and `from ... import` statements anywhere in a file; modules imported by a computed name are not
    found: see `Programs.code`. Files beside a module in a folder of an extension count too: it may read them.
    """
    modules = {script}
    waiting = [script]
    while waiting:
        new = _imported_files(waiting.pop(), package_root) - modules
        modules |= new
        waiting.extend(new)
    return (script, *sorted(modules - {script}))


@cache
def _imported_files(path: Path, package_root: Path) -> frozenset[Path]:
    around = _root_of(path, package_root)
    if path.suffix != ".py":
        return frozenset()
    parts = path.parent.relative_to(around).parts if around != package_root else ()
    names = imported_names(path.read_text(encoding="utf-8"), ".".join(parts))
    beside = path.parent.iterdir() if len(parts) > 1 else ()
    read = {file for file in beside if file.is_file() and file.suffix not in (".py", ".pyc")}
    return frozenset(file for name in names for file in _module_files(name, package_root)) | read


def imported_names(text: str, package: str = "") -> set[str]:
    """The modules that the code `text` imports, and the names that it imports from modules, which may be modules too.

    Relative imports are those of `package`, and left out without one; those for types alone change no result, and do
    not count. A pattern finds them, because a parser takes a second for all programs, at each start. It may find more
    than Python does, such as a line of a docstring, but no less.
    """
    names: set[str] = set()
    for module, imported, modules in _IMPORT.findall(_OF_TYPES.sub("", text).replace("\\\n", " ")):
        first = _NAME.findall(_COMMENT.sub("", modules or imported).strip("()"))
        if modules:
            names.update(first)
        elif not module.startswith(".") or package:
            full = resolve_name(module, package)
            names.update([full, *(f"{full}.{name}" for name in first)])
    return names


@cache
def _module_files(name: str, package_root: Path) -> tuple[Path, ...]:
    """The files of a module and of the packages around it, if they are the project's or an extension's."""
    extension = folder_of(name)
    package, _, module = name.rpartition(".")
    folder, names, around = _listing(package, extension.parent if extension else package_root)
    if folder is None:
        return ()
    files = [folder / module / "__init__.py"] if module in names else []
    files += [folder / f"{module}.py"] if f"{module}.py" in names else []
    return (*around, *filter(Path.is_file, files))


@cache
def _listing(package: str, root: Path) -> tuple[Path | None, frozenset[str], tuple[Path, ...]]:
    """The folder of a package below `root`, the names in it, and the `__init__.py` of it and of the packages around it.

    The folder is None for other libraries and for what is no package, which most names are of. Cached, because a start
    looks up two thousand names in forty folders.
    """
    if not package:
        return root, frozenset(file.name for file in root.iterdir()), ()
    above, _, last = package.rpartition(".")
    parent, names, around = _listing(above, root)
    if parent is None or last not in names or not (folder := parent / last).is_dir():
        return None, frozenset(), ()
    inside = frozenset(file.name for file in folder.iterdir())
    return folder, inside, (*around, folder / "__init__.py") if "__init__.py" in inside else around


def _with_data(module: Path) -> tuple[Path, ...]:
    """A module's file, and that of its data, which has its name, if there is one."""
    data = module.with_suffix(".yaml")
    return (module, data) if data.is_file() else (module,)


def _root_of(file: Path, root: Path) -> Path:
    """The folder around the extension that has a file; `root` for other files."""
    return next((folder.parent for folder in in_use() if file.is_relative_to(folder)), root)


file_digest = cache(file_sha256)


def job_environment(python: str, scripts: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables for jobs.

    Rules call `python`: the interpreter that runs Snakemake (`python`), unless an environment is activated on top.
    Programs are in the folder `scripts` and import the library from there, wherever it is and whatever runs the job.
    Threads that wait for others leave them the cores. matplotlib has a folder that can be written, or each job warns.
    """
    first = {"PATH": str(Path(python).parent), "PYTHONPATH": scripts}
    paths = {name: os.pathsep.join(filter(None, [folder, environment.get(name)])) for name, folder in first.items()}
    home = environment.get("HOME") or Path.home()
    folders = (environment.get(f"XDG_{name.upper()}_HOME") or f"{home}/.{name}" for name in ("config", "cache"))
    config, cached = (Path(folder, "matplotlib") for folder in folders)
    if not can_write(config) and can_write(cached):
        paths["MPLCONFIGDIR"] = environment.get("MPLCONFIGDIR") or str(cached)
    return {**paths, "LITM_SCRIPTS": scripts, "OMP_WAIT_POLICY": "PASSIVE"}
