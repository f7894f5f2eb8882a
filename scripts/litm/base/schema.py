"""Schemas of YAML entries: a class declares the keys, and a mistake gives one line with its place and remedy."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WrapValidator, model_validator
from pydantic_core import ErrorDetails

from litm.base.docstrings import field_docstrings
from litm.base.download import check_has_no_password
from litm.base.extensions import in_use
from litm.base.files import from_here
from litm.base.groups import grouped
from litm.base.json_files import without_surrogates
from litm.base.messages import UserError, quoted, shortened, without_passwords

#: Keeps an integer an integer after float limits: 7 and 7.0 are different texts in the key of an answer.
AsGiven = WrapValidator(lambda value, check: (check(value), value)[1])
Positive = Annotated[float, Field(gt=0), AsGiven]
NotNegative = Annotated[float, Field(ge=0), AsGiven]
Count = Annotated[int, Field(ge=1)]
#: Default of a key that is filled in from another value.
FILLED_IN: Any = None
#: A list of names, and one with at least one name.
AnyNames = Annotated[tuple[str, ...], Field(strict=False)]
Names = Annotated[AnyNames, Field(min_length=1)]
#: A GGUF file in an installed Python package: the package's name and the path in its folder.
GgufInPackage = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*/[^/].*\.gguf$")]
Hub = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$")]
Device = Annotated[str, Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$")]
#: Type of addresses, which Snakemake and the programs repeat in logs, metadata and results.
NoPassword = AfterValidator(check_has_no_password)
T = TypeVar("T")
Test = Callable[[str], bool]
_MADE = object()
#: Type of a field that is no key: its value is made when a study is read.
Made = Annotated[T, _MADE]

#: Characters of a value and of a list of names in messages; number of nearest names shown of a longer list.
LONGEST_VALUE, LONGEST_LISTING, NEAREST = 100, 400, 8
#: Largest difference between the nearness (0 to 1) of two names for a message to show both.
ABOUT_AS_NEAR = 0.15
#: Number of values in a config, with aliases expanded, and of levels: a few lines of nested YAML aliases can expand to
#: billions, and a value may contain itself.
MOST_VALUES, DEEPEST = 1_000_000, 100
#: Patterns that no path may contain, because Snakemake replaces them: wildcards and `snakemake.pathvars`.
UNREADABLE = {r"\{.*\}": "stands for a wildcard", "<[a-z][a-z0-9_]*>": "stands for a path variable"}


class Ref:
    """Declares that the texts of a field, or the keys of its mapping, are names of entries of these kinds.

    A kind is that of a catalogue, or, as `questions.file`, its entries that have a key. hint: a remedy, for messages.
    """

    def __init__(self, *kinds: str, keys: bool = False, hint: str = "") -> None:
        self.kinds, self.keys, self.hint = kinds, keys, hint


class PathTo:
    """Declares that a field is a path, or a name of an entry of the kind `unless`.

    check: raises `UserError` unless the file or folder is what is wanted; it gets the path, and the key for messages.
    """

    def __init__(self, check: Callable[[str, str], None], unless: str = "") -> None:
        self.check, self.unless = check, unless


@dataclass(frozen=True, kw_only=True)
class Role:
    """Declares what a key does to an answer."""

    detail: str = field(kw_only=False)
    """What it does in words, for docs/answers.md."""
    counts: bool = False
    """Whether it is part of the key of an answer."""
    is_sparse: bool = False
    """Whether its default is left out, so that answers from before the key keep their keys."""
    is_apart: bool = False
    """Whether its value is given in another form than by `Entry.of_role`."""


@dataclass(frozen=True, kw_only=True)
class Answer(Role):
    """A key that changes answers."""

    counts: bool = True


class Run(Role):
    """A key that changes how an engine runs, and no answer."""


class Place(Role):
    """A key that tells where a model or file is: it counts if it names what is there."""


class Workflow(Role):
    """A key that engines do not see: it is for jobs, tables or figures, and changes no answer."""


class Entry(BaseModel):
    """A mapping in a YAML file: its fields are the keys, with type, default and limits, and a docstring each."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    #: Keys of other entries that users look for in this one, each with the kind of entry that has it.
    elsewhere: ClassVar[Mapping[str, str]] = {}
    #: Whether each key must have a role.
    has_roles: ClassVar[bool] = False
    #: The keys that an entry may have, each with its field; the types' declarations, each with its key; the roles.
    keys: ClassVar[dict[str, str]] = {}
    declared: ClassVar[list[tuple[Any, str]]] = []
    roles: ClassVar[dict[str, Role]] = {}
    _where: str = ""

    @property
    def where(self) -> str:
        """The place of the entry for messages, such as `models.reference`."""
        return self._where

    @property
    def name(self) -> str:
        """The name of the entry in its catalogue."""
        return self._where.partition(".")[2]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        fields = {name: info for name, info in cls.model_fields.items() if _MADE not in info.metadata}
        cls.keys = {info.alias or name: name for name, info in fields.items()}
        cls.declared = [(mark, key) for key, name in cls.keys.items() for mark in fields[name].metadata]
        # Of fields that are no keys too: an engine without such a key has the same value for all its models.
        declared = {info.alias or name: info.metadata for name, info in cls.model_fields.items()}
        cls.roles = {key: mark for key, marks in declared.items() for mark in marks if isinstance(mark, Role)}
        if cls.has_roles and (silent := [key for key in cls.keys if key not in cls.roles]):
            roles = ", ".join(role.__name__ for role in (Answer, Run, Place, Workflow))
            raise TypeError(f"{cls.__name__}: the key '{silent[0]}' declares no role: add one of {roles} to its type")

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: Any) -> Any:
        """Raise ValueError for an unknown or a missing key."""
        if not isinstance(value, Mapping):
            return value
        for key in value:
            if key in cls.elsewhere:
                raise ValueError(f"'{key}' is a key of {cls.elsewhere[key]}, set it there")
            if key not in cls.keys:
                raise ValueError(_unknown("key", str(key), list(cls.keys)))
        for key, name in cls.keys.items():
            if cls.model_fields[name].is_required() and key not in value:
                what = docstrings(cls)[name]
                raise ValueError(f"'{key}' is missing: {what[:1].lower()}{what[1:]}".rstrip("."))
        return value

    def mistakes(self) -> Iterator[str]:
        """A sentence on each keys that are right by themselves and not together."""
        yield from ()

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        for mistake in self.mistakes():
            raise ValueError(mistake)
        return self

    def of_role(self, role: type[Role]) -> dict[str, Any]:
        """The values of the keys of a role."""
        names = {key: self.keys.get(key, key) for key, declared in self.roles.items() if isinstance(declared, role)}
        values = {key: getattr(self, name) for key, name in names.items() if not self.roles[key].is_apart}
        sparse = {
            key: type(self).model_fields[name].default for key, name in names.items() if self.roles[key].is_sparse
        }
        return {key: value for key, value in values.items() if key not in sparse or value != sparse[key]}

    def changed(self, **values: Any) -> Self:
        """The same entry with changed values, which are not validated."""
        return self.model_copy(update=values)

    def placed(self, where: str) -> Self:
        """The same entry at the place `where`, which also gives its name."""
        entry = self.model_copy()
        entry._where = where
        return entry

    def referred(self, where: str = "") -> Iterator[tuple[Ref, str, str]]:
        """Each name of another entry in this one, after its declaration and before its place."""
        where = where or self.where
        for key, name in self.keys.items():
            if isinstance(value := getattr(self, name), Entry):
                yield from value.referred(f"{where}.{key}")
        for ref, key in self.declared:
            if isinstance(ref, Ref) and (value := getattr(self, self.keys[key])):
                texts = value.values() if isinstance(value, Mapping) and not ref.keys else value
                yield from ((ref, name, f"{where}.{key}") for name in ([texts] if isinstance(texts, str) else texts))

    def check_references(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise `UserError` for a name of another entry that is unknown or this one's. entries: by kind and name."""
        for ref, name, where in self.referred():
            allowed = [known_name for kind in ref.kinds for known_name in _having(entries, *kind.split("."))]
            choose([name], allowed, where, ref.hint)
            if f"{ref.kinds[0]}.{name}" == self.where:
                raise UserError(f"{where}: it is {name} itself; name the other one")

    def located(self, root: Path, entries: Mapping[str, Mapping[str, Any]]) -> Self:
        """The entry with its paths relative to the working directory; `UserError` for one that is not what is wanted.

        entries: by kind and name.
        """
        paths = {}
        for path, key in self.declared:
            value = getattr(self, self.keys[key])
            if isinstance(path, PathTo) and isinstance(value, str) and value not in entries.get(path.unless, ()):
                paths[self.keys[key]] = locate(value, root, f"{self.where}.{key}")
                path.check(paths[self.keys[key]], f"{self.where}.{key}")
        return self.changed(**paths) if paths else self


EntryT = TypeVar("EntryT", bound=Entry)


def _having(entries: Mapping[str, Mapping[str, Any]], kind: str, key: str = "") -> list[str]:
    """The names of the entries of a kind that have a key."""
    return [name for name, entry in entries[kind].items() if not key or getattr(entry, key) is not None]


def docstrings(cls: type[BaseModel]) -> dict[str, str]:
    """The docstring of each field of a class and its bases, on one line.

    pydantic's `use_attribute_docstrings` would read them at every start.
    """
    texts = {name: info.description or "" for name, info in cls.model_fields.items()}
    for base in reversed(cls.__mro__):
        if issubclass(base, Entry) and base is not Entry:
            texts |= field_docstrings(base)
    return texts


def read_entry(cls: type[EntryT], value: Any, where: str) -> EntryT:
    """A validated entry; `UserError` for the first mistake, naming `where` and the keys."""
    try:
        entry = cls.model_validate(value)
    except ValidationError as error:
        # The wrong value may be an address, or close to one.
        message = without_passwords(_first_mistake(error.errors(include_url=False), cls, value, where))
        raise UserError(message) from None
    return entry.placed(where)


@dataclass(frozen=True)
class Variants:
    """Entry classes of one catalogue, selected by the value of a key."""

    key: str
    """The key whose value selects the class."""
    classes: Mapping[str, type[Entry]]
    """The class of an entry by that value."""

    def class_of(self, value: Mapping) -> type[Entry] | None:
        """The class that an entry's key selects; None if the key is missing or unknown, which `read` refuses."""
        name = value.get(self.key)
        return self.classes.get(name) if isinstance(name, str) else None

    def read(self, value: Mapping, where: str) -> Entry:
        """A validated entry of the class that its key selects; `UserError` also for a key of another class."""
        key, classes = self.key, self.classes
        if key not in value:
            raise UserError(f"{where}: '{key}' is missing; allowed: {listing(classes)}")
        choose([value[key]], classes, f"{where}.{key}")
        cls = classes[value[key]]
        for other in value:
            names = [name for name, entry_class in classes.items() if other in entry_class.keys]
            if names and value[key] not in names:
                raise UserError(
                    f"{where}: '{other}' is not for '{key}: {value[key]}', only for '{key}: {' or '.join(names)}'; "
                    f"allowed: {listing(cls.keys)}"
                )
        return read_entry(cls, value, where)


def one_of(allowed: Callable[[], Iterable[str]]) -> AfterValidator:
    """A validator for texts among names that are computed when an entry is read."""

    def check(name: str) -> str:
        if name not in (names := list(allowed())):
            raise ValueError(_unknown("name", name, names))
        return name

    return AfterValidator(check)


def choose(
    names: Iterable[str], allowed: Iterable[str], where: str, hint: str = "", is_installed: Test = lambda name: False
) -> list[str]:
    """The names, in their order, each once; `UserError`, ending with `hint`, for one that is not allowed.

    is_installed: whether an allowed name needs no download; among near ones the message prefers such a name.
    """
    names, allowed = list(names), list(allowed)
    for name in names:
        if name not in allowed:
            raise UserError(f"{where}: {_unknown('name', name, allowed, hint, is_installed)}")
    return list(dict.fromkeys(names))


def _unknown(
    what: str, name: str, allowed: Sequence[str], hint: str = "", is_installed: Test = lambda name: False
) -> str:
    meant = _meant(str(name)[:LONGEST_VALUE], [str(allowed_name) for allowed_name in allowed], is_installed)
    suggestion = f" (did you mean {meant}?)" if meant else ""
    listed = f"allowed: {listing(allowed, str(name))}"
    return "; ".join(filter(None, [f"unknown {what} '{shortened(name, LONGEST_VALUE)}'{suggestion}", listed, hint]))


def _meant(wanted: str, names: Sequence[str], is_installed: Test) -> str:
    """The nearest name, after the nearest installed one if that is about as near; "" if none is near."""
    close = difflib.get_close_matches(wanted, names, n=NEAREST)
    if not close:
        return ""
    installed = next((candidate for candidate in close if is_installed(candidate)), close[0])
    nearness = [difflib.SequenceMatcher(None, candidate, wanted).ratio() for candidate in (close[0], installed)]
    if installed == close[0] or nearness[0] - nearness[1] > ABOUT_AS_NEAR:
        return f"'{close[0]}'"
    return f"'{installed}', which is installed, or '{close[0]}', which is not"


def listing(names: Iterable[Any], wanted: str = "") -> str:
    """All names, or the names nearest to `wanted` if all do not fit a line."""
    names = [str(name) for name in names]
    if len(", ".join(names)) <= LONGEST_LISTING:
        return ", ".join(names)
    nearest = difflib.get_close_matches(wanted[:LONGEST_VALUE], names, n=NEAREST, cutoff=0)
    return f"{', '.join(nearest)} and {len(names) - len(nearest)} more"


def _first_mistake(errors: Sequence[ErrorDetails], cls: type[Entry], value: Any, where: str) -> str:
    """One line for the first mistake in the order of keys; of a union, for the alternative that fits best."""
    by_path = grouped(errors, lambda error: _path(error["loc"], value))
    first = min(by_path, key=lambda path: [str(part) for part in path])
    path = max((path for path in by_path if path[: len(first)] == first), key=len)
    of_kind = [error for error in by_path[path] if not error["type"].endswith(("_type", "literal_error"))]
    return f"{'.'.join([where, *map(shortened, path)])}: {_words(of_kind or by_path[path], path, cls)}"


def _words(errors: Sequence[ErrorDetails], path: Sequence, cls: type[Entry]) -> str:
    """The words for a wrong value: pydantic's, where none of ours fit better."""
    error, shown = errors[0], quoted(errors[0]["input"], LONGEST_VALUE)
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "string_pattern_mismatch":
        key = cls.keys.get(str(path[0]))
        return f"{shown} is not allowed; it is: {docstrings(cls)[key] if key else error['msg']}"
    head = "input should be "
    said = [f"{error['msg'][0].lower()}{error['msg'][1:]}".replace("tuple", "list") for error in errors]
    if all(text.startswith(head) for text in said):
        said = [f"{head}{' or '.join(dict.fromkeys(text.removeprefix(head) for text in said))}"]
    literals = [error["msg"] for error in errors if error["type"] == "literal_error"]
    names = [name for text in literals for name in re.findall("'(.*?)'", text)]
    meant = _meant(str(error["input"])[:LONGEST_VALUE], names, lambda name: False)
    return f"{said[0]}, found {shown}{f' (did you mean {meant}?)' if meant else ''}"


def _path(location: Sequence[str | int], value: Any) -> tuple[str | int, ...]:
    """The keys in an error's location, without pydantic's names of alternatives."""
    path: list[str | int] = []
    for part in location:
        if (isinstance(value, Mapping) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            path.append(part)
            value = value[part]  # type: ignore[index]
    return tuple(path)


# --- Values


def check_plain(value: Any, where: str) -> None:
    """Raise `UserError` for a value that JSON lacks (a date, a set, `.nan`), and for more than `MOST_VALUES` values.

    Config files were checked before, with line numbers; values from another workflow or a command line are not.
    """
    waiting, seen = [(value, where, 0)], 0
    while waiting:
        item, place, depth = waiting.pop()
        seen += 1
        if seen > MOST_VALUES or depth > DEEPEST:
            raise UserError(
                f"{where}: more than {MOST_VALUES:,} values, or more than {DEEPEST} in one another: remove aliases"
            )
        if isinstance(item, Mapping):
            waiting += [(inner, f"{place}.{shortened(key)}", depth + 1) for key, inner in item.items()]
        elif isinstance(item, list | tuple):
            waiting += [(inner, f"{place}[{index}]", depth + 1) for index, inner in enumerate(item)]
        elif isinstance(item, str) and without_surrogates(item) != item:
            raise UserError(f"{place}: {item!r:.60} has half a character (a lone surrogate): remove it")
        elif not isinstance(item, str | int | float | bool | None) or (
            isinstance(item, float) and not math.isfinite(item)
        ):
            raise UserError(
                f"{place}: {item!r:.60} ({type(item).__name__}) is no text, finite number, true, false or null: "
                "write one"
            )


def string_keys(value: Any) -> Any:
    """A nested value with all mapping keys as strings: YAML reads sizes as numbers, JSON as strings."""
    if isinstance(value, Mapping):
        return {str(key): string_keys(item) for key, item in value.items()}
    return [string_keys(item) for item in value] if isinstance(value, list) else value


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, relative to the working directory, or else to the project's folder or that of an extension.

    Relative paths stay relative, so that a moved checkout is the same study. Raises `UserError` for a missing path, and
    as `check_names` does.
    """
    shown = shortened(path)
    try:
        for candidate in (Path(path).expanduser(), root / path, *(folder / path for folder in in_use())):
            if candidate.exists():
                located = str(candidate) if Path(path).is_absolute() else from_here(candidate)
                check_names([located], where)
                return located
    except (OSError, ValueError, RuntimeError) as error:
        # A name that no file can have, or the home of an unknown user.
        raise UserError(f"{where}: {shown}: {getattr(error, 'strerror', None) or error}") from error
    raise UserError(f"{where}: {shown} does not exist (searched from {Path.cwd()} and from the project's folder)")


def extension_folder(name: str, root: Path) -> str:
    """The folder of an extension: at a path, as others of the config, or else of an installed package."""
    if not name.isidentifier() or any((where / name).is_dir() for where in (Path(), root)):
        return locate(name, root, "config.extensions")
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"config.extensions: there is no folder {name}, here or in {root}, and no installed package")
    return spec.submodule_search_locations[0]


def text_names(folder: Path) -> list[str]:
    """Sorted names, without ending, of the .txt files in a folder that Snakemake can read."""
    names = (path.stem for path in folder.glob("*.txt"))
    return sorted(name for name in names if not any(re.search(what, name) for what in UNREADABLE))


def check_names(files: Iterable[str | Path], where: str) -> None:
    """Raise `UserError` for a path with braces or a word in angle brackets: Snakemake takes them for wildcards and path
    variables, and would read another file or none.
    """
    for file in files:
        for what, meaning in UNREADABLE.items():
            if match := re.search(what, str(file)):
                raise UserError(f"{where}: the path {file} has {match[0]}, which {meaning} here: rename it")


def is_file(path: str, where: str, hint: str = "") -> None:
    """Raise `UserError`, ending with `hint`, unless the path is a file."""
    if not Path(path).is_file():
        raise UserError(f"{where}: {path} is not a file{hint}")


def is_anything(path: str, where: str) -> None:
    """Accept every path that exists."""
