"""Sizes of experiments in words."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from litm.examples.tasks import load_task
from litm.figures.chart import length_in_words, mean_tokens, of_size


class SizeNames:
    """Sizes in words: `10 documents`, as a figure of the experiment or else its task names the items; else `size 10`.

    experiments: settings of each, as the rules give them; token_counts: lengths of prompts, None where none are
    known.
    """

    def __init__(
        self, figures: Sequence[Mapping], experiments: Iterable[Mapping] = (), token_counts: pd.DataFrame | None = None
    ) -> None:
        self._token_counts = token_counts
        self._titles: dict[str, str] = {}
        for figure in figures:
            for experiment in figure["experiments"]:
                self._titles.setdefault(experiment, figure.get("panel_title") or "")
        for entry in experiments:
            item = "token" if entry.get("tokens_of") else load_task(entry["task"]).item
            self._titles.setdefault(entry["name"], f"{{size}} {item}s")

    def __call__(self, experiment: str, size: int) -> str:
        if not size:
            return "no context"
        title = self._titles.get(experiment, "")
        return of_size(title, f"{size:,}") if "{size}" in title else f"size {size:,}"

    def length(self, experiment: str, size: int) -> str:
        """`about 400 tokens`, or a range if models differ; '' if no tokens were counted."""
        return length_in_words(mean_tokens({"experiments": [experiment]}, self._token_counts, size), "about ")

    def with_length(self, experiment: str, size: int, between: str = ", ") -> str:
        """`10 documents, about 400 tokens`."""
        return between.join(filter(None, [self(experiment, size), self.length(experiment, size)]))
