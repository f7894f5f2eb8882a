"""Warnings about the questions as findings."""

import pandas as pd
import pytest

from litm.findings.question_warnings import (
    check_findings,
    cluster_findings,
    filled_findings,
    gold_findings,
    read_clusters,
    written_before_findings,
    written_findings,
)
from litm.findings.record import Number
from litm.findings.warning_words import warning_in_words


def test_question_sets_with_a_gold_passage_that_was_looked_for_or_without_one_are_findings():
    hows = {"mine": ("first_retrieved", "none", "first_retrieved", "left_out"), "lacking": ("none", "file")}
    hows |= {"looked": ("first_retrieved",), "named": ("file", "page", "text", "corrected")}
    rows = [{"questions": name, "how": how} for name, of_set in hows.items() for how in of_set]
    experiments = [
        {"name": "qa", "datasets": {10: "candidates"}, "oracle": "best", "closed_book": None},
        {"name": "aware", "datasets": {10: "candidates"}, "oracle": None, "closed_book": "book"},
        {"name": "book", "datasets": {0: "mine"}}, {"name": "best", "datasets": {1: "mine"}},
        {"name": "kv", "datasets": {}}, {"name": "retrieved", "datasets": {5: "other"}, "closed_book": None},
    ]  # fmt: skip
    mine, lacking, looked = gold_findings(rows, experiments)
    assert (mine.kind, mine.n, mine.remedy) == ("gold_looked_for", 4, "correct_gold")
    assert mine.facts == {"questions": "mine", "looked_for": 2, "without": 2}
    # Those that ask the set, and those whose closed book and oracle do.
    assert (mine.models, mine.experiments) == ((), ("qa", "aware", "book", "best"))
    assert (lacking.facts["without"], lacking.experiments) == (1, ())
    assert (looked.facts["looked_for"], looked.facts["without"]) == (1, 0)


def test_a_table_of_the_user_with_questions_that_a_model_wrote_is_a_finding_that_names_the_model():
    writers = {"mine": ("w", None, "w", "other"), "own": (None, None)}
    rows = [{"questions": name, "written_by": writer} for name, of_set in writers.items() for writer in of_set]
    (finding,) = written_before_findings([*rows, {"questions": "older"}], [{"name": "qa", "datasets": {10: "mine"}}])
    assert (finding.kind, finding.n, finding.experiments) == ("written_before", 4, ("qa",))
    assert finding.facts == {"questions": "mine", "written_by": ["w", "other"], "written": 3}
    assert "(mine 3 of 4 by w, other)" in warning_in_words([finding])


def test_a_question_set_that_a_model_wrote_is_a_finding_with_what_became_of_its_questions():
    outcomes = ("kept", "known", "kept", "in_several")
    rows = [{"questions": "mine", "written_by": "w", "checked_by": "c", "outcome": outcome} for outcome in outcomes]
    (finding,) = written_findings(rows, [{"name": "qa", "datasets": {10: "mine"}}, {"name": "kv", "datasets": {}}])
    assert (finding.experiments, finding.n, finding.facts["kept"]) == (("qa",), 4, 2)
    assert warning_in_words([finding]).startswith(
        "The questions are written by a model (mine 4 by w, checked by c: 1 whose answer is in other passages too, "
        "1 answered without their passage, 2 kept): with the passage alone"
    )


def checks(experiment, size=10, n=20, **counts) -> dict:
    """A row of answer_checks.csv."""
    lacking = dict.fromkeys(("n_in_distractors", "n_not_in_gold", "n_choices"), 0)
    return {"experiment": experiment, "size": size, "n": n, "chance": None, **lacking, **counts}


@pytest.mark.parametrize(
    ("kind", "column", "few"),
    [
        ("answers_elsewhere", "n_in_distractors", 1),
        ("choices", "n_choices", 1),
        ("answers_not_in_gold", "n_not_in_gold", 0),
    ],
)
def test_answers_that_are_hard_to_judge_are_findings_from_the_size_with_the_largest_share(kind, column, few):
    rows = [
        checks("a", 3, **{column: few + 1}), checks("a", 10, chance=0.6, **{column: few + 4}),
        checks("a", 20, **{column: few}), checks("b", **{column: few}), checks("c", **{column: None}),
    ]  # fmt: skip
    (told,) = check_findings(rows)
    assert (told.kind, told.models, told.experiments, told.n) == (kind, (), ("a",), 20)
    assert told.facts == {"count": few + 4, "sizes": [3, 10]}
    assert told.numbers == ({"chance": Number(0.6)} if kind == "choices" else {})


def test_experiments_with_few_clusters_are_findings(tmp_path):
    scores = {name: tmp_path / f"{name}.parquet" for name in ("qa", "many", "older", "one")}
    for name, path in scores.items():
        ids = [str(number) for number in range(30)]
        clusters = ids if name == "many" else [f"topic {number % 3}" for number in range(30)]
        # A topic of ten questions, and 20 topics of one.
        clusters = [f"topic {max(9, number)}" for number in range(30)] if name == "one" else clusters
        # Each question is at two positions.
        rows = pd.DataFrame({"id": ids} | ({} if name == "older" else {"cluster": clusters}))
        pd.concat([rows, rows]).to_parquet(path)
    experiments = [{"name": name, "cluster": "topic"} for name in [*scores, "unscored"]]
    clusters_of = read_clusters([*experiments, {"name": "other"}], scores | {"other": tmp_path / "absent"})
    assert clusters_of.keys() == {"qa", "many", "one"}
    few, uneven = cluster_findings([*experiments, {"name": "other"}], clusters_of)
    assert (few.kind, few.experiments, few.n, few.remedy) == ("few_clusters", ("qa",), 30, "more_clusters")
    assert few.facts == {"cluster": "topic", "clusters": 3, "worth": 3}
    assert (uneven.experiments, uneven.facts) == (("one",), {"cluster": "topic", "clusters": 21, "worth": 8})


def test_documents_that_were_filled_in_are_a_finding_with_their_share_at_each_size():
    (told,) = filled_findings({"qa": {20: 0.25, 5: 0.5, 10: 0.0}, "whole": {5: 0.0}})
    assert (told.kind, told.experiments) == ("filled", ("qa",))
    assert told.facts == {"sizes": [5, 20], "shares": [0.5, 0.25]} and told.numbers == {"share": Number(0.5)}
