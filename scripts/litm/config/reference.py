"""The reference of the configuration, written from the classes of its entries: JSON schemas and pages of tables."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from inspect import cleandoc
from operator import or_
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from litm.base.files import with_parts
from litm.base.schema import Entry, Variants, docstrings
from litm.config.catalogue import CATALOGUES, MODELS, Config
from litm.config.data import Dataset
from litm.config.experiments import Experiment
from litm.engines.local_models import LoadedModel, LocalModel
from litm.engines.registry import engine_facts, engine_names
from litm.engines.served_models import ServedModel
from litm.models.locations import NOT_READ, PARTS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_HEADER = "# Written by `make reference` from the classes in scripts/litm/config.\n"
#: Keys that the page only names, because they are described with the models.
NAMED_ONLY = ("config.model_defaults",)
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}
LIMITS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
#: Classes whose keys may be part of the key of an answer, as their roles say.
OF_ANSWERS: dict[str, type[Entry]] = {
    "A model that runs here": LocalModel,
    "A model that a server runs": ServedModel,
    "An experiment": Experiment,
    "A dataset": Dataset,
}
#: Words of details that fit beside their key, as they say in which way it is part of the key of an answer.
PLAIN = ("as written", "through the prompts", "its name")


class _Generator(GenerateJsonSchema):
    """JSON schemas with descriptions, without titles of keys and without nulls for keys that are left out."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        json_schema, cls = super().model_schema(schema), schema["cls"]
        engines = "; ".join(f"{name}: {engine_facts(name).about}" for name in engine_names())
        said, properties = docstrings(cls), json_schema["properties"]
        json_schema["properties"] = {
            key: {**properties[key], "description": said[name].replace("{engines}", engines)}
            for key, name in cls.keys.items()
        }
        return json_schema

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        json_schema = super().default_schema(schema)
        if json_schema.get("default") in (None, {}, []):
            json_schema.pop("default", None)
        return json_schema

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        json_schema = super().dict_schema(schema)
        return {"additionalProperties": False, **json_schema} if "patternProperties" in json_schema else json_schema


def reference_files(root: Path) -> dict[str, str]:
    """Texts of the reference's files, by path in the project."""
    files = {
        f"config/schemas/{name}.schema.yaml": SCHEMA_HEADER
        + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
        for name, schema in json_schemas().items()
    }
    parts = {
        "docs/configuration.md": {"keys": "\n".join(_keys()).strip()},
        "docs/answers.md": _answers(),
        "docs/what_re_runs_when.md": {"changes": _changes(root / "docs" / "what_re_runs_when.yaml")},
    }
    return files | {page: with_parts((root / page).read_text(encoding="utf-8"), texts) for page, texts in parts.items()}


def key_roles(cls: type[Entry]) -> dict[str, tuple[bool, str]]:
    """By key of a class, or of the engines whose models it describes: whether it is part of the key of an answer, and
    the words for it.
    """
    engines = {name: engine for name, engine in MODELS.classes.items() if issubclass(engine, cls)} or {"": cls}
    roles: dict[str, tuple[bool, str]] = {}
    for key, described in {key: engine for engine in engines.values() for key in engine.keys}.items():
        having = [name for name, engine in engines.items() if key in engine.keys]
        only = f"`engine: {' or '.join(having)}`: " if len(having) < len(engines) else ""
        roles[key] = (described.roles[key].counts, f"{only}{described.roles[key].detail}")
    return roles


def _answers() -> dict[str, str]:
    """The parts of docs/answers.md: the keys of each kind of entry in lines, and a table of those with more to say."""
    lines, table = [], ["| kind of entry | key | what of it is part of the key |", "|---|---|---|"]
    for title, cls in OF_ANSWERS.items():
        parts, others = dict[str, str](), dict[str, str]()
        for key, (is_part, text) in key_roles(cls).items():
            (parts if is_part else others)[key] = text
        remarked = {key: text for key, text in parts.items() if not any(words in text for words in PLAIN)}
        table += [f"| {title[0].lower()}{title[1:]} | `{key}` | {text} |" for key, text in remarked.items()]
        lines.append(f"- **{title}**, part of the key: {_with_remarks({**parts, **dict.fromkeys(remarked, '')})}.")
        lines.append(f"- **{title}**, no part: {_with_remarks(others)}.")
    files = {"Part of the key": PARTS, "No part, because they change no answer": NOT_READ}
    return {
        "keys": "\n".join([*lines, "", *table]),
        "files": "\n".join(
            f"- **{which}**: {', '.join(f'`{pattern}`' for pattern in patterns)}." for which, patterns in files.items()
        ),
    }


def _with_remarks(keys: Mapping[str, str]) -> str:
    """Keys on a line, those with one remark before it."""
    groups: dict[str, list[str]] = {}
    for key, remark in keys.items():
        groups.setdefault(remark, []).append(f"`{key}`")
    return "; ".join(f"{', '.join(names)}{f' ({remark})' if remark else ''}" for remark, names in groups.items())


def _changes(file: Path) -> str:
    """The table of what a change runs again. file: the changes, with the jobs that the tests find."""
    page = yaml.safe_load(file.read_text(encoding="utf-8"))
    lines = ["| change | what runs | prompts sent to the model |", "|---|---|---|"]
    for row in (change for change in page["changes"] if "do" in change):
        jobs, (new, has_answers) = row.get("jobs", {}), row.get("asked", (1, 1))
        words = [text for rule, text in page["words"].items() if rule in jobs]
        if "score" in jobs:
            words = words[: words.index(page["words"]["score"]) + 1]
        runs = (", ".join(dict.fromkeys(words)) or "nothing") + (f" ({row['about']})" if "about" in row else "")
        asked = ("those without an answer" if has_answers else "all") if new else "none: the answers are kept"
        back = "; none when undone" if "back" in row else ""
        lines.append(f"| {row['do']} | {runs} | {asked if 'generate' in jobs else 'none'}{back} |")
    return "\n".join(lines)


def json_schemas() -> dict[str, dict]:
    """JSON schemas of the configuration's files, by file name without ending."""
    files: dict[str, Any] = {"config": Config}
    for kind, entries in CATALOGUES.items():
        union: Any = reduce(or_, _classes(entries))
        files[kind] = dict[str, union]
    schemas = {name: {"$schema": DIALECT, **_json_schema(type_)} for name, type_ in files.items()}
    # A user's config may leave out any key that the default config has.
    del schemas["config"]["required"]
    return schemas


def _keys() -> Iterator[str]:
    """The tables of the keys of each kind of entry."""
    yield from _section("config.yaml", "config", [Config])
    for kind, entries in CATALOGUES.items():
        key = entries.key if isinstance(entries, Variants) else ""
        bases: list[type[Entry]] = [LocalModel, LoadedModel, ServedModel] if entries is MODELS else []
        yield from _section(f"{kind}.yaml", kind, [*bases, *_classes(entries)], key)


def _classes(entries: type[Entry] | Variants) -> list[type[Entry]]:
    return list(dict.fromkeys(entries.classes.values())) if isinstance(entries, Variants) else [entries]


def _json_schema(type_: Any) -> dict:
    schema = TypeAdapter(type_).json_schema(schema_generator=_Generator)
    for cls in (schema, *schema.get("$defs", {}).values()):
        if "description" in cls:
            cls["description"] = " ".join(cls["description"].split())
    return schema


def _section(title: str, where: str, classes: Sequence[type[Entry]], key: str = "") -> Iterator[str]:
    """The tables of a file; keys that all classes share come first."""
    rows = [_rows(_json_schema(cls), where) for cls in classes]
    shared = {name: row for name, row in rows[0].items() if all(keys.get(name) == row for keys in rows)}
    yield f"## {title}\n"
    if len(classes) > 1:
        yield f"`{key}` is the kind of the entry. All kinds have these keys:\n"
        yield _table(shared)
    for cls, keys in zip(classes, rows, strict=True):
        summary, _, more = cleandoc(cls.__doc__ or "").partition("\n\n")
        if len(classes) > 1:
            summary = f"### {summary.rstrip('.')}"
            inherited = [rows[classes.index(base)] for base in cls.__mro__[1:] if base in classes]
            above = {name for table in [shared, *inherited] for name, row in table.items() if keys.get(name) == row}
            keys = {name: row for name, row in keys.items() if name not in above}
        yield from (f"{text}\n" for text in (summary, more) if text)
        if keys:
            yield _table(keys)


def _table(rows: Mapping[str, Sequence[str]]) -> str:
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, cells in rows.items():
        lines.append(f"| {' | '.join(text.replace('|', '&#124;') for text in (f'`{name}`', *cells))} |")
    return "\n".join([*lines, ""])


def _rows(schema: Mapping, where: str) -> dict[str, tuple[str, str, str]]:
    """Type, default and meaning of each key of a schema and of nested mappings, by the path of keys."""
    return dict(_nested_rows(schema, schema.get("$defs", {}), "", where))


def _nested_rows(
    schema: Mapping, definitions: Mapping, prefix: str, where: str
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    for name, field in schema.get("properties", {}).items():
        required = "required" if name in schema.get("required", []) else ""
        default = f"`{json.dumps(field['default'])}`" if field.get("default") not in (None, {}, []) else required
        alternatives = [option for option in _alternatives(field, definitions) if option.get("type") != "null"]
        types = dict.fromkeys(_type(option, definitions) for option in alternatives)
        yield f"{prefix}{name}", (" or ".join(types), default, field.get("description", ""))
        if f"{where}.{prefix}{name}" not in NAMED_ONLY:
            for option in alternatives:
                inner, mark = _innermost(option, definitions)
                yield from _nested_rows(inner, definitions, f"{prefix}{name}{mark}.", where)


def _alternatives(schema: Mapping, definitions: Mapping) -> list[Mapping]:
    """The schemas of a union, or the single schema, with references resolved."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    parts = schema.get("anyOf")
    return [option for part in parts for option in _alternatives(part, definitions)] if parts else [schema]


def _innermost(schema: Mapping, definitions: Mapping) -> tuple[Mapping, str]:
    """The schema of a list's items or a mapping's values, and the mark for that nesting in a path."""
    inner, mark = schema.get("items"), "[]"
    if not inner:
        inner, mark = schema.get("additionalProperties"), ".*"
    if not isinstance(inner, Mapping):
        return schema, ""
    (first, *_) = _alternatives(inner, definitions)
    schema, more = _innermost(first, definitions)
    return schema, mark + more


def _type(schema: Mapping, definitions: Mapping) -> str:
    """The type of a value in words."""
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{value if isinstance(value, str) else json.dumps(value)}`" for value in values)
    name = TYPES.get(schema.get("type", ""), "any value")
    if name == "list" and schema.get("items"):
        items = dict.fromkeys(_type(option, definitions) for option in _alternatives(schema["items"], definitions))
        name = f"list of {' or '.join(f'{item}s' if item.isalpha() else item for item in items)}"
    limits = [f"{words} {schema[limit]}" for limit, words in LIMITS.items() if limit in schema]
    return ", ".join([name, *limits])
