"""The study that the config selects, as tables that the rules look their inputs and settings up in."""

import os
import re
import shlex
import sys
import time
from dataclasses import asdict
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import update_config


include: "project.smk"


STARTED = time.time()
SCRIPTS = ROOT / "scripts"
sys.path.insert(0, str(SCRIPTS))
# Rules call `python`: the one that runs Snakemake, unless an environment of their own is activated on top.
os.environ.update(
    PATH=os.pathsep.join([os.path.dirname(sys.executable), os.getenv("PATH", "")])
)

from litm.analysis.tables import all_tables, table_names
from litm.audit_sample import audit_engine
from litm.code_inputs import local_modules
from litm.config.api_models import ApiModel
from litm.config.catalogue import string_keys
from litm.config.figures import PBI_FOREST
from litm.config.jobs import memory_mb, minutes, work_of
from litm.config.needs import needs_of
from litm.config.recorded import RecordedModel
from litm.config.study import load_study
from litm.config.data import NATURAL_QUESTIONS
from litm.corpora import GENERATORS
from litm.errors import UserError
from litm.figures import load_kind
from litm.identity import model_files, tokenizer_files
from litm.journal import journal_files
from litm.paper_layouts import LAYOUTS
from litm.placements import AS_RETRIEVED, GOLD_AT, GOLD_AT_DEPTH, NO_GOLD
from litm.records import canonical_json
from litm.retrieval import EXACT
from litm.workflow.tables import Sources, files_of, made, table_inputs, table_settings


configfile: os.path.relpath(ROOT / "config" / "config.yaml")


# Where another workflow imports this one, the line above is passed over, and that one's config is all there is.
defaults = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))
update_config(defaults, config)
config = defaults

try:
    STUDY = load_study(config, ROOT)
except UserError as error:
    raise WorkflowError(str(error))

if STUDY.left_out and workflow.is_main_process:
    print(*STUDY.left_out, sep="\n", file=sys.stderr)


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
    """Where the file of a dataset, a question set or candidates is: the user's own, the fetched, or the one made."""
    if name in STUDY.questions:
        return f"results/questions/{name}.jsonl.gz"
    if name in STUDY.candidates:
        return f"results/candidates/{name}.jsonl.gz"
    dataset = STUDY.datasets[name]
    return dataset.path or f"results/data/{dataset.file}"


def any_of(names):
    """A pattern for exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"


include: "entries.smk"


def fields_of(wildcard, table):
    """Input and params functions: given a field, that field of the entry of the table that the wildcard names."""
    return lambda field: lambda wildcards: table[wildcards[wildcard]][field]


def file_of(wildcard):
    """An input function: the file of the dataset, question set or candidates that the wildcard names."""
    return lambda wildcards: dataset_file(wildcards[wildcard])


def shard_files(folder, wildcards):
    """A file in this folder of results for each shard of the corpus."""
    return expand(
        f"results/{folder}/{wildcards.corpus}/{wildcards.retriever}/{{shard}}.json",
        shard=range(CORPORA[wildcards.corpus]["shards"]),
    )


def vector_files(wildcards):
    """The vectors that a retriever searches: none for BM25."""
    is_dense = RETRIEVERS[wildcards.retriever]["method"] == "dense"
    return shard_files("vectors", wildcards) if is_dense else []


def threads_of_corpus(threads):
    """A threads function: no more than the corpus has shards, since a small one should not wait for many cores."""
    return lambda wildcards: min(threads, CORPORA[wildcards.corpus]["shards"])


def threads_of_search(wildcards):
    """The threads of the retriever that the wildcards name, on their corpus."""
    return threads_of_corpus(RETRIEVERS[wildcards.retriever]["threads"])(wildcards)


def index_files(wildcards):
    """The indexes that a retriever searches: Lucene's, one a shard of an approximate search, none of an exact one."""
    retriever = RETRIEVERS[wildcards.retriever]
    if retriever["method"] == "bm25":
        return [f"results/indexes/{wildcards.corpus}/bm25.json"]
    return [] if retriever["index_kind"] == EXACT else shard_files("indexes", wildcards)


def questions_file(wildcards):
    """The dataset with the questions of an experiment's size; none where they are generated."""
    return EXPERIMENTS[wildcards.experiment]["datasets"].get(wildcards.size, [])


def length_file(wildcards):
    """How many items an experiment's size is, where it is in tokens; nothing where it is items."""
    in_tokens = "length_code" in EXPERIMENTS[wildcards.experiment]
    return (
        f"results/lengths/{wildcards.experiment}/{wildcards.size}.json"
        if in_tokens
        else []
    )


def length_placements(wildcards):
    """The placements of an experiment at one size in tokens."""
    return EXPERIMENTS[wildcards.experiment]["length_placements"][wildcards.size]


def for_each_sweep(pattern, models=STUDY.models):
    """A file of every selected sweep, model by model, of these models."""
    return [
        pattern.format(model=model, experiment=experiment)
        for model, experiment in SWEEPS
        if model in models
    ]


def table_code(program):
    """An input function: a program and the module of the table that the wildcard names."""
    return lambda wildcards: code(program, f"analysis/tables/{wildcards.table}.py")


def table_inputs_of(wildcards):
    """The files that a table is made of, by name."""
    return {name: TABLE_INPUTS[name] for name in TABLES[wildcards.table].inputs}


def table_options(wildcards):
    """The options of make_table.py: the table's files and settings."""
    table = TABLES[wildcards.table]
    files = [
        word for name in table.inputs for word in ("--input", name, *TABLE_INPUTS[name])
    ]
    settings = canonical_json({name: TABLE_SETTINGS[name] for name in table.settings})
    return shlex.join([*files, *(["--settings", settings] if table.settings else [])])


def relations_json(experiments):
    """What models have to do with one another, and these experiments: as text, which Snakemake compares reliably."""
    related = STUDY.relations["experiments"]
    return canonical_json(
        {
            "models": STUDY.relations["models"],
            "experiments": {name: related[name] for name in experiments},
        }
    )


def shard_responses(wildcards):
    """The responses of a sweep's shards; nothing where it is asked by one job."""
    count = MODELS[wildcards.model]["shards"]
    if count == 1:
        return []
    return expand(
        "results/shards/{model}/{experiment}/{number}_of_{count}.jsonl.gz",
        number=range(1, count + 1),
        count=count,
        **wildcards,
    )


def journal_of(wildcards):
    """Where the journal of a sweep is, or would be."""
    return f"results/journal/{wildcards.model}/{wildcards.experiment}.jsonl"


def source_of_estimate(wildcards):
    """Which model it is; not asked of the hub where all that is wanted of a model is known, and it was never asked."""
    model = MODELS[wildcards.model]
    known = model["context_window"] and model["tokenizer_files"] and not model["folder"]
    return (
        []
        if known and not journal_files(journal_of(wildcards))
        else f"results/models/{wildcards.model}.json"
    )


def asked_model(wildcards):
    """The model of a sweep that asks something, selected or not."""
    return {**STUDY.token_models, **STUDY.models}[wildcards.model]


def sweep_memory(wildcards, attempt):
    """The memory (MB) of a sweep's job."""
    return memory_mb(asked_model(wildcards), attempt)


def sweep_minutes(wildcards, attempt):
    """The time of a sweep's job."""
    work = EXPERIMENTS[wildcards.experiment]["work"]
    return minutes(asked_model(wildcards), work, attempt)


def of_recorded(field):
    """An input function: that field of the recorded responses of a model to an experiment."""

    def value(wildcards):
        values = RECORDED[wildcards.model][field]
        if wildcards.experiment not in values:
            raise WorkflowError(
                f"models.{wildcards.model}.responses: there are none to {wildcards.experiment}"
            )
        return values[wildcards.experiment]

    return value


def has_cells(group):
    """Whether the cells of a group of columns of a table are selected."""
    experiment = STUDY.experiments.get(group.experiment)
    return experiment and group.size in {cell.size for cell in experiment.cells}


def exports(pattern):
    """An input function: an export of every model, asked for only where its target is."""

    def files(wildcards):
        if not EXPORTS:
            raise WorkflowError(
                "no selected experiment has positions, so there is nothing to export"
            )
        return expand(pattern, model=list(EXPORTS))

    return files


def errors_in_logs(folder):
    """(log, message) of each job of this run that ended with an error message, in the order of the logs' names."""
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= STARTED:
            yield path, last


of_experiment = fields_of("experiment", EXPERIMENTS)
of_model = fields_of("model", MODELS)
of_figure = fields_of("figure", FIGURES)
of_export = fields_of("model", EXPORTS)
of_corpus = fields_of("corpus", CORPORA)
of_retriever = fields_of("retriever", RETRIEVERS)
of_candidates = fields_of("candidates", CANDIDATES)
# Two rules make questions, each with a wildcard of its own.
of_generated = fields_of("generated", QUESTIONS)
of_derived = fields_of("derived", QUESTIONS)

USED_CANDIDATES = candidates_of(STUDY.experiments.values())
CANDIDATE_FILES = [f"results/candidates/{one.name}.csv" for one in USED_CANDIDATES]
RECALL_FILES = list(
    dict.fromkeys(
        retrieved_file(one, "recall", "csv") for one in USED_CANDIDATES if one.retriever
    )
)
# The recall of the retriever of each open-domain experiment.
OPEN_DOMAIN_RECALL = {
    name: retrieved_file(one, "recall", "csv")
    for name, experiment in STUDY.experiments.items()
    for one in candidates_of([experiment])
    if one.settings.kind == AS_RETRIEVED
}
# Inputs are compared as a set, but rows and colours are in the order of the config: rules have it as a param.
MODEL_ORDER = " ".join(STUDY.models)
SWEEP_ORDER = f"{MODEL_ORDER} / {' '.join(EXPERIMENTS)}"
# Whether any experiment has positions to compare.
HAS_POSITIONS = any(
    experiment.has_positions for experiment in STUDY.experiments.values()
)
SOURCES = Sources(
    counted=COUNTED,
    audited=list(MODELS),
    examples=[
        (name, path)
        for name, entry in EXPERIMENTS.items()
        for path in entry["first_of_size"]
    ],
    recalls=RECALL_FILES,
    candidates=CANDIDATE_FILES,
    published=PUBLISHED_ACCURACY,
    published_models=project_file("resources", "published", "models.csv"),
    data_versions={name: entry["data_versions"] for name, entry in EXPERIMENTS.items()},
)
TABLE_INPUTS = table_inputs(STUDY, SOURCES)
TABLE_SETTINGS = table_settings(STUDY, SOURCES)
# The tables that one rule makes, by name.
TABLES = {table.name: table for table in made(all_tables(), TABLE_INPUTS)}
CLAIM_TABLES = [
    f"results/tables/{name}"
    for name in ("claims.csv", "claims_summary.csv", "claims.md")
]
# The tables of the paper that some selected cell is in, by number, with the table that each is made of.
PAPER_TABLES = {
    str(number): "token_counts" if layout.is_of_tokens else "accuracy"
    for number, layout in LAYOUTS.items()
    if any(map(has_cells, layout.groups))
    and ("token_counts" in TABLES or not layout.is_of_tokens)
}
PAPER_TABLE_FILES = expand(
    "results/tables/paper/table{number}.{format}",
    number=list(PAPER_TABLES),
    format=["csv", "md", "tex"],
)
PUBLISHED_FILES = [
    *expand(
        "results/published/figures/{figure}.{format}",
        figure=list(STUDY.published_figures),
        format=["png", "pdf"],
    ),
    *expand("results/published/tables/claims.{format}", format=["csv", "md"]),
    *expand(
        "results/published/tables/table{number}.{format}",
        number=list(LAYOUTS),
        format=["csv", "md", "tex"],
    ),
]
TABLE_FILES = [*files_of(TABLES.values()), *PAPER_TABLE_FILES, *CLAIM_TABLES]
FIGURE_NAMES = [*([PBI_FOREST] if HAS_POSITIONS else []), *FIGURES]
FIGURE_FILES = expand(
    "results/figures/{figure}.{format}", figure=FIGURE_NAMES, format=["png", "pdf"]
)
SUMMARY_FOLDERS = expand("results/summaries/{model}", model=list(EXPORTS))
REPORT_FILE = "results/report.html"


wildcard_constraints:
    table=any_of(TABLES),
    model=any_of([*MODELS, *RECORDED]),
    experiment=any_of(EXPERIMENTS),
    figure=any_of([*FIGURES, *STUDY.published_figures]),
    size=r"\d+",
    number="|".join(map(str, LAYOUTS)),
    position=r"\d+",
    placement=rf"{GOLD_AT.pattern}|{GOLD_AT_DEPTH.pattern}|{NO_GOLD}|{AS_RETRIEVED}",
    corpus=any_of(CORPORA),
    shard=r"\d+",
    part=r"\d+_of_\d+",
    retriever=any_of(RETRIEVERS),
    candidates=any_of(CANDIDATES),
    generated=any_of(n for n, q in STUDY.questions.items() if q.source in GENERATORS),
    derived=any_of(n for n, q in STUDY.questions.items() if q.source not in GENERATORS),
    questions=any_of([*STUDY.datasets, *STUDY.questions]),
    dataset=any_of([*STUDY.datasets, *STUDY.candidates]),
