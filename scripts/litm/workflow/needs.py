"""Needs of a study before its first job: remote files, corpora and retrievers from the catalogues."""

from collections.abc import Iterator
from dataclasses import dataclass

from litm.config.data import Candidates, Corpus, Dataset, QuestionSet, Retriever
from litm.config.recorded_models import RecordedModel
from litm.config.study import Study


@dataclass(frozen=True)
class Needs:
    """The entries that the selected models and experiments refer to, directly or indirectly, each once."""

    remote_files: tuple[Dataset, ...]
    corpora: tuple[Corpus, ...]
    retrievers: tuple[Retriever, ...]


def needs_of(study: Study) -> Needs:
    """The needs of a study's selected models and experiments."""
    datasets: dict[str, Dataset] = {}
    corpora: dict[str, Corpus] = {}
    retrievers: dict[str, Retriever] = {}
    waiting = list(_named(study))
    while waiting:
        name = waiting.pop(0)
        if name in study.datasets:
            datasets[name] = study.datasets[name]
        elif name in study.questions:
            questions = study.questions[name]
            waiting += _files_of(questions)
            if questions.retriever is not None:
                retrievers[questions.retriever] = study.retrievers[questions.retriever]
        elif name in study.candidates:
            candidates = study.candidates[name]
            corpus = study.corpora[candidates.corpus]
            corpora[corpus.name] = corpus
            waiting += [candidates.questions, *filter(None, [corpus.dataset])]
            retrievers |= _retriever_of(candidates, study)
    remote = {dataset.file: dataset for dataset in datasets.values() if dataset.url}
    return Needs(tuple(remote.values()), tuple(corpora.values()), tuple(retrievers.values()))


def _named(study: Study) -> Iterator[str]:
    """Names of datasets, question sets and candidates in experiments and models, including paths."""
    for experiment in study.experiments.values():
        yield from experiment.datasets.values()
        yield from filter(None, [experiment.subset])
        if experiment.rerank:
            yield from study.rerankers[experiment.rerank].fused_with
    for model in [*study.models.values(), *study.token_models.values()]:
        if isinstance(model, RecordedModel):
            yield from (file.dataset for files in model.files.values() for file in files if file.dataset)
        if model.tokenizer:
            yield model.tokenizer


def _files_of(questions: QuestionSet) -> list[str]:
    return [*filter(None, [questions.dataset, questions.nq_open]), *questions.annotations]


def _retriever_of(candidates: Candidates, study: Study) -> dict[str, Retriever]:
    return {} if candidates.retriever is None else {candidates.retriever: study.retrievers[candidates.retriever]}
