"""The reference of the configuration, written from the classes of its entries: JSON schemas and a page of tables."""

import json
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

import yaml
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from litm.base.schema import Entry, Variants, descriptions
from litm.config.answer_keys import answer_keys_page
from litm.config.catalogue import CATALOGUES
from litm.config.config import Config
from litm.reference_model.recipe import RecipeEntry

DIALECT = "https://json-schema.org/draft/2020-12/schema"
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
SCHEMA_HEADER = "# Written by `make reference` from the classes in scripts/litm/config.\n"
PAGE_HEADER = """# Configuration reference

<!-- Written by `make reference` from the classes in scripts/litm/config. -->

Keys of `config.yaml` and of the catalogues next to it. Entries of a catalogue are mappings by name;
[config/README.md](../config/README.md) shows how a config selects and defines them. Editors can check the files against
the JSON schemas in [config/schemas](../config/schemas).
"""


class _Generator(GenerateJsonSchema):
    """JSON schemas with descriptions, without titles of keys and without nulls for keys that are left out."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made, cls = super().model_schema(schema), schema["cls"]
        for name, text in descriptions(cls).items():
            made["properties"][cls.model_fields[name].alias or name]["description"] = text
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default") in (None, {}, []):
            made.pop("default", None)
        return made

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        made = super().dict_schema(schema)
        return {"additionalProperties": False, **made} if "patternProperties" in made else made


def reference_files() -> dict[str, str]:
    """Texts of the reference's files, by path in the project."""
    schemas = {
        f"config/schemas/{name}.schema.yaml": SCHEMA_HEADER
        + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
        for name, schema in json_schemas().items()
    }
    return {**schemas, "docs/configuration.md": reference_page(), "docs/answers.md": answer_keys_page() + "\n"}


def json_schemas() -> dict[str, dict]:
    """JSON schemas of the configuration's files, by file name without ending."""
    files: dict[str, Any] = {"config": Config, "reference_model": RecipeEntry}
    for kind, entries in CATALOGUES.items():
        files[kind] = dict[str, _union(_classes(entries))]  # type: ignore[misc]
    schemas = {name: {"$schema": DIALECT, **_json_schema(type_)} for name, type_ in files.items()}
    # A user's config may leave out any key that the default config has.
    del schemas["config"]["required"]
    return schemas


def reference_page() -> str:
    """A page in Markdown with a table of the keys of each kind of entry."""
    parts = [PAGE_HEADER, *_section("config.yaml", "config", [Config])]
    for kind, entries in CATALOGUES.items():
        parts += _section(f"{kind}.yaml", kind, _classes(entries), entries.key if isinstance(entries, Variants) else "")
    parts += _section("reference_model.yaml", "reference_model", [RecipeEntry])
    return "\n".join(parts)


def _classes(entries: type[Entry] | Variants) -> list[type[Entry]]:
    return list(dict.fromkeys(entries.classes.values())) if isinstance(entries, Variants) else [entries]


def _union(classes: Sequence[type[Entry]]) -> Any:
    union: Any = classes[0]
    for cls in classes[1:]:
        union = union | cls
    return union


def _json_schema(type_: Any) -> dict:
    schema = TypeAdapter(type_).json_schema(schema_generator=_Generator)
    for cls in (schema, *schema.get("$defs", {}).values()):
        if "description" in cls:
            cls["description"] = " ".join(cls["description"].split())
    return schema


def _section(title: str, where: str, classes: Sequence[type[Entry]], key: str = "") -> Iterator[str]:
    """The tables of a file; keys that all classes share come first."""
    rows = [_rows(_json_schema(cls), where) for cls in classes]
    shared = {name: row for name, row in rows[0].items() if all(own.get(name) == row for own in rows)}
    yield f"## {title}\n"
    if len(classes) > 1:
        yield f"`{key}` is the kind of the entry. All kinds have these keys:\n"
        yield _table(shared)
    for cls, own in zip(classes, rows, strict=True):
        summary, _, more = cleandoc(cls.__doc__ or "").partition("\n\n")
        if len(classes) > 1:
            summary = f"### {summary.rstrip('.')}"
            own = {name: row for name, row in own.items() if name not in shared}
        yield from (f"{text}\n" for text in (summary, more) if text)
        yield _table(own)


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
        alternatives = [one for one in _alternatives(field, definitions) if one.get("type") != "null"]
        types = dict.fromkeys(_type(one, definitions) for one in alternatives)
        yield f"{prefix}{name}", (" or ".join(types), default, field.get("description", ""))
        if f"{where}.{prefix}{name}" not in NAMED_ONLY:
            for one in alternatives:
                inner, mark = _innermost(one, definitions)
                yield from _nested_rows(inner, definitions, f"{prefix}{name}{mark}.", where)


def _alternatives(schema: Mapping, definitions: Mapping) -> list[Mapping]:
    """The schemas of a union, or the single schema, with references resolved."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return (
        [one for part in schema["anyOf"] for one in _alternatives(part, definitions)] if "anyOf" in schema else [schema]
    )


def _innermost(schema: Mapping, definitions: Mapping) -> tuple[Mapping, str]:
    """The schema of a list's items or a mapping's values, and the mark for that nesting in a path."""
    inner, mark = schema.get("items"), "[]"
    if not inner:
        inner, mark = schema.get("additionalProperties"), ".*"
    if not isinstance(inner, Mapping):
        return schema, ""
    (one, *_) = _alternatives(inner, definitions)
    schema, more = _innermost(one, definitions)
    return schema, mark + more


def _type(schema: Mapping, definitions: Mapping) -> str:
    """The type of a value in words."""
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return ", ".join(f"`{value if isinstance(value, str) else json.dumps(value)}`" for value in values)
    name = TYPES.get(schema.get("type", ""), "any value")
    if name == "list" and schema.get("items"):
        items = dict.fromkeys(_type(one, definitions) for one in _alternatives(schema["items"], definitions))
        name = f"list of {' or '.join(f'{item}s' if item.isalpha() else item for item in items)}"
    limits = [f"{words} {schema[limit]}" for limit, words in LIMITS.items() if limit in schema]
    return ", ".join([name, *limits])
