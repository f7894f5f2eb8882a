"""The summary at the end of a dry run."""

from workbench import Workbench

from litm.workflow.dry_run import SHOWN, Job, SweepSize, dry_run_lines

NEW, PARAMS = (
    "Missing output files: a.json",
    "Params have changed since last execution: ['x']; Input files updated by another job: b",
)
KEPT = (
    "  An answer in a journal is used again for the same prompt, weights and settings. "
    "The target `estimate` counts the prompts that are new, their tokens, hours and money."
)
LAST_LINE = "  `--quiet host` lists every job with its files and its reason."
AFTER = "Input files updated by another job: results/a.json"


def asking(experiment: str, model: str = "m", reason: str = AFTER) -> Job:
    return Job("generate", {"model": model, "experiment": experiment}, reason)


def test_a_dry_run_of_targets_alone_says_that_nothing_would_run():
    lines = dry_run_lines([Job("all", {}, AFTER)], [SweepSize("m", "qa", 10, 10)])
    assert lines == ["Nothing would run: all results of this selection are there."]


def test_each_asked_model_has_a_line_with_prompts_and_kept_answers():
    sweeps = [SweepSize("m", "qa", 1500, 20), SweepSize("m", "kv", 30, 0), SweepSize("n", "qa", 1500, 0)]
    assert dry_run_lines([asking("qa"), asking("kv"), asking("qa")], sweeps) == [
        "What would run:",
        "  asks m at most 1,530 prompts: qa 1,500 (20 answers in its journal), kv 30",
        "  asks nothing in 1 of 3 pairs of a model and an experiment",
        KEPT,
        LAST_LINE,
    ]


def test_other_rules_are_counted_by_their_first_cause():
    jobs = [Job("score", {}, AFTER), Job("make_examples", {}, PARAMS), Job("score", {}, AFTER), Job("plot", {}, NEW)]
    assert dry_run_lines(jobs, []) == [
        "What would run:",
        "  asks no model",
        "  runs 2 score (inputs are made again)",
        "  runs 1 make_examples (changed setting)",
        "  runs 1 plot (no output yet)",
        LAST_LINE,
    ]


def test_many_models_are_counted_not_listed():
    names = [f"m{number}" for number in range(SHOWN + 3)]
    lines = dry_run_lines([asking("qa", name) for name in names], [SweepSize(name, "qa", 1, 0) for name in names])
    assert len(lines) == SHOWN + 4
    assert "  asks 3 more models" in lines


def test_a_dry_run_prints_the_summary_alone_and_after_snakemakes_lines_if_asked_for(new_project, tmp_path):
    bench: Workbench = new_project.moved_to(tmp_path)
    target = ("--", "results/passages/mini_encyclopedia/manifest.json")
    summary = f"What would run:\n  asks no model\n  runs 1 make_passages (no output yet)\n{LAST_LINE}\n"
    assert bench.snakemake("--dry-run", *target).stdout == summary
    for more in (["--quiet", "host"], ["--verbose"]):
        listed = bench.snakemake("--dry-run", *more, *target).stdout
        assert listed.endswith(summary) and "Job stats:" in listed
    done = bench.snakemake(*target)
    assert "What would run" not in done.stdout + done.stderr
    assert bench.snakemake("--dry-run", *target).stdout.startswith("Nothing to be done")


def test_a_dry_run_of_a_whole_study_takes_ten_lines_at_most(new_project):
    done = new_project.snakemake("--dry-run")
    assert len((done.stdout + done.stderr).splitlines()) <= 10
    assert "asks dummy at most" in done.stdout
