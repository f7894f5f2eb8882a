"""Folders of answers that studies, runs and people share: nothing is asked twice, lost, or served as what it is not."""

import json
import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from echo_engine import IDENTITY, Asked, EchoEngine, ask, planned
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import refused
from sweeps import ANSWERS, answer_records, dummy_sweep, short_examples

from litm.base.store import digest
from litm.checks.answers import import_answers
from litm.inference.kept_answers import IDENTITY_FILE, Answers, answer_files
from litm.inference.shards import Shard
from litm.records.responses import Response

OTHER = {"model": "another"}
#: Prompts of two experiments, some of which are the same.
PROMPTS = {"e": [f"p{n}" for n in range(7)], "f": [f"p{n}" for n in range(4, 11)]}
STUDIES = ("one", "two")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, Asked]:
    """Each experiment as it is asked in a study of its own."""
    return {name: ask(tmp_path_factory.mktemp(name), *prompts) for name, prompts in PROMPTS.items()}


class History:
    """Two studies, with what was asked in each."""

    def __init__(self, root: Path) -> None:
        self.root, self.known = root, {study: Counter[str]() for study in STUDIES}

    def run(
        self,
        study: str,
        experiment: str,
        names: tuple[str, str] = ("m", "e"),
        part: Shard | None = None,
        cut: int | None = None,
        within: "tuple | None" = None,
    ) -> Asked | None:
        """A run, which may be cut before a batch; within: another one while its first batch is computed."""
        before = self.known[study].copy()

        def happens(number: int) -> None:
            if number == cut:
                raise KeyboardInterrupt
            if within and number == 0:
                self.run(*within)

        engine, found = EchoEngine(happens=happens), None
        with suppress(KeyboardInterrupt):
            name = "/".join((names[0], names[1] + experiment))
            found = ask(self.root / study, *PROMPTS[experiment], engine=engine, name=name, part=part)
        # Asked at most once, and never if there was an answer when the run began.
        assert len({*engine.asked}) == len(engine.asked) and not before.keys() & {*engine.asked}
        self.known[study].update(engine.asked)
        return found

    def take(self, study: str, by_import: bool) -> None:
        """Take in the answers of the other study."""
        (other,) = {*STUDIES} - {study}
        there, here = (self.root / one / ANSWERS for one in (other, study))
        if by_import and answer_files([there]):
            import_answers(there, here, self.root / study / "asking")
        elif there.exists():
            shutil.copytree(there, here, dirs_exist_ok=True)
        self.known[study].update(dict.fromkeys(self.known[other], 1))

    def copy(self, study: str, is_moved: bool) -> None:
        """A folder of an identity under another name, beside it or in its place."""
        folder = self.root / study / ANSWERS
        for path in [path for path in folder.glob("*/") if (path / IDENTITY_FILE).exists()][:1]:
            shutil.copytree(path, folder / f"copy of {path.name[:40]}", dirs_exist_ok=True)
            if is_moved and not path.name.startswith("copy"):
                shutil.rmtree(path)


MODELS, LABELS = ("m", "renamed"), ("", "new_")
parts = st.none() | st.integers(1, 4).flatmap(lambda count: st.builds(Shard, st.integers(1, count), st.just(count)))
names = st.tuples(st.sampled_from(MODELS), st.sampled_from(LABELS))
runs = st.tuples(
    st.just("run"), st.sampled_from(STUDIES), st.sampled_from([*PROMPTS]), names, parts, st.none() | st.integers(0, 4)
)
#: Another sweep at the same time.
at_once = runs.map(lambda run: ("at once", *run[1:], (run[1], "ef"[run[2] == "e"], run[3])))
takes = st.tuples(st.just("take"), st.sampled_from(STUDIES), st.booleans())
copies = st.tuples(st.just("copy"), st.sampled_from(STUDIES), st.booleans())


@settings(max_examples=60)
@given(steps=st.lists(runs | at_once | takes | copies, max_size=8))
def test_any_order_of_runs_cuts_renames_shards_imports_and_copies_gives_the_responses_of_one_run_and_asks_once(
    undisturbed, steps
):
    with TemporaryDirectory() as folder:
        history = History(Path(folder))
        for what, *step in steps:
            getattr(history, "run" if what == "at once" else what)(*step)
        for study in STUDIES:
            for experiment, expected in undisturbed.items():
                assert history.run(study, experiment).responses == expected.responses
            # What two runs asked at once has two answers; all else has one.
            if not any(what == "at once" for what, *_ in steps):
                history.take(study, by_import=False)
                assert not history.run(study, "e", ("late", "")).asked


def test_studies_with_different_answers_give_the_same_responses_once_each_has_those_of_the_other(tmp_path):
    def answering(word: str) -> EchoEngine:
        class Engine(EchoEngine):
            def generate(self, prompts):
                for batch in super().generate(prompts):
                    yield [(n, replace(one, text=f"{one.text} {word}")) for n, one in batch]

        return Engine()

    before = [ask(tmp_path / study, *PROMPTS["e"], engine=answering(study)).texts for study in STUDIES]
    assert not {*before[0]} & {*before[1]}
    history = History(tmp_path)
    for study in STUDIES:
        history.take(study, by_import=study == "one")
    after = [ask(tmp_path / study, *PROMPTS["e"]).texts for study in STUDIES]
    assert after[0] == after[1] and all(text in pair for text, *pair in zip(after[0], *before, strict=True))
    assert len({text in before[0] for text in after[0]}) == 2


# At once


def test_many_writers_of_one_shared_folder_lose_nothing(tmp_path):
    writers, batches, shared = 6, 15, tmp_path / "shared"
    start, failures = threading.Barrier(writers), []

    def write(number: int) -> None:
        try:
            start.wait(60)
            with Answers([shared], "m", "e", tmp_path / str(number) / "asking") as answers:
                for batch in range(batches):
                    texts = [f"{number} {batch} {n}" for n in range(3)]
                    keys = [prompt.key for prompt in planned(*texts)]
                    told = [Response(text.upper(), "stop", 1, 1, "x") for text in texts]
                    answers.append(IDENTITY, list(zip(keys, told, strict=True)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(answer_files([shared])) == writers
    texts = [f"{number} {batch} {n}" for number in range(writers) for batch in range(batches) for n in range(3)]
    found = ask(tmp_path / "reads", *texts, folders=[shared])
    assert not found.asked and found.texts == texts
    assert [path.name for path in shared.rglob("*") if path.suffix not in (".jsonl", ".json", "")] == []


@pytest.mark.long
def test_programs_that_ask_at_once_for_one_shared_folder_lose_nothing(tmp_path):
    sweep, shared = dummy_sweep(short_examples(tmp_path)), tmp_path / "shared"
    places = [tmp_path / name for name in STUDIES]
    started = []
    for place in places:
        place.mkdir()
        words = [*sweep.command(place), "--answers", str(shared), str(place / ANSWERS)]
        started.append(subprocess.Popen(words, stderr=subprocess.PIPE, text=True))
    for process in started:
        said = process.communicate()[1]
        assert process.returncode == 0, said
    one, two = ((place / "responses.jsonl.gz").read_bytes() for place in places)
    assert one == two and len({record["key"] for record in answer_records(shared)}) == 24
    assert not any((place / ANSWERS).exists() for place in places)


def test_new_answers_go_into_the_shared_folder_and_those_of_a_read_only_one_into_the_studys_own(tmp_path, monkeypatch):
    shared, own = tmp_path / "shared", tmp_path / "study" / ANSWERS
    shared.mkdir()
    assert ask(tmp_path / "study", "a", "b", folders=[shared, own]).asked == ["a", "b"]
    assert len(answer_files([shared])) == 1 and not own.exists()
    before, may = {path: path.read_bytes() for path in answer_files([shared])}, os.access
    # Root may write anywhere.
    monkeypatch.setattr(
        os, "access", lambda path, mode: may(path, mode) and not (mode & os.W_OK and Path(path).is_relative_to(shared))
    )
    assert ask(tmp_path / "study", "a", "c", folders=[shared, own]).asked == ["c"]
    assert {path: path.read_bytes() for path in answer_files([shared])} == before and len(answer_files([own])) == 1
    assert ask(tmp_path / "study", *"abc", folders=[shared, own]).asked == []
    monkeypatch.undo()
    # Only the folder of this identity is somebody else's.
    monkeypatch.setattr(
        os,
        "access",
        lambda path, mode: may(path, mode) and not (mode & os.W_OK and Path(path) == shared / digest(IDENTITY)),
    )
    assert ask(tmp_path / "study", "d", folders=[shared, own]).asked == ["d"]
    assert len(answer_files([own])) == 2
    assert ask(tmp_path / "study", "d", identity=OTHER, folders=[shared, own]).asked == ["d"]
    assert len(answer_files([shared])) == 2


# Bad input

FOLDER, OF_OTHER = digest(IDENTITY), digest(OTHER)


def with_record(change: Callable[[dict], object]) -> Callable[[Path], None]:
    """What changes the identity file of the identity's folder."""

    def changed(answers: Path) -> None:
        file = answers / FOLDER / IDENTITY_FILE
        record = json.loads(file.read_text())
        change(record)
        file.write_text(json.dumps(record))

    return changed


def renamed(answers: Path, name: str = "by hand") -> None:
    (answers / FOLDER).rename(answers / name)


def two_folders(answers: Path) -> None:
    """One of two files each."""
    shutil.copytree(answers / FOLDER, answers / "copied")
    for number, folder in enumerate((FOLDER, "copied")):
        sorted((answers / folder).glob("*.jsonl"))[number].unlink()


def half_copied(answers: Path) -> None:
    file = sorted((answers / FOLDER).glob("*.jsonl"))[0]
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - 30])


def half_an_identity(answers: Path) -> None:
    file = answers / FOLDER / IDENTITY_FILE
    file.write_bytes(file.read_bytes()[:40])


def moved_away(answers: Path) -> None:
    """All files in the folder of another identity."""
    for file in (answers / FOLDER).glob("*.jsonl"):
        file.rename(answers / OF_OTHER / file.name)


def added(answers: Path) -> None:
    """A file of another identity beside those of this one."""
    for file in (answers / OF_OTHER).glob("*.jsonl"):
        shutil.copy(file, answers / FOLDER)


def of_another(answers: Path) -> None:
    """The identity file of another folder."""
    shutil.copy(answers / OF_OTHER / IDENTITY_FILE, answers / FOLDER)


def nothing_of(answers: Path) -> None:
    (answers / FOLDER / IDENTITY_FILE).unlink()


def nothing_of_a_renamed_one(answers: Path) -> None:
    nothing_of(answers)
    renamed(answers)


def stranger(answers: Path) -> None:
    (answers / "notes").mkdir()
    (answers / "notes" / "todo.txt").write_text("x")
    (answers / "README").write_text("x")


#: What is done to a folder of answers, the line that says so, the prompts of four that are asked then, and whether
#: asking is refused instead because the answers would have no place.
DAMAGES = {
    "no identity file": (nothing_of, "", "", False),
    "an edited identity": (with_record(lambda record: record["fields"].update(model="x")), "was edited", "abcd", True),
    "an edited digest": (with_record(lambda record: record.update(identity="0" * 64)), "was edited", "abcd", True),
    "no fields": (with_record(lambda record: record.pop("fields")), "was edited", "abcd", True),
    "another version": (with_record(lambda record: record.update(version=2)), "of version 2", "abcd", True),
    "half an identity": (half_an_identity, IDENTITY_FILE, "abcd", True),
    "a renamed folder": (renamed, "", "", False),
    "a renamed folder without identity": (nothing_of_a_renamed_one, "is missing, so these answers are", "abcd", False),
    "two folders": (two_folders, "", "", False),
    "a half copied file": (half_copied, "", "b", False),
    "files in the folder of another": (moved_away, "", "abcd", False),
    "a file of another": (added, "", "", False),
    "the identity of another": (of_another, "", "abcd", True),
    "files of somebody else": (stranger, "", "", False),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_damage_to_a_folder_of_answers_is_one_line_and_nothing_is_lost_or_served_as_what_it_is_not(
    tmp_path, capsys, what
):
    damage, said, asked, is_refused = DAMAGES[what]
    ask(tmp_path, "a", "b")
    ask(tmp_path, "c", "d", name="m/f")
    echoed = ask(tmp_path, *"abcd", identity=OTHER).texts
    answers = tmp_path / ANSWERS
    files = sorted((answers / FOLDER).glob("*.jsonl"), key=lambda file: file.name.startswith("m+f"))
    assert len(files) == 2
    damage(answers)
    if what == "a half copied file":
        # The file that is first by name is that of `m/e`.
        assert files[0].read_bytes()[-1:] != b"\n"
    capsys.readouterr()
    before = {path: path.read_bytes() for path in answers.rglob("*") if path.is_file()}
    engine = EchoEngine(made_with="anew")
    if is_refused:
        message = refused(ask, tmp_path, *"abcd", engine=engine, name="m/g")
        assert "Remove this file and run the same command" in message and engine.asked == []
        assert {path: path.read_bytes() for path in answers.rglob("*") if path.is_file()} == before
        (answers / FOLDER / IDENTITY_FILE).unlink()
        assert not ask(tmp_path, *"abcd", name="m/g").asked
    else:
        found = ask(tmp_path, *"abcd", engine=engine, name="m/g")
        assert "".join(engine.asked) == asked and found.texts == [*"ABCD"]
        assert found.manifest["made_with"].get("anew", 0) == len(asked)
    notes = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("m/g: ")]
    assert [said in line for line in notes] == [True] * bool(said)
    assert {path: path.read_bytes() for path in before if path.exists() and path.suffix == ".jsonl"}.items() <= (
        before.items()
    )
    assert ask(tmp_path, *"abcd", identity=OTHER, name="m/h").texts == echoed


# Equal forms


def test_identities_that_mean_the_same_share_answers_across_folders_and_studies(tmp_path):
    def served(url: str, top_p: float) -> dict:
        model = {"engine": "openai", "endpoint": "chat", "prompt_template": "chat", "request": {"top_p": top_p}}
        source = {"api_model": "x", "base_url": url}
        return {"source": source, "model": model, "template": None, "decoding": {"max_new_tokens": 5, "stop": "x"}}

    identities = [
        served(url, number) for url in ("http://localhost:8000/v1", "http://127.0.0.1:8000/v1/") for number in (1, 1.0)
    ]
    assert len({*map(digest, identities)}) == 4
    folders = [tmp_path / "shared", tmp_path / "one" / ANSWERS]
    folders[0].mkdir()
    # A batch in each folder, the last in one that has a name of its own.
    for number, identity in enumerate(identities):
        found = ask(tmp_path / "one", *"abcd"[: number + 1], identity=identity, folders=[folders[number % 2]])
        assert found.asked == [*"abcd"][max(0, number - 1) : number + 1]
    (folders[1] / digest(identities[3])).rename(folders[1] / "renamed")
    for identity in identities:
        found = ask(tmp_path / "two", *"abcd", identity=identity, folders=folders, name="other/name")
        assert (found.asked, found.texts) == ([], [*"ABCD"])
    assert ask(tmp_path / "two", "a", identity=served("http://localhost:8001/v1", 1), folders=folders).asked == ["a"]


def keys_of(texts: Sequence[str], identity: dict) -> set[str]:
    return {prompt.key for prompt in planned(*texts, identity=identity)}


def test_new_answers_stand_under_the_identity_as_it_is_written(tmp_path):
    one, other = ({"source": {}, "model": {"top": number}} for number in (1, 1.0))
    ask(tmp_path, "a", identity=one)
    assert ask(tmp_path, "a", "b", identity=other).asked == ["b"]
    found = {
        file.parent.name: {json.loads(line)["key"] for line in file.open()}
        for file in answer_files([tmp_path / ANSWERS])
    }
    assert found == {digest(one): keys_of("a", one), digest(other): keys_of("b", other)}
