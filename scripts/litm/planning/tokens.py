"""The work of sweeps before their prompts are made: a bound for jobs' requests, and the mean for what is said."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from statistics import linear_regression

from litm.base.messages import first_of
from litm.config.experiments import Experiment
from litm.config.study import Study
from litm.config.sweeps import Sweep
from litm.engines.registry import engine_facts
from litm.engines.served_models import ServedModel
from litm.examples.task import ASK_ANOTHER_KEY
from litm.examples.tasks import load_task
from litm.placements import gold_positions
from litm.planning.session_tokens import session_tokens
from litm.records.bills import Prices
from litm.records.cells import Cell
from litm.servers.caching import plan

#: Questions of an experiment whose number is not known before a run: as in the paper. Experiments that a line names.
QUESTIONS, NAMED = 2_655, 6
#: Tokens around the items, rather too many.
FRAME_TOKENS = 150

#: Items whose tokens the paper counts (Tables 2 to 4). Prompts of the same contexts in another order, or with the
#: question at both ends, are counted as these.
PRINTED_ITEMS = ("key-value pair", "document")
#: The model whose counts are taken for models that the paper does not count: LLaMA's tokenizer makes the most tokens.
USUAL_MODEL = "longchat-13b-16k"
#: The model with the fewest tokens: what exceeds a window in these exceeds it in any.
FEWEST_MODEL = "gpt-3.5-turbo-0613"
#: Tokens of a passage by the source of its corpus, and of a word of a text whose passages are cut at a number of words.
PASSAGE_TOKENS = {"mini_gazetteer": 35, "mini_encyclopedia": 110}
WORD_TOKENS = 1.4
#: Tokens of instruction, question and prompt format; the share of an answer's largest length that counts as reading.
AROUND, ANSWER_SHARE = 40, 0.25


#: What figures of work are: at most, before there are prompts; means of such prompts; of the prompts themselves.
BOUND, MEAN, COUNTED = "bound", "mean", "counted"


@dataclass(frozen=True)
class Work:
    """What a sweep, or the part of it that is left, gives a model to do."""

    prompts: int
    prompt_tokens: float
    answer_tokens: float = 0
    """Those of answers as long as is allowed."""
    computed_tokens: float = 0
    """Of the prompts' tokens, with common beginnings once where the engine shares them."""
    longest: int = 0
    """The tokens of the longest prompt with its answer."""
    basis: str = BOUND

    @property
    def tokens(self) -> float:
        """All tokens, if nothing is shared and answers are as long as is allowed."""
        return self.prompt_tokens + self.answer_tokens

    @property
    def timed_tokens(self) -> float:
        """The tokens that take time: those computed, and answers of a usual length."""
        return self.computed_tokens + ANSWER_SHARE * self.answer_tokens


def most_work(sweep: Sweep) -> Work:
    """The upper bound of a sweep's work."""
    experiment = sweep.experiment
    each = experiment.most_questions or QUESTIONS
    item = 1 if experiment.tokens_of else load_task(experiment.task).tokens_per_item
    tokens = [cell.size * item + FRAME_TOKENS for cell in sweep.cells]
    of_prompts, prompts = each * sum(tokens), each * len(tokens)
    longest = max(tokens, default=-sweep.answer_tokens) + sweep.answer_tokens
    return Work(prompts, of_prompts, prompts * sweep.answer_tokens, of_prompts, longest)


def assumed(study: Study, experiments: Iterable[str]) -> list[str]:
    """A line on those of these experiments whose number of questions is assumed, if any."""
    chosen = {name: study.experiment(name) for name in experiments}
    names = [
        name
        for name, experiment in chosen.items()
        if not experiment.most_questions and not _is_released(study, experiment)
    ]
    reason = f"the number of questions is not known yet; {QUESTIONS:,} are assumed"
    return [f"{first_of(names, NAMED)}: {reason}"] if names else []


def _is_released(study: Study, experiment: Experiment) -> bool:
    """Whether all its questions are made up, or of the authors' files."""
    named = experiment.datasets.values()
    asked = [study.candidates[name].questions if name in study.candidates else name for name in named]
    return all(getattr(study.datasets.get(name), "version", None) for name in asked)


# The mean


@dataclass(frozen=True)
class Lengths:
    """Mean tokens of prompts by their number of items."""

    item: float
    """Tokens of an item."""
    around: float = AROUND
    """Tokens of a prompt without items."""
    printed: Mapping[int, float] = field(default_factory=dict)
    """Mean tokens as printed in the paper, by number of items; they count where they are known."""
    counted: Mapping[int, float] = field(default_factory=dict)
    """Mean tokens of the items of a context as they were counted, by their number."""

    def mean_tokens(self, size: int) -> float:
        """The mean tokens of a prompt of `size` items."""
        return self.printed.get(size, self.around + self.counted.get(size, size * self.item))


def lengths_of(study: Study, model: str, experiment: Experiment) -> Lengths:
    """The lengths of a model's prompts: sizes in tokens as they are, other made-up items and own documents by rules of
    thumb, the paper's pairs and passages as it prints them, and on a straight line through these at other sizes.
    """
    if experiment.tokens_of:
        return Lengths(1)
    task = load_task(experiment.task)
    if task.item not in PRINTED_ITEMS:
        return Lengths(task.tokens_per_item, counted=session_tokens(study, model, experiment))
    named = [_passage_tokens(study, name) for name in experiment.datasets.values()]
    lengths = [tokens for tokens in named if tokens is not None]
    if lengths and len(lengths) == len(named):
        return Lengths(max(lengths))
    is_counted = any(row.model == model for row in study.printed_tokens)
    printed = {
        row.size: row.tokens_mean
        for row in study.printed_tokens
        if row.model == (model if is_counted else USUAL_MODEL) and load_task(row.experiment).item == task.item
    }
    item, around = linear_regression([*printed], [*printed.values()])
    return Lengths(item, around, printed)


def fitting(study: Study, sweep: Sweep) -> Sweep:
    """The sweep at the sizes that fit the window of the model's entry by the mean lengths that the paper prints: those
    of the model, else the shortest. Contexts that are not the paper's are all taken to fit.
    """
    entry, experiment, counted = sweep.model, sweep.experiment, {row.model for row in study.printed_tokens}
    window = getattr(entry, "context_window", None)
    lengths = lengths_of(study, entry.name if entry.name in counted else FEWEST_MODEL, experiment)
    if not window or not lengths.printed or not _is_released(study, experiment):
        return sweep
    is_shared = getattr(entry.about, "architecture", None) != "encoder_decoder"
    room = window - sweep.answer_tokens * is_shared
    sizes = {size for size in experiment.cell_sizes if lengths.mean_tokens(size) <= room}
    return replace(sweep, experiment=experiment.of_sizes(sizes))


def too_long(study: Study, sweeps: Iterable[Sweep]) -> list[str]:
    """A line for each model on the sizes of these sweeps that do not fit."""
    unfit: dict[str, dict[str, None]] = {}
    for sweep in sweeps:
        experiment = sweep.experiment
        if sizes := sorted(experiment.cell_sizes - fitting(study, sweep).experiment.cell_sizes):
            named = f"{experiment.name} ({', '.join(map(str, sizes))} {experiment.unit})"
            unfit.setdefault(sweep.model.name, {})[named] = None
    reason = "not counted, on average longer than its context_window"
    return [f"{model}: {reason}: {first_of([*names], NAMED)}" for model, names in unfit.items()]


def _passage_tokens(study: Study, dataset: str) -> float | None:
    """About the tokens of a passage of a dataset; None for passages as in the paper."""
    candidates, questions = study.candidates.get(dataset), study.questions.get(dataset)
    corpus = study.corpora.get(candidates.corpus if candidates else questions.corpus or "" if questions else "")
    if corpus is None:
        return None
    if corpus.source in PASSAGE_TOKENS:
        return PASSAGE_TOKENS[corpus.source]
    return WORD_TOKENS * corpus.settings.passage_words if corpus.settings.passage_words else None


def prompts_by_size(experiment: Experiment) -> Counter[int]:
    """The number of a sweep's prompts with each number of items."""
    cells = Counter(cell.size for cell in experiment.cells)
    return Counter({size: count * (experiment.most_questions or QUESTIONS) for size, count in cells.items()})


def prompt_tokens(study: Study, sweep: Sweep, prompts: Mapping[int, float] | None = None) -> float:
    """About the tokens of a sweep's prompts, or of these numbers of them by size."""
    lengths = lengths_of(study, sweep.model.name, sweep.experiment)
    counts = prompts_by_size(sweep.experiment) if prompts is None else prompts
    return sum(count * lengths.mean_tokens(size) for size, count in counts.items())


def mean_work(study: Study, sweep: Sweep, prompts: Mapping[int, int] | None = None) -> Work:
    """About the work of a sweep, or of these numbers of its prompts by size."""
    experiment, whole = sweep.experiment, prompts_by_size(sweep.experiment)
    lengths, to_ask = lengths_of(study, sweep.model.name, experiment), whole if prompts is None else prompts
    tokens, number = prompt_tokens(study, sweep, to_ask), sum(to_ask.values())
    shared = 0.0
    if whole and engine_facts(sweep.model.engine).shares_prefixes:
        items = sum(cell.size for cell in sweep.cells) - tree_items(experiment)
        questions = (experiment.most_questions or QUESTIONS) * tokens / prompt_tokens(study, sweep)
        shared = questions * items * lengths.item
    longest = round(max(map(lengths.mean_tokens, to_ask), default=-sweep.answer_tokens)) + sweep.answer_tokens
    return Work(number, tokens, number * sweep.answer_tokens, tokens - shared, longest, MEAN)


def cached_shares(study: Study, model: ServedModel, experiment: Experiment) -> dict[str, float]:
    """About the shares of a sweep's prompt tokens that its provider's cache takes, see `Plan.shares`; {} for none.

    By the contexts of one question as texts in which a character is a token, and an item a line.
    """
    provider = engine_facts(model.engine).provider
    prices = Prices.from_entry(model.all_prices or {"input": 0, "output": 0})
    if not (model.prompt_caching and provider and provider.cache) or prices.cache_read >= prices.input:
        return {}
    tokens, is_same = round(lengths_of(study, model.name, experiment).item), experiment.design == ASK_ANOTHER_KEY
    texts = []
    for cell in experiment.cells:
        names = map(str, range(cell.size)) if is_same else _context(cell)
        lines = (name.ljust(tokens - 1, "-") for name in names)
        texts.append("\n".join(["", *lines, cell.placement.rjust(AROUND)]))
    return plan(texts, [*map(len, texts)], provider.cache, model.api_model, prices).shares


def tree_items(experiment: Experiment) -> int:
    """The number of items in the prefix tree of one question's contexts."""
    if experiment.design == ASK_ANOTHER_KEY:
        return max((cell.size for cell in experiment.cells), default=0)
    # In sorted order no earlier context shares more.
    contexts = sorted(map(_context, experiment.cells))
    shared = (takewhile(lambda items: items[0] == items[1], zip(*pair, strict=False)) for pair in pairwise(contexts))
    return sum(map(len, contexts)) - sum(len([*items]) for items in shared)


def _context(cell: Cell) -> list[str]:
    """The items of a context by their numbers, gold items by name."""
    golds = gold_positions(cell.placement)
    others = map(str, range(cell.size))
    return [f"gold {golds.index(place)}" if place in golds else next(others) for place in range(cell.size)]
