"""The noun for the items of a context, such as documents."""

from collections.abc import Sequence

from litm.config.experiments import Experiment
from litm.examples.tasks import load_task


def item_noun(experiments: Sequence[Experiment]) -> str:
    """The noun that the tasks of all experiments use for an item, "item" where they differ."""
    nouns = {load_task(experiment.task).DEFAULTS.item for experiment in experiments}
    return nouns.pop() if len(nouns) == 1 else "item"
