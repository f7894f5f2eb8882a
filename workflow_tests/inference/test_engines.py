"""The registry of engines: their facts, readable without their packages."""

import subprocess
import sys

import pytest
from conftest import ROOT

from litm.inference.engine import EngineFacts, engine_facts, engine_names

READ_ALL = """
import sys
from litm.inference.engine import engine_names
print(engine_names())
print({"torch", "transformers", "tokenizers", "openai", "anthropic", "vllm"} & set(sys.modules) or "nothing heavy")
"""


@pytest.mark.parametrize("name", engine_names())
def test_an_engine_declares_what_others_ask_about_it(name):
    facts = engine_facts(name)
    assert isinstance(facts, EngineFacts) and facts.about
    assert facts.audited_with is None or facts.audited_with in engine_names()
    # A server answers in its own way, and nothing that is said of models that are run here is true of it.
    assert facts.provider is None or not (facts.shares_prefixes or facts.budgets_reasoning or facts.audited_with)


def test_engines_are_found_by_what_they_declare():
    assert set(engine_names()) >= {"anthropic", "openai", "transformers", "vllm"}
    assert engine_names(lambda facts: facts.provider is not None) == ["anthropic", "openai"]


def test_declarations_of_engines_are_read_without_their_packages():
    command = [sys.executable, "-c", READ_ALL, str(ROOT / "scripts")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[1] == "nothing heavy"
