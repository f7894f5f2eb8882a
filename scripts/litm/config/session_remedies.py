"""Which experiments on a session are remedies against forgetting, and what they are in words."""

from collections.abc import Iterator, Mapping

from litm.config.data import SESSION_KEYS, QuestionSet
from litm.config.experiments import Experiment
from litm.examples.tasks import load_task

#: The remedies in words, by the key of the questions; that of the task has no key.
WORDS = {
    "repeat": "repeat the instruction at the end",
    "result_words": "shorten results of tools to {value} words",
    "keep_results": "drop results of tools after {value} steps",
    "compacted": "put your summary in place of the first half",
}
REPEAT_SESSION = "repeat_session"


def session_remedies(
    experiments: Mapping[str, Experiment], questions: Mapping[str, QuestionSet]
) -> Iterator[dict[str, str]]:
    """{experiment, compared_with, remedy, setting} of each experiment that differs in one remedy from another one on
    the same session and facts, which it names in `compared_with`.
    """
    for experiment in experiments.values():
        for other in (experiments[name] for name in experiment.compared_with if name in experiments):
            sets = [questions.get(name) for entry in (experiment, other) for name in {*entry.datasets.values()}]
            if len(sets) != 2 or not sets[0] or not sets[1] or not sets[0].session:
                continue
            treated, plain = sets[0], sets[1]
            remedies = {
                key: WORDS[key].format(value=getattr(treated, key))
                for key in SESSION_KEYS
                if getattr(treated, key) != getattr(plain, key)
            }
            if load_task(experiment.task).repeats == other.task:
                remedies[REPEAT_SESSION] = "repeat the session"
            if len(remedies) == 1 and (treated.session, treated.facts) == (plain.session, plain.facts):
                ((remedy, setting),) = remedies.items()
                named = {"experiment": experiment.name, "compared_with": other.name}
                yield {**named, "remedy": remedy, "setting": setting}
