"""What is lost at larger sizes."""

import pytest
from table_rows import length_row

from litm.findings.record import Number, Strength
from litm.findings.sizes import size_findings
from litm.findings.words import sentence


@pytest.mark.parametrize(
    ("verdict", "best", "strength", "words"),
    [
        ("shown beyond", 0.8, Strength.SHOWN, "shown to be more than 10"),
        ("shown within", 0.8, Strength.NOT_SHOWN, "shown to be less than 10"),
        ("not shown", 0.11, Strength.CANNOT_TELL, "not shown to be more or less than 10"),
        ("not shown", 0.10, Strength.UNINFORMATIVE, "which has at most 10 to lose"),
    ],
)
def test_a_loss_between_sizes_has_its_interval_and_how_sure_it_is(verdict, best, strength, words):
    (finding,) = size_findings([length_row(0.3, verdict, best)])
    assert (finding.strength, finding.size, finding.facts["smallest"], finding.n) == (strength, 40, 20, 100)
    assert finding.numbers == {"loss": Number(*map(pytest.approx, (0.3, 0.2, 0.4)))}
    assert sentence(finding) == (
        f"a on kv, size 40: the worst position is 30.0 points [20.0, 40.0] below the best of size 20, {words}, n = 100."
    )


def test_the_smallest_size_one_without_common_questions_and_stand_ins_have_no_loss():
    rows = [length_row(size=20), length_row(0.3) | {"loss": None}, length_row(model="z"), length_row(size=80)]
    assert [finding.size for finding in size_findings(rows, ["z"])] == [80]
