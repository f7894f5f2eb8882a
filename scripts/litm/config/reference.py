"""The reference of the configuration, written from the classes of its entries: JSON schemas and pages of tables."""

import json
from collections.abc import Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any

import yaml
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from litm.config.catalogue import CATALOGUES, Config
from litm.config.schema import Entry, Variants, descriptions
from litm.models.files import NOT_READ, PARTS

#: Keys of a model's entry that are part of an answer's key, each with the part it contributes.
MODEL_KEY = {
    "engine": "its name",
    "hub": "the name, and the commit that `revision` stands for when the model is identified",
    "revision": "by the commit that it stands for",
    "tokenizer": "the sha256 of the file",
    "config": "as it is written",
    "trust_remote_code": "if it is true; the code by the hashes of its files, or by the commit",
    "dtype": "the format of the computation, written or taken by the machine for `auto`",
    "quantization": "as it is written, left out if `none`",
    "attention": "as it is written",
    "prompt_template": "the name, left out or written, and the text of a named one; a chat template is in the files of "
    "the model",
    "reasoning": "if it changes the generated text: `off`, `budget`, and `strip` with `stop: first_line`",
    "reasoning_tags": "where `reasoning` is",
    "reasoning_tokens": "as it is written",
}
MODEL_NOT = {
    "path": "the content of the folder or the GGUF file is part of the key, its place is not",
    "package": "as `path`",
    "about": "facts for the table of claims",
    "on_failure": "how prompts without an answer are handled",
    "context_window": "longer prompts are not asked; no prompt is cut",
    "device": "the place of the computation; the audit measures its effect",
    "gpus": "as `device`",
    "shards": "the job that asks",
    "batch_tokens": "the number of prompts at a time; the audit measures its effect",
    "threads": "the speed",
    "tokens_per_second": "for the estimate and a request to the cluster",
    "parameters": "for the memory of a job",
    "gpu_model": "a request to the cluster",
    "mem_mb": "a request to the cluster",
    "runtime": "a request to the cluster",
}
#: The same for a model on a server.
API_KEY = {
    "engine": "its name",
    "api_model": "the server's name for the model",
    "revision": "your name for the version on the server",
    "base_url": "if there is no `revision`; a final slash, the protocol's port, and `localhost` for `127.0.0.1` make "
    "no difference",
    "endpoint": "as it is written",
    "request": "the fields that are sent; a default that is written out makes no difference (`temperature: 0`, the "
    "answer's limit)",
    "prompt_template": "with `endpoint: completions`: the name, the text of a named template, and for `chat` the "
    "tokenizer's chat template with its special tokens",
}
API_NOT = {
    "tokenizer": "it counts tokens; if it formats chats (`completions`, `chat`), its chat template is part of the key",
    "reasoning": "replies are kept whole; the reasoning is cut off when responses are written",
    "reasoning_tags": "as `reasoning`",
    "about": "facts for the table of claims",
    "on_failure": "how prompts without an answer are handled",
    "context_window": "longer prompts are not asked; no prompt is cut",
    "tokens_per_second": "for the estimate and a request to the cluster",
    "prices": "for the estimate",
    "api_key_variable": "the account that pays",
    "concurrency": "the number of requests at a time",
    "request_timeout": "the time limit of a request",
    "request_total_timeout": "the time limit of a request",
    "request_attempts": "the number of attempts",
}
#: Keys of an experiment that are part of an answer's key, directly or by the text of the prompt.
EXPERIMENT_KEY = {
    "max_new_tokens": "as it is written",
    "stop": "as it is written",
    "task": "by the prompts",
    "positions": "by the prompts",
    "depths": "by the prompts",
    "tokens_of": "by the prompts",
    "sizes": "by the prompts",
    "dataset": "by the prompts",
    "examples": "by the prompts; a larger number asks only the new ones",
    "selection": "by the prompts",
    "subset": "by the prompts",
    "distractor_order": "by the prompts",
    "order": "by the prompts",
    "rerank": "by the prompts",
    "cut": "by the prompts",
    "design": "by the prompts",
    "wording": "by the prompts",
    "prompt": "by the prompts",
}
EXPERIMENT_NOT = {
    "title": "for figures",
    "closed_book": "for comparisons",
    "oracle": "for comparisons",
    "query_aware_of": "for comparisons",
    "compared_with": "for comparisons",
    "remedies": "defines further experiments",
    "cluster": "for intervals and tests",
    "metric": "the judgement of answers",
    "on_overflow": "how prompts that do not fit are handled",
}
#: Keys of a dataset that are part of an answer's key: the content of its file makes prompts.
DATASET_KEY = {"labels": "by the prompts: the format of the file"}
DATASET_NOT = {
    "path": "the content of the file makes the prompts, its place does not matter",
    "url": "the origin of the file",
    "sha256": "a check of the file",
    "git_blob": "as `sha256`",
    "other_versions": "by the prompts of the dataset that replaces this one",
    "version": "for the comparison with published values",
    "file": "the file's name here",
}
TABLES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "A model that runs here": (MODEL_KEY, MODEL_NOT),
    "A model that a server runs": (API_KEY, API_NOT),
    "An experiment": (EXPERIMENT_KEY, EXPERIMENT_NOT),
    "A dataset": (DATASET_KEY, DATASET_NOT),
}
ANSWERS_HEADER = """# The key of an answer

<!-- Written by `make reference` from scripts/litm/config/reference.py and scripts/litm/models/files.py. -->

A journal keeps each answer under a key: the sha256 of the prompt and of the identity, which is all else that defines
the answer. A sweep searches its own journal and then all of `results/journal/`, so equal prompts share their answers
under any names of experiment and model. A change of any part of the key asks the prompts again; undo the change, and
the first answers are found again. Everything else changes no answer. Tests change each of these keys and files and
compare. A sweep's manifest has its identity (`identity_fields`), and the log names the changed field when prompts are
asked again.

Identities that are written differently and mean the same share their answers: `localhost` and `127.0.0.1`, an address
with and without a final slash, 0 and 0.0, defaults that are written out.
"""


def answer_keys_page() -> str:
    """The page in Markdown."""
    return "\n".join([ANSWERS_HEADER, *_tables(), *_files()])


def _tables() -> Iterator[str]:
    for title, (part, apart) in TABLES.items():
        yield f"## {title}\n\n| key | part of the key of an answer | |\n|---|---|---|"
        for is_part, keys in (("yes", part), ("no", apart)):
            yield from (f"| `{key}` | {is_part} | {text} |" for key, text in keys.items())
        yield ""


def _files() -> Iterator[str]:
    yield "## Files\n"
    yield "Part of the key: the sha256 of a GGUF file; for a model's folder, the sha256 of each file with one of these"
    yield "names, and of the weights that an index names:\n"
    yield ", ".join(f"`{pattern}`" for pattern in PARTS) + "\n"
    yield "Not part of the key, as these files change no answer:\n"
    yield ", ".join(f"`{pattern}`" for pattern in NOT_READ) + "\n"
    yield "A model of the hub is identified by its commit; a file that was edited in the local cache ends the job. This"
    yield "needs the links of the cache: if it was copied without them (`cp -L`, `scp -r`), a line says that nothing is"
    yield "checked. A model folder with an adapter (`adapter_config.json`) or with `transformers_weights` in its"
    yield "configuration is refused: the model would depend on the installed packages, or on a file that is not part of"
    yield "the key."
    yield "Datasets, prompt files, documents, labels, recorded responses and code are not part of the key: they change"
    yield "the prompts, or the use of the answers. The workflow compares their contents: see"
    yield "[what_re_runs_when.md](what_re_runs_when.md).\n"
    yield "A line of `results/responses` also has the sha256 of the prompt alone, before any prompt template"
    yield "(`prompt_sha256`). It is the same for every model: recorded responses are used for this prompt only, and"
    yield "`score` refuses a response to another prompt than the example has, and responses of another model or with"
    yield "other settings than those of the study."


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


def reference_files(recipe: type[Entry]) -> dict[str, str]:
    """Texts of the reference's files, by path in the project. recipe: the class of reference_model.yaml."""
    schemas = {
        f"config/schemas/{name}.schema.yaml": SCHEMA_HEADER
        + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
        for name, schema in json_schemas(recipe).items()
    }
    return {**schemas, "docs/configuration.md": reference_page(recipe), "docs/answers.md": answer_keys_page() + "\n"}


def json_schemas(recipe: type[Entry]) -> dict[str, dict]:
    """JSON schemas of the configuration's files, by file name without ending."""
    files: dict[str, Any] = {"config": Config, "reference_model": recipe}
    for kind, entries in CATALOGUES.items():
        files[kind] = dict[str, _union(_classes(entries))]  # type: ignore[misc]
    schemas = {name: {"$schema": DIALECT, **_json_schema(type_)} for name, type_ in files.items()}
    # A user's config may leave out any key that the default config has.
    del schemas["config"]["required"]
    return schemas


def reference_page(recipe: type[Entry]) -> str:
    """A page in Markdown with a table of the keys of each kind of entry."""
    parts = [PAGE_HEADER, *_section("config.yaml", "config", [Config])]
    for kind, entries in CATALOGUES.items():
        parts += _section(f"{kind}.yaml", kind, _classes(entries), entries.key if isinstance(entries, Variants) else "")
    parts += _section("reference_model.yaml", "reference_model", [recipe])
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
