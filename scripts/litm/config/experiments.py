"""Experiments of the configuration: task, cells, questions and scoring."""

import re
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from litm.base.messages import single_spaced
from litm.base.schema import FILLED_IN, AsGiven, Entry, one_of
from litm.config.remedies import CutEntry, OrderName, RemediesEntry
from litm.domain.condition import RANKED
from litm.domain.curve import Cell, Curve
from litm.domain.placement import gold_places
from litm.examples.task import MOVE_THE_PAIR, PLAIN, ExampleSettings
from litm.examples.tasks import load_task, task_names
from litm.scoring.metrics import METRICS

#: Reference to another function in a docstring.
_CODE_NAME = re.compile(r", (?:see|as) `\w+`(?: finds it)?,?")

#: Number of items, as the key of a mapping.
Size = Annotated[str, Field(pattern="^[1-9][0-9]*$")]
Position = Annotated[int, Field(ge=0)]
Depth = Annotated[float, Field(ge=0, le=1), AsGiven]
OneOrMore = Field(min_length=1, json_schema_extra={"uniqueItems": True})
Several = Field(min_length=2)


class ExperimentEntry(Entry):
    """A task with the sizes and positions of its contexts, and its questions."""

    task: Annotated[str, one_of(task_names)]
    """The kind of questions and prompts, a module of scripts/litm/examples/tasks."""
    title: str = FILLED_IN
    """Title in figures and the report; if left out, the experiment's name."""
    positions: (
        Annotated[
            dict[Size, Annotated[list[Position | Annotated[list[Position], Several]], OneOrMore] | Literal["nine"]],
            Field(min_length=1),
        ]
        | Literal["nine"]
        | None
    ) = None
    """Positions of the gold item, from 0, by size (number of items), or nine (for N items 0, N/8, ..., 7N/8, rounded
    down, and N - 1), which also stands for all of `sizes`. Questions with several gold items (multi_needle) have a list
    per placement, as in [[0, 149, 299]]; nine puts these items next to each other. Not for tasks with one fixed context
    (closed_book_qa, oracle_qa) or without a gold item (open_domain_qa).
    """
    depths: dict[Size, Annotated[list[Depth | Annotated[list[Depth], Several]], OneOrMore]] | None = Field(
        None, min_length=1
    )
    """Instead of positions, for generated contexts: depths of the gold item, 0 (first) to 1 (last), by number of
    tokens; a list per placement if a question has several gold items. The number of items is chosen with the tokenizer
    of `tokens_of`, so that no prompt of the first ten questions is longer; the answer (`max_new_tokens`) is not
    included.
    """
    tokens_of: str | None = None
    """The model whose tokenizer and prompt template `depths` counts with; it need not be selected."""
    sizes: Annotated[list[Annotated[int, Field(ge=1)]], OneOrMore] | None = None
    """Sizes of contexts without a gold item (open_domain_qa). With positions or depths: the sizes to run; if left out,
    all.
    """
    dataset: str | dict[str, str] | None = None
    """The dataset, question set or candidates with the questions, or one per size. If left out, the task generates the
    questions.
    """
    closed_book: str | None = None
    """The experiment that asks the same questions without documents, for the utilisation of the context."""
    oracle: str | None = None
    """The experiment that asks the same questions with the gold document alone, for the utilisation of the context."""
    query_aware_of: str | None = None
    """The experiment with the same questions and the question only after the context, for the table of claims."""
    compared_with: Annotated[tuple[str, ...], Strict(False)] = ()
    """Experiments to compare this one with in condition_differences.csv although more than one key differs. Experiments
    that differ in one key are always compared.
    """
    cluster: str | None = None
    """A field of the question's record, or else of its gold document (such as title), whose value groups questions (by
    article, source or template): intervals and tests then treat questions of one group as dependent (an audit counts
    single questions). If left out, all questions are independent. Only for questions from a file.
    """
    examples: Annotated[int, Field(ge=1)] | None = None
    """Number of questions; null, or left out, means all."""
    selection: Literal["first", "random"] = "first"
    """Whether they are the first of the dataset or random ones; a larger number includes the questions of a smaller
    one.
    """
    subset: str | None = None
    """A dataset with labels; only questions that it keeps are asked."""
    distractor_order: Literal["ranked", "random"] = "ranked"
    """ranked (as in the dataset) or random (shuffled once per question, the same at every position)."""
    order: OrderName = RANKED
    """Order of retrieved documents in the prompt (open_domain_qa): ranked (best first), reversed (best last), ends
    (best at both ends, as Haystack's LostInTheMiddleRanker), ends_langchain (as LangChain's LongContextReorder, with
    the best last where their number is even), or random.
    """
    rerank: str | None = None
    """The reranker that orders all retrieved documents of the dataset (open_domain_qa)."""
    cut: CutEntry | None = None
    """Leaves out documents by their scores (open_domain_qa), as in {margin: 3}; `sizes` are then maximum numbers of
    documents. The best document is always shown.
    """
    remedies: RemediesEntry | None = None
    """Orders, rerankers, cuts and prompts to try on these documents at every size: one experiment each, compared on the
    same questions in advice.csv (open_domain_qa).
    """
    design: Literal["move_the_pair", "ask_another_key"] = "move_the_pair"
    """Meaning of a position in kv_retrieval. move_the_pair: the pair asked for moves to it (the paper's design).
    ask_another_key: the question asks for the pair that is at it, so that all positions share the tokens before the
    question. These are different measurements: give each an experiment of its own.
    """
    wording: Literal["plain", "suite"] = "plain"
    """Words of the generated questions of the suite's experiments 2 to 7. plain: this project's. suite: those of the
    suite's description (docs/suite.md).
    """
    # The task has defaults for these keys.
    prompt: str = FILLED_IN
    """Name of a file in resources/prompts; if left out, the task's own. For conversation_memory it is the transcript
    for models without `prompt_template: chat`; models with it get the messages themselves.
    """
    metric: Annotated[str, one_of(lambda: METRICS)] = FILLED_IN
    """How answers are judged (best_subspan_em, value_in_answer, exact_code, only_code, exact_integer in the first line,
    last_integer of all lines); if left out, the task's own metric.
    """
    stop: Literal["first_line", "end_token"] = FILLED_IN
    """Where an answer may end before its limit: first_line (after the first line that is not blank, which is all that
    best_subspan_em reads) or end_token (only at the model's end token); if left out, the task's own.
    """
    max_new_tokens: int = Field(FILLED_IN, ge=1)
    """Limit of tokens in an answer; if left out, the task's own. Below a quarter of that, a dry run and `doctor` note
    that right answers may be cut.
    """
    on_overflow: Literal["leave_out", "fail"] = "leave_out"
    """What to do if a prompt with an answer of `max_new_tokens` exceeds the model's context window: leave_out (its
    question is left out at all positions of the size, and counted) or fail (an error before anything is asked). It
    changes no answer.
    """

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
        """Names of its datasets, question sets and candidates."""
        if isinstance(self.dataset, dict):
            return list(self.dataset.values())
        return [self.dataset] if self.dataset is not None else []

    def with_datasets(self, other: Callable[[str], str]) -> Self:
        """The same entry with `other(name)` instead of each of these names."""
        if isinstance(self.dataset, dict):
            return self.changed(dataset={size: other(name) for size, name in self.dataset.items()})
        return self if self.dataset is None else self.changed(dataset=other(self.dataset))


class Experiment(ExperimentEntry):
    """An experiment with its cells, its dataset by size, and the config's seed.

    labels: the format of its `subset`'s file, None for all questions.
    """

    cells: tuple[Cell, ...]
    datasets: dict[int, str]
    seed: int
    labels: str | None

    def settings(self) -> dict:
        """All settings, with cells and datasets instead of the keys they come from."""
        said = {"positions", "depths", "sizes", "dataset", "query_aware_of", "compared_with", "remedies"}
        usual = {"cluster": None, "order": RANKED, "rerank": None, "cut": None, "wording": PLAIN}
        unset = {key for key, value in usual.items() if getattr(self, key) == value}
        return {"name": self.name, **self.model_dump(exclude=said | unset)}

    def example_settings(self) -> dict:
        """Settings that change the examples, apart from size, placement, dataset and prompt file.

        The seed is left out if nothing is random, so that another seed changes nothing. The defaults of settings that
        were added later are left out too.
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
                self.wording,
            )
        )
        usual = {"design": MOVE_THE_PAIR, "cluster": None, "order": RANKED, "cut": None, "wording": PLAIN}
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
        """What the task asks: the first paragraph of its module's docstring."""
        return single_spaced((load_task(self.task).__doc__ or "").partition("\n\n")[0])

    @property
    def right_if(self) -> str:
        """When an answer is right, from the docstring of the metric's function: `any gold answer is in the text`."""
        described = (METRICS[self.metric].judge.__doc__ or "").partition("\n\n")[0]
        return single_spaced(_CODE_NAME.sub("", described)).removeprefix("Whether ")

    @property
    def asks_several(self) -> bool:
        """Whether a prompt asks for several gold items at once."""
        return any(len(gold_places(cell.placement)) > 1 for cell in self.cells)

    @property
    def has_positions(self) -> bool:
        """Whether some size has gold items at more than one position."""
        by_size: dict[int, set[float]] = {}
        for cell in self.cells:
            by_size.setdefault(cell.size, set()).update(gold_places(cell.placement))
        return any(len(places) > 1 for places in by_size.values())

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
