"""Whether the document helps, and what follows where it is not shown to."""

import pytest
from table_rows import accuracy_row, utilisation_row

from litm.findings.record import Number, Strength
from litm.findings.references import no_benefit_findings, reference_findings, silenced, unhelped

SETTINGS = [{"name": "qa", "closed_book": "book", "oracle": "best"}, {"name": "book"}, {"name": "best"}]


def accuracies(model="a", book=0.1, best=0.9, **more):
    return [
        accuracy_row(model, "qa"),
        accuracy_row(model, "book", book, None),
        accuracy_row(model, "best", best, 0, task="oracle_qa", **more),
    ]


def reference(*utilisation, accuracy=None, doubtful=(), stand_ins=(), settings=SETTINGS):
    rows = accuracies() if accuracy is None else accuracy
    (finding,) = reference_findings(utilisation, rows, settings, doubtful, stand_ins)
    return finding


def told(*utilisation, **options):
    finding = reference(*utilisation)
    return [*no_benefit_findings([finding], accuracies(), (), {}, **options)]


def test_a_document_that_helps_in_any_cell_is_shown_to_help_by_the_cell_of_the_most_questions():
    cells = [
        utilisation_row(0.1, 0.9, 0.5, n=40),
        utilisation_row(0.2, 0.8, 0.7, n=50),
        utilisation_row(0.3, 0.4, n=60),
    ]
    finding = reference(*cells)
    assert (finding.strength, finding.n) == (Strength.SHOWN, 50)
    assert finding.numbers["closed_book"] == Number(0.2, pytest.approx(0.1), pytest.approx(0.3))
    assert finding.numbers["oracle"].value == 0.8 and finding.numbers["utilisation"] == Number(pytest.approx(0.6))
    assert finding.facts == {"closed_book": "book", "oracle": "best", "has_doubts": False}
    assert not [*no_benefit_findings([finding], accuracies(), (), {})]


def test_few_questions_may_hide_a_benefit_that_the_answers_hint_at():
    for oracle, strength in (
        (0.11, Strength.CANNOT_TELL),
        (0.1, Strength.UNINFORMATIVE),
        (0.05, Strength.UNINFORMATIVE),
    ):
        assert reference(utilisation_row(0.1, oracle)).strength is strength
    # Cells without common questions say nothing.
    assert reference(utilisation_row(0.1, 0.1, n=0)).strength is None


def test_without_common_questions_a_reference_is_its_own_accuracy():
    finding = reference()
    assert finding.strength is None and finding.n is None
    assert [finding.numbers[name].value for name in ("closed_book", "oracle", "utilisation")] == [0.1, 0.9, None]
    alone = reference(accuracy=accuracies()[:2])
    assert (alone.facts["oracle"], alone.numbers["oracle"]) == (None, Number(None))
    assert not [*reference_findings([], accuracies()[:1], SETTINGS, ())]
    assert not [*reference_findings([], accuracies()[1:], SETTINGS, ())]


@pytest.mark.parametrize("name", ["qa", "book", "best"])
def test_a_doubt_on_one_of_the_experiments_leaves_no_conclusion(name):
    finding = reference(utilisation_row(0.1, 0.9, 0.5), doubtful={("a", name)})
    assert finding.strength is None and finding.facts["has_doubts"]
    in_doubt = {"book": "closed_book", "best": "oracle"}.get(name)
    assert [key for key in ("closed_book", "oracle") if finding.numbers[key].value is None] == (
        [in_doubt] if in_doubt else []
    )
    assert not [*no_benefit_findings([finding], accuracies(best=0), (), {}, {("a", "best")})]


def test_a_stand_in_has_numbers_and_no_strength():
    finding = reference(utilisation_row(0.1, 0.9, 0.5), stand_ins=["a"])
    assert finding.strength is None and finding.numbers["oracle"].value == 0.9


@pytest.mark.parametrize(
    ("closed_book", "oracle", "remedy"),
    [
        (0.1, 0.1, "easier_questions"),
        (0.1, 0.2, "more_or_easier_questions"),
        (0.5, 0.5, "questions_that_need_documents"),
        (0.49, 0.49, "easier_questions"),
        (0.6, 0.7, "more_or_questions_that_need_documents"),
        (0.0, 0.0, "check_prompt"),
    ],
)
def test_what_to_do_depends_on_both_references(closed_book, oracle, remedy):
    (finding,) = told(utilisation_row(closed_book, oracle))
    assert finding.remedy == remedy
    (clustered,) = no_benefit_findings([reference(utilisation_row(closed_book, oracle))], [], (), {"qa": "topic"})
    assert clustered.remedy == remedy.replace("more_or", "more_clusters_or") and clustered.facts["cluster"] == "topic"


def test_positions_that_differ_nevertheless_are_said():
    finding = reference(utilisation_row(0.1, 0.1))
    for differing in (set(), {("a", "qa")}):
        (warning,) = no_benefit_findings([finding], [], differing, {})
        assert warning.facts["is_differing"] == bool(differing)


def test_an_oracle_without_a_right_answer_is_told_where_nothing_else_is():
    (finding,) = no_benefit_findings([], accuracies(best=0), (), {})
    assert (finding.experiments, finding.remedy) == (("best",), "check_prompt")
    assert finding.numbers["closed_book"] == Number(None)
    assert not [*no_benefit_findings([], accuracies(best=0.01), (), {})]
    assert not [*no_benefit_findings([], accuracies(best=0), (), {}, stand_ins=["a"])]
    other_task = [accuracy_row("a", "kv", 0.0)]
    assert not [*no_benefit_findings([], other_task, (), {})]
    both = [*no_benefit_findings([reference(utilisation_row(0, 0))], accuracies(best=0), (), {})]
    assert [finding.experiments for finding in both] == [("qa",)]


def test_a_closed_book_that_answers_as_well_silences_the_advice_on_the_same_questions():
    assert unhelped([*told(utilisation_row(0.1, 0.1)), reference()]) == {("a", "qa")}
    books = {"qa": "book", "rag": "book", "other": "else", "none": None}
    assert silenced({("a", "qa")}, books) == {("a", "qa"), ("a", "rag")}
    # With one closed book in the study, it is that of questions on documents as retrieved too.
    assert silenced({("a", "qa")}, {"qa": "book", "retrieved": None}) == {("a", "qa"), ("a", "retrieved")}
