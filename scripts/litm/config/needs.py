"""What a study needs: the data entries that its models and experiments refer to."""

from dataclasses import dataclass
from typing import Any

from litm.base.schema import Entry
from litm.config.data import Corpus, Dataset
from litm.config.retrieval import Retriever
from litm.config.study import DATA, Study


@dataclass(frozen=True)
class Needs:
    """The entries that the selected models and experiments refer to, directly or indirectly, each once."""

    remote_files: tuple[Dataset, ...]
    """Datasets that have an address, each file once."""
    corpora: tuple[Corpus, ...]
    """Corpora of passages, of questions and of retrievers."""
    retrievers: tuple[Retriever, ...]
    """Retrievers of gold passages and of candidates."""


def needs_of(study: Study) -> Needs:
    """The needs of a study's selected models and experiments."""
    needed: dict[str, dict[str, Any]] = {kind: {} for kind in DATA}
    # Of an experiment's datasets, those of the sizes that are run.
    waiting = [
        reference
        for experiment in study.experiments.values()
        for reference in _references(
            experiment.changed(dataset={str(size): name for size, name in experiment.datasets.items()})
        )
    ]
    for model in [*study.asked_models.values(), *study.token_models.values(), *study.beside.values()]:
        recorded = model.files.values() if model.is_recorded else ()
        names = [*(file for files in recorded for file, _ in files), model.tokenizer]
        waiting += [("datasets", name) for name in names if name]
    for kind, name in waiting:
        entry = getattr(study, kind).get(name)
        if entry is not None and name not in needed[kind]:
            needed[kind][name] = entry
            # A dataset refers only to its other versions.
            waiting += [] if kind == "datasets" else _references(entry)
    remote = {dataset.file: dataset for dataset in needed["datasets"].values() if dataset.url}
    return Needs(tuple(remote.values()), tuple(needed["corpora"].values()), tuple(needed["retrievers"].values()))


def _references(entry: Entry) -> list[tuple[str, str]]:
    """Kind and name of each entry of these kinds that another one may refer to."""
    kinds = ((kind.partition(".")[0], name) for ref, name, _ in entry.referred() for kind in ref.kinds)
    return [(kind, name) for kind, name in kinds if kind in DATA]
