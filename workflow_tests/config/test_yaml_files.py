"""YAML files of users: values that YAML silently reads as something else are errors with their line."""

import re

import pytest
import yaml
from conftest import ROOT
from programs import refused

from litm.config.yaml_files import read_config_file, read_yaml

SHIPPED = sorted((ROOT / "config").glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_file_of_the_project_is_read_as_yaml_reads_it(path):
    assert read_yaml(path) == yaml.safe_load(path.read_text())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is on line 1 already"),
        ("x:\n  a: {b: 1, c: 2, b: 3}\n", "line 2: the key 'b' is on line 2 already"),
        ("- {a: 1}\n- a: 1\n  a: 1\n", "line 3: the key 'a' is on line 2 already"),
        ("10: 1\n'10': 2\n", "line 2: the key '10' is on line 1 already"),
        ("positions:\n  010: [0]\n", "line 2: YAML reads 010 as 8:"),
        ("positions: {10: [0, 07]}\n", "line 1: YAML reads 07 as 7:"),
        ("runtime: 1:30\n", "line 1: YAML reads 1:30 as 90:"),
        ("runtime: 1:30.5\n", "line 1: YAML reads 1:30.5 as 90.5:"),
        ("depths: {100: [0, .nan]}\n", "line 1: YAML reads .nan as nan:"),
        ("request: {after: 2026-01-02}\n", "line 1: a value of the kind 'timestamp', which YAML makes of '2026-01-02'"),
        ("config: !!set {a}\n", "line 1: a value of the kind 'set', which YAML makes of it"),
        ("config: !!python/name:os.system\n", "line 1: a value of the kind 'python/name:os.system'"),
        ("a: &a\n  b: *a\n", "line 1: an alias stands for what it is a part of"),
        ("a: [1\n", "line 2: not valid YAML ("),
        ("a: 1\n---\na: 2\n", "line 2: not valid YAML (but found another document)"),
    ],
)
def test_a_value_that_yaml_misreads_is_one_line_with_its_place(text, problem, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert refused(read_yaml, path).startswith(f"{path}, {problem}")


NO_TEXTS = ("a: é\n".encode("latin-1"), "a: é\n".encode("utf-16"), b'a: "\x01"\n')
NESTED = (b"[" * 200_000, b"a: " + b"[" * 3000 + b"]" * 3000, b"- " * 5000, b"a: 1\nb: " + b"{b: " * 200_000)


@pytest.mark.parametrize("data", [*NO_TEXTS, *NESTED], ids=lambda data: repr(data[:12]))
def test_a_file_that_is_no_text_or_nested_without_end_is_one_line(data, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(data)
    said = ": not UTF-8 text" if data in NO_TEXTS else ", line [12]: more than 100 nested lists or mappings"
    assert re.match(f"{path}{said}", refused(read_yaml, path))


def test_what_looks_alike_and_is_meant_is_read(tmp_path):
    path = tmp_path / "config.yaml"
    for text in (
        "a: &a {b: 1, c: '010'}\nd: {<<: *a, b: 2}\ne: [*a, *a]\nf: {0: -0, 0.5: 00.5, 1e3: 0x10}\n",
        # Conditions of yte, which Snakemake applies, may repeat.
        "?if a:\n  b: 1\n?if a:\n  b: 2\n",
        "# nothing\n",
        "[" * 100 + "]" * 100,
    ):
        path.write_text(text)
        assert read_yaml(path) == yaml.safe_load(text)
    # Aliases of aliases are looked at once.
    path.write_text("a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60)))
    assert read_yaml(path)["a1"] == [[1], [1]]


JSON_FILES = {
    b'{"seed": 1, "seed": 2}': "one object has the key 'seed' twice",
    b'{"a": "\\ud83d"}': "is half a character",
    b"[" * 100_000: "brackets are nested too deeply",
    b"{'a': 1}": "not valid JSON",
    '{"a": "é"}'.encode("latin-1"): "not UTF-8 text",
}


@pytest.mark.parametrize(("data", "said"), JSON_FILES.items(), ids=JSON_FILES.values())
def test_a_config_in_json_is_looked_at_as_one_in_yaml_is(data, said, tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(data)
    assert re.match(f"{path}: .*{said}", refused(read_config_file, path))
