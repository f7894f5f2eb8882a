"""The list of behaviours that break_behaviours.py breaks one by one."""

import pytest
from break_behaviours import mistake, read_behaviours

from litm.findings.kinds import KINDS

BEHAVIOURS = read_behaviours()


@pytest.mark.parametrize("row", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_a_behaviour_has_its_text_once_in_its_file_and_a_test_that_exists(row):
    assert not mistake(row)


@pytest.mark.parametrize("kind", KINDS)
def test_the_condition_of_each_kind_of_finding_is_broken(kind):
    assert f"finding_{kind}" in BEHAVIOURS
