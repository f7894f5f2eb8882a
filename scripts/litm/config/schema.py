"""Schemas of YAML entries: a class declares the keys, and a mistake gives one line with its place and remedy."""

import ast
import difflib
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, WrapValidator
from pydantic_core import ErrorDetails

from litm.base.download import check_has_no_password
from litm.base.messages import UserError, quoted, shortened, single_spaced, without_passwords
from litm.base.records import without_surrogates

#: A GGUF file in an installed Python package: the package's name and the path in its folder.
GgufInPackage = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*/[^/].*\.gguf$")]
Hub = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?$")]
#: Type of addresses, which Snakemake and the programs repeat in logs, metadata and results.
NoPassword = AfterValidator(check_has_no_password)
Device = Annotated[
    str,
    Field(pattern=r"^(auto|cpu|cuda(:[0-9]+)?)$", description="auto (a GPU if there is one), cpu, cuda, or cuda:N."),
]

#: Number of values in a config, with aliases expanded: a few lines of nested YAML aliases can expand to billions.
MOST_VALUES = 1_000_000
#: Patterns that no path may contain, because Snakemake replaces them: wildcards and `snakemake.pathvars`.
UNREADABLE = {r"\{.*\}": "stands for a wildcard", "<[a-z][a-z0-9_]*>": "stands for a path variable"}


def check_plain(value: Any, where: str) -> None:
    """Raise `UserError` for a value that JSON lacks (a date, a set, `.nan`), and for more than `MOST_VALUES` values.

    Config files were checked before, with line numbers; values from another workflow or a command line are not.
    """
    try:
        if _count(value, {}) > MOST_VALUES:
            raise UserError(f"{where}: more than {MOST_VALUES:,} values: remove aliases of aliases")
        _check_plain(value, where)
    except RecursionError as error:
        raise UserError(f"{where}: a part of it contains itself, or is nested too deeply") from error


def _count(value: Any, counted: dict[int, int]) -> int:
    """The number of values in a nested value. counted: numbers for containers seen so far, by their id."""
    if not isinstance(value, Mapping | list | tuple):
        return 1
    if id(value) not in counted:
        inner = value.values() if isinstance(value, Mapping) else value
        counted[id(value)] = 1 + sum(_count(one, counted) for one in inner)
    return counted[id(value)]


def _check_plain(value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_plain(inner, f"{where}.{shortened(key)}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check_plain(inner, f"{where}[{index}]")
    elif not isinstance(value, str | int | float | bool | None):
        raise UserError(f"{where}: {value!r:.60} is of the kind '{type(value).__name__}': write it as a text")
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where}: {value} is not a number: write one, or leave it out")
    elif isinstance(value, str) and without_surrogates(value) != value:
        raise UserError(f"{where}: {value!r:.60} has half a character (a lone surrogate): remove it")


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, relative to the working directory or else to the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. Raises `UserError` for a missing path, and
    as `check_names` does.
    """
    shown = shortened(path)
    try:
        for candidate in (Path(path).expanduser(), root / path):
            if candidate.exists():
                found = str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
                check_names([found], where)
                return found
    except (OSError, ValueError, RuntimeError) as error:
        # A name that no file can have, or the home of an unknown user.
        raise UserError(f"{where}: {shown}: {getattr(error, 'strerror', None) or error}") from error
    raise UserError(f"{where}: {shown} does not exist (searched from {Path.cwd()} and from the project's folder)")


def text_names(folder: Path) -> list[str]:
    """Sorted names, without ending, of the .txt files in a folder."""
    return sorted(path.stem for path in folder.glob("*.txt"))


def check_names(files: Iterable[str | Path], where: str) -> None:
    """Raise `UserError` for a path with braces or a word in angle brackets: Snakemake takes them for wildcards and path
    variables, and would read another file or none.
    """
    for file in files:
        for what, meaning in UNREADABLE.items():
            if found := re.search(what, str(file)):
                raise UserError(f"{where}: the path {file} has {found[0]}, which {meaning} here: rename it")


#: Keeps an integer an integer after float limits: 7 and 7.0 are different texts in the key of an answer.
AsGiven = WrapValidator(lambda value, check: (check(value), value)[1])
Positive = Annotated[float, Field(gt=0), AsGiven]
NotNegative = Annotated[float, Field(ge=0), AsGiven]
#: Default of a key that is filled in from another value.
FILLED_IN: Any = None
#: A list of one or more names.
Names = Annotated[tuple[str, ...], Strict(False), Field(min_length=1)]

#: YAML's names of Python types.
TYPE_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list, as in [one, two]",
    tuple: "a list, as in [one, two]",
    dict: "a mapping, as in {key: value}",
    NoneType: "null",
}
#: pydantic's limits: the message on a value beyond one, and pydantic's name of the limit.
LIMITS = {
    "greater_than_equal": ("is less than the minimum of", "ge"),
    "greater_than": ("must be more than", "gt"),
    "less_than_equal": ("is greater than the maximum of", "le"),
    "multiple_of": ("must be a multiple of", "multiple_of"),
    "too_short": ("has too few entries, the minimum is", "min_length"),
    "too_long": ("has too many entries, the maximum is", "max_length"),
    "string_too_short": ("has too few characters, the minimum is", "min_length"),
}
#: Characters of a value and of a list of names in messages; number of nearest names shown of a longer list.
LONGEST_VALUE, LONGEST_LISTING, NEAREST = 100, 400, 8
#: Largest difference between the nearness (0 to 1) of two names for a message to show both.
ABOUT_AS_NEAR = 0.15


class Entry(BaseModel):
    """A mapping in a YAML file: its fields are the keys, with type, default and limits, and a docstring each."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

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
    def key_names(cls) -> list[str]:
        """The keys that an entry may have."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def keys_elsewhere(cls) -> Mapping[str, str]:
        """Keys of other entries that users look for in this one, each with the kind of entry that has it."""
        return {}

    def become(self, cls: type["EntryT"], **values: Any) -> "EntryT":
        """The same entry as an instance of a subclass with further fields, given by `values`."""
        return cls.model_construct(**{**dict(self), **values}).placed(self.where)

    def changed(self, **values: Any) -> Self:
        """The same entry with changed values, which are not validated."""
        return self.model_copy(update=values)

    def placed(self, where: str) -> Self:
        """The same entry at the place `where`, which also gives its name."""
        made = self.model_copy()
        made._where = where
        return made


EntryT = TypeVar("EntryT", bound=Entry)


def descriptions(cls: type[BaseModel]) -> dict[str, str]:
    """The docstrings of the fields of a class and its bases, each on one line, by field.

    Read from the source where a message or the reference needs them: pydantic's `use_attribute_docstrings` would read
    them at every start.
    """
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, BaseModel) and base not in (BaseModel, Entry):
            (made,) = ast.parse(dedent(inspect.getsource(base))).body
            for node, after in pairwise(getattr(made, "body", [])):
                match node, after:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                        found[name] = single_spaced(text)
    return found


@dataclass(frozen=True)
class Variants:
    """Entry classes of one catalogue, selected by the value of a key."""

    key: str
    classes: Mapping[str, type[Entry]]


def read_entry(cls: type[EntryT], value: Any, where: str) -> EntryT:
    """A validated entry; `UserError` for the first mistake, naming `where` and the keys."""
    try:
        entry = cls.model_validate(value)
    except ValidationError as error:
        # The wrong value may be an address, or close to one.
        message = without_passwords(_first_mistake(error.errors(include_url=False), cls, value, where))
        raise UserError(message) from None
    return entry.placed(where)


def read_variant(variants: Variants, value: Mapping, where: str) -> Entry:
    """A validated entry of the class that its key selects; `UserError` also for a key of another class."""
    key, classes = variants.key, variants.classes
    if key not in value:
        raise UserError(f"{where}: '{key}' is missing; allowed: {_listing(classes)}")
    choose([value[key]], classes, f"{where}.{key}")
    cls = classes[value[key]]
    for other in value:
        names = [name for name, one in classes.items() if other in one.key_names()]
        if names and value[key] not in names:
            raise UserError(
                f"{where}: '{other}' is not for '{key}: {value[key]}', only for '{key}: {' or '.join(names)}'; "
                f"allowed: {_listing(cls.key_names())}"
            )
    return read_entry(cls, value, where)


def never(name: str) -> bool:
    """False for every name."""
    return False


def choose(
    names: Iterable[str],
    allowed: Iterable[str],
    where: str,
    hint: str = "",
    is_installed: Callable[[str], bool] = never,
) -> list[str]:
    """The names, in their order, each once; `UserError`, ending with `hint`, for one that is not allowed.

    is_installed: whether an allowed name needs no download; among near ones the message prefers such a name.
    """
    names, allowed = list(names), list(allowed)
    for name in names:
        if name not in allowed:
            raise UserError(f"{where}: {_unknown('name', name, allowed, hint, is_installed)}")
    return list(dict.fromkeys(names))


def one_of(allowed: Callable[[], Iterable[str]]) -> AfterValidator:
    """A validator for texts among names that are computed when an entry is read."""

    def check(name: str) -> str:
        if name not in (names := list(allowed())):
            raise ValueError(_unknown("name", name, names))
        return name

    return AfterValidator(check)


def _unknown(
    what: str, name: str, allowed: Sequence[str], hint: str = "", is_installed: Callable[[str], bool] = never
) -> str:
    meant = _meant(str(name)[:LONGEST_VALUE], [str(one) for one in allowed], is_installed)
    suggestion = f" (did you mean {meant}?)" if meant else ""
    listed = f"allowed: {_listing(allowed, str(name))}"
    return "; ".join(filter(None, [f"unknown {what} '{shortened(name, LONGEST_VALUE)}'{suggestion}", listed, hint]))


def _meant(wanted: str, names: Sequence[str], is_installed: Callable[[str], bool]) -> str:
    """The nearest name, after the nearest installed one if that is about as near; "" if none is near."""
    close = difflib.get_close_matches(wanted, names, n=NEAREST)
    if not close:
        return ""
    installed = next((one for one in close if is_installed(one)), close[0])
    distance = _nearness(wanted, close[0]) - _nearness(wanted, installed)
    if installed == close[0] or distance > ABOUT_AS_NEAR:
        return f"'{close[0]}'"
    return f"'{installed}', which is installed, or '{close[0]}', which is not"


def _nearness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, one).ratio()


def _listing(names: Iterable[Any], wanted: str = "") -> str:
    """All names, or the names nearest to `wanted` if all do not fit a line."""
    names = [str(name) for name in names]
    if len(", ".join(names)) <= LONGEST_LISTING:
        return ", ".join(names)
    nearest = difflib.get_close_matches(wanted[:LONGEST_VALUE], names, n=NEAREST, cutoff=0)
    return f"{', '.join(nearest)} and {len(names) - len(nearest)} more"


# --- Errors of pydantic


@dataclass(frozen=True)
class _Mistake:
    """The mistake at a path of keys; kind: pydantic's error type."""

    path: list[str | int]
    message: str
    kind: str

    @property
    def fit(self) -> tuple[int, bool]:
        """How much of the value is right: the alternative of a union that fits best is taken as the intended one."""
        return len(self.path), not self.kind.endswith("_type")


def _first_mistake(errors: Sequence[ErrorDetails], cls: type[Entry], value: Any, where: str) -> str:
    """One line for the first mistake in the order of keys."""
    mistakes = [_Mistake(*_describe(error, cls, value), error["type"]) for error in errors]
    first = min(mistakes, key=lambda one: [str(part) for part in one.path])
    if first.kind not in ("missing", "extra_forbidden"):
        first = max((one for one in mistakes if one.path[: len(first.path)] == first.path), key=lambda one: one.fit)
    return f"{'.'.join([where, *(shortened(part) for part in first.path)])}: {first.message}"


def _describe(error: ErrorDetails, cls: type[Entry], value: Any) -> tuple[list[str | int], str]:
    """The path of keys to a mistake, and its description."""
    kind, context, path = error["type"], error.get("ctx", {}), _path(error["loc"], value)
    found, wrong = error["input"], path[:-1]
    if kind == "missing":
        return path, f"'{error['loc'][-1]}' is missing: {_lowered(_at(cls, [*path, error['loc'][-1]])[1])}"
    if kind == "extra_forbidden":
        if not wrong and path[-1] in cls.keys_elsewhere():
            return wrong, f"'{path[-1]}' is a key of {cls.keys_elsewhere()[str(path[-1])]}, set it there"
        (allowed,) = (list(_fields(one)) for one in _at(cls, wrong)[0] if _fields(one))
        return wrong, _unknown("key", str(path[-1]), allowed)
    if error["loc"][-1:] == ("[key]",):
        names = _quoted(context.get("expected", "")) or [_at(cls, wrong)[1]]
        return wrong, _unknown("key", str(path[-1]), names)
    if kind == "value_error":
        return path, str(context["error"])
    shown = quoted(found, LONGEST_VALUE)
    if kind == "literal_error" and all(one is NoneType or get_origin(one) is Literal for one in _at(cls, path)[0]):
        return (
            path,
            f"{shown} is not allowed; allowed: {_listing(_quoted(context['expected']), str(found))}",
        )
    if kind == "string_pattern_mismatch":
        return path, f"{shown} is not allowed; it is: {_at(cls, path)[1]}"
    if kind in LIMITS:
        problem, limit = LIMITS[kind]
        return path, f"{shown} {problem} {context[limit]:g}"
    return path, f"must be {_types(_at(cls, path)[0])}, found {shown}"


def _path(location: Sequence[str | int], value: Any) -> list[str | int]:
    """The keys in an error's location, without pydantic's names of alternatives."""
    path: list[str | int] = []
    for part in location:
        is_key = isinstance(value, Mapping) and part in value
        is_index = isinstance(value, list) and isinstance(part, int)
        if is_key or is_index:
            path.append(part)
            value = value[part]
    return path


def _at(cls: type[Entry], path: Iterable[str | int]) -> tuple[list[Any], str]:
    """The allowed types of the value at this path, and the description of the last key that has one."""
    types: list[Any] = [cls]
    description = ""
    for part in path:
        inner: list[Any] = []
        for one in types:
            if field := _fields(one).get(str(part)):
                inner += _alternatives(field[0])
                description = field[1] or description
            elif get_origin(one) is not Literal and (arguments := get_args(one)):
                inner += _alternatives(arguments[-1] if get_origin(one) is dict else arguments[0])
        types = inner
    return types, description


def _fields(cls: Any) -> dict[str, tuple[Any, str]]:
    """Type and description of each key of an entry class; empty for any other type."""
    if isinstance(cls, type) and issubclass(cls, BaseModel):
        fields, said = cls.model_fields.items(), descriptions(cls)
        return {
            field.alias or name: (field.annotation, said.get(name) or field.description or "") for name, field in fields
        }
    return {}


def _alternatives(annotation: Any) -> list[Any]:
    """The types of a union, without annotations, or the single type."""
    if get_origin(annotation) is Annotated:
        return _alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [one for part in get_args(annotation) for one in _alternatives(part)]
    return [annotation]


def _types(types: Sequence[Any]) -> str:
    """The allowed types in YAML's names."""
    names: list[str] = []
    for one in types:
        if get_origin(one) is Literal:
            names += map(str, get_args(one))
            continue
        origin = get_origin(one) or one
        names.append(TYPE_NAMES.get(dict if _fields(one) else origin, getattr(origin, "__name__", str(origin))))
    return " or ".join(dict.fromkeys(names))


def _quoted(expected: str) -> list[str]:
    """The allowed values in pydantic's listing."""
    return re.findall(r"'([^']*)'", expected)


def _lowered(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")
