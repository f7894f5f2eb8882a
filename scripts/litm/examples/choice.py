"""Choice of an experiment's questions: the first, or random ones, of those that labels keep."""

from collections.abc import Iterable, Mapping
from itertools import islice

from litm.examples.task import ExampleSettings
from litm.questions.subsets import Coverage, first_by_digest, select
from litm.records import Question


def choose_questions(
    questions: Iterable[Question], settings: ExampleSettings, labels: Mapping[str, bool] | None
) -> tuple[Iterable[Question], Coverage | None]:
    """The questions that the settings ask for, and their coverage by labels (None without labels).

    labels: see `read_labels`. There may be fewer than `settings.examples` questions.
    """
    coverage = None
    if labels is not None:
        questions, coverage = select(questions, labels)
    if settings.examples is None:
        return questions, coverage
    if settings.selection == "random":
        assert settings.seed is not None, "the configuration gives a seed to a random selection"
        return first_by_digest(list(questions), settings.examples, settings.seed), coverage
    return islice(questions, settings.examples), coverage
