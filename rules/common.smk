"""The config's study, and what the rules are written with."""

import os
import shlex
import sys
import time
from functools import partial
from pathlib import Path

import yaml
from snakemake.rules import RuleProxy
from snakemake.utils import update_config


# Before the library can be imported: finds its folder.
include: "../scripts/litm/workflow/housekeeping.py"


STARTED = time.time()
ROOT = project_root(workflow.current_basedir)
sys.path.insert(0, str(ROOT / "scripts"))

from litm.analysis.paper_tables import LAYOUTS
from litm.base.cli import ending_in_a_line, hangup_is_sigterm, sigterm_in_thread
from litm.base.extensions import file_of
from litm.base.messages import is_clone
from litm.config.yaml_files import command_line_values, read_config_file
from litm.config.catalogue import CATALOGUES
from litm.config.command_line import check_once
from litm.config.data import FIRST_OF, FOUND_GOLD, IN_SESSION, NATURAL_QUESTIONS, OWN_FILE, PLANTED, WRITTEN
from litm.config.study import load_study
from litm.config.sweeps import FILES
from litm.examples.tasks import module_of
from litm.models.devices import has_gpu
from litm.records.measures import ANSWER, LOG_PROBABILITY, VERDICT, WRITING
from litm.scoring.metrics import METRICS, Metric
from litm.verdicts import read_verdict
from litm.workflow.console import listen, say
from litm.workflow.data_inputs import DataInputs
from litm.workflow.dry_run import Jobs, cause_of
from litm.workflow.export_files import ExportFiles
from litm.workflow.figure_files import FigureFiles
from litm.workflow.outcome import error_messages, outcome
from litm.planning.words import dollar_lines, gpu_lines, time_lines
from litm.workflow.report_files import REPORT, ReportFiles
from litm.workflow.rules_help import (
    PLACEMENT,
    Each,
    Programs,
    any_of,
    compared,
    inputs_with,
    job_environment,
    local_modules,
    named_files,
    output_test,
)
from litm.workflow.sweep_inputs import SweepInputs, answer_settings, asking_module, reasoning, run_settings, shard_of
from litm.workflow.table_files import TableFiles

os.environ.update(job_environment(sys.executable, str(ROOT / "scripts"), os.environ))

if workflow.is_main_process:
    hangup_is_sigterm()

DEFAULTS, OWN = os.path.relpath(ROOT / "config" / "config.yaml"), "config/config.yaml"
given = {**config}
config.clear()


configfile: DEFAULTS


# If another workflow imports this one, Snakemake skips `configfile`, and only that workflow's config counts.
IS_IMPORTED = not config
if IS_IMPORTED:
    config.update(given)
# The config of the working directory, where that is not the project's folder.
if Path(OWN).is_file() and not Path(OWN).samefile(DEFAULTS):

    configfile: OWN


defaults = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
update_config(defaults, config)
config = defaults
if not IS_IMPORTED:
    update_config(config, command_line_values(workflow.config_settings.config))


def runs_here():
    """Whether jobs run on this machine, also those of a dry run: Snakemake uses threads for jobs on a cluster only."""
    settings = workflow.execution_settings
    return workflow.is_main_process and not (settings and settings.use_threads)


def gpus_here(gpus):
    """The GPUs that a job waits for: none on a machine without one, where `device: auto` is the processor."""
    return lambda wildcards: gpus(wildcards) if not runs_here() or has_gpu() else 0


with ending_in_a_line("config: "):
    # Snakemake has read them, and ignores duplicate keys. An importing workflow checks its own.
    if workflow.is_main_process and not IS_IMPORTED:
        for file in (DEFAULTS, *filter(os.path.isfile, [OWN]), *workflow.config_settings.configfiles):
            read_config_file(file)
        # Of Snakemake's own command, not of a program that calls Snakemake.
        if {"snakemake"} & {*Path(sys.argv[0]).parts[-2:]}:
            check_once(sys.argv[1:])
    STUDY = load_study(config, ROOT)
    DATA = DataInputs(STUDY)
    if workflow.is_main_process:
        DATA.check_fetched()

is_output = output_test(workflow)
PROGRAMS = Programs(ROOT, is_output, inputs_with(workflow, RuleProxy))
command, settings, code = PROGRAMS.command, PROGRAMS.settings, PROGRAMS.code
SWEEPS = SweepInputs(STUDY, DATA, PROGRAMS.file, runs_here)
TABLES = TableFiles(STUDY, DATA, SWEEPS, PROGRAMS.file)
FIGURES = FigureFiles(STUDY, DATA, SWEEPS, TABLES)
REPORTS = ReportFiles(STUDY, DATA, SWEEPS, TABLES, FIGURES)
EXPORTS = ExportFiles(STUDY)
# The name of a rule that is part of no other one's.
KNOWN = "make_examples"
JOBS = Jobs(
    STUDY,
    SWEEPS,
    times=lambda left: (time_lines if runs_here() else gpu_lines)(STUDY, left) + dollar_lines(STUDY, left),
    # How an importing workflow names these rules.
    renamed=lambda: next((one.name.replace(KNOWN, "*") for one in workflow.rules if KNOWN in one.name), "*"),
)

# The entries that a job's wildcards name, and the wildcards themselves. The rules that make questions have one wildcard,
# whose name tells how they are made.
CANDIDATES = Each(lambda wildcards: STUDY.candidates[wildcards.candidates])
CORPUS = Each(lambda wildcards: STUDY.corpora[wildcards.corpus])
EXPERIMENT = Each(lambda wildcards: STUDY.experiment(wildcards.experiment))
JOB = Each(lambda wildcards: wildcards)
MODEL = Each(lambda wildcards: SWEEPS.models[wildcards.model])
PROMPTING = Each(lambda wildcards: SWEEPS.prompting[wildcards.model])
QUESTIONS = Each(lambda wildcards: STUDY.questions[wildcards[0]])
RERANKER = Each(lambda wildcards: STUDY.rerankers[wildcards.reranker])
RETRIEVER = Each(lambda wildcards: STUDY.retrievers[wildcards.retriever])
# By what is measured.
SWEEP = {measure: Each(partial(SWEEPS.sweep, measure=measure)) for measure in FILES}
# The module of the experiment's task.
TASK_MODULE = EXPERIMENT(lambda one: module_of(one.task))


def modules_of_metric(experiment):
    """The module of a metric of an extension; programs are made of the others."""
    return [module] if (module := METRICS.module_of(experiment.metric)) else []


def code_of_metric(experiment):
    """The module of a metric, and all that it imports; of a judged experiment that of verdicts too."""
    judge = file_of(METRICS.module_of(experiment.metric) or Metric.__module__, ROOT / "scripts")
    verdicts = [file_of(read_verdict.__module__, ROOT / "scripts")] if experiment.judge else []
    return [PROGRAMS.file(file) for file in [*local_modules(judge, ROOT / "scripts"), *verdicts]]


def is_of_study(path):
    """Whether a table of this path is one of the selection's."""
    return is_output(path) and (path in TABLES.in_the_paper or not path.startswith("results/tables/paper/"))


def picture(name, caption):
    """A figure that Snakemake's own report shows."""
    return report(f"results/figures/{name}.png", caption=caption, category="Figures", labels={"figure": name})


def add_jobs():
    for job in workflow.dag.needrun_jobs(exclude_finished=False):
        JOBS.add(job.rule.name, job.wildcards_dict, cause_of(workflow.dag.reason(job)))


def start():
    sigterm_in_thread()
    add_jobs()
    # In a clone, `--sdm conda` brings packages of its own.
    if runs_here() and not is_clone():
        JOBS.check_packages()
    return [*JOBS.at_start(), *set_back("results")]


def end():
    # With `--quiet progress` Snakemake tells nobody that a job is done.
    if any(workflow.dag.needrun_jobs()):
        yield from error_messages("results/logs", STARTED, STUDY.models)
        yield "finished jobs and all answers so far are kept, and the same command continues from there"
        return
    accuracies = SWEEPS.files("results/accuracy/{model}/{experiment}.csv")
    files = {str(path) for job in workflow.dag.jobs for path in job.output}
    yield from other_tables(is_of_study)
    yield from outcome(STUDY, files, accuracies, [*FIGURES.figures, REPORT], SWEEPS.filled, STARTED)


def planned():
    add_jobs()
    return JOBS.summary()


if workflow.is_main_process and listen(start, end, planned):
    made = [*SWEEPS.files(FILES[ANSWER].responses), *TABLES.files]
    say(*unread_copies(CATALOGUES, ROOT), *STUDY.notes, *lost_records(made), *old_journals())


# Jobs that ask.

ASKING_MODULE = code("", MODEL(asking_module))
# A text, and a resource, because another place of answers changes none.
ANSWERS = shlex.join(STUDY.answer_folders)


def waits_for(measure):
    """What a job that asks has to wait for."""
    # The check of the examples: defective examples are never asked. The prompts of a judge are made of checked ones, and
    # those about passages are no examples of an experiment.
    checked = [] if measure in (VERDICT, WRITING) else "results/example_checks/{experiment}.json"
    # For a sharded sweep: a job without a part only gathers the shards' answers.
    return [checked, PROMPTING.tokenizer_files, SWEEPS.part_responses(measure)]


def needs(measure):
    """The resources of a job that asks; text and no `params`, which would re-run it although no response changes."""
    # The number of GPUs again, for the program: Snakemake silently lowers `gpu` to the limit of `--resources gpu=`.
    gpus = {"gpu": gpus_here(SWEEPS.gpus), "model_gpus": SWEEPS.gpus, "gpu_model": SWEEPS.gpu_model}
    # Kept answers outlive every run: never a declared output, which Snakemake would delete.
    return {"run": MODEL(run_settings), "answers": ANSWERS, **gpus, **SWEEPS.needs(measure)}


def answer_to(measure):
    """Settings that change an answer, or what is measured in its place, apart from weights and a template's text."""
    return {"settings": MODEL(answer_settings), "decoding": SWEEP[measure].decoding}


def asked(measure):
    """The settings of a job that asks."""
    return dict(
        **answer_to(measure),
        context_window=MODEL(lambda model: model.context_window or 0),
        on_failure=MODEL.on_failure,
        on_overflow=EXPERIMENT.on_overflow,
        tokenizer=PROMPTING.own_tokenizer,
        shard=shard_of,
        gather=SWEEPS.gathers,
        verdicts=measure == VERDICT,
    )


# The order of jobs that many others wait for: mistakes in questions should be found before anything is indexed; no other
# of these jobs should wait for a sweep, and figures come as soon as they can.
FIRST, EARLY = 2, 1


wildcard_constraints:
    candidates=any_of(STUDY.candidates),
    corpus=any_of(STUDY.corpora),
    dataset=any_of([*STUDY.datasets, *STUDY.candidates]),
    derived=any_of(DATA.made_by(NATURAL_QUESTIONS)),
    experiment=any_of([*STUDY.experiments, *STUDY.asked_apart]),
    figure=any_of([*STUDY.figures, *STUDY.published_figures]),
    file=any_of(DATA.remote),
    first=any_of(DATA.made_by(FIRST_OF)),
    found=any_of(DATA.made_by(FOUND_GOLD)),
    generated=any_of(DATA.generated),
    model=any_of(SWEEPS.models),
    number=any_of(LAYOUTS),
    own=any_of(DATA.made_by(OWN_FILE)),
    part=r"\d+_of_\d+",
    in_session=any_of(DATA.made_by(IN_SESSION)),
    planted=any_of(DATA.made_by(PLANTED)),
    placement=PLACEMENT,
    position=r"\d+",
    questions=any_of([*STUDY.datasets, *STUDY.questions]),
    reranker=any_of(STUDY.rerankers),
    retriever=any_of(STUDY.retrievers),
    shard=r"\d+",
    size=r"\d+",
    table=any_of(TABLES.tables),
    written=any_of(DATA.made_by(WRITTEN)),
