"""What rules need to know of each entry of the catalogues, in tables by name. Params are text, which Snakemake compares reliably."""


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
        "data_versions": {
            size: getattr(STUDY.datasets.get(name), "version", None)
            for size, name in experiment.datasets.items()
        },
        "labels": dataset_file(experiment.subset) if experiment.subset else [],
        "example_settings": canonical_json(experiment.example_settings()),
        "examples": [example_file(experiment, cell) for cell in experiment.cells],
        "generated": "" if experiment.datasets else "--generated",
        "design": experiment.design,
        "first_of_size": [
            example_file(experiment, first_of_size[size])
            for size in sorted(first_of_size)
        ],
        "decoding": canonical_json(experiment.decoding()),
        "on_overflow": experiment.on_overflow,
        "metric": experiment.metric,
        "work": work_of(experiment),
        **length_entry(experiment),
    }


def length_entry(experiment):
    """What it takes to find out how many items have the tokens that an experiment's sizes name; nothing where they are items."""
    if experiment.tokens_of is None:
        return {}
    model = MODELS[experiment.tokens_of]
    return {
        "length_code": code("find_size.py", f"tasks/{experiment.task}.py"),
        "length_placements": {
            str(size): [
                cell.placement for cell in experiment.cells if cell.size == size
            ]
            for size in {cell.size for cell in experiment.cells}
        },
        "length_tokenizer": model["tokenizer_files"],
        "length_source": model["hub_source"],
        "length_template": model["template"],
        "length_location": model["tokenizer_location"],
        "length_prompt_template": model["prompt_template"],
        "length_reasoning": model["reasoning"],
    }


def asked_entry(model):
    """What rules need to know of any model that is asked: its tokenizer, settings that change its answers, its code."""
    tokenizer = (
        dataset_file(model.tokenizer)
        if model.tokenizer in STUDY.datasets
        else model.tokenizer
    )
    return {
        "own_tokenizer": tokenizer or "",
        "template": (
            project_file("resources", "prompt_templates", f"{model.template_name}.txt")
            if model.template_name
            else []
        ),
        "engine_code": code("generate.py", f"engines/{model.engine}.py"),
        "audit_code": code("ask_again.py", f"engines/{audit_engine(model.engine)}.py"),
        "location": canonical_json(model.location()),
        "prompt_template": model.prompt_template,
        "reasoning": canonical_json(model.reasoning.settings()),
        "settings": canonical_json(model.answer_settings()),
        "context_window": model.context_window or 0,
        "on_failure": model.on_failure,
    }


def model_entry(model):
    """What rules need to know of a model that is run here: its files, and how it is run."""
    asked = asked_entry(model)
    folder = Path(model.path) if model.path else None
    tokenizer = asked["own_tokenizer"]
    # Counting tokens needs no weights: a tokenizer's file, or what is in the folder beside them, or the hub's commit.
    if tokenizer:
        counting_files = [tokenizer]
    elif folder:
        counting_files = [str(file) for file in tokenizer_files(folder)]
    else:
        counting_files = []
    return {
        **asked,
        "folder": [str(file) for file in model_files(folder)] if folder else [],
        "tokenizer": tokenizer or [],
        "tokenizer_location": tokenizer or model.path or "",
        "tokenizer_files": counting_files,
        "hub_source": [] if counting_files else f"results/models/{model.name}.json",
        "device": model.device,
        "gpu": 0 if model.device == "cpu" else model.gpus,
        "shards": model.shards,
        "batch_tokens": model.batch_tokens,
        "threads": model.threads,
        "concurrency": 1,
        "request_timeout": 0,
        "request_attempts": 1,
        "gpu_model": model.gpu_model or "",
    }


def api_model_entry(model):
    """What rules need to know of a model that a server runs."""
    asked = asked_entry(model)
    tokenizer = asked["own_tokenizer"]
    is_folder = Path(tokenizer).is_dir() and tokenizer
    files = tokenizer_files(Path(tokenizer)) if is_folder else [tokenizer]
    return {
        **asked,
        "folder": [],
        # Which model it is does not depend on what counts its tokens.
        "tokenizer": [],
        "tokenizer_location": tokenizer,
        "tokenizer_files": [str(file) for file in files] if tokenizer else [],
        "hub_source": [],
        "device": "cpu",
        "gpu": 0,
        "shards": 1,
        "batch_tokens": 0,
        "threads": 1,
        "concurrency": model.concurrency,
        "request_timeout": model.request_timeout,
        "request_attempts": model.request_attempts,
        "gpu_model": "",
    }


def recorded_entry(model):
    """What rules need to know of recorded responses, by experiment."""
    return {
        "fields": canonical_json(model.fields),
        "settings": canonical_json(model.reasoning.settings()),
        "files": {
            experiment: [
                dataset_file(file.dataset) if file.dataset else file.path
                for file in files
            ]
            for experiment, files in model.files.items()
        },
        "cells": {
            experiment: canonical_json(
                [[[cell.size, cell.placement] for cell in file.cells] for file in files]
            )
            for experiment, files in model.files.items()
        },
    }


def corpus_entry(corpus):
    """What rules need to know of a corpus."""
    fetched = dataset_file(corpus.dataset) if corpus.dataset else None
    return {
        "files": [fetched] if fetched else corpus.files,
        "location": fetched or corpus.path or "",
        "source": corpus.source,
        "source_code": code("make_passages.py", f"corpora/{corpus.source}.py"),
        "settings": canonical_json(asdict(corpus.settings)),
        "passages_per_shard": corpus.passages_per_shard,
        "shards": corpus.shards,
    }


def retriever_entry(retriever):
    """What rules need to know of a retriever."""
    path = retriever.location["path"]
    is_dense = retriever.method == "dense"
    return {
        "method": retriever.method,
        "code": code("retrieve.py", f"retrieval/search_{retriever.method}.py"),
        "folder": [str(file) for file in model_files(Path(path))] if path else [],
        "location": canonical_json(retriever.location),
        "encoder": f"results/retrievers/{retriever.name}.json" if is_dense else [],
        "search": canonical_json(retriever.search),
        "encoding": canonical_json(retriever.encoding),
        "index": canonical_json(retriever.index),
        "index_kind": retriever.index.get("kind"),
        "device": retriever.device,
        "gpu": 1 if is_dense and retriever.device != "cpu" else 0,
        "batch_tokens": retriever.batch_tokens or 0,
        "threads": retriever.threads,
    }


def question_set_entry(questions):
    """What rules need to know of questions that the workflow makes."""
    if questions.source == NATURAL_QUESTIONS:
        return {
            "nq_open": dataset_file(questions.nq_open),
            "annotations": [dataset_file(name) for name in questions.annotations],
        }
    corpus = STUDY.corpora[questions.corpus]
    return {
        "source": corpus.source,
        "source_code": code("generate_questions.py", f"corpora/{corpus.source}.py"),
        "settings": canonical_json(asdict(corpus.settings)),
    }


def retrieved_file(candidates, folder="retrieved", ending="jsonl.gz"):
    """What was retrieved for candidates, or a file beside it."""
    return f"results/{folder}/{candidates.corpus}/{candidates.retriever}/{candidates.questions}.{ending}"


def candidates_entry(candidates):
    """What rules need to know of candidates."""
    return {
        "questions": dataset_file(candidates.questions),
        "retrieved": retrieved_file(candidates) if candidates.retriever else [],
        "passages": f"results/passages/{candidates.corpus}/manifest.json",
        "settings": canonical_json(asdict(candidates.settings)),
    }


def candidates_of(experiments):
    """The candidates that experiments name as dataset, each once, in their order."""
    names = [
        name for experiment in experiments for name in experiment.datasets.values()
    ]
    return [
        STUDY.candidates[name]
        for name in dict.fromkeys(names)
        if name in STUDY.candidates
    ]


def curve_files(curve, model):
    """What an export needs to know of a curve: how its figure is labelled, and its files."""
    experiment = STUDY.experiments[curve.experiment]
    cells = [
        cell
        for cell in experiment.cells
        if cell.size == curve.size and curve.placement in (None, cell.placement)
    ]
    return {
        **asdict(curve),
        "title": experiment.title,
        "panel_title": "{size} tokens" if experiment.tokens_of else "{size} items",
        "examples": [example_file(experiment, cell) for cell in cells],
        "scores": f"results/scores/{model}/{experiment.name}.parquet",
        "responses": f"results/responses/{model}/{experiment.name}.jsonl.gz",
    }


def export_entry(model):
    """What an export of a model's results needs: the files of all its curves, and what they are."""
    own = [curve for curve in CURVES.values() if (model, curve.experiment) in SWEEPS]
    curves = [curve_files(curve, model) for curve in own]
    return {
        "summaries": canonical_json([asdict(curve) for curve in own]),
        "files": sorted(
            {path for curve in curves for path in curve["examples"]}
            | {curve[kind] for curve in curves for kind in ("scores", "responses")}
        ),
        "curves": canonical_json(curves),
    }


def figure_entry(figure):
    """What rules need to know of a figure; reference lines are drawn for the experiments that are selected."""
    names = [
        name
        for name in (*figure.experiments, *figure.references)
        if name in STUDY.experiments
    ]
    curves = [STUDY.experiments[name] for name in figure.experiments if name in names]
    sweeps = [
        f"{model}/{experiment}"
        for model in STUDY.models
        for experiment in names
        if figure.shows(model) and (model, experiment) in SWEEPS
    ]
    return {
        "recall": (
            [
                retrieved_file(one, "recall", "csv")
                for one in candidates_of(curves)
                if one.settings.kind == AS_RETRIEVED
            ]
            if "recall" in load_kind(figure.kind).INPUTS
            else []
        ),
        "accuracy": [f"results/accuracy/{sweep}.csv" for sweep in sweeps],
        "scores": (
            [f"results/scores/{sweep}.parquet" for sweep in sweeps]
            if "scores" in load_kind(figure.kind).INPUTS
            else []
        ),
        "published": PUBLISHED_ACCURACY if figure.published else [],
        "code": code("plot_figure.py", f"figures/{figure.kind}.py"),
        "settings": canonical_json(figure.settings()),
    }


PUBLISHED_ACCURACY = project_file("resources", "published", "accuracy.csv")
PUBLISHED_TOKENS = project_file("resources", "published", "token_counts.csv")
# (model, experiment): all of them, but of recorded responses those that there are.
SWEEPS = dict.fromkeys(STUDY.sweeps)
# Also those whose tokenizers alone are needed.
MODELS = {
    name: (api_model_entry if isinstance(model, ApiModel) else model_entry)(model)
    for name, model in {**STUDY.token_models, **STUDY.models}.items()
    if not isinstance(model, RecordedModel)
}
# Those whose tokens can be counted: all but a server's model without a tokenizer.
COUNTED = [
    name
    for name, model in MODELS.items()
    if model["tokenizer_files"] or model["hub_source"]
]
RECORDED = {
    name: recorded_entry(model)
    for name, model in STUDY.models.items()
    if isinstance(model, RecordedModel)
}
EXPERIMENTS = {
    name: experiment_entry(experiment) for name, experiment in STUDY.experiments.items()
}
CURVES = {
    curve.name: curve
    for experiment in STUDY.experiments.values()
    for curve in experiment.curves
}
EXPORTS = {
    name: export_entry(name)
    for name in STUDY.models
    if any((name, curve.experiment) in SWEEPS for curve in CURVES.values())
}
FIGURES = {name: figure_entry(figure) for name, figure in STUDY.figures.items()}
CORPORA = {name: corpus_entry(corpus) for name, corpus in STUDY.corpora.items()}
RETRIEVERS = {
    name: retriever_entry(retriever) for name, retriever in STUDY.retrievers.items()
}
QUESTIONS = {
    name: question_set_entry(questions) for name, questions in STUDY.questions.items()
}
CANDIDATES = {
    name: candidates_entry(candidates) for name, candidates in STUDY.candidates.items()
}
REMOTE_FILES = {
    dataset.file: dataset for dataset in STUDY.datasets.values() if dataset.url
}
