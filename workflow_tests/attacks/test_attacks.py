"""Attacks: nothing is lost, no prompt gets another's answer, and refusals take one line."""

import os
from functools import partial

import brought
import damaged_answers
import full_disks
import fuzzed_configs
import fuzzed_data
import injections
import killed_batches
import kills
import pytest
import server_faults
import stale_inputs
from conftest import made_once
from outcomes import FAMILIES_VARIABLE, WRONG, Arena, Case, save

MODULES = (
    *(kills, killed_batches, server_faults, damaged_answers, full_disks, stale_inputs, fuzzed_configs, fuzzed_data),
    *(injections, brought),
)
FAMILIES = [module.FAMILY for module in MODULES]
CASES = [
    pytest.param(family.name, case, id=f"{family.name}: {case.name}", marks=() if case.fast else pytest.mark.slow)
    for family in FAMILIES
    if family.name in os.environ.get(FAMILIES_VARIABLE, family.name).split()
    for case in family.cases
]


@pytest.mark.parametrize(("family", "case"), CASES)
def test_an_attack_ends_right_or_is_refused_in_one_line(family: str, case: Case, request, tmp_path, tmp_path_factory):
    project = partial(request.getfixturevalue, "new_project")
    outcomes = list(case.run(Arena(tmp_path, project, partial(made_once, tmp_path_factory))))
    save(family, case.name, outcomes)
    wrong = [f"{one.case}: {one.detail}" for one in outcomes if one.result == WRONG]
    assert outcomes and not wrong, "\n".join(wrong[:20])
