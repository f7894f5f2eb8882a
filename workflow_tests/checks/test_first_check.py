"""litm check: which model a name means, the studies it writes, its questions before the first request, its curves."""

import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from fault_server import FaultHandler, FaultServer
from fork_server import exit_status
from local_http import Handler, Served
from readers import read_answer
from workbench import in_a_fork

from litm.base.cli import run
from litm.base.messages import UserError
from litm.checks import first_check
from litm.checks.first_curve import BESIDE, bar, curves
from litm.checks.first_study import MADE_UP, Asked, check_study, entry_of, full_study
from litm.config.study import load_study
from litm.config.yaml_files import read_layers, read_yaml
from litm.engines.modules.fake import NOT_FOUND, chance_at, made_up_answer
from litm.front_door import enter

CATALOGUE = read_yaml(ROOT / "config" / "models.yaml")
#: Names of models, with --url or without, and engine and name or place of their entries.
NAMES = {
    ("reference", None): ("reference", {}),
    ("gpt-9-nano", None): ("gpt-9-nano", {"engine": "openai", "api_model": "gpt-9-nano"}),
    ("claude-new-1", None): ("claude-new-1", {"engine": "anthropic", "api_model": "claude-new-1"}),
    ("anthropic/claude-new-1", None): ("anthropic-claude-new-1", {"engine": "anthropic", "api_model": "claude-new-1"}),
    ("openai/gpt-9", None): ("openai-gpt-9", {"engine": "openai", "api_model": "gpt-9"}),
    ("Qwen/Qwen9-1B", None): ("qwen-qwen9-1b", {"engine": "transformers", "hub": "Qwen/Qwen9-1B"}),
    ("any name:1b", "http://localhost:1/v1"): (
        "any-name-1b", {"engine": "openai", "api_model": "any name:1b", "base_url": "http://localhost:1/v1"}
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "meant"), NAMES.items())
def test_a_name_means_a_model_of_the_catalogue_of_a_provider_of_a_server_or_of_the_hub(given, meant):
    assert entry_of(*given, CATALOGUE) == meant


def test_a_folder_is_a_model_that_runs_here_and_a_provider_has_its_own_server_and_key(tmp_path, monkeypatch):
    (tmp_path / "My Model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert entry_of("My Model", None, {})[1] == {"engine": "transformers", "path": str(tmp_path / "My Model")}
    name, entry = entry_of("groq/llama/3", None, {})
    assert (name, entry["api_model"], entry["api_key_variable"]) == ("groq-llama-3", "llama/3", "GROQ_API_KEY")


def load(config: dict, folder: Path):
    (folder / "study.yaml").write_text(yaml.safe_dump(config))
    return load_study(read_layers([ROOT / "config" / "config.yaml", folder / "study.yaml"]), ROOT)


SERVED = {"engine": "openai", "api_model": "m", "base_url": "http://localhost:1/v1"}


def test_the_study_is_paired_has_references_and_the_full_one_asks_more_of_the_same(tmp_path):
    config = check_study(Asked("m", SERVED, {"input": 1, "output": 2}, 1.0))
    study, full = load(config, tmp_path), load(full_study(config, tmp_path), tmp_path)
    assert {"check_pairs", "check_documents", "check_closed_book", "check_oracle"} == {*study.experiments}
    assert study.models["m"].prices == {"input": 1, "output": 2}
    for name in ("check_pairs", "check_documents"):
        assert {*study.experiments[name].cells} < {*full.experiments[name].cells}
        assert study.experiments[name].examples < full.experiments[name].examples


def test_own_documents_with_questions_are_asked_about_alone_with_their_references(tmp_path):
    mine = (ROOT / "examples" / "notes", ROOT / "examples" / "questions.csv")
    config = check_study(Asked("m", SERVED, None, 1.0, *mine))
    study, full = load(config, tmp_path), load(full_study(config, tmp_path), tmp_path)
    assert [*study.experiments] == ["my_positions", "my_closed_book", "my_oracle"]
    assert study.experiments["my_positions"].closed_book and "my_positions" in study.figures
    assert {one.examples for one in study.experiments.values()} == {24}
    assert {*full.experiments} > {*study.experiments} and {*full.figures} > {*study.figures}
    assert full.experiments["my_as_retrieved-reversed"].order == "reversed"
    assert {one.examples for one in full.experiments.values()} == {200}
    assert full.answer_folders[0] == str(tmp_path)


def test_documents_without_questions_are_checked_by_made_up_facts_and_in_full_up_to_the_window(tmp_path):
    served = {**SERVED, "context_window": 8000}
    config = check_study(Asked("m", served, {"input": 1, "output": 2}, 1.0, ROOT / "examples" / "notes"))
    study, full = load(config, tmp_path), load(full_study(config, tmp_path), tmp_path)
    assert [*study.experiments] == ["my_facts", "my_facts_alone", "my_linked_facts"]
    assert {*study.figures} >= {"my_facts", "my_facts_by_length"}
    assert len(study.experiments["my_facts"].cell_sizes) == 2
    assert min(full.experiments["my_facts"].cell_sizes) < min(study.experiments["my_facts"].cell_sizes)
    assert full.experiments["my_facts"].examples == 100 > study.experiments["my_facts"].examples


def test_a_session_is_checked_by_facts_and_a_rule_that_is_repeated(tmp_path):
    served, session = {**SERVED, "context_window": 9000}, ROOT / "examples" / "sessions" / "openai.json"
    config = check_study(Asked("m", served, None, 1.0, session=session))
    study, full = load(config, tmp_path), load(full_study(config, tmp_path), tmp_path)
    assert {"my_said_facts", "my_tool_facts", "my_instruction", "my_instruction_repeated"} == {*study.experiments}
    assert len(full.experiments["my_instruction"].cell_sizes) > len(study.experiments["my_instruction"].cell_sizes)


def test_a_check_of_a_session_makes_the_table_of_what_helps_whose_findings_are_its_last_lines(tmp_path, monkeypatch):
    made: list[str] = []
    monkeypatch.setattr(first_check, "make", lambda folder, targets: made.extend(targets))
    session = ROOT / "examples" / "sessions" / "openai.json"
    for more in ({"session": session}, {"documents": ROOT / "examples" / "notes"}):
        asked = Asked("m", {**SERVED, "context_window": 9000}, None, 1.0, **more)
        first_check._run(tmp_path, load(check_study(asked), tmp_path), asked)
        assert ("results/tables/session_remedies.csv" in made) == ("session" in more)
        made.clear()


def test_made_up_answers_are_marked_in_every_title_and_name(tmp_path):
    study = load(check_study(Asked(MADE_UP, {"engine": "fake"}, None, 1.0)), tmp_path)
    assert [*study.models] == ["made_up_answers"]
    assert all("made-up answers" in one.title for one in (*study.experiments.values(), *study.figures.values()))


def pairs(asked: int, size: int = 9, seed: int = 0) -> str:
    lines = ",\n".join(f' "key{n}": "value{n} {seed}"' for n in range(size))
    return f'Extract\n\nJSON data:\n{lines}\n\nKey: "key{asked}"\nCorresponding value:'


def test_made_up_answers_are_right_by_place_in_a_u_the_same_for_a_prompt_and_else_those_of_another_item():
    rates = {
        asked: sum(made_up_answer(pairs(asked, seed=seed)) == f"value{asked} {seed}" for seed in range(400)) / 400
        for asked in (0, 4, 8)
    }
    assert {asked: pytest.approx(chance_at(asked / 8), abs=0.1) for asked in rates} == rates
    assert rates[0] > rates[8] > rates[4] + 0.2
    assert made_up_answer(pairs(4)) == made_up_answer(pairs(4))
    assert all(made_up_answer(pairs(4, seed=seed)).endswith(f" {seed}") for seed in range(50))
    office = "Question: who is the mayor of Walstead\nAnswer:"
    document = "Document [1](Title: Walstead) The mayor of Walstead is Louis Greene. Visitors are welcome.\n\n"
    assert made_up_answer(document + office) == "Louis Greene"
    assert made_up_answer(office) == made_up_answer("Anything else?") == NOT_FOUND


def test_a_curve_fits_a_terminal_of_60_columns():
    assert bar(12, 0.5, 0.4, 0.7, 10) == "  13th █████──     50% [40%, 70%]"
    assert len(bar(499, 1.0, 1.0, 1.0, 60 - BESIDE)) <= 60


@pytest.mark.parametrize("speed", ["1.15 prompts/s", "3.88s/ prompts"])
def test_a_fast_and_a_slow_model_s_progress_is_told_now_and_then_where_there_is_no_terminal(
    speed, tmp_path, capsys, monkeypatch
):
    seconds = iter(range(0, 1000, 20))
    monkeypatch.setattr(first_check, "monotonic", lambda: next(seconds))
    lines = [f"m/e:  {n}%|##  | {n}/100 [04:05<04:31, {speed}, 99 tokens read]\n" for n in range(5)]
    assert [*first_check.errors_of([*lines, "error: no more\n"], tmp_path / "check.log")] == ["no more"]
    told = capsys.readouterr().err.splitlines()
    assert told == [lines[1].strip(), lines[3].strip()]
    assert (tmp_path / "check.log").read_text() == "".join([*lines, "error: no more\n"])


def agree(cost: float | None, *words: str, entry: dict = SERVED) -> str:
    """What is said against going on; "" for nothing."""
    given = first_check.parser().parse_args(["--model", "m", *words])
    asked = Asked("m", entry, None, given.budget)
    try:
        first_check.agree(cost, asked, given)
    except UserError as error:
        return str(error)
    return ""


def test_a_price_above_the_budget_or_unknown_is_refused_where_nobody_can_be_asked(monkeypatch):
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    hosted = {"engine": "openai", "api_model": "m"}
    assert agree(2.5) == "it may cost US$ 2.50, more than the budget of US$ 1.00: raise --budget, or give --yes"
    assert agree(None, entry=hosted) == "the price of m is not known: give --prices IN OUT, or --yes"
    assert agree(0.5) == agree(2.5, "--budget", "3") == agree(2.5, "--yes") == agree(None) == ""


class _Handler(Handler):
    """A server with OpenAI's protocol and one model, whose answers are made up."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") != "Bearer right":
            self.send(401, b'{"error": {"message": "wrong key"}}')
        else:
            self.send(200, b'{"data": [{"id": "small"}]}')

    def do_POST(self) -> None:
        prompt = json.loads(self.body())["messages"][-1]["content"]
        message = {"role": "assistant", "content": made_up_answer(prompt)}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 9, "total_tokens": len(prompt) // 4 + 9}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "small", "choices": [choice]}
        self.send(200, json.dumps({**body, "usage": usage}).encode(), Content_Type="application/json")


class _ListingHandler(FaultHandler):
    def do_GET(self) -> None:
        self.send(200, b'{"data": [{"id": "small"}]}')


class _Listing(FaultServer):
    """A server that lists its one model."""

    handler = _ListingHandler


def checked(folder: Path, key: str, *words: str) -> subprocess.CompletedProcess:
    """`litm check` as a user starts it."""
    command = [ROOT / "litm", "check", "--key-variable", "LITM_TEST_KEY", *words]
    environment = {**os.environ, "LITM_TEST_KEY": key, "COLUMNS": "60"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


def refused(folder: Path, key: str, *words: str) -> str:
    """The one line with which `litm check` refuses these words; in a fork, because nothing is run."""

    def check() -> int:
        os.chdir(folder)
        os.environ["LITM_TEST_KEY"] = key
        os.close(0)
        try:
            run(lambda: enter(["check", "--key-variable", "LITM_TEST_KEY", *words]))
        except SystemExit as end:
            return exit_status(end)
        return 0

    done = in_a_fork(check)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done
    return done.stderr


@pytest.mark.study
def test_a_check_of_a_server_shows_price_curves_words_pictures_and_the_full_study(tmp_path):
    with Served(_Handler) as server:
        model = ("--model", "small", "--url", f"{server.url}/v1", "--prices", "0.1", "0.4")
        done = checked(tmp_path, "right", *model)
        refusals = {
            "does not accept the key in LITM_TEST_KEY (status 401)": refused(tmp_path, "wrong", *model),
            "set the environment variable LITM_TEST_KEY to your key": refused(tmp_path, "", *model),
            "has no model other: it has small": refused(tmp_path, "right", "--model", "other", *model[2:]),
            "more than the budget of US$ 0.010: raise": refused(tmp_path, "right", *model, "--budget", "0.01"),
        }
    full = tmp_path / "litm-check" / "full_study.yaml"
    before = full.read_text()
    refusals["does not answer (["] = refused(tmp_path, "right", *model)
    assert full.read_text() == before and str(tmp_path / "litm-check" / "results" / "answers") in before
    assert all(words in line for words, line in refusals.items()), refusals
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("small: 288 prompts, about ")
    bars = [line for line in done.stdout.splitlines() if "█" in line]
    assert len(bars) == 10 and max(map(len, bars)) <= 60
    for words in (
        "US$ 0.",
        "small loses ",
        "  closed book ",
        ", oracle ",
        "start middle end",
        "] U",
        "check_documents.png",
    ):
        assert words in done.stdout, done.stdout
    assert "litm run litm-check/full_study.yaml" in done.stdout
    written = (tmp_path / "litm-check/study.yaml").read_text()
    assert written.startswith("# Written by `litm check`.\n") and "right" not in written
    (tmp_path / "litm-check/study.yaml").write_text("models: [dummy]\n")
    assert (
        refused(tmp_path, "right", *model)
        == "error: litm-check/study.yaml is not of `litm check`: name another folder with --folder\n"
    )


def read_in_the_last_3000_characters(prompt: str) -> str:
    """The answer of a model that forgets what stands earlier."""
    return read_answer(prompt[-3000:], prompt[-300:])


@pytest.mark.study
def test_a_check_of_a_session_ends_with_what_helps_or_with_how_many_questions_would_tell(tmp_path):
    session = str(ROOT / "examples" / "sessions" / "codex.jsonl")
    with _Listing(lambda prompt, attempt: None, answer=read_in_the_last_3000_characters) as server:
        model = ("--model", "small", "--url", f"{server.url}/v1", "--window", "32000")
        done = checked(tmp_path, "right", *model, "--session", session)
    assert done.returncode == 0, done.stdout + done.stderr
    # Its secrets are neither sent nor kept.
    secret = b"EXAMPLE0000example1111"
    assert secret in Path(session).read_bytes() and server.asked
    assert secret not in "".join(prompt for _, prompt, _ in server.asked).encode()
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    read = {path: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in kept}
    assert len(kept) > 50 and not [path for path, content in read.items() if secret in content]
    said = " ".join(done.stdout.split())
    assert "What to do: small: repeat the instruction at the end: " in said and "→ 100 % (+" in said
    assert re.search(r"Your session: an instruction of the user, \d+ steps \([\d,]+ tokens, \d+% of the window\)", said)


def test_curves_are_those_of_cells_with_a_position(tmp_path):
    experiment = type("experiment", (), {"title": "Pairs", "unit": "pairs"})
    first = next(curves({"kv": experiment}, {("kv", 4): "90 tokens"}, table_folder(tmp_path)))
    assert first == "Pairs, 4 pairs (90 tokens), m"


def test_a_curve_in_doubt_is_its_reason_without_any_accuracy(tmp_path):
    experiment = type("experiment", (), {"title": "Pairs", "unit": "pairs"})
    _, *lines = curves({"kv": experiment}, {}, table_folder(tmp_path, doubt="prompts_cut: 12"))
    assert len(lines) == 2 and "no curve: the server cut the prompts to 12 tokens" in lines[0]
    assert "%" not in lines[0] and not lines[1]


def table_folder(folder: Path, **more: object) -> Path:
    """A results folder with a table of two cells. more: further columns of both."""
    from litm.base.table_files import write_csv
    from litm.tables.table import tables

    table = tables()["accuracy"]
    (folder / "tables").mkdir()
    cell = {"model": "m", "experiment": "kv", "size": 4, "accuracy": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 3, **more}
    write_csv(folder / "tables" / "accuracy.csv", table.frame([{**cell, "position": at} for at in (0, 3)]))
    return folder
