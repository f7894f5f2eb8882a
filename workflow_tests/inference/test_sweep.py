"""A sweep with a fake engine: prompts asked, answers kept, questions left out."""

import os
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from echo_engine import FIT, IDENTITY, EchoEngine, ask, planned
from litm.inference.journal import Journal
from programs import refused
from record_makers import example

from litm.base.messages import UserError
from litm.base.store import state_with_links
from litm.engines.interface import FAIL
from litm.inference.answer_identity import NEW_PROMPTS
from litm.inference.asked_sweep import SourceFiles
from litm.inference.prompts import Fit, sweep_prompts
from litm.inference.sweep import state_of
from litm.prompting.prompt_format import CHAT, RAW
from litm.records.served import made_with_server, several_names


@pytest.mark.parametrize(
    ("before", "prompts", "asked", "distinct", "reused"),
    [("ab", "cab", "c", 3, 2), ("", "aab", "ab", 2, 0), ("ab", "ba", "", 2, 2)],
    ids=["only what is missing is asked", "the same prompt in two cells is asked once", "nothing is missing"],
)
def test_a_prompt_is_asked_once_and_its_answer_serves_all_cells(tmp_path, before, prompts, asked, distinct, reused):
    ask(tmp_path / "j", *before)
    found = ask(tmp_path / "j", *prompts)
    assert found.asked == list(asked) and found.texts == list(prompts.upper())
    counted = found.counts("prompts", "distinct_prompts", "asked", "reused")
    assert counted == (len(prompts), distinct, len(asked), reused)
    # No model is loaded when nothing is missing.
    assert not ask(tmp_path / "j", *prompts, engine=lambda: pytest.fail("the engine was made")).asked


@pytest.mark.parametrize(
    ("changed_after", "kept"),
    [(0, ""), (1, ""), (2, ""), (3, "ab"), (4, "abcd")],
    ids=["before it is loaded", "while prompts are prepared", "while it is loaded", "after a batch", "after two"],
)
def test_no_answer_is_kept_of_a_model_that_has_become_another(tmp_path, changed_after, kept):
    checks, made = iter(range(10)), []

    def check_source():
        if next(checks) >= changed_after:
            raise UserError("another model")

    def make_engine():
        made.append(EchoEngine())
        return made[0]

    with pytest.raises(UserError, match="another model"):
        ask(tmp_path / "j", *"abcde", engine=make_engine, files=SourceFiles(check_source))
    with Journal(tmp_path / "j") as journal:
        assert [prompt.content for prompt in planned(*"abcde") if prompt.key in journal] == list(kept)
    assert len(made) == (changed_after > 0) and bool(made and made[0].asked) == (changed_after > 1)


@pytest.fixture
def models(tmp_path) -> Path:
    """Two models of one file each, and a link to the first."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "w").write_text(name)
    (tmp_path / "current").symlink_to("a")
    return tmp_path


def files_of(models: Path) -> SourceFiles:
    location = models / "current"
    return SourceFiles(lambda: None, lambda: [state_with_links(file) for file in (location, location / "w")])


def by_link(models: Path) -> None:
    for target in "ba":
        (models / "current").unlink()
        (models / "current").symlink_to(target)


def by_copy(models: Path) -> None:
    """The file is written over by another and by its copy, with the time that it had (`cp -p`)."""
    shutil.copy2(models / "a" / "w", models / "kept")
    shutil.copy2(models / "b" / "w", models / "a" / "w")
    shutil.copy2(models / "kept", models / "a" / "w")


def by_move(models: Path) -> None:
    for one, other in (("a", "away"), ("b", "a"), ("a", "b"), ("away", "a")):
        (models / one).rename(models / other)


@pytest.mark.parametrize("replace_and_put_back", [by_link, by_copy, by_move])
def test_no_answer_is_kept_of_a_model_that_was_another_while_it_was_loaded(models, replace_and_put_back):
    loading = EchoEngine(happens=lambda number: number or replace_and_put_back(models))
    with pytest.raises(UserError, match="replaced while it was loaded, .* no answer was kept; run the"):
        ask(models / "j", *"abc", engine=loading, files=files_of(models))
    assert ask(models / "j", *"abc", files=files_of(models)).outcome.asked == 3


def test_files_may_be_touched_once_the_model_is_loaded(models):
    touching = EchoEngine(happens=lambda number: number and os.utime(models / "a" / "w"))
    assert ask(models / "j", *"abcde", engine=touching, files=files_of(models)).outcome.asked == 5


@pytest.mark.parametrize(
    ("before", "after", "asked", "texts", "counts"),
    [
        pytest.param(FIT, Fit(30, 5), ["y" * 16], ["A", "Y" * 16], (1, 1, 0), id="a larger one asks what did not fit"),
        pytest.param(Fit(None, 5), FIT, [], ["A", None], (0, 1, 1), id="a smaller one leaves answered prompts out"),
    ],
)
def test_another_context_window_asks_only_what_then_fits(tmp_path, before, after, asked, texts, counts):
    ask(tmp_path / "j", "a", "y" * 16, fit=before)
    found = ask(tmp_path / "j", "a", "y" * 16, fit=after)
    assert (found.asked, found.texts, found.counts("asked", "reused", "overflow")) == (asked, texts, counts)
    assert found.responses == ask(tmp_path / "fresh", "a", "y" * 16, fit=after).responses


def test_the_answer_of_an_encoder_decoder_takes_nothing_from_the_window_of_its_prompt(tmp_path):
    windows = Fit(context_window=20, max_new_tokens=5, is_shared=False, answer_window=5)
    found = ask(tmp_path / "j", "x" * 20, "y" * 21, fit=windows)
    assert [response.finish_reason for response in found.responses] == ["stop", "overflow"]
    with pytest.raises(UserError, match=r"^m/e: .* have 6 tokens, but the model's decoder holds 5: lower the experim"):
        ask(tmp_path / "j", "x", fit=replace(windows, max_new_tokens=6))
    with pytest.raises(UserError, match=r"the longest has 21 tokens, and the context window is 20; nothing was asked"):
        ask(tmp_path / "j", "y" * 21, fit=replace(windows, on_overflow=FAIL))


#: All but the first question of size 4.
SEVERAL_TOO_LONG = [
    example(id=f"q{n}", size=size, placement=f"gold_at_{position}", prompt="x" * length)
    for size, position, lengths in ((4, 0, (1, 16)), (4, 3, (2, 17)), (9, 0, (18, 19)))
    for n, length in enumerate(lengths)
]


@pytest.mark.parametrize("answered_before", [False, True])
def test_prompts_that_do_not_fit_are_an_error_on_demand_before_anything_is_asked(tmp_path, answered_before):
    if answered_before:
        ask(tmp_path / "j", *SEVERAL_TOO_LONG, fit=Fit(None, 5))
    engine = EchoEngine()
    said = refused(lambda: ask(tmp_path / "j", *SEVERAL_TOO_LONG, fit=Fit(20, 5, FAIL), engine=engine))
    assert engine.asked == []
    assert said == (
        "m/e: 2 prompts of size 9, gold_at_0 (and 2 in other cells) do not fit: the longest has 19 tokens, and the "
        "context window of 20 must hold 5 of the answer too; nothing was asked. Choose smaller sizes, or set the "
        "experiment's on_overflow to leave_out"
    )


def test_prompts_that_fit_are_asked_where_others_are_an_error_and_questions_left_out_are_listed_by_size(tmp_path):
    found = ask(tmp_path / "a", "a", "x" * 15, fit=Fit(20, 5, FAIL))
    assert [response.finish_reason for response in found.responses] == ["stop", "stop"]
    assert found.manifest["left_out"] == {}
    assert ask(tmp_path / "b", *SEVERAL_TOO_LONG).manifest["left_out"] == {"4": ["q1"], "9": ["q0", "q1"]}


#: Counts no tokens before it answers.
Server = partial(EchoEngine, counts=False)


def test_a_prompt_that_is_too_long_by_the_servers_count_is_left_out_by_the_first_run_as_by_the_next(tmp_path, capsys):
    first = ask(tmp_path / "j", "a", "b" * 16, engine=Server)
    assert "m/e: by the server's count, 1 prompts do not fit, so their answers do not count" in capsys.readouterr().err
    assert [(one.text, one.finish_reason) for one in first.responses] == [("A", "stop"), (None, "overflow")]
    assert first.counts("asked", "reused", "overflow") == (2, 0, 1)
    again = ask(tmp_path / "j", "a", "b" * 16, engine=Server)
    assert again.responses == first.responses and again.counts("asked", "reused", "overflow") == (0, 1, 1)


def test_where_no_prompt_may_be_too_long_the_servers_count_stops_the_sweep_and_answers_are_kept(tmp_path):
    with pytest.raises(UserError, match="do not fit: .*; their answers are kept in the journal"):
        ask(tmp_path / "j", "a", "b" * 16, engine=Server, fit=replace(FIT, on_overflow=FAIL))
    assert ask(tmp_path / "j", "a", "b" * 16, engine=Server).outcome.asked == 0


def test_prompts_without_an_answer_are_failed_and_those_that_do_not_fit_never_asked_in_responses_and_counts(tmp_path):
    found = ask(tmp_path / "j", "a", "bb", "ccc", "bb", "y" * 16, engine=EchoEngine(["bb", "ccc"]))
    told = [(one.text, one.finish_reason, one.prompt_tokens, one.response_tokens) for one in found.responses]
    failed = [(None, "failed", tokens, 0) for tokens in (2, 3, 2)]
    assert told == [("A", "stop", 1, 1), *failed, (None, "overflow", 16, 0)] and found.asked == ["a"]
    counts = {"prompts": 5, "distinct_prompts": 4, "asked": 3, "reused": 0, "overflow": 1, "failed": 2}
    answered = {"prompt_tokens": 1, "response_tokens": 1, "made_with": {"echo 1.0": 1}}
    assert found.manifest.items() >= {**counts, **answered}.items()
    none = ask(tmp_path / "none", "a", "b", engine=EchoEngine("ab"))
    assert [response.finish_reason for response in none.responses] == ["failed", "failed"]
    assert none.counts("asked", "reused", "failed", "made_with") == (2, 0, 2, {})


def test_the_manifest_says_why_prompts_were_asked_and_switching_back_costs_nothing(tmp_path):
    other = {**IDENTITY, "dtype": "bfloat16"}
    for identity, prompts, because in (
        (IDENTITY, ["y" * 16], None),
        (IDENTITY, ["a"], None),
        (IDENTITY, ["a"], None),
        (IDENTITY, ["a", "b"], NEW_PROMPTS),
        (other, ["a"], {"dtype": [None, "bfloat16"]}),
        (other, ["a"], None),
        ({**IDENTITY, "dtype": "float32"}, ["y" * 16], None),
    ):
        assert ask(tmp_path / "j", *prompts, identity=identity).manifest["asked_because"] == because
    assert not ask(tmp_path / "j", "a", "b").asked


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

    plain = example(id="q0", size=4, prompt="User: a\nAssistant: b\nUser: c\nAssistant:")
    turns = [{"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"), ("user", "c"))]
    records = [
        replace(plain, messages=turns),
        replace(plain, prompt="another transcript of them", messages=turns),
        replace(plain, messages=[turns[0]]),
        plain,
    ]
    engine = Listener()
    responses = ask(tmp_path / "j", *records, engine=engine, prompt_template=CHAT).responses
    assert engine.contents == [turns, [turns[0]], plain.prompt]
    assert responses[0].key == responses[1].key and len({response.key for response in responses}) == 3


def test_answers_under_an_identity_that_means_the_same_are_served_and_not_written_again(tmp_path):
    def asked(number, *prompts):
        identity = {"source": {}, "model": {"request": {"top_p": number}}}
        found = ask(tmp_path / "j", *prompts, identity=identity)
        return found.asked, found.texts, found.manifest["asked_because"]

    asked(1, "a")
    written = (tmp_path / "j").read_bytes()
    assert asked(1.0, "a") == ([], ["A"], None) and (tmp_path / "j").read_bytes() == written
    assert asked(1.0, "a", "b") == (["b"], ["A", "B"], NEW_PROMPTS)
    assert asked(2, "a")[::2] == (["a"], {"model.request.top_p": [1.0, 2]})


def test_another_model_on_the_server_is_reported_before_its_answers_are_kept(tmp_path, capsys, monkeypatch):
    identity = {"source": {"api_model": "x", "base_url": "http://a"}, "model": {}}
    told, append = [], Journal.append
    monkeypatch.setattr(
        Journal, "append", lambda self, *batch: (told.append(capsys.readouterr().err), append(self, *batch))
    )

    def names(name, *prompts):
        named = EchoEngine(made_with=made_with_server("openai 1", "http://a", name))
        return several_names(ask(tmp_path / "j", *prompts, engine=named, identity=identity).manifest)

    assert names("alpha", "a", "b") == "" and names("alpha", "a", "b", "c") == ""
    (said,) = [text for text in told if "calls its model" in text]
    assert "m/e: the server calls its model alpha instead of x; some servers answer to any name" in said
    told.clear()
    assert names("gamma", *"abcdef") == "2 names of models in the server's answers: alpha (3), gamma (3)"
    said = "m/e: the server now calls its model gamma, and in earlier answers of this sweep alpha"
    assert [said in text for text in told] == [True, False]


def test_the_progress_says_that_the_model_is_loaded_and_then_the_tokens_that_were_read():
    engine, said = EchoEngine(), []
    for engine.is_loading, engine.computed_tokens in ((False, None), (True, None), (False, 1200)):
        said.append(state_of(engine))
    assert said == ["", "loading the model", "1,200 tokens read"]


def test_an_interrupted_sweep_says_how_many_answers_it_has_kept(tmp_path, capsys):
    def interrupt(number):
        if number:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path / "j", *"abc", engine=EchoEngine(happens=interrupt))
    with Journal(tmp_path / "j") as journal:
        assert len(journal.responses) == 2
    assert "m/e: 2 of 3 prompts were answered, and these answers are kept" in capsys.readouterr().err.splitlines()
