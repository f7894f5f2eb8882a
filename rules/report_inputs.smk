"""What the report is made of: the files of its inputs, and what it says beside them."""


def models_of(experiment):
    """The models that have answered an experiment, in the order of the config."""
    return [model for model in STUDY.models if (model, experiment) in SWEEPS]


def for_each_model(pattern):
    """An input function: a file of each model that has answered the experiment."""
    return lambda wildcards: [
        pattern.format(model=model, experiment=wildcards.experiment)
        for model in models_of(wildcards.experiment)
    ]


def recall_of(figure):
    """(questions, corpus, retriever) of each search whose recall a figure shows."""
    return [
        [one.questions, one.corpus, one.retriever]
        for one in candidates_of(
            STUDY.experiments[name]
            for name in figure.experiments
            if name in STUDY.experiments
        )
        if "recall" in load_kind(figure.kind).INPUTS
        and one.settings.kind == AS_RETRIEVED
    ]


def report_settings():
    """What the report says beside its inputs, as text, which Snakemake compares reliably."""
    return canonical_json(
        {
            "figures": [
                {**figure.settings(), "recall": recall_of(figure)}
                for figure in STUDY.figures.values()
            ],
            "experiments": [asdict(one) for one in STUDY.experiments.values()],
            "prices": {
                name: model.prices and dict(model.prices)
                for name, model in STUDY.models.items()
                if isinstance(model, ApiModel)
            },
            "datasets": [
                {"name": name, "source": dataset_source(name)}
                for name in REPORT_DATASETS
            ],
            "seed": STUDY.seed,
        }
    )


def dataset_source(name):
    """Where a file of questions is from, without a path of this machine."""
    if name in STUDY.datasets:
        return STUDY.datasets[name].url or "a file of the user's own"
    return "made by this workflow"


# The files of questions and documents, by the names that experiments have for them.
REPORT_DATASETS = {
    name: dataset_file(name)
    for experiment in STUDY.experiments.values()
    for name in [
        *experiment.datasets.values(),
        *([experiment.subset] if experiment.subset else []),
    ]
}
REPORT_TABLES = [
    *(f"results/tables/{name}.csv" for name, table in TABLES.items() if table.report),
    *CLAIM_TABLES[:2],
]
# The report asks each table what it is.
TABLE_MODULES = [f"analysis/tables/{name}.py" for name in table_names()]
REPORT_SETTINGS = report_settings()
# The page draws the figures' charts with the modules of their kinds.
REPORT_KINDS = sorted({figure.kind for figure in STUDY.figures.values()})
