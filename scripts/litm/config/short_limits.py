"""Limits of new tokens that are likely to cut right answers: said before a run, and no error."""

from collections.abc import Iterable, Iterator

from litm.config.experiments import Experiment
from litm.examples.tasks import load_task

#: Fraction of the task's own limit: a smaller limit gets a note. For key-value pairs it is 25 tokens, about what the
#: shortest right answer, a UUID, takes in common tokenizers.
SHORT = 0.25


def short_limits(experiments: Iterable[Experiment]) -> Iterator[str]:
    """One line per limit below `SHORT` of the task's own, with all its experiments."""
    found: dict[tuple[int, int], list[str]] = {}
    for one in experiments:
        usual = load_task(one.task).DEFAULTS.max_new_tokens
        if one.max_new_tokens < SHORT * usual:
            found.setdefault((one.max_new_tokens, usual), []).append(one.name)
    for (limit, usual), names in found.items():
        yield (
            f"{', '.join(names)}: max_new_tokens is {limit}, and {usual} if left out, so right answers may be cut and "
            "count as wrong"
        )
