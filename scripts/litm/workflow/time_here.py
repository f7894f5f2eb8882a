"""Time that sweeps will take on this machine, before their prompts exist: by the sizes of their contexts and items."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from litm.base.records import read_json
from litm.config.experiments import Experiment
from litm.config.models import Model
from litm.config.study import Study
from litm.domain.curve import Cell
from litm.domain.placement import gold_positions
from litm.examples.task import ASK_ANOTHER_KEY
from litm.inference.engines import engine_facts
from litm.inference.speed import choose_rate, measured_runs
from litm.models.number_format import AUTO, format_here
from litm.workflow.cluster_resources import ITEM_TOKENS, QUESTIONS, TASK_TOKENS, rate_here

#: Tokens of a passage by the source of its corpus, and of a word of a text whose passages are cut at a number of words.
PASSAGE_TOKENS = {"mini_gazetteer": 35, "mini_encyclopedia": 110}
WORD_TOKENS = 1.4
#: Tokens of instruction, question and prompt format; the share of an answer's largest length that counts as reading.
AROUND, ANSWER_SHARE = 40, 0.25
#: Seconds: to load a model; a longer run of a user's own documents has a line of its own.
LOADING = 8


def time_lines(study: Study, sweeps: Iterable[tuple[str, str]]) -> list[str]:
    """For each local model of these sweeps, about how long it takes here, in which number format and why, and whether
    its answers so far are in another format.

    sweeps: pairs of model and experiment; answers that a journal has already are not subtracted.
    """
    by_model: dict[str, list[Experiment]] = {}
    for model, experiment in sweeps:
        by_model.setdefault(model, []).append(study.experiment_of(model, experiment))
    return [line for name, run in by_model.items() for line in _lines(study, name, run)]


def _lines(study: Study, name: str, experiments: Iterable[Experiment]) -> Iterator[str]:
    model = study.models[name]
    if not isinstance(model, Model) or not (predicted := rate_here(model)):
        return
    rate = choose_rate(model.tokens_per_second, measured_runs(Path("results"), name), predicted)
    tokens = [computed_tokens(study, model, experiment) for experiment in experiments]
    seconds = sum(tokens) / (rate or predicted).tokens_per_second + LOADING * len(tokens)
    known = "a rule of thumb" if rate is predicted else "as earlier sweeps took"
    here = format_here(model.dtype, model.device)
    yield f"  {name}: about {duration(seconds)} here ({known}), in {here}"
    if others := sorted(_formats_so_far(name) - {here.name}) if model.dtype == AUTO else []:
        yield (
            f"  {name}: its answers so far are in {' and '.join(others)}, so all its prompts are asked again in "
            f"{here.name}; to keep these answers, set the model's 'dtype: {others[0]}'"
        )


def _formats_so_far(model: str) -> set[str]:
    """The number formats of a model's present responses."""
    manifests = map(read_json, sorted(Path("results/responses", model).glob("*.manifest.json")))
    return {fields["model"]["dtype"] for one in manifests if "dtype" in (fields := one["identity_fields"])["model"]}


def duration(seconds: float) -> str:
    """A time in words: minutes, from 90 on hours."""
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'' if minutes == 1 else 's'}" if minutes < 90 else f"{seconds / 3600:.1f} hours"


def computed_tokens(study: Study, model: Model, experiment: Experiment) -> float:
    """About the tokens that a sweep computes, those of answers included, where common prefixes are computed once."""
    questions = min(filter(None, (experiment.examples, study.questions_of(experiment))), default=QUESTIONS)
    shares = engine_facts(model.engine).shares_prefixes
    items = tree_items(experiment) if shares else sum(cell.size for cell in experiment.cells)
    each = AROUND + ANSWER_SHARE * experiment.max_new_tokens
    return questions * (items * _item_tokens(study, experiment) + len(experiment.cells) * each)


def tree_items(experiment: Experiment) -> int:
    """The number of items in the prefix tree of one question's contexts."""
    if experiment.design == ASK_ANOTHER_KEY:
        return max(cell.size for cell in experiment.cells)
    tree: dict = {}
    count = 0
    for cell in experiment.cells:
        node = tree
        for item in _context(cell):
            count += item not in node
            node = node.setdefault(item, {})
    return count


def _context(cell: Cell) -> Iterable[str | int]:
    """The items of a context by their numbers, gold items by name."""
    golds = gold_positions(cell.placement)
    others = iter(range(cell.size))
    return [f"gold {golds.index(place)}" if place in golds else next(others) for place in range(cell.size)]


def _item_tokens(study: Study, experiment: Experiment) -> float:
    if experiment.tokens_of:
        return 1
    named = [_passage_tokens(study, name) for name in experiment.datasets.values()]
    return TASK_TOKENS.get(experiment.task, max(named, default=ITEM_TOKENS))


def _passage_tokens(study: Study, dataset: str) -> float:
    candidates, questions = study.candidates.get(dataset), study.questions.get(dataset)
    corpus = study.corpora.get(candidates.corpus if candidates else questions.corpus or "" if questions else "")
    if corpus is None:
        return ITEM_TOKENS
    if corpus.source in PASSAGE_TOKENS:
        return PASSAGE_TOKENS[corpus.source]
    return WORD_TOKENS * corpus.settings.passage_words if corpus.settings.passage_words else ITEM_TOKENS
