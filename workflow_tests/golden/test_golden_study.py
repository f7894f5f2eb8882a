"""The golden files of a study, which take as long as all others: in a file of its own another worker makes them."""

from test_golden import check


def test_a_study_does_not_differ_from_its_golden_files(new_bench):
    check("study", new_bench)
