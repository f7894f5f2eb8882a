"""`litm answers`: what is kept, answers of another place and of earlier versions, and deleting those of an identity."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from echo_engine import IDENTITY, ask, planned
from programs import run_command

from litm.base.store import canonical_json, digest
from litm.inference.answer_lines import answer_line
from litm.inference.kept_answers import IDENTITY_FILE, Answers, Writer, answer_files
from litm.records.bills import Usage
from litm.records.responses import Response

OTHER = {"source": {"api_model": "gpt"}, "model": {}, "decoding": {"measure": "log_probability"}}
NAME = digest(IDENTITY)
#: What a study keeps, below its folder.
ANSWERS = "results/answers"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    """A study's folder, which is the working directory."""
    monkeypatch.delenv("LITM_ANSWERS", raising=False)
    (tmp_path / "study").mkdir()
    monkeypatch.chdir(tmp_path / "study")
    return tmp_path / "study"


def said(*words: object) -> str:
    """What the command prints."""
    done = run_command("checks.answers", *words)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).strip()


def refused(*words: object) -> str:
    done = run_command("checks.answers", *words)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    return done.stderr.strip().removeprefix("error: ")


def asked(*prompts: str, study: Path = Path("results"), **how) -> list[str]:
    """The prompts that a run asks."""
    return ask(study, *prompts, **how).asked


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def line_of(prompt: str, identity: dict = IDENTITY, text: str | None = None) -> str:
    (one,) = planned(prompt, identity=identity)
    answer = Response(prompt.upper() if text is None else text, "stop", 1, 1, "earlier 1.0")
    return answer_line(one.key, digest(identity), answer)


def journal(path: Path, *lines: str, identity: dict = IDENTITY) -> None:
    """A journal of the previous version: an identity, and its answers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(canonical_json({"identity": digest(identity), "fields": identity}) + "\n" + "".join(lines))


# ls


def test_the_list_has_a_row_for_each_identity_with_its_answers_once_each_those_asked_last_first(here):
    assert said("ls") == "results/answers: no answers"
    for number, identity in enumerate((IDENTITY, OTHER)):
        for model, day in (("m", f"2026-01-0{number + 1}"), ("n", f"2026-02-0{number + 1}")):
            with Answers([ANSWERS], model, "e", "results/asking") as answers:
                answers.writer = Writer(model, "e", day, "0" * 8, model * 8)
                told = Response("x", "stop", 1000, 7, "y", Usage(1000, 0, 0, 7) if number else None)
                answers.append(identity, [(planned("a", identity=identity)[0].key, told)])
    heading, *rows = said("ls").splitlines()
    assert heading.split()[:5] == ["identity", "models", "source", "kind", "answers"]
    first, last = ([cell.strip() for cell in row.split("  ") if cell.strip()] for row in rows)
    # Without a price of the model, the dollars are not known.
    assert first == [digest(OTHER)[:12], "m, n", "gpt", "log_probability", "1", "1,000", "7", "-", "2026-01-02",
                     "2026-02-02"]  # fmt: skip
    assert last[0] == NAME[:12] and last[2:5] == ["files", "answers", "1"] and last[-1] == "2026-02-01"


def test_the_list_passes_over_a_folder_whose_identity_cannot_be_read(here):
    asked("a")
    Path(ANSWERS, NAME, IDENTITY_FILE).write_text("{}")
    assert f"{IDENTITY_FILE}: of version None" in said("ls")


# import


def test_a_folder_of_answers_and_the_results_of_a_study_are_taken_in_once(here, tmp_path):
    other = tmp_path / "other" / "results"
    asked("a", "b", study=other)
    asked("c", study=other, name="m/f")
    before = contents(other)
    assert said("import", other) == f"{other}: 3 answers added to results/answers"
    assert asked("a", "b", "c", "d") == ["d"]
    kept = contents(here)
    for source in (other, other / "answers"):
        assert said("import", source) == f"{source}: 0 answers added to results/answers, 3 were there"
    assert contents(here) == kept and contents(other) == before
    # The names of files tell that another study has paid.
    found = {Writer.from_file_name(file).study for file in answer_files([other / "answers"])}
    assert {Writer.from_file_name(file).study for file in answer_files([ANSWERS])} > found
    # An answer that is new there is all that is added.
    asked("e", study=other, name="m/g")
    assert said("import", other) == f"{other}: 1 answer added to results/answers, 3 were there"


def test_journals_of_earlier_versions_and_of_their_shards_are_taken_in_once_with_their_names(here):
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    root = Path("results/journal")
    journal(root / "m/e.jsonl", line_of("a"), line_of("b"))
    journal(root / "m/e/1_of_2.jsonl", line_of("c"))
    journal(root / "m/e/2_of_2.jsonl", line_of("d"))
    journal(root / "m/best_of_two.jsonl", line_of("e"))
    journal(root / "n/e.log_probability.jsonl", line_of("a", OTHER), identity=OTHER)
    # A sweep that was asked under two identities.
    with (root / "m/e.jsonl").open("a") as file:
        file.write(canonical_json({"identity": digest(OTHER), "fields": OTHER}) + "\n" + line_of("b", OTHER))
    (root / "m/e.jsonl.rejected").write_text(line_of("z"))
    before = contents(root)
    assert said("import", "results") == "results: 7 answers added to results/answers"
    writers = sorted((one.model, one.experiment) for one in map(Writer.from_file_name, answer_files([ANSWERS])))
    assert writers == [("m", "best_of_two"), *[("m", "e")] * 4, ("n", "e.log_probability")]
    assert {Writer.from_file_name(file).day for file in answer_files([ANSWERS])} <= {
        day,
        datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    assert said("import", "results") == "results: 0 answers added to results/answers, 14 were there"
    assert contents(root) == before
    # They are this study's own.
    found = ask(Path("results"), *"abcdez")
    assert found.asked == ["z"] and found.texts == [*"ABCDEZ"] and found.manifest["reused_elsewhere"] == 1
    assert ask(Path("results"), "a", "b", identity=OTHER).asked == []


def test_journals_of_another_study_are_those_of_another(here, tmp_path):
    journal(tmp_path / "old/results/journal/m/e.jsonl", line_of("a"))
    assert "1 answer added" in said("import", tmp_path / "old/results")
    found = ask(Path("results"), "a")
    assert (found.asked, found.manifest["reused_elsewhere"]) == ([], 1)


def test_damaged_lines_and_those_of_an_unknown_identity_are_left_out_and_counted(here):
    good, bad = line_of("a"), line_of("b").replace('"B"', '"changed"')
    journal(Path("results/journal/m/e.jsonl"), good, bad, "{]\n", line_of("c", OTHER), line_of("d")[:-9])
    told = said("import", "results")
    assert told == (
        "results: 1 answer added to results/answers, 2 lines are damaged and left out, "
        "1 left out, as their identity is not in the folder"
    )
    assert asked(*"abcd") == [*"bcd"]


def test_a_folder_without_its_identity_is_named_and_the_others_are_taken_in(here, tmp_path):
    other = tmp_path / "other"
    asked("a", study=other)
    asked("b", study=other, identity=OTHER)
    (other / "answers" / NAME / IDENTITY_FILE).unlink()
    told = said("import", other).splitlines()
    assert told[0].endswith(f"{NAME}/{IDENTITY_FILE} is missing, so these answers are not used: copy it too")
    assert told[1:] == [f"{other}: 1 answer added to results/answers"]


def test_a_different_answer_to_a_prompt_is_added_and_one_of_them_counts_everywhere(here, tmp_path):
    journal(tmp_path / "one/journal/m/e.jsonl", line_of("a", text="one"))
    journal(tmp_path / "two/journal/m/e.jsonl", line_of("a", text="two"))
    texts = set()
    for order in (("one", "two"), ("two", "one")):
        shutil.rmtree("results", ignore_errors=True)
        assert all("1 answer added" in said("import", tmp_path / name) for name in order)
        texts.add(ask(Path("results"), "a").texts[0])
    assert len(texts) == 1


def test_a_place_without_answers_is_one_line(here, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "table.jsonl").write_text('{"a": 1}\n')
    for place in (tmp_path / "empty", tmp_path / "nowhere"):
        assert refused("import", place).startswith(f"{place}: no answers: name a folder of answers")
    assert not Path(ANSWERS).exists()


def test_answers_go_into_the_shared_folder_that_the_environment_or_the_option_names(here, tmp_path, monkeypatch):
    shared, other = tmp_path / "shared", tmp_path / "given"
    shared.mkdir()
    asked("a")
    monkeypatch.setenv("LITM_ANSWERS", str(shared))
    assert said("import", "results") == f"results: 1 answer added to {shared}"
    assert said("--answers", other, "import", "results") == f"results: 1 answer added to {other}"
    monkeypatch.setenv("LITM_ANSWERS", "nowhere")
    assert "nowhere is not a folder" in refused("ls")


# rm


def test_answers_are_deleted_only_by_a_name_that_is_long_enough_and_fits_one_and_if_one_is_sure(here):
    asked("a", "b")
    asked("c", name="m/f")
    asked("a", identity=OTHER)
    shutil.copytree(Path(ANSWERS, NAME), Path(ANSWERS, f"{NAME[:8]} copied"))
    before = contents(Path(ANSWERS))
    assert refused("rm", NAME[:5], "--yes").startswith(f"results/answers: 0 identities begin with '{NAME[:5]}': see")
    assert refused("rm", "f" * 20, "--yes").startswith("results/answers: 0 identities begin")
    assert refused("rm", NAME[:8], "--yes").startswith(f"results/answers: 2 identities begin with '{NAME[:8]}'")
    told = f"3 answers in 2 files of results/answers/{NAME}"
    assert refused("rm", NAME[:9]) == (
        f"{told}: they would have to be asked, and paid, again; add --yes to delete them"
    )
    assert contents(Path(ANSWERS)) == before
    assert said("rm", NAME[:9], "--yes") == f"{told}: deleted"
    assert {path: data for path, data in before.items() if path.parent.name != NAME} == contents(Path(ANSWERS))
    assert not Path(ANSWERS, NAME).exists()
    assert "deleted" in said("rm", f"{NAME[:8]} ", "--yes")
    assert asked("a", "c") == ["a", "c"] and asked("a", identity=OTHER) == []


def test_what_is_no_answer_stays_when_answers_are_deleted(here):
    asked("a")
    Path(ANSWERS, NAME, "notes.txt").write_text("mine")
    said("rm", NAME, "--yes")
    assert [path.name for path in Path(ANSWERS, NAME).iterdir()] == ["notes.txt"]
