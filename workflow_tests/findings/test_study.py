"""All findings of a study: their kinds, their JSON, and which take part in conclusions."""

import json

import pytest
from table_rows import accuracy_row, bias_row, length_row, pair_rows, probability_rows, silent_row, utilisation_row

from litm.findings.advice import KINDS as ADVICE_KINDS
from litm.findings.kinds import KINDS, findings_reference
from litm.findings.record import Finding, Number, Strength, StudyFindings
from litm.findings.study import findings_of
from litm.findings.words import REMEDIES, SENTENCES, WARNINGS, sentence

EXPERIMENTS = [
    {"name": "kv"},
    {"name": "qa", "closed_book": "book", "oracle": "best"},
    {"name": "book"},
    {"name": "best"},
    {"name": "rag", "closed_book": "book"},
    {"name": "rag-ends", "closed_book": "book"},
]


def advice(model="a", study="rag"):
    numbers = dict.fromkeys(ADVICE_KINDS["advice"].numbers, Number(0.5, 0.4, 0.6))
    facts = {
        **dict.fromkeys(ADVICE_KINDS["advice"].facts), "condition": "5 documents", "documents": 5, "n_alike": 1,
        "n_conditions": 4, "compared": [],
    }  # fmt: skip
    return Finding("advice", (model,), (study,), n=40, strength=Strength.SHOWN, numbers=numbers, facts=facts)


def session_row(model: str) -> dict:
    """A remedy in a session that helps."""
    difference = {"difference": 0.5, "ci_low": 0.4, "ci_high": 0.6, "p_holm": 0.001, "n_for_5_points": 300}
    costs = {"tokens": 130.0, "tokens_without": 100.0, "dollars": None, "dollars_without": None}
    named = {"model": model, "experiment": "again", "setting": "repeat it", "size": 9, "n": 40}
    return {**named, "accuracy": 0.9, "accuracy_without": 0.4, **difference, **costs}


def tables(models=("a", "b")):
    """Tables with a finding of every kind that rows alone give."""
    accuracy, bias = [], []
    for model in models:
        accuracy += [
            accuracy_row(model, "kv", value, place * 9, n_cut=3) for place, value in enumerate((0.8, 0.5, 0.6))
        ]
        accuracy += [accuracy_row(model, "qa", 0.1, place * 9) for place in range(3)]
        accuracy += [accuracy_row(model, "book", 0.1, None), accuracy_row(model, "best", 0.1, 0, task="oracle_qa")]
        bias += [
            bias_row(model),
            bias_row(model, size=40, shape="no difference shown", pbi_n_for_5_points=600 if model == "a" else None),
            silent_row("floor", model=model, experiment="small"),
        ]
    return {
        "accuracy": accuracy,
        "position_bias": bias,
        "utilisation": [utilisation_row(0.1, 0.1, model=model) for model in models],
        "model_pairs": pair_rows(),
        "effective_length": [length_row()],
        "log_probability_effects": probability_rows(primacy=0.01),
        "session_remedies": [session_row(model) for model in models],
    }


def study(own=None, **options):
    made = own or tables()
    return findings_of(lambda name: made.get(name, []), EXPERIMENTS, **options)


def test_a_finding_has_exactly_the_numbers_and_facts_of_its_kind():
    made = study(stand_ins=["c"], own=tables(("a", "b", "c")), advice=[advice("b", "other")])
    for finding in made.findings:
        assert {*finding.numbers} == {*KINDS[finding.kind].numbers}, finding.kind
        assert {*finding.facts} == {*KINDS[finding.kind].facts}, finding.kind
        assert finding.remedy is None or finding.remedy in REMEDIES
        assert sentence(finding).endswith(".")
    kinds = {finding.kind for finding in made.findings}
    assert kinds == {*SENTENCES, *WARNINGS, "cut"}


def test_every_kind_has_words_and_a_place_in_the_reference():
    assert {*SENTENCES, *WARNINGS} == {name for name in KINDS if not KINDS[name].is_warning} | {*WARNINGS}
    reference = findings_reference()
    assert all(f"### `{name}`" in reference for name in KINDS)
    assert "| numbers | `pbi` |" in reference and "A warning." in reference


def test_findings_are_the_same_after_their_way_through_json_and_in_the_order_of_their_kinds():
    made = study(advice=[advice("b", "other")])
    text = json.dumps(made.to_json(), allow_nan=False)
    assert StudyFindings.from_json(json.loads(text)) == made
    order = [*KINDS]
    places = [order.index(finding.kind) for finding in made.findings]
    assert places == sorted(places) and json.loads(text)["version"] == 1
    assert made.models == ("a", "b") and made.experiments == tuple(one["name"] for one in EXPERIMENTS)
    assert study(plain=["kv", "qa"]).experiments == ("kv", "qa")
    assert study(models=["b", "a"]).models == ("b", "a")


def test_stand_ins_are_in_no_conclusion():
    made = study(stand_ins=["a"])
    (names,) = made.of_kind("stand_ins")
    assert names.models == ("a",)
    for finding in made.of_kind("curve", "references"):
        assert (finding.strength is None) == (finding.models == ("a",))
    concluding = made.of_kind("no_benefit", "no_information", "pair", "log_probability", "cut")
    assert concluding and not any("a" in finding.models for finding in concluding)
    assert not study(stand_ins=["a"], advice=[advice()]).of_kind("advice")
    assert not study(stand_ins=["z"]).of_kind("stand_ins")


def test_an_advice_is_silent_where_the_document_is_not_shown_to_help_unless_positions_differ():
    assert not study(advice=[advice()]).of_kind("advice")
    helped = tables() | {"utilisation": [utilisation_row(0.1, 0.9, 0.5)]}
    assert study(helped, advice=[advice()]).of_kind("advice")
    differing = tables()
    differing["position_bias"] += [bias_row(experiment="qa")]
    assert study(differing, advice=[advice()]).of_kind("advice")
    # Of two experiments with the same questions, one whose positions differ is enough.
    differing["accuracy"].append(accuracy_row(experiment="rag"))
    differing["utilisation"].append(utilisation_row(0.1, 0.1, experiment="rag"))
    settings = [one | ({"oracle": "best"} if one["name"] == "rag" else {}) for one in EXPERIMENTS]
    both = findings_of(lambda name: differing.get(name, []), settings, advice=[advice()])
    assert len(both.of_kind("no_benefit")) == 3 and both.of_kind("advice")


def test_pairs_leave_out_the_positions_of_models_that_tell_nothing():
    (plain,) = study().of_kind("pair")
    assert plain.facts["silent"] == []
    rows = tables()
    for experiment, change in (("small", {}), ("kv", {"doubt": "empty"}), ("qa", {})):
        own = rows | {"model_pairs": pair_rows(experiment=experiment)}
        own["accuracy"] = [row | (change if row["model"] == "a" else {}) for row in rows["accuracy"]]
        (pair,) = study(own).of_kind("pair")
        assert pair.facts["silent"] == (["a"] if change else ["a", "b"])


@pytest.mark.parametrize("model", ["a", "b"])
def test_a_model_is_not_told_twice_of_an_experiment_without_a_benefit(model):
    rows = tables()
    rows["position_bias"] += [silent_row("floor", model=model, experiment="qa")]
    silent = [one for one in study(rows).of_kind("no_information") if one.models == (model,)]
    assert [one.experiments for one in silent] == [("small",)]
