"""The experiments of the configuration: a task, the cells it is run in, its questions, and how answers are scored."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from litm.base.errors import UserError
from litm.base.schema import FILLED_IN, AsGiven, Entry, choose, one_of
from litm.config.remedies import CutEntry, OrderName, RemediesEntry
from litm.config.retrieval import Candidates
from litm.config.values import check_names, text_names
from litm.domain.condition import RANKED
from litm.domain.curve import Cell, Curve
from litm.domain.placement import AS_RETRIEVED, depth_placement, gold_placement, gold_places
from litm.examples.prompt_file import read_template
from litm.examples.task import ASK_ANOTHER_KEY, MOVE_THE_PAIR, ExampleSettings, TaskDefaults
from litm.examples.tasks import load_task, task_names
from litm.scoring.metrics import METRICS

#: A size as the key of a mapping.
Size = Annotated[str, Field(pattern="^[1-9][0-9]*$")]
Position = Annotated[int, Field(ge=0)]
Depth = Annotated[float, Field(ge=0, le=1), AsGiven]
OneOrMore = Field(min_length=1, json_schema_extra={"uniqueItems": True})
Several = Field(min_length=2)


class ExperimentEntry(Entry):
    """A task, the sizes and positions of its contexts, and its questions."""

    task: Annotated[str, one_of(task_names)] = Field(
        description="How prompts are built and answers judged, a module of scripts/litm/examples/tasks."
    )
    title: str = Field(FILLED_IN, description="A title for figures and the report; the experiment's name if left out.")
    positions: (
        dict[Size, Annotated[list[Position | Annotated[list[Position], Several]], OneOrMore] | Literal["nine"]] | None
    ) = Field(
        None,
        min_length=1,
        description="For each size (items in the context) the 0-based positions of the gold item, or nine (0, N/8, "
        "..., 7N/8, rounded down, and N - 1 of a context of N items); where a question has several (multi_needle), a "
        "list for each placement, as in [[0, 149, 299]]. Not for tasks whose contexts are "
        "always the same (closed_book_qa, oracle_qa) or have no gold item (open_domain_qa).",
    )
    depths: dict[Size, Annotated[list[Depth | Annotated[list[Depth], Several]], OneOrMore]] | None = Field(
        None,
        min_length=1,
        description="Instead of positions, for generated contexts: for each number of tokens the depths of the gold "
        "item, 0 (first) to 1 (last); a list for each placement where a question has several. The number of items is "
        "found out with the tokenizer of `tokens_of`, so that no prompt of the first ten questions is longer; the "
        "answer (`max_new_tokens`) comes on top.",
    )
    tokens_of: str | None = Field(
        None,
        description="The model whose tokens `depths` counts, in its prompt template; it need not be one that is run.",
    )
    sizes: Annotated[list[Annotated[int, Field(ge=1)]], OneOrMore] | None = Field(
        None,
        description="Sizes of contexts without a gold item (open_domain_qa); otherwise those of the sizes of positions "
        "or depths that are run, all if left out.",
    )
    dataset: str | dict[str, str] | None = Field(
        None,
        description="The dataset, question set or candidates with the questions, or one for each size. Left out: the "
        "task's generator makes them.",
    )
    closed_book: str | None = Field(
        None,
        description="The experiment that asks the same questions without documents, for the utilisation of the "
        "context.",
    )
    oracle: str | None = Field(
        None,
        description="The experiment that asks the same questions with the gold document alone, for the utilisation of "
        "the context.",
    )
    query_aware_of: str | None = Field(
        None,
        description="The experiment that asks the same with the question only after the context, for the table of "
        "claims.",
    )
    compared_with: Annotated[tuple[str, ...], Strict(False)] = Field(
        (),
        description="Experiments that this one is compared with in condition_differences.csv although it differs from "
        "them in more than one key. Experiments that differ in one key are compared anyway.",
    )
    cluster: str | None = Field(
        None,
        description="A field of the question's record, or else of its gold document (such as title), with the same "
        "value for questions that belong together (an article, a source, a template): intervals and tests then count "
        "such questions as dependent (an audit counts questions). Left out, every question counts as "
        "independent. For questions from a file.",
    )
    examples: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Number of questions; null or left out is all of them."
    )
    selection: Literal["first", "random"] = Field(
        "first",
        description="Which questions those are, the first of the dataset or random ones; a larger number includes "
        "those of a smaller one.",
    )
    subset: str | None = Field(
        None, description="A dataset with labels; only the questions that it says to keep are asked."
    )
    distractor_order: Literal["ranked", "random"] = Field(
        "ranked",
        description="ranked (as in the dataset) or random (shuffled once for each question, the same at every "
        "position).",
    )
    order: OrderName = Field(
        RANKED,
        description="How retrieved documents are shown (open_domain_qa): ranked (best first), reversed (best last), "
        "ends (best at both ends, as Haystack's LostInTheMiddleRanker), ends_langchain (as LangChain's "
        "LongContextReorder, with the best last where their number is even), or random.",
    )
    rerank: str | None = Field(
        None, description="The reranker that orders the retrieved documents, all that the dataset has (open_domain_qa)."
    )
    cut: CutEntry | None = Field(
        None,
        description="Leaves out documents by their scores (open_domain_qa), as in {margin: 3}; `sizes` are then the "
        "most documents that are shown. The best one is always shown.",
    )
    remedies: RemediesEntry | None = Field(
        None,
        description="Orders, rerankers, cuts and prompts to be tried on these documents, at every size: an experiment "
        "each, all compared on the same questions in advice.csv (open_domain_qa).",
    )
    design: Literal["move_the_pair", "ask_another_key"] = Field(
        "move_the_pair",
        description="What a position is, in kv_retrieval. move_the_pair: where the pair asked for is put, instead of "
        "another (the paper's). ask_another_key: the key of the pair that is there is asked for, and nothing moves, so "
        "that the positions share all tokens before the question. They are different measurements: give them "
        "experiments of their own.",
    )
    # The task fills in what these leave out.
    prompt: str = Field(
        FILLED_IN,
        description="Name of a file in resources/prompts; the task's own if left out. For conversation_memory it is "
        "the transcript that models without `prompt_template: chat` get; those with it get the messages themselves.",
    )
    metric: Annotated[str, one_of(lambda: METRICS)] = Field(
        FILLED_IN,
        description="How answers are judged (best_subspan_em, value_in_answer, exact_code, only_code, exact_integer "
        "in the first line, last_integer of all lines); the task's "
        "own if left out.",
    )
    stop: Literal["first_line", "end_token"] = Field(
        FILLED_IN,
        description="Where an answer may end before its limit: first_line (after the first line that is not blank, all "
        "that best_subspan_em reads) or end_token (only where the model ends it); the task's own if left out.",
    )
    max_new_tokens: int = Field(FILLED_IN, ge=1, description="Most tokens of an answer; the task's own if left out.")
    on_overflow: Literal["leave_out", "fail"] = Field(
        "leave_out",
        description="What to do if prompts do not fit the context window of a model, with an answer of "
        "`max_new_tokens`: leave_out (their questions are left out at all positions of the size and counted), or fail "
        "(an error before anything is asked). It changes no answer.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("task") not in task_names():
            return value
        defaults = load_task(value["task"]).DEFAULTS
        keys = ("prompt", "metric", "stop", "max_new_tokens")
        return {**{key: getattr(defaults, key) for key in keys}, **value}

    @property
    def named_datasets(self) -> list[str]:
        """The datasets, question sets and candidates that it names."""
        if isinstance(self.dataset, dict):
            return list(self.dataset.values())
        return [self.dataset] if self.dataset is not None else []

    def with_datasets(self, other: Callable[[str], str]) -> Self:
        """The same entry with `other(name)` for each of them."""
        if isinstance(self.dataset, dict):
            return self.changed(dataset={size: other(name) for size, name in self.dataset.items()})
        return self if self.dataset is None else self.changed(dataset=other(self.dataset))


class Experiment(ExperimentEntry):
    """An experiment with its cells, its dataset for each size, and the config's seed.

    labels: the format of its `subset`'s file, None for all questions.
    """

    cells: tuple[Cell, ...]
    datasets: dict[int, str]
    seed: int
    labels: str | None

    def settings(self) -> dict:
        """All that it is, with cells and datasets instead of the keys that say them."""
        said = {"positions", "depths", "sizes", "dataset", "query_aware_of", "compared_with", "remedies"}
        usual = {"cluster": None, "order": RANKED, "rerank": None, "cut": None}
        unset = {key for key, value in usual.items() if getattr(self, key) == value}
        return {"name": self.name, **self.model_dump(exclude=said | unset)}

    def example_settings(self) -> dict:
        """What changes the examples, beside size, placement, dataset and prompt file.

        The seed is left out where nothing is random, so that another one changes nothing there; and so is the usual
        design, as before there was another.
        """
        is_random = not self.datasets or "random" in (self.distractor_order, self.selection, self.order)
        seed = self.seed if is_random else None
        settings = asdict(
            ExampleSettings(
                self.examples,
                seed,
                self.distractor_order,
                self.selection,
                self.labels,
                self.design,
                self.cluster,
                self.order,
                None if self.cut is None else self.cut.settings(),
            )
        )
        usual = {"design": MOVE_THE_PAIR, "cluster": None, "order": RANKED, "cut": None}
        return {key: value for key, value in settings.items() if key not in usual or usual[key] != value}

    def decoding(self) -> dict:
        """What changes a response, beside the model and the prompt."""
        return {"max_new_tokens": self.max_new_tokens, "stop": self.stop}

    def of_sizes(self, sizes: Collection[int] | None) -> Self:
        """The same experiment with those of its cells that have one of these sizes; all for None."""
        if sizes is None:
            return self
        return self.changed(
            cells=tuple(cell for cell in self.cells if cell.size in sizes),
            datasets={size: name for size, name in self.datasets.items() if size in sizes},
        )

    @property
    def asks_several(self) -> bool:
        """Whether a prompt has several gold items, all asked for at once."""
        return any(len(gold_places(cell.placement)) > 1 for cell in self.cells)

    @property
    def has_positions(self) -> bool:
        """Whether gold items are at more than one position of some size."""
        by_size: dict[int, set[float]] = {}
        for cell in self.cells:
            by_size.setdefault(cell.size, set()).update(gold_places(cell.placement))
        return any(len(places) > 1 for places in by_size.values())

    @property
    def curves(self) -> list[Curve]:
        """Its curves in the order of its cells, named after it and, of several, after what tells them apart."""
        cells = [cell for cell in self.cells if gold_places(cell.placement) and cell.size > 1]
        keys = list(dict.fromkeys((cell.size, cell.placement if self.asks_several else None) for cell in cells))
        sizes = [size for size, _ in keys]
        curves = []
        for size, placement in keys:
            parts = [self.name]
            if len(set(sizes)) > 1:
                parts.append(str(size))
            if sizes.count(size) > 1:
                parts.append(str(placement))
            curves.append(Curve("_".join(parts), self.name, size, placement))
        return curves


def read_experiment(entry: ExperimentEntry, seed: int, files: Mapping[str, Any], root: Path) -> Experiment:
    """The experiment of an entry; `files` are the datasets, question sets and candidates that it may name.

    Raises `UserError` for an unknown name, an impossible position, and keys that the task does not take.
    """
    where = entry.where
    defaults = load_task(entry.task).DEFAULTS
    cells = read_cells(entry)
    prompts = root / "resources" / "prompts"
    choose([entry.prompt], text_names(prompts), f"{where}.prompt")
    check_names([entry.prompt], f"{where}.prompt")
    read_template(prompts / f"{entry.prompt}.txt", with_context=any(cell.size for cell in cells))
    if entry.design == ASK_ANOTHER_KEY and not hasattr(load_task(entry.task), ASK_ANOTHER_KEY):
        raise UserError(f"{where}: 'design: {entry.design}' is for kv_retrieval, not for the task {entry.task}")
    datasets = _dataset_by_size(entry, cells)
    _check_questions(entry, cells, datasets, defaults, files)
    return entry.become(
        Experiment,
        title=entry.title if entry.title is not None else entry.name,
        cells=cells,
        datasets=datasets,
        seed=seed,
        labels=files[entry.subset].labels if entry.subset else None,
    )


def read_cells(entry: ExperimentEntry) -> tuple[Cell, ...]:
    """The cells of an experiment, by size and place; `UserError` for impossible positions, or keys of other tasks."""
    where, defaults = entry.where, load_task(entry.task).DEFAULTS
    allowed = ["sizes"] if defaults.placement else [] if defaults.fixed_cells else ["positions", "depths", "sizes"]
    given = [key for key in ("positions", "depths", "sizes") if getattr(entry, key) is not None]
    for key in given:
        if key not in allowed:
            raise UserError(f"{where}: the task {entry.task} takes no '{key}'")
    if defaults.fixed_cells is not None:
        return tuple(Cell(size, placement) for size, placement in defaults.fixed_cells)
    if defaults.placement is not None:
        if entry.sizes is None:
            raise UserError(f"{where}: 'sizes' is missing (how many items the contexts have)")
        cells = [Cell(size, defaults.placement) for size in sorted(entry.sizes)]
    else:
        cells = _placed_cells(entry, [key for key in given if key != "sizes"], defaults.golds)
    for cell, times in Counter(cells).items():
        if times > 1:
            raise UserError(f"{where}.{given[0]}.{cell.size}: {cell.placement} is there {times} times")
    return tuple(cells)


def _placed_cells(entry: ExperimentEntry, given: list[str], golds: int) -> list[Cell]:
    """The cells of the one given key, 'positions' or 'depths'."""
    where = entry.where
    if len(given) == 2:
        raise UserError(f"{where}: give either 'positions' or 'depths'; 'positions: null' leaves the catalogue's out")
    if not given:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    if (given == ["depths"]) != (entry.tokens_of is not None):
        raise UserError(f"{where}: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together")
    by_size = {int(size): _places(int(size), places) for size, places in getattr(entry, given[0]).items()}
    if unknown := [size for size in entry.sizes or () if size not in by_size]:
        raise UserError(f"{where}.sizes: there is no {unknown[0]} in {given[0]}; choose from {sorted(by_size)}")
    if entry.sizes is not None:
        by_size = {size: by_size[size] for size in entry.sizes}
    return [
        Cell(size, _placement(given[0], size, place, golds, f"{where}.{given[0]}.{size}"))
        for size, places in sorted(by_size.items())
        for place in sorted(places, key=lambda place: place if isinstance(place, list) else [place])
    ]


def _places(size: int, places: list | str) -> list:
    """The places that a size has in an entry; nine are those of the suite, or fewer in a small context."""
    return places if isinstance(places, list) else sorted({size * eighth // 8 for eighth in range(8)} | {size - 1})


def _placement(key: str, size: int, place: float | list[float], golds: int, where: str) -> str:
    """The placement that an entry of 'positions' or 'depths' means; `UserError` for one that cannot be."""
    places = place if isinstance(place, list) else [place]
    if len(places) != golds:
        wanted = "one number" if golds == 1 else f"a list of {golds}, as in {list(range(golds))}"
        raise UserError(
            f"{where}: {place} is no placement, a question of this task has {golds} gold item(s): give {wanted}"
        )
    if any(one >= other for one, other in pairwise(places)):
        raise UserError(f"{where}: {place} must ascend, because the gold items keep their order")
    if key == "depths":
        return depth_placement(places)
    positions = [int(one) for one in places]
    if positions[-1] >= size:
        raise UserError(
            f"{where}: position {positions[-1]} is impossible, positions in a context of {size} are 0 to {size - 1}"
        )
    return gold_placement(positions)


def _check_questions(
    entry: ExperimentEntry,
    cells: tuple[Cell, ...],
    datasets: Mapping[int, str],
    defaults: TaskDefaults,
    files: Mapping[str, Any],
) -> None:
    """Raise `UserError` unless the keys that say which questions are asked fit one another and the task."""
    where, in_tokens = entry.where, entry.tokens_of is not None
    choose(entry.named_datasets, files, f"{where}.dataset", "a file of your own is an entry of define.datasets")
    if defaults.needs_dataset:
        if in_tokens:
            raise UserError(f"{where}: sizes in tokens are for generated contexts, the task {entry.task} has documents")
        _check_kind(cells, datasets, files, where)
        if not datasets:
            raise UserError(f"{where}: the task {entry.task} needs a 'dataset'")
    if datasets and in_tokens:
        raise UserError(f"{where}: sizes in tokens are for generated contexts, remove 'dataset' or 'tokens_of'")
    if entry.cluster is not None and not defaults.needs_dataset:
        raise UserError(f"{where}: 'cluster' is for questions from a file, the task {entry.task} takes none")
    if not datasets and entry.examples is None:
        raise UserError(f"{where}: 'examples' must say how many to generate")
    if entry.subset is not None:
        choose([entry.subset], files, f"{where}.subset")
        if getattr(files[entry.subset], "labels", None) is None:
            raise UserError(
                f"{where}.subset: {entry.subset} is no file of labels: its entry in datasets has no 'labels'"
            )
    if entry.selection == "random" and entry.examples is None:
        raise UserError(f"{where}: 'selection: random' needs 'examples', how many questions to draw")


def _check_kind(cells: Iterable[Cell], datasets: Mapping[int, str], files: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for candidates without the gold document that a position needs, or with too few documents."""
    for cell in cells:
        candidates = files[datasets[cell.size]] if cell.size in datasets else None
        if not isinstance(candidates, Candidates):
            continue
        is_retrieved = candidates.kind == AS_RETRIEVED
        if is_retrieved and gold_places(cell.placement):
            raise UserError(
                f"{where}.dataset: {candidates.name} is 'kind: {AS_RETRIEVED}', without the gold document that is "
                f"wanted"
            )
        if not is_retrieved and cell.placement == AS_RETRIEVED:
            raise UserError(
                f"{where}.dataset: the task wants candidates of 'kind: {AS_RETRIEVED}', {candidates.name} is none"
            )
        if cell.size > candidates.documents:
            raise UserError(
                f"{where}: a context of {cell.size} documents, but candidates.{candidates.name}.documents is "
                f"{candidates.documents}"
            )


def _dataset_by_size(entry: ExperimentEntry, cells: Iterable[Cell]) -> dict[int, str]:
    sizes = sorted({cell.size for cell in cells})
    if not isinstance(entry.dataset, dict):
        return dict.fromkeys(sizes, entry.dataset) if entry.dataset is not None else {}
    for size in sizes:
        if str(size) not in entry.dataset:
            raise UserError(f"{entry.where}.dataset: no dataset for size {size}")
    return {size: entry.dataset[str(size)] for size in sizes}
