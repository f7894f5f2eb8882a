"""An experiment as a study has it, checked: its keys fit its task, its data and each other."""

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from litm.base.extensions import text_file
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.config.experiment_cells import read_cells
from litm.config.experiments import PLAIN_KEYS, Experiment
from litm.config.retrieval import Candidates
from litm.examples.examples import read_template
from litm.examples.orders import AUTHORS, RANDOM
from litm.examples.task import ASK_ANOTHER_KEY, PLAIN
from litm.examples.tasks import load_task
from litm.placements import AS_RETRIEVED, gold_places
from litm.records.cells import Cell
from litm.records.conditions import MEASURED, RANKED
from litm.records.measures import ANSWER, LOG_PROBABILITY
from litm.scoring.metrics import JUDGED

#: Fraction of the task's own limit of new tokens: a smaller limit gets a note. For key-value pairs it is 25 tokens,
#: about what the shortest right answer, a UUID, takes in common tokenizers.
SHORT = 0.25


def checked_experiment(entry: Experiment, seed: int, files: Mapping[str, Any], root: Path) -> Experiment:
    """The experiment with its cells, the datasets of its sizes, its title, and the config's seed.

    files: the datasets, question sets and candidates by name. Raises `UserError` for an impossible position, and
    for keys that the task does not accept.
    """
    task, cells = load_task(entry.task), read_cells(entry)
    title = entry.title if entry.title is not None else entry.name
    if not task.has_prompts:
        return entry.changed(title=title, seed=seed)
    prompt = root / text_file("prompts", entry.prompt)
    read_template(prompt, with_context=any(cell.size for cell in cells))
    if entry.design == ASK_ANOTHER_KEY and task.ask_another_key is None:
        raise UserError(f"{entry.where}: 'design: {entry.design}' is for kv_retrieval, not for the task {entry.task}")
    if entry.absent and task.fixed_cells:
        raise UserError(
            f"{entry.where}: 'absent' is for contexts with a gold item or retrieved documents, not for the task "
            f"{entry.task}"
        )
    if unknown := [level for level in entry.fillers if level not in task.fillers]:
        levels = f"it has {', '.join(task.fillers)}" if task.fillers else "it has none"
        raise UserError(f"{entry.where}: the task {entry.task} has no 'fillers: {unknown[0]}', {levels}")
    if entry.wording != PLAIN and not task.has_suite_words:
        raise UserError(f"{entry.where}: the task {entry.task} has no 'wording: {entry.wording}'")
    if LOG_PROBABILITY in entry.measure and entry.changed(cells=cells).asks_several:
        raise UserError(
            f"{entry.where}.measure: {LOG_PROBABILITY} is for prompts that ask for one gold item, and these ask for "
            f"several ({cells[0].placement}); remove it"
        )
    if (entry.metric == JUDGED) != (entry.judge is not None):
        raise UserError(f"{entry.where}: 'metric: {JUDGED}' and 'judge: {{model: NAME}}' go together")
    if entry.judge and entry.changed(cells=cells).asks_several:
        raise UserError(f"{entry.where}.judge: a judge is for prompts that ask for one gold item")
    datasets = _dataset_by_size(entry, cells)
    _check_questions(entry, cells, datasets, files)
    labels = files[entry.subset].labels if entry.subset else None
    return entry.changed(title=title, cells=cells, datasets=datasets, seed=seed, labels=labels)


def check_remedies(entry: Experiment) -> None:
    """Raise `UserError` for keys about retrieved documents in a task without them, and keys that exclude others."""
    retrieval_keys = [key for key, plain in PLAIN_KEYS.items() if getattr(entry, key) != plain]
    if retrieval_keys and load_task(entry.task).placement != AS_RETRIEVED:
        raise UserError(
            f"{entry.where}: '{retrieval_keys[0]}' is for documents as retrieved (task: open_domain_qa), "
            f"not for the task {entry.task}"
        )
    is_measured = MEASURED in (entry.order, *(entry.remedies.order if entry.remedies else ()))
    if is_measured != (entry.measured_on is not None):
        raise UserError(
            f"{entry.where}: 'order: {MEASURED}' and 'measured_on: {{experiment: NAME, model: NAME}}' go together"
        )
    if entry.distractor_order != RANKED and entry.order != RANKED:
        raise UserError(f"{entry.where}: give either 'order' or 'distractor_order', not both")
    if entry.distractor_order == AUTHORS and (entry.selection == RANDOM or entry.subset):
        raise UserError(
            f"{entry.where}.distractor_order: {AUTHORS} is an order of the first questions: use {RANDOM} with "
            "'selection: random' or 'subset'"
        )
    if entry.remedies is not None and len(retrieval_keys) > 1:
        raise UserError(
            f"{entry.where}: an experiment with 'remedies' reads documents as retrieved, as the baseline of its "
            f"remedies: remove '{retrieval_keys[0]}', or name it in 'remedies'"
        )


def check_measured_orders(experiments: Mapping[str, Experiment], run: Container[tuple[str, str]]) -> None:
    """Raise `UserError` for a measured order whose curve the study lacks, or that has no positions or other clusters.

    run: the pairs of a model and an experiment that are selected.
    """
    for entry in experiments.values():
        if entry.measured_on is None:
            continue
        name, where = entry.measured_on.experiment, f"{entry.where}.measured_on"
        if (entry.measured_on.model, name) not in run:
            raise UserError(
                f"{where}: {entry.measured_on.model} does not run {name} in this study: add both to 'models' and "
                "'experiments'"
            )
        curve = experiments[name]
        if not curve.has_positions or curve.asks_several or ANSWER not in curve.measure:
            raise UserError(
                f"{where}.experiment: {name} has no curve: name one with several positions of one gold item"
            )
        if curve.cluster != entry.cluster:
            raise UserError(
                f"{where}.experiment: {name} has 'cluster: {curve.cluster}' and this experiment {entry.cluster}: give "
                "both the same, so that no question judges an order that it is in the curve of"
            )


def _check_questions(
    entry: Experiment, cells: tuple[Cell, ...], datasets: Mapping[int, str], files: Mapping[str, Any]
) -> None:
    """Raise `UserError` unless the keys that select the questions are consistent with each other and with the task."""
    where, in_tokens = entry.where, entry.tokens_of is not None
    if load_task(entry.task).needs_dataset:
        if in_tokens:
            raise UserError(f"{where}: sizes in tokens are for generated contexts, the task {entry.task} has documents")
        for cell in cells:
            if isinstance(candidates := files.get(datasets.get(cell.size, "")), Candidates):
                _check_candidates(candidates, cell, where)
        if not datasets:
            raise UserError(f"{where}: the task {entry.task} needs a 'dataset'")
    elif entry.cluster is not None:
        raise UserError(f"{where}: 'cluster' is for questions from a file, the task {entry.task} takes none")
    if datasets and in_tokens:
        raise UserError(f"{where}: sizes in tokens are for generated contexts, remove 'dataset' or 'tokens_of'")
    if not datasets and entry.examples is None:
        raise UserError(f"{where}: 'examples' is missing: the number of questions to generate")
    if entry.subset is not None and getattr(files[entry.subset], "labels", None) is None:
        raise UserError(
            f"{where}.subset: {entry.subset} is not a file of labels: its entry in datasets has no 'labels'"
        )
    if entry.selection == RANDOM and entry.examples is None:
        raise UserError(f"{where}: 'selection: random' needs 'examples', the number of questions to draw")


def _check_candidates(candidates: Candidates, cell: Cell, where: str) -> None:
    """Raise `UserError` for candidates without the necessary gold document, or with too few documents."""
    is_retrieved = candidates.kind == AS_RETRIEVED
    if is_retrieved and gold_places(cell.placement):
        raise UserError(
            f"{where}.dataset: {candidates.name} is 'kind: {AS_RETRIEVED}', so it lacks the gold document that "
            "positions need"
        )
    if not is_retrieved and cell.placement == AS_RETRIEVED:
        raise UserError(
            f"{where}.dataset: the task needs candidates of 'kind: {AS_RETRIEVED}', {candidates.name} has another kind"
        )
    if cell.size > candidates.documents:
        raise UserError(
            f"{where}: a context of {cell.size} documents, but candidates.{candidates.name}.documents is "
            f"{candidates.documents}"
        )


def _dataset_by_size(entry: Experiment, cells: Iterable[Cell]) -> dict[int, str]:
    sizes = sorted({cell.size for cell in cells})
    if not isinstance(entry.dataset, dict):
        return dict.fromkeys(sizes, entry.dataset) if entry.dataset is not None else {}
    for size in sizes:
        if str(size) not in entry.dataset:
            raise UserError(f"{entry.where}.dataset: no dataset for size {size}")
    return {size: entry.dataset[str(size)] for size in sizes}


def short_limits(experiments: Iterable[Experiment]) -> Iterator[str]:
    """One line per limit below `SHORT` of the task's own, with all its experiments."""
    limits = grouped(experiments, lambda entry: (entry.max_new_tokens, load_task(entry.task).max_new_tokens))
    for (limit, usual), limited in limits.items():
        if limit < SHORT * usual:
            note = f"max_new_tokens is {limit}, and {usual} if left out, so right answers may be cut and count as wrong"
            yield f"{', '.join(entry.name for entry in limited)}: {note}"
