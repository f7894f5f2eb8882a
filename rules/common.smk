"""The study that the config selects, as tables that the rules look their inputs and settings up in."""

import os
import re
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

STARTED = time.time()
ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=False)).parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
# Rules call `python`: the one that runs Snakemake, unless an environment of their own is activated on top.
os.environ.update(
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.getenv("PATH", "")])
)

from litm.code_inputs import local_modules
from litm.config import load_study
from litm.errors import UserError
from litm.identity import model_files, tokenizer_files
from litm.questions import NO_GOLD
from litm.records import canonical_json


configfile: os.path.relpath(ROOT / "config" / "config.yaml")


try:
    STUDY = load_study(config, ROOT)
except UserError as error:
    raise WorkflowError(str(error))


def project_file(*parts):
    """A file of the project, relative to the working directory: a moved checkout has the same inputs."""
    return os.path.relpath(ROOT.joinpath(*parts))


def code(script, *modules):
    """A script and all that it imports of the library, the script first; `modules` are those it loads by name."""
    starts = [SCRIPTS / script, *(SCRIPTS / "litm" / module for module in modules)]
    files = dict.fromkeys(
        file for start in starts for file in local_modules(start, SCRIPTS)
    )
    return [os.path.relpath(file) for file in files]


def dataset_file(name):
    """Where the file of a dataset is: the user's own, or the fetched one."""
    dataset = STUDY.datasets[name]
    return dataset.path or f"results/data/{dataset.file}"


def example_file(experiment, cell):
    """The examples of one cell."""
    return f"results/examples/{experiment.name}/{cell.size}/{cell.placement}.jsonl.gz"


def experiment_entry(experiment):
    """What rules need to know of an experiment; params are text, which Snakemake compares reliably."""
    first_of_size = {cell.size: cell for cell in reversed(experiment.cells)}
    return {
        "task": experiment.task,
        "task_code": code("make_examples.py", f"tasks/{experiment.task}.py"),
        "prompt_file": project_file("resources", "prompts", f"{experiment.prompt}.txt"),
        "datasets": {
            str(size): dataset_file(name) for size, name in experiment.datasets.items()
        },
        "example_settings": canonical_json(experiment.example_settings()),
        "examples": [example_file(experiment, cell) for cell in experiment.cells],
        "first_of_size": [
            example_file(experiment, first_of_size[size])
            for size in sorted(first_of_size)
        ],
        "decoding": canonical_json(experiment.decoding()),
        "metric": experiment.metric,
    }


def model_entry(model):
    """What rules need to know of a model: files, settings that change its answers, and how it is run."""
    folder = Path(model.path) if model.path else None
    tokenizer = (
        dataset_file(model.tokenizer)
        if model.tokenizer in STUDY.datasets
        else model.tokenizer
    )
    # Counting tokens needs no weights: a tokenizer's file, or what is in the folder beside them, or the hub's commit.
    if tokenizer:
        counting_files = [tokenizer]
    elif folder:
        counting_files = [str(file) for file in tokenizer_files(folder)]
    else:
        counting_files = []
    return {
        "folder": [str(file) for file in model_files(folder)] if folder else [],
        "tokenizer": tokenizer or [],
        "tokenizer_location": tokenizer or model.path or "",
        "tokenizer_files": counting_files,
        "hub_source": [] if counting_files else f"results/models/{model.name}.json",
        "template": (
            project_file("resources", "prompt_templates", f"{model.template_name}.txt")
            if model.template_name
            else []
        ),
        "engine_code": code("generate.py", f"engines/{model.engine}.py"),
        "location": canonical_json(
            {"path": model.path, "hub": model.hub, "revision": model.revision}
        ),
        "prompt_template": model.prompt_template,
        "settings": canonical_json(model.answer_settings()),
        "context_window": model.context_window or 0,
        "device": model.device,
        "gpu": 0 if model.device == "cpu" else 1,
        "batch_tokens": model.batch_tokens,
        "threads": model.threads,
    }


def figure_entry(figure):
    """What rules need to know of a figure; reference lines are drawn for the experiments that are selected."""
    names = [
        name
        for name in (*figure.experiments, *figure.references)
        if name in STUDY.experiments
    ]
    return {
        "scores": expand(
            "results/scores/{model}/{experiment}.parquet",
            model=list(STUDY.models),
            experiment=names,
        ),
        "settings": canonical_json(figure.settings()),
    }


EXPERIMENTS = {
    name: experiment_entry(experiment) for name, experiment in STUDY.experiments.items()
}
MODELS = {name: model_entry(model) for name, model in STUDY.models.items()}
FIGURES = {name: figure_entry(figure) for name, figure in STUDY.figures.items()}
REMOTE_FILES = {
    dataset.file: dataset for dataset in STUDY.datasets.values() if dataset.url
}


def of_experiment(field):
    """An input or params function: a field of the entry that the wildcard `experiment` names."""
    return lambda wildcards: EXPERIMENTS[wildcards.experiment][field]


def of_model(field):
    """An input or params function: a field of the entry that the wildcard `model` names."""
    return lambda wildcards: MODELS[wildcards.model][field]


def of_figure(field):
    """An input or params function: a field of the entry that the wildcard `figure` names."""
    return lambda wildcards: FIGURES[wildcards.figure][field]


def questions_file(wildcards):
    """The dataset with the questions of an experiment's size; none where they are generated."""
    return EXPERIMENTS[wildcards.experiment]["datasets"].get(wildcards.size, [])


def for_each_sweep(pattern):
    """A file of every selected sweep, model by model."""
    return expand(pattern, model=list(MODELS), experiment=list(EXPERIMENTS))


def errors_in_logs(folder):
    """(log, message) of each job of this run that ended with an error message, in the order of the logs' names."""
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= STARTED:
            yield path, last


# Inputs are compared as a set, but rows and colours are in the order of the config: rules have it as a param.
MODEL_ORDER = " ".join(MODELS)
SWEEP_ORDER = f"{MODEL_ORDER} / {' '.join(EXPERIMENTS)}"
TABLE_FILES = expand(
    "results/tables/{table}.csv", table=["accuracy", "token_counts", "answer_checks"]
)
FIGURE_FILES = expand(
    "results/figures/{figure}.{format}", figure=list(FIGURES), format=["png", "pdf"]
)
REPORT_FILE = "results/report.html"


wildcard_constraints:
    model="|".join(map(re.escape, MODELS)),
    experiment="|".join(map(re.escape, EXPERIMENTS)),
    figure="|".join(map(re.escape, FIGURES)),
    size=r"\d+",
    placement=rf"gold_at_\d+|{NO_GOLD}",
