"""The judge of an experiment: a model that says which answers are right, and a person's labels."""

from typing import Annotated

from pydantic import Field

from litm.base.schema import Count, Entry, PathTo, Ref, is_file


class JudgeEntry(Entry):
    """The model that judges answers, for `metric: judged`, and the labels that tell its error."""

    model: Annotated[str, Ref("models")]
    """The model that judges. It need not be selected."""
    prompt: Annotated[str | None, PathTo(is_file)] = None
    """A file with another prompt, in which {question}, {answers} and {answer} are filled in, and the reply is one word:
    right, wrong, or none for no answer. If omitted, resources/judging/judge.txt.
    """
    only_unclear: bool = False
    """Whether answers that have an accepted answer as whole words are right without being judged."""
    labels: Annotated[str | None, PathTo(is_file)] = None
    """A table of answers that a person has judged, made of results/labels/EXPERIMENT.csv with its column `right` filled
    in (yes or no). Accuracies, differences between positions and indexes are corrected by it.
    """
    draw: Count = 100
    """The number of answers that results/labels/EXPERIMENT.csv has."""
    swap: Annotated[int, Field(ge=0)] = 50
    """The number of answers that are judged a second time with the accepted answers in reverse order, of those with
    several. A verdict that changes with their order is no judgement of the answer.
    """

    @property
    def in_words(self) -> str:
        """Who judges, and whether there are labels, for figures."""
        return f"judged by {self.model}, {'corrected by labels' if self.labels else 'which nobody has checked'}"
