"""A model's budget: what this study has paid for its answers, wherever the files are."""

import shutil
from pathlib import Path

import pytest
from echo_engine import IDENTITY, planned
from sweeps import ANSWERS

from litm.checks.answers import import_answers
from litm.inference.kept_answers import Answers, answer_files
from litm.records.bills import Prices, Usage
from litm.records.responses import Response
from litm.servers.billing import budgeted, spent_in

#: A US dollar for a million tokens of prompts.
PRICES = Prices.from_entry({"input": 1, "output": 0})


def paid(study: Path, dollars: int, name: str = "m/e", prompt: str = "a", folder: Path | None = None, **how) -> None:
    """A sweep's answer that was billed."""
    (one,) = planned(prompt)
    billed = Usage(dollars * 10**6, 0, 0, 1, **how)
    with Answers([folder or study / ANSWERS], *name.split("/"), study / "asking") as answers:
        answers.append(IDENTITY, [(one.key, Response("x", "stop", 1, 1, "y", billed))])


def spent(study: Path, *folders: Path, model: str = "m") -> float:
    return spent_in([*folders, study / ANSWERS], model, study / "asking", PRICES)


def test_it_counts_what_this_study_paid_for_the_model_in_any_sweep_and_folder_and_nothing_of_others(tmp_path):
    mine, yours, shared = tmp_path / "mine", tmp_path / "yours", tmp_path / "shared"
    assert spent(mine, shared) == 0 and not (mine / "asking").exists()
    paid(mine, 1)
    paid(mine, 2, "m/f", folder=shared)
    paid(mine, 4, "m/e.log_probability", folder=shared)
    paid(mine, 8, "m2/e", folder=shared)
    paid(mine, 16, "m/g", elsewhere=True)
    paid(mine, 32, "m/h", batch=True)
    paid(yours, 64, folder=shared)
    assert spent(mine, shared) == 1 + 2 + 4 + 32 / 2
    assert spent(mine, shared, model="m2") == 8
    assert (spent(yours, shared), spent(tmp_path / "new", shared)) == (64, 0)
    # Answers of another study, taken in, cost nothing here.
    paid(yours, 128, "m/z", "z")
    import_answers(yours / ANSWERS, mine / ANSWERS, mine / "asking")
    shutil.copytree(yours / ANSWERS, mine / ANSWERS, dirs_exist_ok=True)
    assert spent(mine, shared) == 1 + 2 + 4 + 32 / 2


def test_a_copy_of_an_answer_that_was_paid_once_counts_once(tmp_path):
    shared = tmp_path / "shared"
    paid(tmp_path, 1)
    paid(tmp_path, 2, prompt="b")
    (folder,) = (tmp_path / ANSWERS).iterdir()
    shutil.copytree(tmp_path / ANSWERS, shared)
    shutil.copytree(folder, tmp_path / ANSWERS / "copied")
    assert len(answer_files([shared, tmp_path / ANSWERS])) == 6
    assert spent(tmp_path, shared) == 3
    # What was asked, and paid, twice is counted twice.
    paid(tmp_path, 4)
    assert spent(tmp_path, shared) == 7


@pytest.mark.parametrize("budget", [None, 5.0])
def test_a_run_is_told_what_is_spent_only_where_there_is_a_budget(tmp_path, budget):
    paid(tmp_path, 3)
    run = {"concurrency": 1, "budget": budget, "prices": {"input": 1, "output": 0}}
    with budgeted("m", run, "m/e", [str(tmp_path / ANSWERS)], str(tmp_path / "asking")) as told:
        assert told == (run if budget is None else {**run, "spent": 3.0})
