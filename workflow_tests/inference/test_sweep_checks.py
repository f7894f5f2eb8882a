"""Sweeps whose model is replaced while it is loaded, and prompts whose length only the server knows."""

import os
import shutil
from pathlib import Path

import pytest
from echo_engine import FIT, IDENTITY, EchoEngine, examples

from litm.base.messages import UserError
from litm.base.store import digest, state_with_links
from litm.inference.engine import FAIL, Prepared
from litm.inference.journal import Journal
from litm.inference.setup import Fit, SourceFiles, sweep_prompts
from litm.inference.sweep import AskedSweep, ask_missing, manifest, sweep_responses
from litm.prompting.prompt_format import RAW


@pytest.fixture
def models(tmp_path) -> Path:
    """Two models of one file each, and a link to the first."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "w").write_text(name)
    (tmp_path / "current").symlink_to("a")
    return tmp_path


def relink(models: Path, target: str) -> None:
    (models / "current").unlink()
    (models / "current").symlink_to(target)


def by_link(models: Path) -> None:
    relink(models, "b")
    relink(models, "a")


def by_copy(models: Path) -> None:
    """The file is written over by another and by its copy, with the time that it had (`cp -p`)."""
    shutil.copy2(models / "a" / "w", models / "kept")
    shutil.copy2(models / "b" / "w", models / "a" / "w")
    shutil.copy2(models / "kept", models / "a" / "w")


def by_move(models: Path) -> None:
    (models / "a").rename(models / "away")
    (models / "b").rename(models / "a")
    (models / "a").rename(models / "b")
    (models / "away").rename(models / "a")


@pytest.mark.parametrize("replace_and_put_back", [by_link, by_copy, by_move])
def test_no_answer_is_kept_of_a_model_that_was_another_while_it_was_loaded(models, replace_and_put_back):
    class Loading(EchoEngine):
        def generate(self, prompts):
            replace_and_put_back(models)
            return super().generate(prompts)

    location = models / "current"
    files = SourceFiles(lambda: None, lambda: [state_with_links(file) for file in (location, location / "w")])
    sweep = AskedSweep("test", IDENTITY, files)
    planned = sweep_prompts(examples(*"abc"), digest(IDENTITY), RAW)
    with Journal(models / "j") as journal:
        with pytest.raises(UserError, match="replaced while it was loaded, .* no answer was kept; run the"):
            ask_missing(planned, journal, sweep, FIT, Loading)
        assert len(journal) == 0
        assert ask_missing(planned, journal, sweep, FIT, EchoEngine).asked == 3


def test_files_may_be_touched_once_the_model_is_loaded(models):
    class Touching(EchoEngine):
        def generate(self, prompts):
            for batch in super().generate(prompts):
                yield batch
                os.utime(models / "a" / "w")

    location = models / "current"
    files = SourceFiles(lambda: None, lambda: [state_with_links(file) for file in (location, location / "w")])
    sweep = AskedSweep("test", IDENTITY, files)
    planned = sweep_prompts(examples(*"abcde"), digest(IDENTITY), RAW)
    with Journal(models / "j") as journal:
        assert ask_missing(planned, journal, sweep, FIT, Touching).asked == 5


class Server(EchoEngine):
    """Counts no tokens before it answers."""

    def prepare(self, contents):
        return [Prepared(text, None) for text in contents]


def asked_of_server(path: Path, fit: Fit) -> tuple[dict, list]:
    planned = sweep_prompts(examples("a", "b" * 16), digest(IDENTITY), RAW)
    with Journal(path) as journal:
        outcome = ask_missing(planned, journal, AskedSweep("m/e", IDENTITY), fit, Server)
        return manifest({}, planned, journal, outcome), list(sweep_responses(planned, journal, outcome))


def test_a_prompt_that_is_too_long_by_the_servers_count_is_left_out_by_the_first_run_as_by_the_next(tmp_path, capsys):
    first, responses = asked_of_server(tmp_path / "j", FIT)
    assert "m/e: by the server's count, 1 prompts do not fit, so their answers do not count" in capsys.readouterr().err
    assert [(one.text, one.finish_reason) for one in responses] == [("A", "stop"), (None, "overflow")]
    assert (first["asked"], first["reused"], first["overflow"]) == (2, 0, 1)
    again, same = asked_of_server(tmp_path / "j", FIT)
    assert same == responses
    assert (again["asked"], again["reused"], again["overflow"]) == (0, 1, 1)


def test_where_no_prompt_may_be_too_long_the_servers_count_stops_the_sweep_and_answers_are_kept(tmp_path):
    strict = Fit(context_window=20, max_new_tokens=5, on_overflow=FAIL)
    with pytest.raises(UserError, match="do not fit: .*; their answers are kept in the journal"):
        asked_of_server(tmp_path / "j", strict)
    assert asked_of_server(tmp_path / "j", FIT)[0]["asked"] == 0
