"""The experiments of the configuration: a task, the cells it is run in, its questions, and how answers are scored."""

import re
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from litm.base.formatting import single_spaced
from litm.base.schema import FILLED_IN, AsGiven, Entry, one_of
from litm.config.remedies import CutEntry, OrderName, RemediesEntry
from litm.domain.condition import RANKED
from litm.domain.curve import Cell, Curve
from litm.domain.placement import gold_places
from litm.examples.task import MOVE_THE_PAIR, ExampleSettings
from litm.examples.tasks import load_task, task_names
from litm.scoring.metrics import METRICS

#: In a docstring, another function that it refers to.
_CODE_NAME = re.compile(r", (?:see|as) `\w+`(?: finds it)?,?")

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
    def asks(self) -> str:
        """What the task asks, in a sentence: how the description of its module begins."""
        return single_spaced((load_task(self.task).__doc__ or "").partition("\n\n")[0])

    @property
    def right_if(self) -> str:
        """When an answer is right, as the metric's function describes itself: `any gold answer is in the text`."""
        described = (METRICS[self.metric].judge.__doc__ or "").partition("\n\n")[0]
        return single_spaced(_CODE_NAME.sub("", described)).removeprefix("Whether ")

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
