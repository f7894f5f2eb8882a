"""The study that the config selects, and the functions that name inputs by wildcards."""

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=False)).parent
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
# Rules call `python`: the one that runs Snakemake, unless an environment of their own is activated on top.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

from litm.code_inputs import local_modules
from litm.config import load_study
from litm.errors import UserError
from litm.identity import model_files
from litm.questions import NO_GOLD
from litm.records import canonical_json


configfile: os.path.relpath(ROOT / "config" / "config.yaml")


try:
    STUDY = load_study(config, ROOT)
except UserError as error:
    raise WorkflowError(str(error))


wildcard_constraints:
    model="|".join(map(re.escape, STUDY.models)),
    experiment="|".join(map(re.escape, STUDY.experiments)),
    size=r"\d+",
    placement=rf"gold_at_\d+|{NO_GOLD}",


TABLES = expand(
    "results/tables/{table}.csv",
    table=["accuracy", "token_counts", "answer_checks"],
)
FIGURES = expand(
    "results/figures/{figure}.{format}",
    figure=list(STUDY.figures),
    format=["png", "pdf"],
)
REPORT = "results/report.html"
SCORES = expand(
    "results/scores/{model}/{experiment}.parquet",
    model=list(STUDY.models),
    experiment=list(STUDY.experiments),
)


def project_file(*parts):
    """A file of the project, relative to the working directory: a moved checkout has the same inputs."""
    return os.path.relpath(ROOT.joinpath(*parts))


def code(script, *modules):
    """A script and all that it imports of the library, the script first; `modules` are those it loads by name."""
    starts = [SCRIPTS / script, *(SCRIPTS / "litm" / module for module in modules)]
    files = dict.fromkeys(file for start in starts for file in local_modules(start, SCRIPTS))
    return [os.path.relpath(file) for file in files]


def dataset_file(name):
    """Where the file of a dataset is: the user's own, or the fetched one."""
    dataset = STUDY.datasets[name]
    return dataset.path or f"results/data/{dataset.file}"


def examples_of(experiment):
    """The example files of all cells of an experiment, in the order of the catalogue."""
    return [
        f"results/examples/{experiment}/{cell.size}/{cell.placement}.jsonl.gz"
        for cell in STUDY.experiments[experiment].cells
    ]
