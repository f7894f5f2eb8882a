"""The page of outcomes names all wrong outcomes and all cases that did not run."""

from outcomes import RECORDS_VARIABLE, REFUSED, RIGHT, TRACED, WRONG, Case, Family, Outcome, save
from run_all import COMMIT, page

FAMILY = Family("tries", "About.", [Case(name, lambda arena: []) for name in ("ended", "broken off", "a sample of it")])


def test_the_page_counts_outcomes_and_names_wrong_ones_and_cases_that_did_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv(RECORDS_VARIABLE, str(tmp_path))
    (tmp_path / "tries").mkdir()
    outcomes = [
        Outcome("good", RIGHT, count=1000),
        Outcome("one line", REFUSED),
        Outcome("no text", TRACED, "c.yaml: not UTF-8 text"),
        Outcome("bad", WRONG, "/tmp/here/c.yaml: other bytes"),
        Outcome("no disk to mount", RIGHT, count=0),
    ]
    save("tries", "ended", outcomes)
    (tmp_path / "tries" / COMMIT).write_text("abc1234")
    said = page([FAMILY], tmp_path)
    assert "| tries | 1,003 | 1,000 | 1 | 1 | 1 | abc1234 |" in said
    assert "Traced:\n\n- no text: c.yaml: not UTF-8 text\n" in said
    assert "Wrong:\n\n- bad: c.yaml: other bytes\n" in said
    assert "Could not be tried:\n\n- no disk to mount\n" in said
    assert "Did not run to the end:\n\n- broken off\n" in said and "a sample of it" not in said
