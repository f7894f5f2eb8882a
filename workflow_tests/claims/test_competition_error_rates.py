"""Error rates of the contrasts and claims on what competes with the answer, in small versions of the benchmark."""

import sys

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import competition_errors as simulation

#: Studies of a family, and what 5 % may look like among them: two standard errors more.
STUDIES = {"two levels of fillers": 400, "two facts": 25}
MOST = {400: 0.072, 60: 0.107, 25: 0.137}


@pytest.mark.parametrize("what", simulation.FAMILIES)
def test_a_study_without_an_effect_has_a_wrong_conclusion_in_at_most_5_percent(what):
    studies = STUDIES.get(what, 60)
    assert max(simulation.rates(what, studies, 30, 0.5)) <= MOST[studies]


def test_a_simulated_effect_is_found():
    rng = simulation.np.random.default_rng(0)
    made = simulation.evidence(rng, 400, 0.9, lost=0.5)
    assert simulation.verdicts("neutral_costs_little", made) == [simulation.CONTRADICTED] * simulation.MODELS
