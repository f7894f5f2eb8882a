"""What the console shows beside Snakemake's lines: what would run, and how a run ended."""

import logging
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from configs import study
from plans import Inputs, inputs_of, plan
from snakemake.jobs import Reason
from snakemake.logging import DefaultFilter
from snakemake.persistence import ParamsChange
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent
from workbench import FINISHED, Workbench, commands_in, program_and_words

from litm.base.json_files import write_json
from litm.base.messages import UserError
from litm.base.table_files import write_csv
from litm.findings.console_tables import Terminal
from litm.findings.record import Finding, Number, StudyFindings
from litm.tables.table import tables
from litm.workflow import console, dry_run
from litm.workflow.dry_run import few_questions
from litm.workflow.outcome import TABLES, error_messages, outcome, terminal_of
from litm.workflow.report_files import FINDINGS

LOG = logging.getLogger(console.LOGGER)
QUIET = DefaultFilter(quiet={Quietness.ALL}, debug_dag=False, verbose=False, dryrun=False, printshellcmds=False)


@pytest.fixture
def theirs(monkeypatch):
    """The handler of Snakemake's logger for the console."""
    handler = logging.NullHandler()
    monkeypatch.setattr(LOG, "handlers", [handler])
    monkeypatch.setattr(LOG, "level", logging.INFO)
    return handler


def say(event: LogEvent, **more: object) -> None:
    LOG.info(event, extra={"event": event, **more})


def listener() -> console.Listener:
    """One that says what it is asked for, on standard error or, of a dry run, on standard output."""
    assert console.listen(*(lambda word=word: [word] for word in ("start", "end", "planned")))
    return LOG.handlers[-1]


@pytest.mark.parametrize(
    ("events", "out", "err"),
    [
        (["run_info", "job_info"], "planned\n", ""),
        (["resources_info", "resources_info", "run_info", "job_info"], "", "start\nend\n"),
        ([], "", ""),
    ],
)
def test_lines_are_said_before_the_first_job_and_when_snakemake_closes_its_log(theirs, capsys, events, out, err):
    one = listener()
    for event in events:
        say(LogEvent(event))
    for _ in range(2):
        one.close()
    assert tuple(capsys.readouterr()) == (out, err)


def test_only_the_first_of_several_imports_listens_and_none_if_snakemake_is_to_be_wholly_quiet(theirs):
    listener()
    assert not console.listen(list, list, list)
    LOG.handlers.pop()
    theirs.addFilter(QUIET)
    assert not console.listen(list, list, list)


# What would run

AFTER = dry_run.MADE_AGAIN


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({"forced": True, "code_changed": True}, "forced"),
        ({"code_changed": True, "input_changed": True}, "changed program"),
        ({"params_changed": ["'code 1 2'"]}, "changed program"),
        ({"params_changed": ["'contents 1 2'"]}, "changed input files"),
        ({"params_changed": ["'code 1'", "'--metric f1'"]}, "changed setting"),
        ({"params_changed": []}, "changed setting"),
        ({"input_changed": True}, "other input files"),
    ],
)
def test_the_cause_of_a_job_is_what_snakemake_knows_of_it(facts, cause):
    reason = Reason()
    for name, value in facts.items():
        new = name == "params_changed"
        setattr(reason, name, ParamsChange(only_new={*value}, only_old={"'--x 1'"}) if new else value)
    assert dry_run.cause_of(reason) == cause


def test_made_again_is_the_cause_if_there_is_no_other_one():
    reason = Reason()
    reason.updated_input_run.add("a")
    assert dry_run.cause_of(reason) == AFTER
    reason.updated_input.update("ab")
    assert dry_run.cause_of(reason) == "changed input files"


def summary(inputs: Inputs, sizes: dict[tuple[str, str], tuple], *others: tuple[str, str]) -> list[str]:
    """The summary of a dry run of sweeps, each with prompts, answers and why these are not known, and others."""
    jobs = dry_run.Jobs(inputs.study, inputs.sweeps, lambda asked: [])
    jobs.size = lambda sweep: (Counter({10: sizes[sweep.pair][0]}), *sizes[sweep.pair][1:])
    for model, experiment in sizes:
        jobs.add("generate", {"model": model, "experiment": experiment}, AFTER)
    for rule, reason in others:
        jobs.add(rule, {}, reason)
    return jobs.summary()


def test_each_asked_model_has_a_line_with_the_prompts_that_have_no_answer(other):
    pairs = len(other.study.pairs())
    sizes = {("here", "kv"): (1480, 20, ""), ("here", "qa"): (30, 0, ""), ("chat", "kv"): (700, 0, dry_run.MADE_FIRST)}
    sizes |= {("recorded", "qa"): (20, 0, "")}
    assert summary(other, sizes) == [
        "What would run:",
        "  asks here at most 1,510 prompts: kv 1,480 of 1,500 (the others have answers), qa 30",
        "  asks chat at most 700 prompts: kv 700",
        "  reads the recorded answers of recorded to at most 20 prompts: qa 20",
        "  the number of kept answers for kv is unknown: examples are made first",
        "  here: not counted, on average longer than its context_window: kv (4, 6 key-value pairs)",
        "  kv: 3 questions show no difference between positions; 791 would show 5 points with a chance of 80 % "
        "(accuracy 50.0 %, correlation 0.50: assumed, for independent questions)",
        f"  asks nothing in {pairs - 4} of {pairs} pairs of a model and an experiment",
        dry_run.USED_AGAIN.format("estimate", "doctor"),
    ]


def test_no_time_is_predicted_for_a_sweep_whose_prompts_all_have_answers(other):
    timed = []
    jobs = dry_run.Jobs(other.study, other.sweeps, lambda left: timed.append([sweep.pair for sweep, _ in left]) or [])
    jobs.size = lambda sweep: (Counter([10] * (sweep.experiment.name == "qa")), 3, "")
    for experiment in ("kv", "qa"):
        jobs.add("generate", {"model": "here", "experiment": experiment}, AFTER)
    jobs.summary()
    assert timed == [[("here", "qa")]]


def test_what_is_not_counted_and_what_is_assumed_is_said():
    files = {"datasets": {"far": {"url": "https://example.org/far", "sha256": "0" * 64}}}
    entries = {"kv_retrieval": {}, "mine": {"task": "multi_document_qa", "dataset": "far", "positions": {3: [0, 2]}}}
    inputs = inputs_of(study(models=["longchat-13b-16k"], experiments=entries, define=files))
    jobs = dry_run.Jobs(inputs.study, inputs.sweeps, lambda asked: [])
    for model, experiment in inputs.study.pairs():
        jobs.add("generate", {"model": model, "experiment": experiment}, AFTER)
    assert jobs.asked() == [
        "  asks longchat-13b-16k at most 9,810 prompts: kv_retrieval 4,500, mine 5,310",
        "  longchat-13b-16k: not counted, on average longer than its context_window: kv_retrieval (300 key-value "
        "pairs)",
        "  mine: the number of questions is not known yet; 2,655 are assumed",
    ]


def test_other_rules_are_counted_by_their_first_cause_and_targets_are_not(other):
    targets = [(rule, AFTER) for rule in ("all", "export_tasks")]
    assert summary(other, {}, *targets) == ["Nothing would run: all results of this selection are there."]
    jobs = [("score", AFTER), ("make_examples", "changed setting"), ("score", AFTER), ("plot", "no output yet")]
    assert summary(other, {}, *jobs)[1:] == [
        "  asks no model",
        "  runs 2 score (inputs are made again)",
        "  runs 1 make_examples (changed setting)",
        "  runs 1 plot (no output yet)",
    ]


def test_many_models_are_counted_not_listed(other, monkeypatch):
    monkeypatch.setattr(dry_run, "SHOWN", 2)
    models = ["here", "chat", "completions", "keyless", "parts"]
    sizes = {("recorded", "qa"): (20, 0, ""), **{(name, "kv"): (5, 2, "") for name in models}}
    lines = summary(other, sizes)
    assert sum("asks" in line and "prompts:" in line for line in lines) == 2
    assert lines[3:5] == [
        "  asks 3 more models at most 15 prompts; all models 25",
        "  reads the recorded answers of 1 more to at most 20 prompts",
    ]


def test_a_dry_run_lists_its_jobs_with_reasons_and_commands_and_ends_with_the_summary(new_bench):
    bench: Workbench = new_bench
    target = ("--", "results/passages/mini_encyclopedia/manifest.json")
    summary = "What would run:\n  asks no model\n  runs 1 make_passages (no output yet)\n"
    listed = bench.snakemake("--dry-run", "-p", *target).stdout
    assert listed.endswith(summary) and "reason: Missing output files" in listed
    assert 'python "$LITM_SCRIPTS/corpora/make_passages.py" --input ' in listed
    short = bench.snakemake("--dry-run", "--quiet", "rules", "reason", "progress", "host", *target).stdout
    assert short.endswith(summary) and "rule make_passages" not in short
    done = bench.snakemake(*target)
    assert "What would run" not in done.stdout + done.stderr
    again = bench.snakemake("--dry-run", *target).stdout
    assert "Nothing to be done" in again and "What would run" not in again


def test_answers_are_counted_for_the_prompts_that_exist_alone(bench, monkeypatch):
    monkeypatch.chdir(bench.folder)

    def shown(lines: list[str]) -> list[str]:
        return [line for line in lines if "asks dummy" in line or "unknown" in line]

    def asks(seed: int) -> list[str]:
        inputs = plan("config", **FINISHED, seed=seed)
        jobs = dry_run.Jobs(inputs.study, inputs.sweeps, lambda asked: [])
        jobs.add("generate", {"model": "dummy", "experiment": "kv"}, AFTER)
        return shown(jobs.summary())

    (file,) = bench.answers("kv")
    before = file.read_text()
    file.write_text("".join(before.splitlines(keepends=True)[:-2]))
    left = ["  asks dummy at most 2 prompts: kv 2 of 12 (the others have answers)"]
    assert asks(seed=0) == left
    renamed = file.rename(file.with_name(file.name.replace("dummy+kv", "earlier+name")))
    assert asks(seed=0) == left
    renamed.rename(file).write_text(before)
    words = ("--dry-run", "--printshellcmds", "--config", "seed=1", "--", "results/responses/dummy/kv.jsonl.gz")
    planned = bench.snakemake(*words).stdout
    unknown = "  the number of kept answers for kv is unknown: examples are made first"
    assert shown(planned.splitlines()) == ["  asks dummy at most 12 prompts: kv 12", unknown]
    making = [command for command in commands_in(planned) if program_and_words(command)[0] == "make_examples"]
    assert len(making) == 4 and bench.run_programs(making).returncode == 0
    assert asks(seed=1) == ["  asks dummy at most 12 prompts: kv 12"]


def test_a_users_mistake_at_the_start_of_a_run_ends_it_with_one_line(theirs):
    def start():
        raise UserError("prices.csv, line 2: no price")

    console.listen(start, list, list)
    with pytest.raises(SystemExit, match="^error: prices.csv, line 2: no price$"):
        say(LogEvent.RESOURCES_INFO)


# How a run ended


def test_a_damaged_table_is_one_line_with_its_remedy_and_one_that_the_run_did_not_need_is_not_read(
    other, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert list(outcome(other.study, [], [], [], {}, since=0)) == []
    accuracy = TABLES / "accuracy.csv"
    TABLES.mkdir(parents=True)
    accuracy.write_text("model,experiment,size,n\nm,e,5,4\nm,e")
    assert list(outcome(other.study, [], [str(accuracy)], [], {}, since=0)) == ["tables: results/tables/"]
    (line,) = outcome(other.study, [str(accuracy)], [], [], {}, since=0)
    assert line.startswith(f"error: {accuracy}: its last line is incomplete: remove it and run the same command")


def test_recorded_answers_that_do_not_say_to_which_prompts_are_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = study()
    for model, name in mine.pairs():
        manifest = {"model": model, "experiment": name, "identity_fields": {}, "not_compared": 3}
        manifest |= {"with_reasoning": 2, "with_text": 3}
        write_json(f"results/responses/{model}/{name}.manifest.json", manifest)
    title, *lines = outcome(mine, [], [], [], {}, since=0)
    said = " ".join(" ".join(lines).split())
    assert title == "Before you quote this:"
    assert "many answers with <think> or </think>" in said and f"({3 * len(mine.pairs())})" in said
    assert "recorded answers without prompt_sha256" in said


def test_numbers_and_orders_of_documents_are_one_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    orders = {"mini_encyclopedia_remedies": {"sizes": [1, 3], "remedies": {"order": ["reversed"]}}}
    mine = study(experiments=orders)
    plain, other = mine.experiments
    same = {
        "model": "reference",
        "placement": "as_retrieved",
        "metric": "exact_code",
        "n": 4,
        "ci_low": 0,
        "ci_high": 1,
    }
    cells = [(plain, 1, 0.5), (plain, 3, 0.25), (other, 3, 0.75)]
    rows = [{**same, "experiment": name, "size": size, "accuracy": accuracy} for name, size, accuracy in cells]
    write_csv(TABLES / "accuracy.csv", tables()["accuracy"].frame(rows))
    lines = list(outcome(mine, [str(TABLES / "accuracy.csv")], [], [], {}, since=0))
    shown = [" ".join(line.split()) for line in lines]
    first = shown.index(f"{plain}, accuracy [95 %], n = 4")
    assert shown[first + 1 : first + 4] == [
        "1 document 3 documents",
        "best first 50 % [0, 100] 25 % [0, 100]",
        "best last - 75 % [0, 100]",
    ]


def test_the_findings_of_the_run_are_read_where_they_are_and_their_screen_names_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = study()
    (model, name), *_ = mine.pairs()
    numbers = {"overall": Number(0.5, 0.4, 0.6)}
    accuracy = Finding(
        "accuracy", (model,), (name,), 4, None, 40, numbers=numbers, facts={"metric": "exact_code", "doubt": None}
    )
    findings = StudyFindings((model,), (name,), (accuracy,))
    write_json(FINDINGS, findings.to_json())
    paths = [FINDINGS, "results/report.html", "results/figures/a.png"]
    for path in map(Path, paths[1:]):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    lines = list(outcome(mine, paths, [], paths[1:], {}, since=0))
    assert f"{name}, n = 40: 50 % [40, 60]" in lines
    assert lines[-3:] == [
        "figures: results/figures/: a.png",
        "tables: results/tables/",
        "report: results/report.html, to open in a browser",
    ]
    # Nothing was made since.
    assert list(outcome(mine, paths, [], paths[1:], {}, since=2e9)) == []


@pytest.mark.parametrize(("encoding", "is_ascii"), [("utf-8", False), ("UTF8", False), ("cp1252", True), (None, True)])
def test_lines_are_ascii_where_the_stream_is_not_utf_8(encoding, is_ascii, monkeypatch):
    monkeypatch.setenv("COLUMNS", "73")
    terminal = terminal_of(SimpleNamespace(encoding=encoding), "here")
    assert terminal == Terminal(73, is_ascii, "here")


def test_a_dry_run_says_how_many_questions_are_enough_if_those_given_are_far_too_few(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [("reference", name) for name in ("kv_retrieval_small", "mini_encyclopedia_oracle")]
    (line,) = few_questions(study(examples=24), pairs)
    assert line.startswith("  kv_retrieval_small: 24 questions show only differences of 34.1 points or more between")
    assert "791 would show 5 points with" in line and line.endswith("0.50: assumed, for independent questions)")
    assert few_questions(study(examples=400), pairs) == []


def test_the_errors_of_a_run_are_the_last_lines_of_its_logs(tmp_path):
    for name, text in {
        "generate/b/failed": "note\nerror: no file\n",
        "a": "error: old\n",
        "done": "error: x\nfine\n",
    }.items():
        path = tmp_path / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    os.utime(tmp_path / "a.log", (1, 1))
    failed = f"{tmp_path}/generate/b/failed.log:\n  error: no file"
    assert list(error_messages(tmp_path, since=2, models=["b"])) == [failed]
    assert list(error_messages(tmp_path, since=2, models=["c", "d"])) == [failed]
    # The log of one of several models.
    *_, others = error_messages(tmp_path, since=2, models=["b", "c", "d"])
    assert others == "results of the other models alone: --config models='[c, d]'"
    # The log of a job that all models need.
    (tmp_path / "index.log").write_text("error: no disk\n")
    assert len([*error_messages(tmp_path, since=2, models=["b", "c", "d"])]) == 2
