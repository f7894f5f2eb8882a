"""What would run, or runs: the summary of a dry run, and the lines before the first job of another.

They have the models and experiments to ask, an upper limit of prompts, and the rules that run with their reasons.
Answers count only for prompts that are known: those of examples that exist and stay.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from litm.base.groups import grouped
from litm.base.messages import UserError, check_installed, first_of
from litm.config.study import Study
from litm.config.sweeps import Sweep
from litm.engines.registry import engine_facts
from litm.inference.asked_sweep import SweepOptions
from litm.inference.sweep import present_answers
from litm.planning.tokens import assumed, fitting, mean_work, prompts_by_size, too_long
from litm.planning.words import SHOWN, Planned
from litm.records.examples import read_examples
from litm.records.measures import ANSWER, LOG_PROBABILITY, VERDICT, WRITING
from litm.workflow.rules_help import CODE, CONTENTS
from litm.workflow.sweep_inputs import SweepInputs

#: Rules that ask a model or read recorded responses, and rules that only collect targets.
ASKING, MEASURING = ("generate", "import_responses", "judge", "write"), "measure"
TARGETS = ("all", "study", "tables", "figures", "report", "published", "suite_export", "suite_zip", "export_tasks")
#: What Snakemake knows of a job's reason, and our words. The first one that is true is the cause; the last entry only
#: follows from other causes.
REASONS = {
    "forced": "forced",
    "noio": "whenever asked for",
    "nooutput": "whenever asked for",
    "missing_output": "no output yet",
    "incomplete_output": "incomplete output",
    "code_changed": "changed program",
    "params_changed": "changed setting",
    "software_stack_changed": "changed environment",
    "input_changed": "other input files",
}
CHANGED_FILES, MADE_AGAIN = "changed input files", "inputs are made again"
#: Params that are no settings, by the first word of their values.
NO_SETTINGS = {CODE: "changed program", CONTENTS: CHANGED_FILES}
#: What a run makes of answers, by the rule.
MAKES = {"plot_figure": "figures as soon as their answers are there", "make_report": "results/report.html"}
#: Rules whose outputs decide the prompts and the identity of a sweep, by the wildcard that they share with it.
DECIDING = {"make_examples": "experiment", "identify_model": "model"}
#: Bytes of examples and kept answers from which on they are not compared here: it would take longer than ten seconds.
MOST_COMPARED = 100_000_000
#: Why answers may apply but are not counted.
MADE_FIRST = "examples are made first"
IDENTIFIED_FIRST = "the model is identified first"
TOO_LARGE = "examples and answers are too large to compare here"
#: Fraction: a difference between positions that enough questions show.
LARGE = 0.1
#: The summary of a dry run whose only jobs are targets, and its other last lines.
NOTHING_RUNS = "Nothing would run: all results of this selection are there."
USED_AGAIN = (
    "  Kept answers are reused for the same prompt, weights and settings. "
    "The target `{}` counts the new prompts and their tokens, hours and cost; `{}` checks that everything is here."
)


def cause_of(reason: Any) -> str:
    """Why a job runs, in our words. reason: Snakemake's `Reason`."""
    # Changed params are given as the texts of those that are new.
    changed = reason.params_changed and {
        value.strip("'\"").partition(" ")[0] for value in reason.params_changed.only_new
    }
    for name, words in REASONS.items():
        if getattr(reason, name):
            is_setting = name != "params_changed" or not changed or changed - NO_SETTINGS.keys()
            return words if is_setting else NO_SETTINGS[min(changed)]
    return CHANGED_FILES if reason.updated_input - reason.updated_input_run else MADE_AGAIN


class Jobs:
    """The jobs that run or would run, in a few lines.

    times: makes lines on time and money from sweeps with the work that is left;
    renamed: gives how an importing workflow names a rule, with `*` for the name that it has here.
    """

    def __init__(
        self,
        study: Study,
        sweeps: SweepInputs,
        times: Callable[[Planned], list[str]],
        renamed: Callable[[], str] = lambda: "*",
    ) -> None:
        self._study = study
        self._sweeps = sweeps
        self._times = times
        self._renamed = renamed
        self._asked: set[tuple[str, str]] = set()
        self._measured: set[tuple[str, str]] = set()
        #: Number of the other jobs by cause and rule.
        self._others: Counter[tuple[str, str]] = Counter()
        self._deciding: set[tuple[str, str]] = set()

    def add(self, rule: str, wildcards: Mapping[str, str], cause: str = "") -> None:
        """Count a job. cause: why it runs."""
        before, _, after = self._renamed().partition("*")
        rule = rule.removeprefix(before).removesuffix(after)
        if rule in ASKING:
            self._asked.add((wildcards["model"], wildcards["experiment"]))
        elif rule == MEASURING:
            self._measured.add((wildcards["model"], wildcards["experiment"]))
        elif rule not in TARGETS:
            self._others[cause, rule] += 1
        if rule in DECIDING:
            self._deciding.add((rule, wildcards.get(DECIDING[rule], "")))

    def at_start(self) -> list[str]:
        """The lines before the first job of a run; none if it asks nothing."""
        steps = [words for rule, words in MAKES.items() if any(rule == other for _, other in self._others)]
        makes = [f"  makes {', then '.join(steps)}"] if steps else []
        return ["This run:", *self.asked(), *makes] if self._asked | self._measured else []

    def check_packages(self) -> None:
        """Raise `UserError` for the first missing package of the models with prompts that have no answer."""
        for measure, pairs in ((ANSWER, self._asked), (VERDICT, self._asked), (LOG_PROBABILITY, self._measured)):
            for sweep in self._study.sweeps_of(measure):
                if sweep.pair in pairs and sweep.is_asked and (measure == LOG_PROBABILITY or self.size(sweep)[0]):
                    check_installed(sweep.model.name, engine_facts(sweep.model.engine).packages)

    def summary(self) -> list[str]:
        """The lines at the end of a dry run."""
        if not self._asked and not self._measured and not self._others:
            return [NOTHING_RUNS]
        lines = ["What would run:", *self.asked()]
        pairs = self._study.pairs()
        if not self._asked | self._measured:
            lines.append("  asks no model")
        elif self._asked and (n_complete := len({*pairs} - self._asked)):
            lines.append(f"  asks nothing in {n_complete} of {len(pairs)} pairs of a model and an experiment")
        for cause in dict.fromkeys(cause for cause, _ in self._others):
            rules = Counter({rule: count for (why, rule), count in self._others.items() if why == cause})
            # Jobs come in any order, and rules of as many jobs must not.
            counts = sorted(rules.items(), key=lambda entry: (-entry[1], entry[0]))
            lines.append(f"  runs {first_of([f'{count} {rule}' for rule, count in counts], SHOWN)} ({cause})")
        used_again = USED_AGAIN.format(*(self._renamed().replace("*", target) for target in ("estimate", "doctor")))
        return [*lines, *([used_again] if self._asked else [])]

    def asked(self) -> list[str]:
        """A line for each model, one for each reason why answers are not counted, and those on the time it takes and on
        what few questions show.
        """
        sweeps = {
            sweep.pair: sweep
            for measure in (WRITING, ANSWER, VERDICT)
            for sweep in self._study.sweeps_of(measure)
            if sweep.pair in self._asked
        }
        asked = [(*pair, *self.size(sweep)) for pair, sweep in sweeps.items()]
        by_model = [(model, list(model_sweeps)) for model, model_sweeps in groupby(asked, key=lambda sweep: sweep[0])]
        # Models that take time or money come first.
        by_model.sort(key=lambda entry: entry[0] not in self._sweeps.asked)
        lines = [
            f"  {self._asks(model)} at most {_total(model_sweeps):,} prompts"
            + (" in batches: " if getattr(self._sweeps.asked.get(model), "batch", False) else ": ")
            + first_of([_in_words(*sweep[1:4]) for sweep in model_sweeps], SHOWN)
            for model, model_sweeps in by_model[:SHOWN]
        ]
        whole = sum(_total(model_sweeps) for model, model_sweeps in by_model if model in self._sweeps.asked)
        for is_asked, rest in grouped(by_model[SHOWN:], lambda entry: entry[0] in self._sweeps.asked).items():
            what = f"asks {len(rest)} more models" if is_asked else f"reads the recorded answers of {len(rest)} more to"
            words = f"  {what} at most {sum(_total(model_sweeps) for _, model_sweeps in rest):,} prompts"
            lines.append(f"{words}; all models {whole:,}" if is_asked else words)
        for why in dict.fromkeys(unknown for *_, unknown in asked if unknown):
            names = list(dict.fromkeys(experiment for _, experiment, *_, unknown in asked if unknown == why))
            lines.append(f"  the number of kept answers for {first_of(names, SHOWN)} is unknown: {why}")
        to_ask = [(sweeps[model, experiment], prompts) for model, experiment, prompts, *_ in asked]
        measured = [
            (sweep, self._most(sweep))
            for sweep in self._study.sweeps_of(LOG_PROBABILITY)
            if sweep.pair in self._measured
        ]
        for model, pairs in grouped(measured, lambda entry: entry[0].model.name).items():
            counts = first_of([f"{sweep.experiment.name} {prompts.total():,}" for sweep, prompts in pairs], SHOWN)
            number = sum(prompts.total() for _, prompts in pairs)
            lines.append(f"  measures {model} on at most {number:,} prompts, no answers: {counts}")
        to_ask += measured
        notes = [*too_long(self._study, [sweep for sweep, _ in to_ask]), *assumed(self._study, self._uncounted(to_ask))]
        lines += [f"  {line}" for line in notes]
        # A sweep whose prompts all have answers loads no model.
        to_load = [(fitting(self._study, sweep), prompts) for sweep, prompts in to_ask if sweep.is_asked and prompts]
        times = self._times([(sweep, mean_work(self._study, sweep, prompts)) for sweep, prompts in to_load])
        return [*lines, *times, *few_questions(self._study, [(model, experiment) for model, experiment, *_ in asked])]

    def _uncounted(self, to_ask: Iterable[tuple[Sweep, Counter[int]]]) -> dict[str, None]:
        """The experiments whose prompts are an upper limit: those of others have been counted."""
        return dict.fromkeys(sweep.experiment.name for sweep, prompts in to_ask if prompts >= self._most(sweep))

    def _most(self, sweep: Sweep) -> Counter[int]:
        return prompts_by_size(fitting(self._study, sweep).experiment)

    def _asks(self, model: str) -> str:
        return f"asks {model}" if model in self._sweeps.asked else f"reads the recorded answers of {model} to"

    def size(self, sweep: Sweep) -> tuple[Counter[int], int, str]:
        """By size, a sweep's prompts without an answer (an upper limit, or the distinct ones of its examples), the
        number that has one, and why that is not known although there are answers.
        """
        model, experiment = sweep.pair
        most = self._most(sweep)
        if model not in self._sweeps.asked or not self._sweeps.answer_files:
            return most, 0, ""
        examples = [Path(file) for file in self._sweeps.examples(SimpleNamespace(model=model, experiment=experiment))]
        source = Path(f"results/models/{model}.json")
        # Those of other models rarely are its answers: only its own are worth a line.
        was_asked = self._sweeps.was_asked(model)
        if ("make_examples", experiment) in self._deciding or not all(file.exists() for file in examples):
            return most, 0, MADE_FIRST if was_asked else ""
        if ("identify_model", model) in self._deciding or not source.exists():
            return most, 0, IDENTIFIED_FIRST if was_asked else ""
        if sum(file.stat().st_size for file in (*examples, *self._sweeps.answer_files)) > MOST_COMPARED:
            return most, 0, TOO_LARGE
        try:
            return *self._present(sweep, source, examples), ""
        except UserError as error:
            return most, 0, str(error)

    def _present(self, sweep: Sweep, source: Path, examples: list[Path]) -> tuple[Counter[int], int]:
        entry, prompting = self._sweeps.asked[sweep.model.name], self._sweeps.prompting[sweep.model.name]
        template = next(iter(prompting.template), None)
        settings, tokenizer = entry.answer_settings(), prompting.tokenizer or None
        options = SweepOptions(
            *sweep.pair, settings, sweep.decoding, (), tokenizer, template, entry.run_settings()
        )  # fmt: skip
        asking = options.sweep(str(source))
        prompts, answers = present_answers(read_examples(*examples), asking, self._sweeps.answer_folders)
        fit = self._most(sweep)
        sizes = {prompt.key: prompt.size for prompt in prompts if prompt.size in fit}
        missing = Counter(size for key, size in sizes.items() if key not in answers)
        return missing, len(sizes) - missing.total()


def few_questions(study: Study, asked: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each number of questions that shows only large differences between positions; none without scipy."""
    try:
        from litm.analysis.power import detectable_effect, earlier, shown_in_words
    except ModuleNotFoundError:
        return []
    groups: dict[tuple, dict[str, None]] = {}
    others = [name for name in study.models if name not in study.stand_ins]
    for model, name in asked:
        if n := study.experiment(name).curve_questions:
            groups.setdefault((n, *earlier(Path("results"), model, name, others)), {})[name] = None
    lines = []
    for (n, expected, source), names in groups.items():
        effect = detectable_effect("primacy", n, expected)
        if effect is None or effect > LARGE:
            lines.append(f"  {first_of(list(names), SHOWN)}: {shown_in_words(n, expected, source)}")
    return lines


def _total(sweeps: Iterable[tuple]) -> int:
    return sum(prompts.total() for _, _, prompts, *_ in sweeps)


def _in_words(experiment: str, missing: Counter[int], answered: int) -> str:
    others = f" of {missing.total() + answered:,} (the others have answers)" if answered else ""
    return f"{experiment} {missing.total():,}{others}"
