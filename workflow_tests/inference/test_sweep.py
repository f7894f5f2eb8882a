"""A sweep with a fake engine: prompts asked, answers kept, questions left out."""

from dataclasses import replace

import pytest
from echo_engine import FIT, IDENTITY, EchoEngine, examples
from record_makers import example

from litm.base.messages import UserError
from litm.base.store import digest
from litm.inference.engine import FAIL
from litm.inference.identity import NEW_PROMPTS
from litm.inference.journal import Journal
from litm.inference.setup import Fit, SourceFiles, sweep_prompts
from litm.inference.sweep import AskedSweep, ask_missing, check_answered, manifest, state_of, sweep_responses
from litm.prompting.prompt_format import CHAT, RAW
from litm.records import Example, Target, made_with_server, several_names
from litm.scoring.scores import Sweep, accuracy_table, score_sweep


def run(path, engine, *prompts, fit=FIT):
    planned = sweep_prompts(examples(*prompts), digest(IDENTITY), RAW)
    with Journal(path) as journal:
        outcome = ask_missing(planned, journal, AskedSweep("test", IDENTITY), fit, lambda: engine)
        responses = list(sweep_responses(planned, journal, outcome))
        return outcome, responses, manifest({}, planned, journal, outcome)


def test_only_what_is_missing_is_asked(tmp_path):
    run(tmp_path / "j", EchoEngine(), "a", "b")
    engine = EchoEngine()
    outcome, responses, summary = run(tmp_path / "j", engine, "c", "a", "b")
    assert engine.asked == ["c"] and outcome.asked == 1
    assert [response.text for response in responses] == ["C", "A", "B"]
    assert (summary["asked"], summary["reused"], summary["prompts"]) == (1, 2, 3)


def test_no_engine_is_made_when_nothing_is_missing(tmp_path):
    run(tmp_path / "j", EchoEngine(), "a")

    def no_engine():
        raise AssertionError("the engine was made")

    planned = sweep_prompts(examples("a"), digest(IDENTITY), RAW)
    with Journal(tmp_path / "j") as journal:
        assert ask_missing(planned, journal, AskedSweep("test", IDENTITY), FIT, no_engine).asked == 0


def test_the_same_prompt_in_two_cells_is_asked_once(tmp_path):
    engine = EchoEngine()
    _, responses, summary = run(tmp_path / "j", engine, "a", "a", "b")
    assert engine.asked == ["a", "b"]
    assert [response.text for response in responses] == ["A", "A", "B"]
    assert (summary["prompts"], summary["distinct_prompts"], summary["asked"]) == (3, 2, 2)


def test_a_crash_loses_at_most_one_batch(tmp_path):
    engine = EchoEngine()
    engine.dies_after = 3
    with pytest.raises(RuntimeError, match="killed"):
        run(tmp_path / "j", engine, "a", "b", "c", "d", "e")
    again = EchoEngine()
    _, responses, _ = run(tmp_path / "j", again, "a", "b", "c", "d", "e")
    assert again.asked == ["c", "d", "e"]
    assert [response.text for response in responses] == list("ABCDE")


@pytest.mark.parametrize(
    ("changed_after", "kept"),
    [
        pytest.param(0, "", id="before it is loaded"),
        pytest.param(1, "", id="while prompts are prepared"),
        pytest.param(2, "", id="while it is loaded"),
        pytest.param(3, "ab", id="after the first batch"),
        pytest.param(4, "abcd", id="after the second batch"),
    ],
)
def test_no_answer_is_kept_of_a_model_that_has_become_another(tmp_path, changed_after, kept):
    calls, made = [], []

    def make_engine():
        made.append(EchoEngine())
        return made[0]

    def check_source():
        calls.append(1)
        if len(calls) > changed_after:
            raise UserError("another model")

    planned = sweep_prompts(examples(*"abcde"), digest(IDENTITY), RAW)
    with Journal(tmp_path / "j") as journal:
        with pytest.raises(UserError, match="another model"):
            ask_missing(planned, journal, AskedSweep("test", IDENTITY, SourceFiles(check_source)), FIT, make_engine)
        assert [prompt.content for prompt in planned if prompt.key in journal] == list(kept)
    assert len(made) == (changed_after > 0) and bool(made and made[0].asked) == (changed_after > 1)


def test_a_prompt_that_does_not_fit_is_never_asked_and_never_cut(tmp_path):
    engine = EchoEngine()
    fits, too_long = "x" * 15, "y" * 16
    _, responses, summary = run(tmp_path / "j", engine, fits, too_long)
    assert engine.asked == [fits]
    assert responses[1].text is None and responses[1].finish_reason == "overflow"
    assert responses[1].prompt_tokens == 16
    assert (summary["asked"], summary["overflow"], summary["reused"]) == (1, 1, 0)


def test_a_larger_context_window_asks_only_what_did_not_fit(tmp_path):
    run(tmp_path / "j", EchoEngine(), "a", "y" * 16)
    engine = EchoEngine()
    _, responses, _ = run(tmp_path / "j", engine, "a", "y" * 16, fit=Fit(30, 5))
    assert engine.asked == ["y" * 16] and responses[1].text == "Y" * 16


def test_a_smaller_context_window_leaves_out_prompts_that_were_answered_before(tmp_path):
    run(tmp_path / "j", EchoEngine(), "a", "y" * 16, fit=Fit(None, 5))
    _, responses, summary = run(tmp_path / "j", EchoEngine(), "a", "y" * 16)
    fresh = run(tmp_path / "fresh", EchoEngine(), "a", "y" * 16)
    assert responses == fresh[1] and responses[1].finish_reason == "overflow"
    assert (summary["asked"], summary["reused"], summary["overflow"]) == (0, 1, 1)


def test_the_answer_of_an_encoder_decoder_takes_nothing_from_the_window_of_its_prompt(tmp_path):
    windows = Fit(context_window=20, max_new_tokens=5, is_shared=False, answer_window=5)
    _, responses, _ = run(tmp_path / "j", EchoEngine(), "x" * 20, "y" * 21, fit=windows)
    assert [response.finish_reason for response in responses] == ["stop", "overflow"]
    with pytest.raises(UserError, match=r"^test: .* have 6 tokens, but the model's decoder holds 5: lower the experim"):
        run(tmp_path / "j", EchoEngine(), "x", fit=replace(windows, max_new_tokens=6))
    with pytest.raises(UserError, match=r"the longest has 21 tokens, and the context window is 20; nothing was asked"):
        run(tmp_path / "j", EchoEngine(), "y" * 21, fit=replace(windows, on_overflow=FAIL))


def cells(*cells: tuple[int, str, str, str]) -> list[Example]:
    return [example(id=id, size=size, placement=placement, prompt=prompt) for id, size, placement, prompt in cells]


SEVERAL_TOO_LONG = cells(
    ("q0", 4, "gold_at_0", "a"),
    ("q1", 4, "gold_at_0", "y" * 16),
    ("q0", 4, "gold_at_3", "b"),
    ("q1", 4, "gold_at_3", "z" * 17),
    ("q0", 9, "gold_at_0", "u" * 18),
    ("q1", 9, "gold_at_0", "v" * 19),
)


@pytest.mark.parametrize("answered_before", [False, True])
def test_prompts_that_do_not_fit_are_an_error_on_demand_before_anything_is_asked(tmp_path, answered_before):
    planned = sweep_prompts(SEVERAL_TOO_LONG, digest(IDENTITY), RAW)
    with Journal(tmp_path / "j") as journal:
        if answered_before:
            ask_missing(planned, journal, AskedSweep("m/e", IDENTITY), Fit(None, 5), EchoEngine)
        engine = EchoEngine()
        with pytest.raises(UserError) as error:
            ask_missing(planned, journal, AskedSweep("m/e", IDENTITY), Fit(20, 5, FAIL), lambda: engine)
    assert engine.asked == []
    assert str(error.value) == (
        "m/e: 2 prompts of size 9, gold_at_0 (and 2 in other cells) do not fit: the longest has 19 tokens, and the "
        "context window of 20 must hold 5 of the answer too; nothing was asked. Choose smaller sizes, or set the "
        "experiment's on_overflow to leave_out"
    )


def test_prompts_that_fit_are_asked_although_others_are_an_error(tmp_path):
    _, responses, _ = run(tmp_path / "j", EchoEngine(), "a", "x" * 15, fit=Fit(20, 5, FAIL))
    assert [response.finish_reason for response in responses] == ["stop", "stop"]


def test_the_manifest_lists_the_questions_that_are_left_out_by_size(tmp_path):
    planned = sweep_prompts(SEVERAL_TOO_LONG, digest(IDENTITY), RAW)
    with Journal(tmp_path / "j") as journal:
        outcome = ask_missing(planned, journal, AskedSweep("m/e", IDENTITY), FIT, EchoEngine)
        assert manifest({}, planned, journal, outcome)["left_out"] == {"4": ["q1"], "9": ["q0", "q1"]}
    assert run(tmp_path / "j", EchoEngine(), "a")[2]["left_out"] == {}


def test_the_manifest_says_why_prompts_were_asked(tmp_path):
    def because(identity, *prompts):
        planned = sweep_prompts(examples(*prompts), digest(identity), RAW)
        with Journal(tmp_path / "j") as journal:
            outcome = ask_missing(planned, journal, AskedSweep("test", identity), FIT, EchoEngine)
            return manifest({}, planned, journal, outcome)["asked_because"]

    other = {**IDENTITY, "dtype": "bfloat16"}
    assert because(IDENTITY, "y" * 16) is None
    assert because(IDENTITY, "a") is None
    assert because(IDENTITY, "a") is None
    assert because(IDENTITY, "a", "b") == "new prompts"
    assert because(other, "a") == {"dtype": [None, "bfloat16"]}
    assert because(other, "a") is None
    assert because({**IDENTITY, "dtype": "float32"}, "y" * 16) is None


def forgetful(*prompts: str) -> EchoEngine:
    engine = EchoEngine()
    engine.forgets = prompts
    return engine


def test_prompts_without_an_answer_are_an_error_for_a_sweep_that_stops_and_the_others_are_kept(tmp_path):
    outcome, *_ = run(tmp_path / "j", forgetful("b"), "a", "b", "c")
    with pytest.raises(UserError) as error:
        check_answered(outcome)
    assert str(error.value) == (
        "1 of 3 prompts got no answer; the others are kept, run the same command again or set the model's "
        "on_failure to count"
    )
    again = EchoEngine()
    outcome, *_ = run(tmp_path / "j", again, "a", "b", "c")
    check_answered(outcome)
    assert again.asked == ["b"]


def test_prompts_without_an_answer_are_failed_in_the_responses_and_the_counts(tmp_path):
    _, responses, summary = run(tmp_path / "j", forgetful("bb", "ccc"), "a", "bb", "ccc", "bb", "y" * 16)
    failed = responses[1]
    assert (failed.text, failed.finish_reason, failed.prompt_tokens, failed.response_tokens) == (None, "failed", 2, 0)
    assert [response.finish_reason for response in responses] == ["stop", "failed", "failed", "failed", "overflow"]
    counts = {"prompts": 5, "distinct_prompts": 4, "asked": 3, "reused": 0, "overflow": 1, "failed": 2}
    assert summary.items() >= {**counts, "prompt_tokens": 1, "response_tokens": 1, "made_with": {"echo 1.0": 1}}.items()


def test_failed_prompts_are_not_in_the_journal_and_only_they_are_asked_by_the_next_run(tmp_path):
    run(tmp_path / "j", forgetful("b", "c"), "a", "b", "c")
    with Journal(tmp_path / "j") as journal:
        assert len(journal) == 1
    engine = forgetful("c")
    _, responses, summary = run(tmp_path / "j", engine, "a", "b", "c", "d")
    assert engine.asked == ["b", "d"]
    assert [response.text for response in responses] == ["A", "B", None, "D"]
    assert (summary["asked"], summary["reused"], summary["failed"]) == (3, 1, 1)
    _, responses, summary = run(tmp_path / "j", EchoEngine(), "a", "b", "c", "d")
    assert responses == run(tmp_path / "fresh", EchoEngine(), "a", "b", "c", "d")[1]
    assert (summary["asked"], summary["reused"], summary["failed"]) == (1, 3, 0)


def test_a_sweep_whose_every_prompt_failed_still_has_its_responses(tmp_path):
    _, responses, summary = run(tmp_path / "j", forgetful("a", "b"), "a", "b")
    assert [response.finish_reason for response in responses] == ["failed", "failed"]
    assert (summary["asked"], summary["reused"], summary["failed"], summary["made_with"]) == (2, 0, 2, {})


def test_failed_prompts_are_counted_in_the_accuracy_table_and_not_scored(tmp_path):
    """An answer that is empty, one that is wrong, and none are three different things."""
    prompts = ("right", "wrong", "  ", "lost", "y" * 16)
    asked = [replace(one, targets=(Target("gold", 0, 0.0, None, ("RIGHT",)),)) for one in examples(*prompts)]
    _, responses, _ = run(tmp_path / "j", forgetful("lost"), *prompts)
    scores = score_sweep(Sweep("m", "e", "t", "best_subspan_em"), asked, responses)
    (row,) = accuracy_table(scores).to_dict("records")
    assert (row["n"], row["accuracy"]) == (3, pytest.approx(1 / 3))
    assert (row["n_empty"], row["n_failed"], row["n_left_out"]) == (1, 1, 1)


def test_another_identity_is_asked_again_and_switching_back_costs_nothing(tmp_path):
    engine = EchoEngine()
    with Journal(tmp_path / "j") as journal:
        for identity in (IDENTITY, {"model": "m", "dtype": "bfloat16"}, IDENTITY):
            planned = sweep_prompts(examples("a"), digest(identity), RAW)
            ask_missing(planned, journal, AskedSweep("test", identity), FIT, lambda: engine)
    assert engine.asked == ["a", "a"]


def test_a_prompts_key_equals_that_in_existing_journals():
    """Another key would ask everything again that was ever answered."""
    plain = example(prompt="What is 2 + 2? é")
    conversation = replace(plain, messages=[{"role": "user", "content": "What is 2 + 2? é"}])
    unchanged = "93b69fe1cfe7a04744541b08ca532ae31165b7476ee480c39d5566498584891f"
    for asked, prompt_template in ((plain, RAW), (plain, "named"), (plain, CHAT), (conversation, RAW)):
        (prompt,) = sweep_prompts([asked], "0" * 64, prompt_template)
        assert (prompt.key, prompt.content) == (unchanged, asked.prompt)


def test_messages_are_asked_in_a_chat_format_and_have_keys_of_their_own(tmp_path):
    class Listener(EchoEngine):
        def prepare(self, contents):
            self.contents = contents
            return super().prepare(["x" * number for number, _ in enumerate(contents, start=1)])

    (plain,) = examples("User: a\nAssistant: b\nUser: c\nAssistant:")
    turns = [{"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"), ("user", "c"))]
    records = [
        replace(plain, messages=turns),
        replace(plain, prompt="another transcript of them", messages=turns),
        replace(plain, messages=[turns[0]]),
        plain,
    ]
    planned = sweep_prompts(records, digest(IDENTITY), CHAT)
    engine = Listener()
    with Journal(tmp_path / "j") as journal:
        ask_missing(planned, journal, AskedSweep("test", IDENTITY), FIT, lambda: engine)
    assert engine.contents == [turns, [turns[0]], plain.prompt]
    assert planned[0].key == planned[1].key and len({prompt.key for prompt in planned}) == 3


def test_answers_under_an_identity_that_means_the_same_are_served_and_not_written_again(tmp_path):
    def ask(number, *prompts):
        identity = {"source": {}, "model": {"request": {"top_p": number}}}
        planned = sweep_prompts(examples(*prompts), digest(identity), RAW)
        engine = EchoEngine()
        with Journal(tmp_path / "j") as journal:
            outcome = ask_missing(planned, journal, AskedSweep("test", identity), FIT, lambda: engine)
            return engine.asked, [one.text for one in sweep_responses(planned, journal, outcome)], outcome.asked_because

    ask(1, "a")
    written = (tmp_path / "j").read_bytes()
    assert ask(1.0, "a") == ([], ["A"], None) and (tmp_path / "j").read_bytes() == written
    assert ask(1.0, "a", "b") == (["b"], ["A", "B"], NEW_PROMPTS)
    assert ask(2, "a")[::2] == (["a"], {"model.request.top_p": [1.0, 2]})


def test_another_model_on_the_server_is_reported_before_its_answers_are_kept(tmp_path, capsys):
    identity = {"source": {"api_model": "x", "base_url": "http://a"}, "model": {}}
    told = []

    class Server(EchoEngine):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def generate(self, prompts):
            for batch in super().generate(prompts):
                said = made_with_server("openai 1", "http://a", self.name)
                yield [(index, replace(response, made_with=said)) for index, response in batch]

    def ask(name, *prompts):
        planned = sweep_prompts(examples(*prompts), digest(identity), RAW)
        with Journal(tmp_path / "j") as journal:
            append = journal.append
            journal.append = lambda *batch: (told.append(capsys.readouterr().err), append(*batch))
            outcome = ask_missing(planned, journal, AskedSweep("m/e", identity), FIT, lambda: Server(name))
            return several_names(manifest({"identity_fields": identity}, planned, journal, outcome))

    assert ask("alpha", "a", "b") == "" and ask("alpha", "a", "b", "c") == ""
    (said,) = [text for text in told if "calls its model" in text]
    assert "m/e: the server calls its model alpha instead of x; some servers answer to any name" in said
    told.clear()
    named = ask("gamma", "a", "b", "c", "d", "e", "f")
    assert named == "2 names of models in the server's answers: alpha (3), gamma (3)"
    said = "m/e: the server now calls its model gamma, and in earlier answers of this sweep alpha"
    assert [said in text for text in told] == [True, False]


def test_the_progress_says_that_the_model_is_loaded_and_then_the_tokens_that_were_read():
    engine = EchoEngine()
    assert state_of(engine) == ""
    engine.is_loading = True
    assert state_of(engine) == "loading the model"
    engine.is_loading, engine.computed_tokens = False, 1200
    assert state_of(engine) == "1,200 tokens read"


def test_an_interrupted_sweep_says_how_many_answers_it_has_kept(tmp_path, capsys):
    class Interrupted(EchoEngine):
        def generate(self, prompts):
            yield next(iter(super().generate(prompts)))
            raise KeyboardInterrupt

    prompts = sweep_prompts(examples("a", "b", "c"), digest(IDENTITY), RAW)
    with Journal(tmp_path / "j.jsonl") as journal, pytest.raises(KeyboardInterrupt):
        ask_missing(prompts, journal, AskedSweep("m/kv", IDENTITY), FIT, Interrupted)
    with Journal(tmp_path / "j.jsonl") as journal:
        kept = len(journal.responses)
    line = f"m/kv: {kept} of {len(prompts)} prompts were answered, and these answers are kept"
    assert 0 < kept < len(prompts) and line in capsys.readouterr().err.splitlines()
