"""Sweeps: the selected models and experiments, which model runs which experiment, and which results are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

from litm.base.messages import UserError
from litm.config.conditions import find_comparisons
from litm.config.experiments import Experiment
from litm.config.recorded_models import RecordedModel
from litm.config.writing import Writing
from litm.engines.local_models import LocalModel
from litm.engines.served_models import ServedModel
from litm.records.cells import Cell, Curve
from litm.records.conditions import Condition
from litm.records.measures import ANSWER, LOG_PROBABILITY, MEASURE, VERDICT, VERDICT_DECODING, WRITING
from litm.records.tokens import answer_limit


class SweepFiles(NamedTuple):
    """The files of a sweep: as patterns with {model} and {experiment}, or those of one."""

    responses: str
    """The recorded responses, JSON Lines."""
    manifest: str
    """The identity of the responses, and the work of the last run."""
    part_responses: str
    """The responses of a shard, {part}."""
    part_manifest: str
    """The manifest of a shard, {part}."""
    scores: str
    """The score of each response, or its log-probabilities; Parquet."""
    estimate: str
    """What the sweep takes before it runs."""

    def for_sweep(self, model: str, experiment: str) -> "SweepFiles":
        """The files of the sweep of these names."""
        return SweepFiles(*(pattern.format(model=model, experiment=experiment, part="{part}") for pattern in self))


def ending_of(measure: str) -> str:
    """What files have after the experiment's name, in folders that all measures share; "" for answers."""
    return "" if measure == ANSWER else f".{measure}"


def _patterns(measure: str, responses: str, scores: str) -> SweepFiles:
    name = "{model}/{experiment}"
    here = f"{name}{ending_of(measure)}"
    return SweepFiles(
        responses=f"results/{responses}/{name}.jsonl.gz",
        manifest=f"results/{responses}/{name}.manifest.json",
        part_responses=f"results/parts/{here}/{{part}}.jsonl.gz",
        part_manifest=f"results/parts/{here}/{{part}}.manifest.json",
        scores=f"results/{scores}/{name}.parquet",
        estimate=f"results/estimates/{here}.json",
    )


#: A model that answers prompts, and any model. Exactly one of a model's `is_local`, `is_served` and `is_recorded` is
#: true, which tells type checkers its class.
AskableModel = LocalModel | ServedModel
Model = AskableModel | RecordedModel
#: The files of sweeps, by what they measure.
FILES = {
    ANSWER: _patterns(ANSWER, "responses", "scores"),
    LOG_PROBABILITY: _patterns(LOG_PROBABILITY, "log_probabilities", "log_probabilities"),
    VERDICT: _patterns(VERDICT, "verdicts", "verdicts"),
    WRITING: _patterns(WRITING, "writing", "writing"),
}


@dataclass(frozen=True)
class Judging:
    """The answers of a model to an experiment, which a judge is asked about."""

    model: str
    """The name of the judged model."""
    experiment: Experiment
    """At the sizes that the model runs."""
    measure: ClassVar[str] = VERDICT

    @property
    def asker(self) -> str:
        """The name of the judge."""
        return self.experiment.judge.model if self.experiment.judge else ""

    @property
    def name(self) -> str:
        """The name of the experiment that the judge is asked."""
        return f"{self.experiment.name}-judged-{self.model}"

    @property
    def prompts(self) -> str:
        """The file of the judge's prompts."""
        return f"results/judging/{self.model}/{self.experiment.name}.jsonl.gz"

    @property
    def responses(self) -> str:
        """The file of the answers to judge."""
        return FILES[ANSWER].for_sweep(self.model, self.experiment.name).responses

    @property
    def asked(self) -> Experiment:
        """The experiment that the judge is asked: a prompt for each answer, of the length of one item, and those of the
        answers that are judged twice.
        """
        answers = self.experiment.most_questions * len(self.experiment.cells)
        swapped = min(answers, self.experiment.judge.swap if self.experiment.judge else 0)
        apart: dict[str, Any] = {"judge": None, "datasets": {}, "tokens_of": None, "closed_book": None, "oracle": None}
        entry = self.experiment.changed(
            **apart,
            **VERDICT_DECODING,
            examples=None,
            known_questions=answers + swapped,
            cells=(Cell(1, "answers"),),
            title=f"{self.experiment.title}: answers of {self.model}, judged",
        )
        return entry.placed(f"experiments.{self.name}")


@dataclass(frozen=True)
class Sweep:
    """A model on all cells of an experiment that it runs, and what is measured there: answers, log-probabilities, or
    verdicts on the answers of another model.
    """

    model: Model
    """The model's entry."""
    experiment: Experiment
    """The experiment at the sizes that the model runs."""
    measure: str = ANSWER
    """A key of `FILES`."""

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the model and the experiment."""
        return self.model.name, self.experiment.name

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of the experiment at the sizes that the model runs."""
        return self.experiment.cells

    @property
    def files(self) -> SweepFiles:
        """Its files."""
        return FILES[self.measure].for_sweep(*self.pair)

    @property
    def is_asked(self) -> bool:
        """Whether a model answers; recorded responses are read."""
        return not self.model.is_recorded

    @property
    def decoding(self) -> dict[str, Any]:
        """How answers are decoded, or what is measured instead."""
        return {MEASURE: self.measure} if self.measure == LOG_PROBABILITY else self.experiment.decoding()

    @property
    def answer_tokens(self) -> int:
        """The most new tokens that follow a prompt, reasoning with a limit of its own included; 0 if none do."""
        if self.measure == LOG_PROBABILITY:
            return 0
        limit, _ = answer_limit(getattr(self.model, "request", None), self.experiment.max_new_tokens)
        return limit + self.model.reasoning.tokens


@dataclass(frozen=True)
class Selection:
    """What is run."""

    sizes: Mapping[tuple[str, str], tuple[int, ...] | None]
    """Sizes of each pair of a model and an experiment, in the config's order, None for all."""
    left_out: tuple[str, ...]
    """One line per reason why selected models or experiments are missing."""

    @property
    def models(self) -> list[str]:
        """Models that run an experiment."""
        return list(dict.fromkeys(model for model, _ in self.sizes))

    @property
    def experiments(self) -> list[str]:
        """Experiments that a model runs."""
        return list(dict.fromkeys(experiment for _, experiment in self.sizes))

    def as_run_by(self, model: str, experiment: Experiment) -> Experiment:
        """An experiment at the sizes that a model runs."""
        return experiment.of_sizes(self.sizes.get((model, experiment.name)))

    def sizes_run(self, experiment: str) -> set[int] | None:
        """Sizes of an experiment that any model runs, None for all."""
        of_models = [sizes for (_, name), sizes in self.sizes.items() if name == experiment]
        return None if None in of_models else {size for sizes in of_models for size in sizes or ()}


@dataclass(frozen=True)
class Sweeps:
    """The selected models and experiments."""

    selection: Selection
    """The experiments that each model runs."""
    models: Mapping[str, Model]
    """Models by name."""
    experiments: Mapping[str, Experiment]
    """Experiments by name, at all sizes that any model runs."""
    conditions: Mapping[str, Condition]
    """Conditions of the experiments with remedies, by experiment."""
    judges: Mapping[str, AskableModel]
    """The models that judge answers, selected or not."""
    writers: Mapping[str, AskableModel]
    """The models that write or check questions, selected or not."""
    writings: Mapping[str, Writing]
    """What these are asked, by the name of the experiment."""
    beside: Mapping[str, RecordedModel]
    """Models that are drawn beside the selected ones, which are in no conclusion."""

    @property
    def asked_models(self) -> dict[str, Model]:
        """The selected models, the judges, and those that write questions."""
        return {**self.writers, **self.judges, **self.models}

    @property
    def asked_apart(self) -> dict[str, Writing | Judging]:
        """What models are asked apart from the selected experiments, by the name that it has as an experiment."""
        return {**self.writings, **self.judgings}

    @cached_property
    def judgings(self) -> dict[str, Judging]:
        """The answers that judges are asked about, by the name of what these are asked."""
        pairs = [pair for pair in self._pairs(ANSWER) if pair not in {*self.not_recorded}]
        judgings = [Judging(model, self.experiment_of(model, name)) for model, name in pairs]
        return {judging.name: judging for judging in judgings if judging.experiment.judge}

    @property
    def judge_pairs(self) -> list[tuple[str, str]]:
        """The experiments with the same answers and different judges."""
        apart = {"judge": None, "title": "", "closed_book": None, "oracle": None, "condition": None}
        judged = {name: entry.changed(**apart).model_dump() for name, entry in self.experiments.items() if entry.judge}
        return [(a, b) for a, b in combinations(judged, 2) if judged[a] == judged[b]]

    def experiment(self, name: str) -> Experiment:
        """The selected experiment of this name, or what is asked beside these."""
        return self.experiments[name] if name in self.experiments else self.asked_apart[name].asked

    @cached_property
    def sweeps(self) -> tuple[Sweep, ...]:
        """All sweeps, those of answers first, model by model."""
        missing = {*self.not_recorded}
        unmeasured = self.not_measured
        pairs = [
            *((*pair, ANSWER) for pair in self._pairs(ANSWER) if pair not in missing),
            *((*pair, LOG_PROBABILITY) for pair in self._pairs(LOG_PROBABILITY) if pair[0] not in unmeasured),
        ]
        askable = {**self.writers, **self.judges}
        others = [Sweep(askable[asking.asker], asking.asked, asking.measure) for asking in self.asked_apart.values()]
        selected = (
            Sweep(self.models[model], self.experiment_of(model, experiment), measure)
            for model, experiment, measure in pairs
        )
        return (*selected, *others)

    @cached_property
    def beside_sweeps(self) -> tuple[Sweep, ...]:
        """The sweeps of the models in `beside`, model by model."""
        return tuple(Sweep(model, self.experiments[name]) for model in self.beside.values() for name in model.files)

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str], Sweep]:
        return {(*sweep.pair, sweep.measure): sweep for sweep in (*self.sweeps, *self.beside_sweeps)}

    def sweep(self, model: str, experiment: str, measure: str = ANSWER) -> Sweep:
        """The sweep of these names; `UserError` if this selection has none."""
        if sweep := self._by_name.get((model, experiment, measure)):
            return sweep
        raise UserError(f"{model} does not run {experiment} for its {measure} in this selection of models, see 'only'")

    def sweeps_of(self, measure: str) -> list[Sweep]:
        """The sweeps of one measure."""
        return [sweep for sweep in self.sweeps if sweep.measure == measure]

    def pairs(self, measure: str = ANSWER) -> list[tuple[str, str]]:
        """The names of the models and experiments of the sweeps of one measure."""
        return [sweep.pair for sweep in self.sweeps_of(measure)]

    @cached_property
    def answered(self) -> dict[str, Experiment]:
        """The experiments that have answers."""
        names = {name for _, name in self.pairs()}
        return {name: experiment for name, experiment in self.experiments.items() if name in names}

    def models_of(self, experiment: str) -> list[str]:
        """The models that have answers to an experiment."""
        return [model for model, name in self.pairs() if name == experiment]

    @property
    def tuned(self) -> list[tuple[str, str]]:
        """The models that are tuned from another one of these, each with that one."""
        bases = {name: model.about.tuned_from for name, model in self.models.items() if model.about}
        return [(name, base) for name, base in bases.items() if base in self.models and base]

    @cached_property
    def compared(self) -> list[tuple[tuple[str, str], tuple[str, str]]]:
        """The pairs of sweeps (model, experiment) that condition_differences.csv compares; one with itself for its
        sizes. Tuned models are compared with their bases in the experiments that both run, where these ask for one gold
        item at a time and share a cell.
        """
        pairs, answers = [], {sweep.pair: sweep for sweep in self.sweeps_of(ANSWER)}
        for model in self.models:
            run = {sweep.experiment.name: sweep.experiment for sweep in answers.values() if sweep.model.name == model}
            pairs += [((model, pair.experiment_a), (model, pair.experiment_b)) for pair in find_comparisons(run)]
        for model, base in self.tuned:
            for name in [name for who, name in answers if who == model]:
                sweep, other = answers[model, name], answers.get((base, name))
                if other and not sweep.experiment.asks_several and {*sweep.cells} & {*other.cells}:
                    pairs.append(((model, name), (base, name)))
        return pairs

    @property
    def not_measured(self) -> dict[str, str]:
        """Why the log-probabilities of selected experiments are not measured with a model, by model."""
        reasons = {model: self.models[model].not_measured for model, _ in self._pairs(LOG_PROBABILITY)}
        return {model: why for model, why in reasons.items() if why}

    @property
    def stand_ins(self) -> list[str]:
        """Models that are none, to try a config with: nothing is concluded from their answers if there are others."""
        names = [name for name, model in self.models.items() if model.is_local and not model.has_weights]
        return names if len(names) < len(self.models) else []

    def experiment_of(self, model: str, experiment: str) -> Experiment:
        """An experiment at the sizes that a model runs."""
        return self.selection.as_run_by(model, self.experiments[experiment])

    def curves_of(self, model: str, experiment: str) -> list[Curve]:
        """The curves of an experiment that a model runs, with the same names for all models."""
        sizes = self.experiment_of(model, experiment).cell_sizes
        return [curve for curve in self.experiments[experiment].curves if curve.size in sizes]

    @property
    def not_recorded(self) -> list[tuple[str, str]]:
        """Selected pairs without recorded responses."""
        recorded = {name: model.files for name, model in self.models.items() if model.is_recorded}
        return [pair for pair in self._pairs(ANSWER) if pair[0] in recorded and pair[1] not in recorded[pair[0]]]

    def _pairs(self, measure: str) -> list[tuple[str, str]]:
        return [pair for pair in self.selection.sizes if measure in self.experiments[pair[1]].measure]
