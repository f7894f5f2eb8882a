"""The page on remedies: its functions equal those of the experiments, and its config is valid."""

import re
from random import Random

import pytest
import yaml
from conftest import ROOT

from litm.base.schema import read_entry
from litm.config.conditions import with_conditions
from litm.config.experiments import Experiment, MeasuredOn
from litm.config.retrieval import RERANKERS
from litm.examples.orders import ORDERS, RANDOM, in_order
from litm.records.conditions import MEASURED, Cut

PAGE = (ROOT / "docs" / "remedies.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def pasted() -> dict:
    """What the code of the page defines."""
    names: dict = {}
    for code in blocks("python"):
        exec(code, names)
    return names


@pytest.mark.parametrize("order", [name for name in ORDERS if name not in (RANDOM, MEASURED)])
def test_the_function_of_the_page_gives_the_order_that_was_measured(pasted, order):
    for number in range(30):
        documents = [f"document {place}" for place in range(number)]
        assert pasted["reorder"](documents, order) == in_order(order, documents, Random(0))


def test_the_measured_order_of_the_page_is_that_of_the_experiments(pasted):
    rng = Random(2)
    for number in range(1, 30):
        documents = [f"document {place}" for place in range(number)]
        curve = [(depth, rng.randint(0, 10) / 10) for depth in (0, 0.25, 0.5, 1)]
        assert pasted["by_curve"](documents, curve) == in_order(MEASURED, documents, Random(0), curve)


def test_the_cut_of_the_page_keeps_the_documents_that_were_measured(pasted):
    rng = Random(1)
    for _ in range(50):
        scores = sorted((round(rng.uniform(0, 10), 1) for _ in range(rng.randint(1, 12))), reverse=True)
        documents = list(range(len(scores)))
        assert pasted["cut"](documents, scores, 3) == documents[: Cut(margin=3).kept(scores)]


def test_the_config_of_the_page_is_one_of_conditions():
    config, measured, checked = map(yaml.safe_load, blocks("yaml"))
    assert checked == {"define": {"experiments": {"my_as_retrieved": {"absent": True}}}}
    read_entry(MeasuredOn, measured["define"]["experiments"]["my_as_retrieved"]["measured_on"], "measured_on")
    define = config["define"]
    entry = read_entry(Experiment, define["experiments"]["my_remedies"], "experiments.my_remedies")
    for name, reranker in define["rerankers"].items():
        RERANKERS.read(reranker, f"rerankers.{name}")
    made = with_conditions({"my_remedies": entry})
    assert [name for name in made if f"`{name}`" in PAGE] == ["my_remedies-reversed", "my_remedies-my_reranker"]
    assert len(made) == 6


@pytest.mark.parametrize("name", ORDERS)
def test_every_order_but_the_usual_is_on_the_page(name):
    assert name == "ranked" or f"`order: {name}`" in PAGE
