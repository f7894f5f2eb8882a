"""All warnings of a study: their kinds, their order, what they touch, and how they are said."""

from dataclasses import replace

import pytest

from litm.findings.record import Finding, Number
from litm.findings.warning_words import OF_ANSWERS, OF_QUESTIONS, WARNING_REMEDIES, remedy_in_words, warning_in_words
from litm.findings.warnings import WARNING_KINDS, concerns, in_groups, touches, warnings_of

NAMES = {"model": "m", "experiment": "kv", "size": 10, "placement": "gold_at_0", "metric": "exact_code"}
CELL = NAMES | {"n": 20, "n_cut": 2, "n_empty": 3, "n_refused": 4, "n_left_out": 1, "n_failed": 2}
CELL |= {"n_not_recorded": 5, "doubt": "error", "accuracy": 0.5, "accuracy_completed": 5 / 9}
INSIDE = {"metric": "whole_words", "accuracy_full": 0.2, "accuracy_lenient": 0.6, "doubt": None}
UNRECORDED = {"experiment": "brought", "doubt": None, "n_cut": None}
CHECK = {"experiment": "kv", "size": 10, "n": 20, "n_in_distractors": 5, "n_not_in_gold": 1, "n_choices": 9}
READ = NAMES | {"placement": None, "n": 20, "n_preamble": None, "n_preamble_right": None, "changes_with_reading": True}
READ |= {f"value_{name}{end}": 0.1 for name in ("first_line", "full") for end in ("", "_ci_low", "_ci_high")}
READ |= {"quantity": "pbi", "metric": "best_subspan_em"}
JUDGED = NAMES | {"n": 10, "n_no_verdict": 1, "n_labels": 0, "accuracy": None}
#: Rows with a warning of each kind.
TABLES = {
    "accuracy": [
        CELL, CELL | INSIDE | {"experiment": "own"},
        *(CELL | UNRECORDED | {"placement": f"gold_at_{at}", "n": n} for at, n in ((0, 9), (4, 0), (9, 9))),
    ],
    "position_bias": [NAMES | {"reason": "empty"}],
    "written_questions": [{"questions": "mine", "written_by": "w", "checked_by": "c", "outcome": "kept"}],
    "gold_passages": [{"questions": "mine", "how": "none", "written_by": "w"}],
    "answer_checks": [CHECK | {"chance": 0.5}],
    "reading_sensitivity": [
        READ,
        READ | {"quantity": "accuracy", "n_preamble": 9, "n_preamble_right": 2, "changes_with_reading": None},
    ],
    "judge": [
        JUDGED, JUDGED | {"experiment": "labelled", "n_labels": 9, "accuracy": 0.5},
        JUDGED | {"experiment": "few", "n_labels": 2},
    ],
}  # fmt: skip
ASKED = {"model": {"request": None}, "decoding": {"max_new_tokens": 30, "stop": "first_line"}}
MANIFESTS = [
    {"model": "m", "experiment": "kv", "identity_fields": ASKED, "with_reasoning": 3, "with_text": 4},
    {"model": "m", "experiment": "brought", "identity_fields": {}, "not_compared": 2, "doubts": ["counted from 1"]},
]
EXPERIMENTS = [
    {"name": "kv", "cluster": "topic", "datasets": {10: "mine"}, "judge": {"model": "m"}},
    *({"name": name, "cluster": None, "judge": {"model": "j"}} for name in ("labelled", "few")),
]
ALL = {"clusters": {"kv": ["a", "b"]}, "filled": {"kv": {10: 0.5}}}


def warnings(tables=TABLES, **changes) -> list[Finding]:
    settings = {"manifests": MANIFESTS, "experiments": EXPERIMENTS, **ALL, **changes}
    return warnings_of(lambda name: tables.get(name, []), **settings)


def test_a_study_has_warnings_of_all_kinds_in_their_order_with_the_numbers_and_facts_that_are_declared():
    told = warnings()
    assert list(dict.fromkeys(one.kind for one in told)) == [*WARNING_KINDS]
    for one in told:
        kind = WARNING_KINDS[one.kind]
        assert kind.is_warning and kind.doc.endswith(".")
        assert (one.numbers.keys(), one.facts.keys()) == (kind.numbers.keys(), kind.facts.keys()), one
    (cut, announced) = (next(one for one in told if one.kind == kind) for kind in ("cut", "announced"))
    assert cut.facts["limit"] == 30 and announced.facts["ends_early"]


def test_a_study_without_tables_and_manifests_has_no_warning():
    assert warnings_of(lambda name: []) == []


def test_what_is_warned_of_the_answers_of_a_stand_in_is_no_matter():
    kinds = {one.kind for one in warnings(stand_ins=["m"])}
    of_manifests = {"reasoning_text", "recorded_doubt", "unknown_prompts"}
    assert kinds == of_manifests | OF_QUESTIONS.keys()


def test_every_warning_has_words_and_its_remedy_too():
    for one in warnings():
        assert one.kind in {*OF_ANSWERS, *OF_QUESTIONS, "doubt", "recorded_doubt"}
        assert one.remedy is None or one.remedy in WARNING_REMEDIES
        said = warning_in_words([one])
        assert all(name in said for name in (*one.models, *one.experiments)) or one.facts.get("questions") in said
        assert remedy_in_words(one) in said and "{" not in remedy_in_words(replace(one, remedy=None))


# What is said together, and what it touches


def cut(
    model="a", count=12, n=600, experiment="kv", limit=None, key=None, sizes=(10,), remedy=None, right=None
) -> Finding:
    facts = {"count": count, "sizes": list(sizes), "right": right, "limit": limit, "key": key}
    return Finding(
        "cut", (model,), (experiment,), n=n, numbers={"share": Number(count / n)}, facts=facts, remedy=remedy
    )


def doubt(model="a", name="error", detail="", experiment="kv", sizes=(10,), is_whole=True) -> Finding:
    facts = {"doubt": name, "detail": detail, "sizes": list(sizes), "is_whole": is_whole}
    return Finding("doubt", (model,), (experiment,), facts=facts, remedy=f"doubt_{name}")


def test_warnings_of_a_kind_are_said_together_and_those_of_different_doubts_apart():
    findings = [cut(), doubt(), cut("b"), doubt("b", "empty"), doubt("b"), doubt("c", "prompts_cut", "1024")]
    findings += [doubt("d", "prompts_cut", "2048")]
    assert [[one.models[0] for one in group] for group in in_groups(findings)] == [
        ["a", "b"],
        ["a", "b"],
        ["b"],
        ["c", "d"],
    ]


def test_a_warning_touches_the_numbers_of_its_sizes_and_one_about_questions_those_of_all_models():
    assert touches(cut(sizes=(10, 20))) == {("a", "kv", 10), ("a", "kv", 20)}
    assert touches(replace(cut(), size=5)) == {("a", "kv", 5)}
    few = Finding("few_clusters", experiments=("kv", "qa"))
    assert touches(few) == {(None, "kv", None), (None, "qa", None)}
    assert touches(Finding("gold_looked_for")) == set()
    assert concerns(cut(), "a", "kv", 10) and concerns(cut(), "a", "kv") and concerns(few, "any", "qa", 3)
    for others in (("b", "kv", 10), ("a", "qa", 10), ("a", "kv", 20)):
        assert not concerns(cut(), *others)


# Sentences


def test_models_with_the_same_experiments_are_named_with_their_counts_the_largest_share_first():
    known = {"limit": 30, "key": "max_new_tokens", "remedy": "raise_max_new_tokens"}
    assert warning_in_words([cut(**known), cut("b", 300, **known)]) == (
        "2 models on kv have answers cut at the limit of new tokens (b 300 of 600 at 30 tokens; a 12 of 600 at "
        "30 tokens): accuracy is a lower bound; raise max_new_tokens (in define.experiments), unless they repeat "
        "themselves"
    )
    # Recorded answers have no limit that is known, and what to do is for the others.
    assert warning_in_words([cut(**known), cut("b")]).endswith("unless they repeat themselves (for a)")
    assert warning_in_words([cut()]) == (
        "a on kv has answers cut at the limit of new tokens (12 of 600): accuracy is a lower bound"
    )
    assert "(12 of 600, 75.0 % of the others right): " in warning_in_words([cut(right=441)])


def test_models_with_other_experiments_and_remedies_are_named_with_theirs():
    first = cut(limit=30, key="max_new_tokens", remedy="raise_max_new_tokens")
    others = [
        cut("b", n, experiment=name, limit=9 + n, key="max_tokens", remedy="raise_request")
        for n, name in ((1, "qa"), (5, "kv"))
    ]
    assert warning_in_words([first, *others]) == (
        "2 models have answers cut at the limit of new tokens (a on kv 12 of 600 at 30 tokens; b on kv, qa 6 of 1,200 "
        "at 10 to 14 tokens): accuracy is a lower bound; raise max_new_tokens (in define.experiments), unless they "
        "repeat themselves (for a); raise max_tokens (in the model's request), unless they repeat themselves (for b)"
    )


def test_of_many_models_and_experiments_the_first_are_named_and_the_others_counted():
    said = warning_in_words([cut(model, 100 - place) for place, model in enumerate("abcdef")])
    assert "d 97 of 600; and 2 more)" in said
    # The experiments with the largest shares first.
    said = warning_in_words([cut(experiment=name, count=96 + place) for place, name in enumerate("zyxwv")])
    assert said.startswith("a on v, w, x and 2 more has answers cut at the limit of new tokens (490 of 3,000)")


def test_a_doubt_names_models_experiments_and_sizes_with_its_reason_and_what_to_do():
    group = [doubt("a", "prompts_cut", "1024"), doubt("a", "prompts_cut", "1024", "qa", (10, 20), is_whole=False)]
    assert warning_in_words([*group, doubt("b", "prompts_cut", "2048")]) == (
        "a on kv, qa (size 10, 20); b on kv: no shape, no PBI and no advice, because the server cut the prompts to "
        "1,024, 2,048 tokens; raise its context length (num_ctx in Ollama) or use fewer or shorter items"
    )


#: The sentence on the first warning of each kind.
SAID = {
    "reasoning_text": (
        "m on kv has many answers with <think> or </think> (3 of 4): they are scored with their reasoning; set the "
        "model's 'reasoning: strip' (no server is asked again)"
    ),
    "recorded_doubt": "m on brought: counted from 1",
    "unknown_prompts": (
        "m on brought has recorded answers without prompt_sha256, which do not say what prompts they answer (2): "
        "their accuracy is valid only if the prompts had the seed, documents and text of this study"
    ),
    "unrecorded_positions": (
        "m on brought has no recorded answer at some positions (4 of 10, counted from 0): their shape and PBI are "
        "unknown; to compare the other positions, set positions: {10: [0, 9]} for brought in define.experiments"
    ),
    "left_out": (
        "m on kv has questions that do not fit the context window at a position (1 of 21, up to 1 at a position): "
        "these are left out at all positions of the size"
    ),
    "failed": "m on kv has questions that were asked and got no answer (2 of 22, up to 2 at a position): these are not "
    "counted",
    "not_recorded": (
        "m on kv has questions without a recorded answer (5 of 25, up to 5 at a position): these are not counted"
    ),
    "empty": "m on kv has many empty answers (3 of 20): they are scored as answers",
    "refused": "m on kv has many answers refused or withheld by the provider (4 of 20): they are scored as received",
    "reading": (
        "m on kv has a conclusion that changes with how much of the answers is read (pbi at size 10 +10.0 points "
        "[10.0, 10.0] by the first line, +10.0 points [10.0, 10.0] by the whole answer): see "
        "tables/reading_sensitivity.csv"
    ),
    "announced": (
        "m on kv has answers whose first line ends with a colon (9 of 20, 2 of these right): it may only announce the"
        " answer; nothing after it was recorded, `stop: end_token` records all of it"
    ),
    "inside_words": (
        "m on own has answers with an accepted answer only inside other words or numbers, or after another choice (8 "
        "of 20): these count as wrong (column accuracy_lenient); where words are inflected or compound, add their "
        "forms to the answers, separated by |, or set metric: best_subspan_em in define.experiments"
    ),
    "written_before": (
        "Questions of your table are written by a model (mine 1 of 1 by w): its column written_by says so"
    ),
    "gold_looked_for": (
        "Some questions do not say which passage has the answer (mine 0 of 1 with a gold passage, 1 without, left "
        "out): check and correct them in results/tables/gold_passages.csv"
    ),
    "answers_not_in_gold": (
        "The metric finds none of the answers of some questions in their gold documents (kv 1 of 20): an answer from "
        "there may count as wrong (tables/answer_checks.csv)"
    ),
    "answers_elsewhere": (
        "The metric finds the answers of many questions in other items of the context too (kv 5 of 20): a wrong "
        "answer may count as right (tables/answer_checks.csv)"
    ),
    "choices": (
        "The answers of many questions are a yes, a no or a letter (kv 9 of 20, 50 % by the same answer): no metric "
        "of words tells a guess from knowledge; the level to beat is not 0 % but that of the same answer to all of "
        "these"
    ),
    "few_clusters": (
        "The questions are in clusters that are worth fewer than 10 of equal size (kv 2 questions in 2 clusters "
        "(topic)): the intervals may be too narrow; use more clusters"
    ),
    "filled": "Documents were filled in at random (kv 50.0 % at size 10): the retriever found too few",
}


@pytest.mark.parametrize("kind", SAID)
def test_a_warning_of_each_kind_in_words(kind):
    assert warning_in_words([next(one for one in warnings() if one.kind == kind)]) == SAID[kind]


def test_experiments_with_equal_numbers_are_named_together_and_details_only_where_there_are_any():
    facts = {"count": 2, "sizes": [10]}
    elsewhere = [Finding("answers_elsewhere", experiments=(name,), n=20 + (name == "c"), facts=facts) for name in "abc"]
    assert "(a, b 2 of 20; c 2 of 21)" in warning_in_words(elsewhere)
    facts = {"questions": "mine", "looked_for": 3, "without": 0}
    looked = warning_in_words([Finding("gold_looked_for", n=9, facts=facts)])
    assert "(mine 9 of 9 with a gold passage, 3 of them the first retrieved with the answer)" in looked
    facts = {"cluster": "topic", "clusters": 21, "worth": 8}
    few = warning_in_words([Finding("few_clusters", experiments=("kv",), n=30, facts=facts)])
    assert "(kv 30 questions in 21 clusters (topic), worth 8 of equal size)" in few


def test_several_conclusions_and_positions_of_a_model_are_told_by_experiment():
    facts = {"quantity": "tilt", "size": 10, "placement": "gold_at_4", "changes": 3, "sizes": [10]}
    numbers = {"first_line": Number(-0.1, -0.2, -0.05), "full": Number(0.0, -0.1, 0.1)}
    change = Finding("reading", ("m",), ("kv",), facts=facts, numbers=numbers)
    said = warning_in_words(
        [change, replace(change, experiments=("qa",), facts=facts | {"changes": 1, "placement": None})]
    )
    assert said.startswith("m on kv, qa has a conclusion")
    assert "kv tilt at size 10, gold_at_4 -10.0 points [-20.0, -5.0] by the first line" in said
    assert "whole answer, and 2 more; qa tilt at size 10 -10.0 points" in said
    facts = {"sizes": [10], "without": [[10, [4, 5]]], "kept": [[10, [0, 9]]]}
    lacking = Finding("unrecorded_positions", ("m",), ("kv",), facts=facts, remedy="set_positions")
    said = warning_in_words([lacking, replace(lacking, experiments=("qa",))])
    assert "(kv 4, 5 of 10; qa 4, 5 of 10, counted from 0)" in said and "for qa in define.experiments (for m)" in said


def test_graded_answers_after_a_colon_are_right_in_part():
    facts = {"count": 9, "sizes": [10], "right": 2, "is_graded": True, "ends_early": False}
    (graded,) = [Finding("announced", ("m",), ("kv",), n=20, numbers={"share": Number(0.45)}, facts=facts)]
    assert "(9 of 20, 2 of these right at least in part)" in warning_in_words([graded])


def test_lacking_questions_are_told_with_the_most_at_a_position():
    facts = {"count": 5, "most": 3, "sizes": [10]}
    lacking = Finding("failed", ("m",), ("kv",), n=40, numbers={"share": Number(0.125)}, facts=facts)
    assert "(5 of 40, up to 3 at a position): these are not counted" in warning_in_words([lacking])


def test_what_to_do_about_an_unchecked_judge_of_several_experiments_is_said_once():
    judged = [JUDGED | {"experiment": name} for name in ("kv", "qa", "oracle")]
    (group,) = (group for group in in_groups(warnings({"judge": judged})) if group[0].kind == "judge_unchecked")
    assert len(group) == 3 and warning_in_words(group).count("fill in a copy") == 1
