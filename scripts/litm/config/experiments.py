"""Experiments of the configuration: task, cells, questions, remedies and scoring."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

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
from litm.config.judge import JudgeEntry
from litm.examples.fillers import FILLERS, SAME_FORM
from litm.examples.orders import ORDERS, RANDOM
from litm.examples.task import MOVE_THE_PAIR, PLAIN, ExampleSettings
from litm.examples.tasks import load_task, task_names
from litm.placements import gold_places
from litm.records.cells import Cell, Curve
from litm.records.conditions import RANKED, Condition, Cut, score_in_words
from litm.records.measures import ANSWER
from litm.scoring.metrics import METRICS

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


class MeasuredOn(Entry):
    """The sweep whose curve gives the measured order of documents."""

    experiment: Annotated[str, Ref("experiments")]
    """The experiment with positions, such as the same questions with the gold document moved."""
    model: Annotated[str, Ref("models")]
    """The model of the curve, one of those that run both experiments. All models read the documents in its order."""


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
    the best last where their number is even), random, or measured (best where the curve of `measured_on` is highest).
    """
    measured_on: Annotated[MeasuredOn | None, InPrompts] = None
    """The curve of `order: measured`, as in {experiment: my_positions, model: my_model}. It is over about half of the
    questions, by the seed; this experiment, with all its remedies, asks the others alone.
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
    and absent.csv, which says how often a model then abstains, copies another item, or knows the answer. Of retrieved
    documents (open_domain_qa) those with the answer are taken out, under each of the `remedies`, and the advice says
    whether it brings more made-up answers.
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
        keys = ("prompt", "metric", "stop", "max_new_tokens")
        return {**{key: known for key in keys if (known := getattr(defaults, key))}, **value}

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
        usual["measured_on"] = None
        unset = {key for key, value in usual.items() if getattr(self, key) == value}
        return {"name": self.name, **self.model_dump(exclude=said | unset)}

    def example_settings(self) -> dict:
        """Settings that change the examples, apart from size, placement, dataset and prompt file.

        The seed is left out if nothing is random, so that another seed changes nothing. The defaults of settings that
        were added later are left out too.
        """
        is_random = not self.datasets or RANDOM in (self.distractor_order, self.selection, self.order) or self.held_out
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
            "held_out": False,
            "without_answer": False,
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
    def has_prompts(self) -> bool:
        """Whether there are prompts to ask; else verdicts are recorded."""
        return load_task(self.task).has_prompts

    @property
    def asks(self) -> str:
        """What the task asks."""
        return load_task(self.task).sentence

    @property
    def right_if(self) -> str:
        """When an answer is right, see `Metric`."""
        return (
            METRICS[self.metric].right_if if self.judge is None else f"the judge ({self.judge.model}) calls it right."
        )

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
        task = load_task(self.task)
        return task.in_any_order and task.golds == 2 and not self.lacks_gold

    @property
    def has_chain(self) -> bool:
        """Whether its contexts have a chain of more than two facts."""
        task = load_task(self.task)
        return task.is_chain and task.golds > 2 and not self.lacks_gold

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
    def held_out(self) -> bool:
        """Whether it asks only questions that are in no curve of a measured order."""
        return self.measured_on is not None

    @property
    def without_answer(self) -> bool:
        """Whether retrieved documents that have the answer are taken out of its contexts."""
        return self.lacks_gold and load_task(self.task).placement is not None

    @property
    def is_plain(self) -> bool:
        """Whether documents are read as they are, without a remedy, and all of them."""
        return (self.condition is None or self.condition.is_plain) and not self.without_answer

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
