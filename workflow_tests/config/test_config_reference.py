"""The JSON schemas and the reference page agree with the classes of the configuration."""

import jsonschema
import pytest
import yaml
from conftest import ROOT, WRITE_ANEW

from litm.base.schema import string_keys
from litm.config.catalogue import CATALOGUES
from litm.config.reference import json_schemas, reference_files

SCHEMAS = json_schemas()
CONFIGS = ("config", "paper", "suite", "reference_model_evaluation")
#: Each file of the configuration with its schema.
FILES = {**dict.fromkeys(CONFIGS, "config"), **{name: name for name in CATALOGUES}}


def test_schemas_and_page_are_those_of_the_classes():
    written = {path: (ROOT / path).read_text() for path in reference_files(ROOT)}
    assert written == reference_files(ROOT), WRITE_ANEW
    assert len(written) == len(list((ROOT / "config" / "schemas").iterdir())) + 3


def problems(name: str, value: dict) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMAS[name]).iter_errors(string_keys(value))]


@pytest.mark.parametrize("file", FILES)
def test_every_file_names_its_schema_and_follows_it(file):
    text = (ROOT / "config" / f"{file}.yaml").read_text()
    assert text.startswith(f"# yaml-language-server: $schema=schemas/{FILES[file]}.schema.yaml\n")
    assert not problems(FILES[file], yaml.safe_load(text))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("config", {"modls": ["reference"]}),
        ("models", {"m": {"engine": "transformers", "hub": "a/b", "dtype": "fp16"}}),
        ("models", {"m": {"engine": "openai", "api_model": "m", "prices": {"inputs": 1}}}),
        ("experiments", {"x": {"task": "kv_retrieval", "positions": {"four": [1]}}}),
        ("retrievers", {"r": {"method": "bm25", "pooling": "mean"}}),
    ],
)
def test_a_schema_refuses_what_the_classes_refuse(name, value):
    assert problems(name, value)


def test_every_key_is_described():
    def undescribed(node: dict, where: str) -> list[str]:
        keys = node.get("properties", {}).items()
        nested = {**node.get("$defs", {}), **node.get("properties", {})}.items()
        own = [f"{where}.{key}" for key, child in keys if not child.get("description")]
        return own + [name for key, child in nested for name in undescribed(child, f"{where}.{key}")]

    assert [name for file, schema in SCHEMAS.items() for name in undescribed(schema, file)] == []


def test_the_page_has_type_default_and_meaning_of_a_key():
    page = reference_files(ROOT)["docs/configuration.md"]
    assert "| `threads` | whole number, at least 1 | `8` | CPU threads per sweep, at most Snakemake's" in page
    assert "| `task` | text | required | The kind of questions and prompts" in page
    assert '| `dtype` | `auto`, `float32`, `bfloat16`, `float16` | `"auto"` | Number format of the weights' in page
