"""`my_data` without questions: made-up facts in the documents, at lengths that fit the window, become entries."""

from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from programs import refused

from litm.config.data import PLANTED, WRITTEN
from litm.config.my_session import step_positions, steps_of_lengths
from litm.config.session_remedies import session_remedies
from litm.config.study import load_study
from litm.records.measures import WRITING

DEFAULT = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
FACTS = ["my_facts", "my_linked_facts", "my_facts_alone", "my_linked_facts_alone"]


@pytest.fixture
def docs(tmp_path, monkeypatch) -> None:
    """Two hundred documents of 30 words."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(200):
        (tmp_path / "docs" / f"d{number:03}.txt").write_text(f"Town {number} has a mill and a school. " * 4)


def study(window: int | None = 8000, my_data: dict | None = None, **config):
    keys = {} if window is None else {"context_window": window}
    model = {"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "api_model": "m", **keys}
    define = {"models": {"served": model}, **config.pop("define", {})}
    mine = {key: value for key, value in {"documents": "docs", **(my_data or {})}.items() if value}
    return load_study({**DEFAULT, "models": ["served"], "my_data": mine, "define": define, **config}, ROOT)


def cells(one, name: str = "my_facts") -> dict[int, list[str]]:
    by_size: dict[int, list[str]] = {}
    for cell in one.experiments[name].cells:
        by_size.setdefault(cell.size, []).append(cell.placement)
    return by_size


def test_documents_alone_give_two_curves_of_made_up_facts_with_their_references(docs):
    one = study()
    assert [*one.experiments] == FACTS
    assert {name: one.questions[name].source for name in ("my_stated_facts", "my_linked_facts")} == {
        "my_stated_facts": PLANTED, "my_linked_facts": PLANTED
    }  # fmt: skip
    assert cells(one) == cells(one, "my_linked_facts") and len(cells(one)) > 2
    assert one.questions["my_stated_facts"].documents == max(cells(one))
    assert all(len(places) == 5 or size < 5 for size, places in cells(one).items())
    assert {"my_facts", "my_facts_by_length"} <= {*one.figures}
    assert one.figures["my_facts_by_length"].windows == {"served": 8000}


def test_lengths_are_shares_of_the_window_or_tokens(docs):
    quarter, half = (max(cells(study(my_data={"lengths": [share]}))) for share in (0.25, 0.5))
    assert abs(half - 2 * quarter) <= 300 / 60 + 2
    assert max(cells(study(my_data={"lengths": [4000, 2000]}))) == half
    assert max(cells(study(window=16000, my_data={"lengths": [0.25]}))) == half


def test_lengths_do_not_exceed_the_text_nor_the_window(docs):
    assert max(cells(study(window=1_000_000))) == 200
    assert "9,000 tokens exceed the window of served, 8,000 tokens" in refused(study, my_data={"lengths": [9000]})
    assert max(cells(study(my_data={"lengths": [9000, 0.5]}))) == max(cells(study(my_data={"lengths": [0.5]})))
    assert "a context needs 3 passages or more" in refused(study, window=400)


def test_a_window_that_is_not_known_is_assumed_and_said(docs):
    one = study(window=None)
    assert any("the window of served is not known: 8,192 tokens are assumed" in note for note in one.notes)
    assert one.figures["my_facts_by_length"].windows == {}
    assert max(cells(study(window=None, my_data={"lengths": [9000]}))) > max(cells(study()))


def test_without_a_tokenizer_a_context_of_english_text_is_a_little_shorter_than_its_length(docs):
    text = " ".join(ROOT.joinpath("docs", "your_haystack.md").read_text().split())
    for number in range(200):
        Path("docs", f"d{number:03}.txt").write_text(text[50 * number : 50 * number + 450])
    (size,) = cells(study(my_data={"lengths": [7200]}))
    assert 0.7 < size * (450 / 3.35 + 10) / 7200 < 0.95


def test_lengths_without_contexts_of_their_own_are_counted(docs):
    one = study(my_data={"lengths": [400, 4000, 4001]})
    assert len(cells(one)) == 1
    assert any(note.startswith("my_data: lengths: 2 of 3 are left out, because they exceed") for note in one.notes)


def test_define_changes_the_entries(docs):
    own = {"experiments": {"my_facts": {"positions": {"4": [0, 3]}, "examples": 7}}}
    one = study(define=own)
    assert cells(one) == {4: ["gold_at_0", "gold_at_3"]} and one.experiments["my_facts"].examples == 7
    assert one.experiments["my_linked_facts"].examples == 20
    assert "has 100 questions" in refused(study, define={"experiments": {"my_facts": {"examples": 200}}})


SESSION = str(ROOT / "examples" / "sessions" / "openai.json")
IN_SESSION = [
    "my_said_facts", "my_said_facts_results_dropped", "my_said_facts_repeated", "my_tool_facts",
    "my_tool_facts_shortened", "my_instruction", "my_instruction_repeated", "my_instruction_of_system",
]  # fmt: skip


def test_a_session_alone_gives_facts_instructions_and_remedies_on_the_same_questions(docs):
    one = study(my_data={"documents": None, "session": SESSION, "lengths": [3000, 8000]})
    assert [*one.experiments] == IN_SESSION
    assert cells(one, "my_said_facts") == cells(one, "my_instruction") and len(cells(one, "my_said_facts")) == 2
    assert all(places[0] == "gold_at_0" for places in cells(one, "my_said_facts").values())
    assert {place for places in cells(one, "my_instruction_of_system").values() for place in places} == {"gold_at_0"}
    assert one.figures["my_session_by_length"].windows == {"served": 8000}
    compared = {(a, b) for (_, a), (_, b) in one.compared}
    assert {("my_instruction_repeated", "my_instruction"), ("my_tool_facts_shortened", "my_tool_facts")} <= compared


def test_a_remedy_has_the_sizes_at_which_it_changes_the_session_and_its_words(docs):
    Path("summary.txt").write_text("We fixed two tests.")
    one = study(
        my_data={"documents": None, "session": SESSION, "lengths": [1500, 3000, 8000], "compacted": "summary.txt"}
    )
    sizes = {*cells(one, "my_said_facts")}
    assert {*cells(one, "my_said_facts_results_dropped")} == {size for size in sizes if size > 5}
    assert max(cells(one, "my_said_facts_repeated")) < max(sizes)
    for size, places in cells(one, "my_instruction_compacted").items():
        assert min(int(place.rpartition("_")[2]) for place in places) >= (size - 1) // 2
    remedies = {remedy["experiment"]: remedy for remedy in session_remedies(one.experiments, one.questions)}
    assert {name: remedy["setting"] for name, remedy in remedies.items()} == {
        "my_said_facts_results_dropped": "drop results of tools after 4 steps",
        "my_said_facts_repeated": "repeat the session",
        "my_said_facts_compacted": "put your summary in place of the first half",
        "my_tool_facts_shortened": "shorten results of tools to 60 words",
        "my_instruction_repeated": "repeat the instruction at the end",
        "my_instruction_compacted": "put your summary in place of the first half",
    }
    assert remedies["my_instruction_compacted"]["compared_with"] == "my_instruction"
    assert "'compacted' needs 'session'" in refused(study, my_data={"compacted": "summary.txt"})
    entry = {"corpus": "mini_gazetteer", "keep_results": 3}
    assert "'keep_results' is for a 'session'" in refused(study, define={"questions": {"mine": entry}})


def test_positions_in_a_session_are_at_equal_shares_of_its_tokens():
    assert step_positions([100, 200, 300, 400], 5) == [0, 1, 2, 3, 4]
    assert step_positions([1000, 1010, 1020, 1030, 2000], 6) == [0, 1, 4, 5]
    assert steps_of_lengths([350, 900], [10, 20, 30, 500], [False, True, False, False]) == [4, 5]


def test_a_session_is_read_alone_and_long_enough(docs):
    assert "'session' is read alone" in refused(study, my_data={"session": SESSION})
    short = {"documents": None, "session": SESSION, "lengths": [310]}
    assert "no context of 3 steps fits 310 tokens" in refused(study, my_data=short)
    entry = {"session": SESSION, "facts": "stated", "questions": 3}
    assert "'facts: stated' is for a corpus" in refused(study, define={"questions": {"mine": entry}})


def test_keys_of_made_up_facts_go_together(docs):
    for entry in ({"facts": "stated", "corpus": "mini_gazetteer"}, {"corpus": "mini_gazetteer", "documents": 3}):
        assert "go together" in refused(study, define={"questions": {"mine": entry}})
    for facts, said in (("said", "'facts: said' is for a session"), ("spoken", "questions.mine.facts")):
        entry = {"facts": facts, "corpus": "mini_gazetteer", "documents": 3, "questions": 3}
        assert said in refused(study, define={"questions": {"mine": entry}})


def test_questions_by_a_model_give_the_experiments_of_own_questions_and_two_sweeps_of_the_model(docs):
    one = study(my_data={"questions": {"by": "served", "number": 7, "checked_by": "dummy"}})
    assert one.questions["my_questions_with_gold"].source == WRITTEN and "my_positions" in one.experiments
    asked = {sweep.pair: sweep.experiment.most_questions for sweep in one.sweeps_of(WRITING)}
    names = ("served", "my_questions_with_gold-written"), ("dummy", "my_questions_with_gold-checked")
    assert asked == dict.fromkeys(names, 7) and one.experiments["my_oracle"].most_questions == 7
    checked = one.experiment("my_questions_with_gold-checked")
    for reference in ("my_oracle", "my_closed_book"):
        assert checked.decoding() == one.experiments[reference].decoding()
        assert {*one.experiments[reference].cells} < {*checked.cells}


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        ({"by": "servd"}, "config.my_data.questions.by: unknown name 'servd' (did you mean 'served'?)"),
        ({"number": 3}, "config.my_data.questions: 'by' is missing"),
        ({"by": "served", "number": 0}, "config.my_data.questions.number: input should be"),
        ({"by": "served", "model": "x"}, "config.my_data.questions: unknown key 'model'"),
        ({"by": "recorded"}, "recorded has recorded responses; name a model that can be asked"),
    ],
)
def test_mistakes_in_questions_by_a_model_are_named(docs, questions, said):
    (tmp := Path("r.jsonl")).write_text("")
    recorded = {"recorded": {"engine": "recorded", "responses": {"my_positions": str(tmp)}}}
    served = {"engine": "openai", "base_url": "http://127.0.0.1:1/v1", "api_model": "m", "context_window": 8000}
    assert said in refused(study, my_data={"questions": questions}, define={"models": {"served": served, **recorded}})


def test_what_needs_a_table_is_refused_with_questions_by_a_model(docs):
    wanted = {"questions": {"by": "served"}, "corrections": "c.csv"}
    assert "'corrections' needs 'questions': a table" in refused(study, my_data=wanted)
