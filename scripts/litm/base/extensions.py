"""Extensions: users' packages with further tasks, metrics, engines and more, in folders of these names.

The folders in use are in an environment variable, which a run sets for its jobs from its config.
"""

import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar

from litm.base.messages import SCRIPTS, UserError, shortened, single_spaced

T = TypeVar("T")
VARIABLE = "LITM_EXTENSIONS"
#: What an extension may have, a folder each: modules, and files by their endings.
MODULES = ("tasks", "metrics", "engines", "corpora", "figures")
FILES = {"prompts": ".txt", "prompt_templates": ".txt", "config": ".yaml"}


def in_use() -> tuple[Path, ...]:
    """The folders of the extensions in use, absolute, in the order of the config."""
    return tuple(map(Path, filter(None, os.environ.get(VARIABLE, "").split(os.pathsep))))


def use(folders: Iterable[str]) -> None:
    """From now on these extensions are in use, in this process and those that it starts.

    Raises `UserError` for a folder that is no extension, or cannot be a package of its name.
    """
    paths = [Path(os.path.normpath(Path(folder).absolute())) for folder in dict.fromkeys(folders)]
    os.environ[VARIABLE] = os.pathsep.join(map(str, paths))
    for folder in paths:
        if not any((folder / kind).is_dir() for kind in (*MODULES, *FILES)):
            raise UserError(f"{shown(folder)}: an extension has one of the folders {', '.join((*MODULES, *FILES))}")
        if not folder.name.isidentifier() or os.pathsep in str(folder):
            raise UserError(f"{shown(folder)}: Python cannot import this name: use letters, digits and underscores")
        _make_package(folder)


def _make_package(folder: Path) -> None:
    """Let Python import a folder as a package of its name, wherever it is, unless it does so already."""
    if installed := find_spec(folder.name):
        if str(folder.resolve()) not in map(os.path.realpath, installed.submodule_search_locations or ()):
            raise UserError(f"{shown(folder)}: Python has another package {folder.name}: rename this folder")
        return
    spec = PathFinder.find_spec(folder.name, [str(folder.parent)])
    assert spec, "a folder is a package"
    package = sys.modules[folder.name] = module_from_spec(spec)
    package.__path__ = [str(folder)]
    # None without an __init__.py.
    if spec.loader:
        spec.loader.exec_module(package)


def shown(path: Path) -> str:
    """A path for a message: relative where it is below the working directory."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


# Modules


def folder_of(module: str) -> Path | None:
    """The folder of the extension that has a module of this full name; None for any other module."""
    return next((folder for folder in in_use() if folder.name == module.partition(".")[0]), None)


def file_of(module: str, scripts: Path = SCRIPTS) -> Path:
    """The file of a module, of an extension or below `scripts`."""
    return (folder.parent if (folder := folder_of(module)) else scripts).joinpath(*module.split(".")).with_suffix(".py")


def full_name(package: str, module: str) -> str:
    """The full name of a module of this library's package, such as `figures`; a full name as it is."""
    return module if module.startswith("litm.") or folder_of(module) else f"litm.{package}.{module}"


def load(module: str) -> ModuleType:
    """A module by its full name; `UserError` with file and line for an error while it is imported."""
    folder = folder_of(module)
    try:
        if folder:
            _make_package(folder)
        return import_module(module)
    except UserError:
        raise
    except Exception as error:
        raise UserError(_one_line(error, folder or file_of(module).parent)) from error


def _one_line(error: Exception, folder: Path) -> str:
    """The last place in a folder that an error passed, and what is wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames if Path(frame.filename).is_relative_to(folder)]
    what = str(error)
    if isinstance(error, SyntaxError) and error.filename:
        places, what = [(error.filename, error.lineno)], error.msg
    file, line = places[-1] if places else (str(folder), None)
    return f"{shown(Path(file))}:{line}: {type(error).__name__}: {shortened(single_spaced(what))}"


def declared(name: str, kind: type[T]) -> Callable[[str], dict[str, T]]:
    """A function that gives the entries of a module's dictionary; `UserError` unless all are of a kind."""

    def read(module: str) -> dict[str, T]:
        entries = getattr(load(module), name, None)
        if not isinstance(entries, dict) or not all(isinstance(entry, kind) for entry in entries.values()):
            raise UserError(f"{shown(file_of(module))}: '{name}' must be a dictionary of {kind.__name__} by name")
        return entries

    return read


# Entries


def merged(kind: str, built_in: Mapping[str, T], more: Iterable[tuple[Path, Mapping[str, T]]]) -> dict[str, T]:
    """Entries by name: the built-in ones, and those of extensions, each mapping after its file.

    Raises `UserError` for a name that is there already.
    """
    entries = dict(built_in)
    for file, added in more:
        if taken := next(filter(entries.__contains__, added), None):
            other = "a built-in one" if taken in built_in else "another extension"
            raise UserError(f"{shown(file)}: the name {taken} of {kind} is taken by {other}: rename it")
        entries |= added
    return entries


class Registry(Mapping[str, T]):
    """Built-in entries and those of extensions by name, found when they are first read, and anew for other extensions.

    read: what a module, by its full name, has; built_in: entries apart from those of the modules of `package`.
    """

    all: ClassVar[dict[str, "Registry"]] = {}

    def __init__(
        self,
        kind: str,
        read: Callable[[str], Mapping[str, T]],
        built_in: Mapping[str, T] | None = None,
        package: Any = None,
    ) -> None:
        def modules(names: str, folders: Iterable[str]) -> Iterator[tuple[Path, Mapping[str, tuple[T, str]]]]:
            for info in pkgutil.iter_modules(folders):
                if not info.name.startswith("_"):
                    module = f"{names}.{info.name}"
                    yield file_of(module), {name: (entry, module) for name, entry in read(module).items()}

        def find(extensions: Iterable[Path]) -> dict[str, tuple[T, str]]:
            entries = merged(kind, {}, modules(package.__name__, package.__path__)) if package else {}
            entries |= {name: (entry, "") for name, entry in (built_in or {}).items()}
            by_folder = (modules(f"{folder.name}.{kind}", [str(folder / kind)]) for folder in extensions)
            return merged(kind, entries, chain.from_iterable(by_folder))

        self._find = cache(find)
        Registry.all[kind] = self

    def __getitem__(self, name: str) -> T:
        return self._find(in_use())[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find(in_use()))

    def __len__(self) -> int:
        return len(self._find(in_use()))

    def module_of(self, name: str) -> str:
        """The full name of the module that has an entry; "" for those of `built_in`."""
        return self._find(in_use())[name][1]

    def names_of(self, folder: Path) -> list[str]:
        """The names of the entries of an extension."""
        return [name for name in self if folder_of(self.module_of(name)) == folder]


def files(kind: str, name: str = "*") -> Iterator[Path]:
    """The extensions' files of a kind, or those of a name."""
    return (file for folder in in_use() for file in sorted((folder / kind).glob(f"{name}{FILES[kind]}")))


def text_file(kind: str, name: str) -> Path:
    """A prompt or prompt template: the file of an extension, or the project's, relative to its folder."""
    return next(files(kind, name), Path("resources", kind, f"{name}.txt"))


def names_in(folder: Path) -> dict[str, list[str]]:
    """The names of what an extension has, by kind."""
    names = {kind: Registry.all[kind].names_of(folder) for kind in MODULES}
    return names | {kind: [file.stem for file in files(kind) if folder in file.parents] for kind in FILES}


def content(folder: Path) -> list[Path]:
    """The files that make an extension what it is, sorted."""
    patterns = ["*.py", *(f"{kind}/**/*.py" for kind in MODULES), *(f"{kind}/*{end}" for kind, end in FILES.items())]
    return sorted(file for pattern in patterns for file in folder.glob(pattern))
