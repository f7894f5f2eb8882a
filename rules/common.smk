"""The config's study, and `PLAN` with the inputs, params and resources of all rules."""

import os
import sys
import time
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.settings.enums import Quietness
from snakemake.utils import update_config


# Before the library can be imported: finds its folder.
include: "../scripts/litm/workflow/checkout.py"


STARTED = time.time()
ROOT = project_root(workflow.current_basedir)
SCRIPTS = str(ROOT / "scripts")
sys.path.insert(0, SCRIPTS)

from litm.base.messages import without_passwords
from litm.base.cli import describe_os_error
from litm.config.yaml_files import command_line_values, read_config_file
from litm.base.messages import UserError, missing_package
from litm.base.cli import hangup_is_sigterm
from litm.models.devices import has_gpu
from litm.workflow.console import say_errors, show_own_lines, shown_lines
from litm.workflow.rules_help import replaced_lines
from litm.workflow.console import at_start_and_end, say_what_would_run, start_lines
from litm.workflow.rules_help import job_environment
from litm.workflow.housekeeping import set_back
from litm.workflow.housekeeping import put_aside
from litm.workflow.console import error_messages
from litm.workflow.console import outcome
from litm.workflow.plan import load_plan
from litm.workflow.housekeeping import say_unrecorded
from litm.workflow.housekeeping import wake_once_at_a_time
from litm.workflow.rules_help import PLACEMENT, any_of

os.environ.update(job_environment(sys.executable, SCRIPTS, os.environ))

if workflow.is_main_process:
    hangup_is_sigterm()
    quiet = workflow.output_settings.quiet or ()
    CONSOLE = show_own_lines(
        shown_lines(
            # profiles/slurm is quiet about reasons alone: its runs have all lines.
            short=not workflow.output_settings.verbose
            and (
                Quietness.RULES in quiet
                or (workflow.output_settings.dryrun and Quietness.REASON in quiet)
            ),
            dry_run=workflow.output_settings.dryrun,
        )
    )
    # A dry run shows errors itself.
    if Quietness.ALL in quiet and not workflow.output_settings.dryrun:
        say_errors()


DEFAULTS = os.path.relpath(ROOT / "config" / "config.yaml")
OWN = "config/config.yaml"
# How an importing workflow names these rules.
RENAMED = workflow.modifier.modify_rulename("*")


configfile: DEFAULTS


# The config of the working directory, where that is not the project's folder.
if Path(OWN).is_file() and not Path(OWN).samefile(DEFAULTS):

    configfile: OWN


# If another workflow imports this one, the lines above are skipped, and only that workflow's config counts.
defaults = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
update_config(defaults, config)
config = defaults
if DEFAULTS in workflow.configfiles:
    update_config(config, command_line_values(workflow.config_settings.config))


def is_output(path):
    """Whether a rule makes a file or folder of this path; called after all rules are read."""
    return any(rule.is_producer(path) for rule in workflow.rules)


def runs_here():
    """Whether jobs run on this machine, also those of a dry run: Snakemake uses threads for jobs on a cluster only."""
    settings = workflow.execution_settings
    return (
        workflow.is_main_process
        and workflow.local_exec
        and not (settings and settings.use_threads)
    )


def is_of_study(path):
    """Whether a result of this path is one of the selection's."""
    return is_output(path) and path not in PLAN.figures.not_drawn


try:
    # Snakemake has read them, and ignores duplicate keys. An importing workflow checks its own.
    if workflow.is_main_process and DEFAULTS in workflow.configfiles:
        for file in workflow.configfiles:
            read_config_file(file)
    PLAN = load_plan(config, ROOT, is_output=is_output, runs_here=runs_here)
    if workflow.is_main_process:
        PLAN.data.check_fetched()
except UserError as error:
    raise WorkflowError(without_passwords(str(error)))
except OSError as error:
    raise WorkflowError(without_passwords(f"config: {describe_os_error(error)}"))
except ModuleNotFoundError as error:
    if line := missing_package(error):
        raise WorkflowError(line)
    raise


def say(*lines):
    """Print the lines that are not empty."""
    for line in filter(None, lines):
        print(line, file=sys.stderr)


def start():
    """Before the first job."""
    wake_once_at_a_time(workflow.scheduler)
    # Without a GPU, `device: auto` is the processor: no sweep waits for another one's GPU.
    if runs_here() and not has_gpu():
        workflow.register_resource("gpu", sys.maxsize)
    say(*start_lines(PLAN, workflow.dag.needrun_jobs(), RENAMED), set_back("results"))


def end():
    """After the last job, if none has failed."""
    say(
        put_aside(PLAN.report.config, is_of_study),
        *outcome(PLAN, since=STARTED),
        *replaced_lines(PLAN.content.replaced()),
    )


if workflow.is_main_process:
    if workflow.output_settings.dryrun:
        say_what_would_run(PLAN, RENAMED)
    else:
        at_start_and_end(start, end)
    # Before Snakemake reports that there is nothing to do.
    say(
        *PLAN.project.unread_copies(),
        *PLAN.study.notes,
        say_unrecorded(PLAN.recordable),
    )


wildcard_constraints:
    candidates=any_of(PLAN.study.candidates),
    corpus=any_of(PLAN.study.corpora),
    dataset=any_of([*PLAN.study.datasets, *PLAN.study.candidates]),
    derived=any_of(PLAN.questions.derived),
    experiment=any_of(PLAN.study.experiments),
    figure=any_of([*PLAN.study.all_figures, *PLAN.study.published_figures]),
    file=any_of(PLAN.data.remote_files),
    first=any_of(PLAN.questions.first),
    found=any_of(PLAN.questions.found),
    generated=any_of(PLAN.questions.generated),
    model=any_of([*PLAN.models.asked, *PLAN.recorded.models]),
    number=any_of(PLAN.paper.numbers),
    own=any_of(PLAN.questions.own),
    part=r"\d+_of_\d+",
    placement=PLACEMENT,
    position=r"\d+",
    questions=any_of([*PLAN.study.datasets, *PLAN.study.questions]),
    reranker=any_of(PLAN.study.rerankers),
    retriever=any_of(PLAN.study.retrievers),
    shard=r"\d+",
    size=r"\d+",
    table=any_of(PLAN.tables.names),
