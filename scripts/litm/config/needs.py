"""What a study needs: the data entries that its models and experiments refer to."""

from dataclasses import dataclass
from typing import Any

from litm.base.schema import Entry
from litm.config.data import Corpus, Dataset, Retriever
from litm.config.study import DATA, Study


@dataclass(frozen=True)
class Needs:
    """The entries that the selected models and experiments refer to, directly or indirectly, each once."""

    remote_files: tuple[Dataset, ...]
    corpora: tuple[Corpus, ...]
    retrievers: tuple[Retriever, ...]


def needs_of(study: Study) -> Needs:
    """The needs of a study's selected models and experiments."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in DATA}
    # Of an experiment's datasets, those of the sizes that are run.
    waiting = [
        named
        for one in study.experiments.values()
        for named in _named_in(one.changed(dataset={str(size): name for size, name in one.datasets.items()}))
    ]
    for model in [*study.models.values(), *study.token_models.values()]:
        files = model.files.values() if model.is_recorded else ()
        names = [*(file for some in files for file, _ in some), model.tokenizer]
        waiting += [("datasets", name) for name in names if name]
    for kind, name in waiting:
        entry = getattr(study, kind).get(name)
        if entry is not None and name not in found[kind]:
            found[kind][name] = entry
            # A dataset refers only to its other versions.
            waiting += [] if kind == "datasets" else _named_in(entry)
    remote = {dataset.file: dataset for dataset in found["datasets"].values() if dataset.url}
    return Needs(tuple(remote.values()), tuple(found["corpora"].values()), tuple(found["retrievers"].values()))


def _named_in(entry: Entry) -> list[tuple[str, str]]:
    """Kind and name of each entry of these kinds that another one may refer to."""
    kinds = ((kind.partition(".")[0], name) for ref, name, _ in entry.referred() for kind in ref.kinds)
    return [(kind, name) for kind, name in kinds if kind in DATA]
