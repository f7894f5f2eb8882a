"""Experiments of the configuration: task, cells, questions, remedies and scoring."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from litm.base.extensions import text_file
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.base.schema import (
    FILLED_IN,
    Answer,
    AnyNames,
    AsGiven,
    Count,
    Entry,
    Made,
    NotNegative,
    Ref,
    Workflow,
    one_of,
)
from litm.config.data import Candidates
from litm.config.judge import JudgeEntry
from litm.examples.examples import read_template
from litm.examples.fillers import FILLERS, SAME_FORM
from litm.examples.orders import AUTHORS, ORDERS, RANDOM
from litm.examples.task import ASK_ANOTHER_KEY, MOVE_THE_PAIR, PLAIN, ExampleSettings, Task
from litm.examples.tasks import load_task, task_names
from litm.placements import ABSENT, AS_RETRIEVED, depth_placement, gold_placement, gold_places
from litm.records.cells import Cell, Curve
from litm.records.conditions import RANKED, Condition, Cut, score_in_words
from litm.records.measures import ANSWER, LOG_PROBABILITY
from litm.scoring.metrics import JUDGED, METRICS

#: Fraction of the task's own limit of new tokens: a smaller limit gets a note. For key-value pairs it is 25 tokens,
#: about what the shortest right answer, a UUID, takes in common tokenizers.
SHORT = 0.25
#: Keys that are facts about retrieved documents, with the value that changes nothing.
PLAIN_KEYS = {"order": RANKED, "rerank": None, "cut": None, "remedies": None}

OrderName = Annotated[str, one_of(lambda: ORDERS)]
FillerName = Annotated[str, one_of(lambda: FILLERS)]
#: Number of items, as the key of a mapping.
Size = Annotated[str, Field(pattern="^[1-9][0-9]*$")]
Position = Annotated[int, Field(ge=0)]
Depth = Annotated[float, Field(ge=0, le=1), AsGiven]
#: JSON schema of a list without duplicates.
DISTINCT: Any = Field(json_schema_extra={"uniqueItems": True})
OneOrMore: Any = Field(min_length=1, json_schema_extra={"uniqueItems": True})
Several = Field(min_length=2)
Positions = Annotated[list[Position | Annotated[list[Position], Several]], OneOrMore] | Literal["nine"]
Depths = Annotated[list[Depth | Annotated[list[Depth], Several]], OneOrMore]


class CutEntry(Entry):
    """Rule that leaves out documents by their scores."""

    score: Annotated[float, AsGiven] | None = None
    """Documents below this score are dropped."""
    margin: NotNegative | None = None
    """Documents whose score is more than this below the question's best score are dropped."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if self.score is None and self.margin is None:
            yield "give 'score', 'margin' or both"

    def settings(self) -> dict[str, float]:
        """The fields of a `Cut`."""
        return self.model_dump(exclude_none=True)

    def __str__(self) -> str:
        """See `Cut`."""
        return str(Cut(**self.settings()))

    @property
    def file_name(self) -> str:
        """The cut as a part of a name: `margin_3`."""
        return "_".join(f"{key}_{score_in_words(value)}".replace(".", "_") for key, value in self.settings().items())


class RemediesEntry(Entry):
    """Remedies that are tried on an experiment's documents, each compared with the documents as retrieved."""

    order: Annotated[tuple[OrderName, ...], Field(strict=False), DISTINCT] = ()
    """Orders, as in `order`."""
    rerank: Annotated[AnyNames, DISTINCT, Ref("rerankers", hint="yours is one of define.rerankers")] = ()
    """Rerankers, as in `rerank`."""
    cut: Annotated[tuple[CutEntry, ...], Field(strict=False)] = ()
    """Cuts, as in `cut`."""
    prompt: Annotated[AnyNames, DISTINCT, Ref("prompts")] = ()
    """Prompt files, such as multi_document_qa_query_aware."""
    together: Annotated[int, Field(ge=1, le=4)] = 1
    """Maximum number of remedies to combine: 1 (each alone), 2 (also any two of different keys), ... A cut is never
    combined with a reranker, whose scores have another scale.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if not (self.order or self.rerank or self.cut or self.prompt):
            yield "name at least one of 'order', 'rerank', 'cut' and 'prompt'"
        if RANKED in self.order:
            yield f"'{RANKED}' is the baseline of every remedy, remove it from 'order'"


#: Roles of several keys.
InPrompts, ForComparisons = Answer("through the prompts"), Workflow("for comparisons")


class Experiment(Entry):
    """A task with its questions and the sizes and positions of its contexts."""

    has_roles: ClassVar[bool] = True

    task: Annotated[str, one_of(task_names), InPrompts]
    """The kind of questions and prompts, a task of scripts/litm/examples/tasks."""
    title: Annotated[str, Workflow("for figures")] = FILLED_IN
    """Title in figures and the report. If omitted, the experiment's name."""
    positions: Annotated[Annotated[dict[Size, Positions], Field(min_length=1)] | Literal["nine"] | None, InPrompts] = (
        None
    )
    """Positions of the gold item, from 0, by size (number of items), or nine (for N items 0, N/8, ..., 7N/8, rounded
    down, and N - 1), which also stands for all of `sizes`. Questions with several gold items (multi_needle) have a list
    per placement, as in [[0, 149, 299]]; nine puts these items next to each other. Not for tasks with one fixed context
    (closed_book_qa, oracle_qa) or without a gold item (open_domain_qa).
    """
    depths: Annotated[Annotated[dict[Size, Depths], Field(min_length=1)] | None, InPrompts] = None
    """Instead of positions, for generated contexts: depths of the gold item, 0 (first) to 1 (last), by number of
    tokens; a list per placement if a question has several gold items. The number of items is chosen with the tokenizer
    of `tokens_of`, so that no prompt of the first ten questions is longer; the answer (`max_new_tokens`) is not
    included.
    """
    tokens_of: Annotated[str | None, Ref("models"), InPrompts] = None
    """The model whose tokenizer and prompt template count the tokens of `depths`. It need not be selected."""
    sizes: Annotated[Annotated[list[Count], OneOrMore] | None, InPrompts] = None
    """Sizes of contexts without a gold item (open_domain_qa). With positions or depths, the sizes to run; if omitted,
    all.
    """
    dataset: Annotated[
        str | dict[str, str] | None,
        Ref("datasets", "questions", "candidates", hint="a file of your own is an entry of define.datasets"),
        InPrompts,
    ] = None
    """The dataset, question set or candidates with the questions, or one per size. If omitted, the task generates the
    questions.
    """
    closed_book: Annotated[str | None, Ref("experiments"), ForComparisons] = None
    """The experiment that asks the same questions without documents. Used to compute the utilisation of the context."""
    oracle: Annotated[str | None, Ref("experiments"), ForComparisons] = None
    """The experiment that asks the same questions with the gold document alone. Used to compute the utilisation of the
    context.
    """
    query_aware_of: Annotated[str | None, Ref("experiments"), ForComparisons] = None
    """The experiment with the same questions but with the question only after the context. Used in the table of claims.
    """
    compared_with: Annotated[AnyNames, Ref("experiments"), ForComparisons] = ()
    """Experiments to compare with this one in condition_differences.csv although more than one key differs. Experiments
    that differ in one key are always compared.
    """
    cluster: Annotated[str | None, Workflow("for intervals and tests")] = None
    """A field of the question's record, or else of its gold document (such as title), whose value groups questions by
    article, source or template. Intervals and tests then treat the questions of a group as dependent (an audit counts
    single questions). If omitted, all questions are independent. Only for questions from a file.
    """
    examples: Annotated[Count | None, Answer("through the prompts; a larger number asks only the new ones")] = None
    """Number of questions. If it is null, omitted, or larger than the file's number, all questions are used."""
    selection: Annotated[Literal["first", "random"], InPrompts] = "first"
    """Whether the questions are the first of the dataset or random ones. A larger number includes the questions of a
    smaller one.
    """
    subset: Annotated[str | None, Ref("datasets", "questions", "candidates"), InPrompts] = None
    """A dataset with labels. Only questions that it keeps are used."""
    distractor_order: Annotated[Literal["ranked", "random", "authors"], InPrompts] = "ranked"
    """ranked (as in the dataset), random (shuffled once per question, the same at every position), or authors (shuffled
    as by the paper's authors' scripts, one question after the other from seed 0).
    """
    order: Annotated[OrderName, InPrompts] = RANKED
    """Order of retrieved documents in the prompt (open_domain_qa): ranked (best first), reversed (best last), ends
    (best at both ends, as Haystack's LostInTheMiddleRanker), ends_langchain (as LangChain's LongContextReorder, with
    the best last where their number is even), or random.
    """
    rerank: Annotated[str | None, Ref("rerankers", hint="yours is one of define.rerankers"), InPrompts] = None
    """The reranker that orders all retrieved documents of the dataset (open_domain_qa)."""
    cut: Annotated[CutEntry | None, InPrompts] = None
    """Drops documents by their scores (open_domain_qa), as in {margin: 3}. `sizes` are then maximum numbers of
    documents. The best document is always shown.
    """
    remedies: Annotated[RemediesEntry | None, Workflow("defines further experiments")] = None
    """Orders, rerankers, cuts and prompts to try on these documents at every size (open_domain_qa). Each is one
    experiment; advice.csv compares them on the same questions.
    """
    fillers: Annotated[tuple[FillerName, ...], Field(strict=False), DISTINCT, InPrompts] = ()
    """What fills the context beside the gold item (registered_codes, multi_document_qa), one or more levels: neutral
    (texts on other subjects; random documents of the dataset), same_form (texts of the same form; documents as
    retrieved) or wrong_answers (texts that answer the question with another value; the gold document with the answer
    replaced by one of the same kind, marked as withdrawn). Each further level is an experiment of its own,
    NAME-same_form, with the same questions, sizes and positions. If omitted, the task's own distractors.
    """
    absent: Annotated[bool, Workflow("defines a further experiment")] = False
    """Whether the same contexts are asked without the gold item too, once for each size: the experiment NAME-absent,
    and absent.csv, which says how often a model then abstains, copies another item, or knows the answer.
    """
    design: Annotated[Literal["move_the_pair", "ask_another_key"], InPrompts] = "move_the_pair"
    """Meaning of a position in kv_retrieval. move_the_pair: the requested pair moves to the position (the paper's
    design). ask_another_key: the question asks for the pair at the position, so that all positions share the tokens
    before the question. These are different measurements; give each its own experiment.
    """
    wording: Annotated[Literal["plain", "suite"], InPrompts] = "plain"
    """Wording of the generated questions in the suite's experiments 2 to 7. plain: this project's. suite: that of the
    suite's description (docs/suite.md).
    """
    # The task has defaults for these keys.
    prompt: Annotated[str, Ref("prompts"), InPrompts] = FILLED_IN
    """Name of a file in resources/prompts, or in `prompts` of an extension. If omitted, the task's own. For
    conversation_memory it is the transcript for models without `prompt_template: chat`; models with that template
    receive the messages themselves.
    """
    measure: Annotated[
        tuple[Literal["answer", "log_probability"], ...],
        Field(strict=False),
        OneOrMore,
        Workflow("log-probabilities have separate keys"),
    ] = ("answer",)
    """What is measured: answer (answers are generated and judged), log_probability (the log-probability that the model
    assigns to each accepted answer after the prompt, docs/log_probability.md), or both. log_probability generates no
    token; with it alone, the experiment has no accuracy. Only for prompts that ask for one gold item.
    """
    metric: Annotated[str, one_of(lambda: METRICS), Workflow("the judgement of answers")] = FILLED_IN
    """How answers are judged, one of the metrics of docs/numbers.md (`my_data` has whole_words). If omitted, the task's
    own metric.
    """
    judge: Annotated[JudgeEntry | None, Workflow("the judgement of answers")] = None
    """The judge of `metric: judged`, such as {model: gpt-4o-mini, labels: labels.csv} (docs/judged.md)."""
    stop: Annotated[Literal["first_line", "end_token"], Answer("as written")] = FILLED_IN
    """Where an answer may end before its limit: first_line (after the first line that is not blank, which is all that
    best_subspan_em reads) or end_token (only at the model's end token). If omitted, the task's own.
    """
    max_new_tokens: Annotated[Count, Answer("as written")] = FILLED_IN
    """Maximum number of tokens in an answer. If omitted, the task's own. Below a quarter of that, a dry run and
    `doctor` warn that right answers may be cut.
    """
    on_overflow: Annotated[Literal["leave_out", "fail"], Workflow("how prompts that do not fit are handled")] = (
        "leave_out"
    )
    """What to do if a prompt with an answer of `max_new_tokens` exceeds the model's context window: leave_out (its
    question is left out at all positions of the size and counted) or fail (an error before the model runs). It changes
    no answer.
    """
    cells: Made[tuple[Cell, ...]] = ()
    """Its cells, by size and place."""
    datasets: Made[dict[int, str]] = Field({})
    """The dataset of each size; none if questions are generated."""
    seed: Made[int] = 0
    """The config's seed."""
    labels: Made[str | None] = None
    """The format of its `subset`'s file, None for all questions."""
    lacks_gold: Made[bool] = Field(False, exclude=True)
    """Whether its contexts lack the gold items, see `absent`."""
    made_of: Made[str | None] = Field(None, exclude=True)
    """The entry that it was made of, for another level of a factor or a remedy; None for an entry."""
    condition: Made[Condition | None] = Field(None, exclude=True)
    """Its treatment of documents, if it has remedies or is made of them."""
    known_questions: Made[int] = Field(0, exclude=True)
    """The number of questions in its file, as far as that is known before a run; else 0."""

    @field_validator("measure")
    @classmethod
    def _check_measure(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len({*value}) < len(value):
            raise ValueError(f"'{value[-1]}' is there twice")
        return value

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("task") not in task_names():
            return value
        defaults = load_task(value["task"])
        return {**{key: getattr(defaults, key) for key in ("prompt", "metric", "stop", "max_new_tokens")}, **value}

    @property
    def named_datasets(self) -> list[str]:
        """Names of its datasets, question sets and candidates."""
        named = self.dataset.values() if isinstance(self.dataset, dict) else [self.dataset]
        return [name for name in named if name is not None]

    def with_datasets(self, other: Callable[[str], str]) -> Self:
        """The same entry with `other(name)` instead of each of these names."""
        if isinstance(self.dataset, dict):
            return self.changed(dataset={size: other(name) for size, name in self.dataset.items()})
        return self if self.dataset is None else self.changed(dataset=other(self.dataset))

    def settings(self) -> dict:
        """All settings, with cells and datasets instead of the keys they come from."""
        said = {"positions", "depths", "sizes", "dataset", "query_aware_of", "compared_with", "remedies", "absent"}
        usual = {**PLAIN_KEYS, "cluster": None, "wording": PLAIN, "fillers": (), "measure": (ANSWER,), "judge": None}
        unset = {key for key, value in usual.items() if getattr(self, key) == value}
        return {"name": self.name, **self.model_dump(exclude=said | unset)}

    def example_settings(self) -> dict:
        """Settings that change the examples, apart from size, placement, dataset and prompt file.

        The seed is left out if nothing is random, so that another seed changes nothing. The defaults of settings that
        were added later are left out too.
        """
        is_random = not self.datasets or RANDOM in (self.distractor_order, self.selection, self.order)
        # Documents as retrieved are those of a dataset, as without the key.
        filler = next((level for level in self.fillers if level != SAME_FORM or not self.datasets), None)
        settings = {field.name: getattr(self, field.name) for field in fields(ExampleSettings)}
        settings |= {"seed": self.seed if is_random or filler else None, "cut": self.cut and self.cut.settings()}
        settings["fillers"] = filler
        usual = {
            "design": MOVE_THE_PAIR,
            "cluster": None,
            "order": RANKED,
            "cut": None,
            "wording": PLAIN,
            "fillers": None,
        }
        return {key: value for key, value in settings.items() if key not in usual or usual[key] != value}

    def decoding(self) -> dict:
        """Settings that change a response, apart from the model and the prompt."""
        return {"max_new_tokens": self.max_new_tokens, "stop": self.stop}

    def of_sizes(self, sizes: Collection[int] | None) -> Self:
        """The same experiment with only the cells of these sizes; all cells for None."""
        if sizes is None:
            return self
        return self.changed(
            cells=tuple(cell for cell in self.cells if cell.size in sizes),
            datasets={size: name for size, name in self.datasets.items() if size in sizes},
        )

    @property
    def asks(self) -> str:
        """What the task asks."""
        return load_task(self.task).sentence

    @property
    def right_if(self) -> str:
        """When an answer is right, see `Metric`."""
        return METRICS[self.metric].right_if

    @property
    def mean_label(self) -> str:
        """What figures call the mean over answers: `Accuracy`, or the label of a graded metric."""
        return METRICS[self.metric].label

    @property
    def asks_several(self) -> bool:
        """Whether a prompt asks for several gold items at once."""
        return any(len(gold_places(cell.placement)) > 1 for cell in self.cells)

    @property
    def has_facts(self) -> bool:
        """Whether its contexts have two gold items that belong together, or one of its kind."""
        return load_task(self.task).in_any_order and not self.lacks_gold

    @property
    def is_searched(self) -> bool:
        """Whether its prompts are searched for answers outside their items, and for repetitions."""
        return not (self.datasets or load_task(self.task).is_chain)

    @property
    def has_positions(self) -> bool:
        """Whether some size has gold items at more than one position."""
        at = {(cell.size, place) for cell in self.cells for place in gold_places(cell.placement)}
        return len(at) > len({size for size, _ in at})

    @property
    def unit(self) -> str:
        """What its sizes count: tokens, or the task's noun for items."""
        return "tokens" if self.tokens_of else f"{load_task(self.task).item}s"

    @property
    def is_plain(self) -> bool:
        """Whether documents are read as they are, without a remedy."""
        return self.condition is None or self.condition.is_plain

    @property
    def most_questions(self) -> int:
        """The most questions that it has; 0 if that is not known before a run."""
        return min(filter(None, (self.examples, self.known_questions)), default=0)

    @property
    def curve_questions(self) -> int:
        """The number of questions of its curves, as far as it is known before a run; 0 without curves."""
        return self.most_questions if self.has_positions and not self.asks_several else 0

    @property
    def cell_sizes(self) -> set[int]:
        """The sizes of its cells."""
        return {cell.size for cell in self.cells}

    @property
    def curves(self) -> list[Curve]:
        """Its curves in the order of its cells; if there are several, their names tell what distinguishes them."""
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

    def check_remedies(self) -> None:
        """Raise `UserError` for keys about retrieved documents in a task without them, and keys that exclude others."""
        retrieval_keys = [key for key, plain in PLAIN_KEYS.items() if getattr(self, key) != plain]
        if retrieval_keys and load_task(self.task).placement != AS_RETRIEVED:
            raise UserError(
                f"{self.where}: '{retrieval_keys[0]}' is for documents as retrieved (task: open_domain_qa), "
                f"not for the task {self.task}"
            )
        if self.distractor_order != RANKED and self.order != RANKED:
            raise UserError(f"{self.where}: give either 'order' or 'distractor_order', not both")
        if self.distractor_order == AUTHORS and (self.selection == RANDOM or self.subset):
            raise UserError(
                f"{self.where}.distractor_order: {AUTHORS} is an order of the first questions: use {RANDOM} with "
                "'selection: random' or 'subset'"
            )
        if self.remedies is not None and len(retrieval_keys) > 1:
            raise UserError(
                f"{self.where}: an experiment with 'remedies' reads documents as retrieved, as the baseline of its "
                f"remedies: remove '{retrieval_keys[0]}', or name it in 'remedies'"
            )

    def of_study(self, seed: int, files: Mapping[str, Any], root: Path) -> Self:
        """The experiment with its cells, the datasets of its sizes, its title, and the config's seed.

        files: the datasets, question sets and candidates by name. Raises `UserError` for an impossible position, and
        for keys that the task does not accept.
        """
        task, cells = load_task(self.task), read_cells(self)
        prompt = root / text_file("prompts", self.prompt)
        read_template(prompt, with_context=any(cell.size for cell in cells))
        if self.design == ASK_ANOTHER_KEY and task.ask_another_key is None:
            raise UserError(f"{self.where}: 'design: {self.design}' is for kv_retrieval, not for the task {self.task}")
        if self.absent and (task.fixed_cells or task.placement):
            raise UserError(f"{self.where}: 'absent' is for contexts with a gold item, not for the task {self.task}")
        if unknown := [level for level in self.fillers if level not in task.fillers]:
            levels = f"it has {', '.join(task.fillers)}" if task.fillers else "it has none"
            raise UserError(f"{self.where}: the task {self.task} has no 'fillers: {unknown[0]}', {levels}")
        if self.wording != PLAIN and not task.has_suite_words:
            raise UserError(f"{self.where}: the task {self.task} has no 'wording: {self.wording}'")
        if LOG_PROBABILITY in self.measure and self.changed(cells=cells).asks_several:
            raise UserError(
                f"{self.where}.measure: {LOG_PROBABILITY} is for prompts that ask for one gold item, and these ask for "
                f"several ({cells[0].placement}); remove it"
            )
        if (self.metric == JUDGED) != (self.judge is not None):
            raise UserError(f"{self.where}: 'metric: {JUDGED}' and 'judge: {{model: NAME}}' go together")
        if self.judge and self.changed(cells=cells).asks_several:
            raise UserError(f"{self.where}.judge: a judge is for prompts that ask for one gold item")
        datasets = _dataset_by_size(self, cells)
        _check_questions(self, cells, datasets, files)
        title = self.title if self.title is not None else self.name
        labels = files[self.subset].labels if self.subset else None
        return self.changed(title=title, cells=cells, datasets=datasets, seed=seed, labels=labels)


def read_cells(entry: Experiment) -> tuple[Cell, ...]:
    """The cells of an experiment by size and place; `UserError` for impossible positions or keys of other tasks."""
    where, task = entry.where, load_task(entry.task)
    allowed = ["sizes"] if task.placement else [] if task.fixed_cells else ["positions", "depths", "sizes"]
    keys = [key for key in ("positions", "depths", "sizes") if getattr(entry, key) is not None]
    for key in keys:
        if key not in allowed:
            raise UserError(f"{where}: the task {entry.task} takes no '{key}'")
    if task.fixed_cells is not None:
        return tuple(Cell(size, placement) for size, placement in task.fixed_cells)
    if task.placement is not None:
        if entry.sizes is None:
            raise UserError(f"{where}: 'sizes' is missing (the number of items in the contexts)")
        cells = [Cell(size, task.placement) for size in sorted(entry.sizes)]
    else:
        cells = _placed_cells(entry, [key for key in keys if key != "sizes"], task)
    if entry.lacks_gold:
        cells = [Cell(size, ABSENT) for size in dict.fromkeys(cell.size for cell in cells)]
    for cell, times in Counter(cells).items():
        if times > 1:
            raise UserError(f"{where}.{keys[0]}.{cell.size}: {cell.placement} is there {times} times")
    return tuple(cells)


def _placed_cells(entry: Experiment, keys: list[str], task: Task) -> list[Cell]:
    """The cells of the given key, 'positions' or 'depths'."""
    where, sizes, golds = entry.where, entry.sizes, task.golds
    if len(keys) == 2:
        raise UserError(
            f"{where}: give either 'positions' or 'depths'; 'positions: null' removes those of the catalogue"
        )
    if not keys:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    if (keys == ["depths"]) != (entry.tokens_of is not None):
        raise UserError(f"{where}: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together")
    (key,) = keys
    by_size = getattr(entry, key)
    if not isinstance(by_size, dict):
        if sizes is None:
            raise UserError(f"{where}: 'positions: {by_size}' needs 'sizes' (the number of items in the contexts)")
        by_size = dict.fromkeys(sizes, by_size)
    by_size = {int(size): _nine(int(size), golds) if places == "nine" else places for size, places in by_size.items()}
    if unknown := [size for size in sizes or () if size not in by_size]:
        raise UserError(f"{where}.sizes: {unknown[0]} is not in {key}; choose from {sorted(by_size)}")
    return [
        Cell(size, _placement(key, size, place, task, f"{where}.{key}.{size}"))
        for size in sorted({*sizes} if sizes else by_size)
        for place in sorted(by_size[size], key=lambda place: place if isinstance(place, list) else [place])
    ]


def _nine(size: int, golds: int) -> list:
    """The suite's nine positions, or fewer in a small context.

    Several gold items are together there, the first at the position or as far back as there is room for the others.
    """
    last = max(0, size - golds)
    firsts = sorted({min(size * eighth // 8, last) for eighth in range(8)} | {last})
    return firsts if golds == 1 else [list(range(first, first + golds)) for first in firsts]


def _placement(key: str, size: int, place: float | list[float], task: Task, where: str) -> str:
    """The placement of one value in 'positions' or 'depths'; `UserError` for an impossible one."""
    places, golds = place if isinstance(place, list) else [place], task.golds
    if len(places) != golds:
        wanted = "one number" if golds == 1 else f"a list of {golds}, as in {list(range(golds))}"
        raise UserError(
            f"{where}: {place} is not a placement: questions of this task have {golds} gold item(s), so give {wanted}"
        )
    if task.in_any_order and len({*places}) < len(places):
        raise UserError(f"{where}: {place} has two gold items at one place")
    if not task.in_any_order and any(earlier >= other for earlier, other in pairwise(places)):
        raise UserError(f"{where}: {place} must ascend, because the gold items keep their order")
    if key == "depths":
        return depth_placement(places)
    positions = [int(value) for value in places]
    if (last := max(positions)) >= size:
        raise UserError(f"{where}: position {last} is impossible, positions in a context of {size} are 0 to {size - 1}")
    return gold_placement(positions)


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
