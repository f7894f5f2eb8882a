"""The summary at the end of a dry run."""

from workbench import Workbench

from litm.workflow.console import MADE_FIRST, SHOWN, Job, SweepSize, dry_run_lines

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
    lines = dry_run_lines([Job("all", {}, AFTER)], [SweepSize("m", "qa", 10)])
    assert lines == ["Nothing would run: all results of this selection are there."]


def test_each_asked_model_has_a_line_with_the_prompts_that_have_no_answer():
    sweeps = [SweepSize("m", "qa", 1500, 20), SweepSize("m", "kv", 30), SweepSize("n", "qa", 1500)]
    assert dry_run_lines([asking("qa"), asking("kv"), asking("qa")], sweeps) == [
        "What would run:",
        "  asks m at most 1,510 prompts: qa 1,480 of 1,500 (the others have answers), kv 30",
        "  asks nothing in 1 of 3 pairs of a model and an experiment",
        KEPT,
        LAST_LINE,
    ]


def test_answers_to_prompts_that_are_not_known_are_not_counted():
    sweeps = [SweepSize("m", "qa", 700, unknown=MADE_FIRST)]
    assert dry_run_lines([asking("qa")], sweeps)[1:3] == [
        "  asks m at most 700 prompts: qa 700",
        "  how many answers in journals apply to qa is not known: examples are made first",
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


def test_answers_are_counted_for_the_prompts_that_exist_alone(new_bench):
    bench: Workbench = new_bench
    responses, examples = "results/responses/dummy/kv.jsonl.gz", "results/example_checks/kv.json"

    def asks(*config: str) -> list[str]:
        lines = bench.snakemake("--dry-run", "--config", *config, "--", responses).stdout.splitlines()
        return [line for line in lines if "asks dummy" in line or "not known" in line]

    bench.snakemake("--", responses)
    unknown = "  how many answers in journals apply to kv is not known: examples are made first"
    assert asks("seed=1") == ["  asks dummy at most 12 prompts: kv 12", unknown]
    bench.snakemake("--config", "seed=1", "--", examples)
    assert asks("seed=1") == ["  asks dummy at most 12 prompts: kv 12"]
    journal = bench.path("results/journal/dummy/kv.jsonl")
    bench.snakemake("--", examples)
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-2]))
    bench.path(responses).unlink()
    assert asks("seed=0") == ["  asks dummy at most 2 prompts: kv 2 of 12 (the others have answers)"]
