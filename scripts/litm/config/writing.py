"""Questions that a model writes about passages of a user's text: the key of the config, and what models are asked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from litm.base.schema import Count, Entry, Ref, read_entry
from litm.config.data import WRITTEN, QuestionSet
from litm.config.experiments import Experiment
from litm.config.retrieval import Candidates
from litm.placements import NO_GOLD, gold_placement
from litm.records.cells import Cell
from litm.records.measures import WRITING

#: How questions are written: room for a question and an answer.
WRITING_DECODING = {"max_new_tokens": 120, "stop": "end_token"}


class WrittenQuestions(Entry):
    """Questions that a model writes from passages of `documents`."""

    by: Annotated[str, Ref("models")]
    """The model that writes a question with its answer from each passage. It need not be selected."""
    number: Count = 100
    """The number of passages, drawn at random. Fewer questions are kept."""
    checked_by: Annotated[str | None, Ref("models")] = None
    """The model that must answer a question with its passage and must not without it. If omitted, the one that writes
    them.
    """


def written_keys(wanted: WrittenQuestions) -> dict[str, Any]:
    """The keys of a question set that is written so."""
    return {"written_by": wanted.by, "checked_by": wanted.checked_by, "questions": wanted.number}


def in_words(wanted: WrittenQuestions) -> str:
    """Who writes how many questions, for the console."""
    return (
        f"questions: {wanted.by} writes one from each of {wanted.number} passages drawn at random, and "
        f"{wanted.checked_by or wanted.by} answers them with their passage and without it; those that need their "
        "passage are kept (results/written_questions)"
    )


@dataclass(frozen=True)
class Writing:
    """What a model is asked to write the questions of a set, or to check them."""

    questions: QuestionSet
    """The set, with a writer."""
    is_check: bool
    """Whether the model answers the questions, with their passage and without it."""
    measure: ClassVar[str] = WRITING

    @property
    def asker(self) -> str:
        """The name of the model that is asked."""
        return (self.is_check and self.questions.checked_by) or self.questions.written_by or ""

    @property
    def name(self) -> str:
        """The name of the experiment that it is asked."""
        return f"{self.questions.name}-{'checked' if self.is_check else 'written'}"

    @property
    def prompts(self) -> str:
        """The file of its prompts."""
        return f"results/question_writing/{self.questions.name}/{'check' if self.is_check else 'write'}.jsonl.gz"

    @property
    def asked(self) -> Experiment:
        """The experiment that it is asked: a passage in each prompt, none where a question is asked alone."""
        # As the oracle and closed book of the same questions, so that answers to these are shared.
        task = {"task": "oracle_qa", "title": f"{self.questions.name}: {'answers' if self.is_check else 'questions'}"}
        decoding: Mapping[str, Any] = {} if self.is_check else WRITING_DECODING
        with_passage = Cell(1, gold_placement([0]))
        cells = (with_passage, Cell(0, NO_GOLD)) if self.is_check else (with_passage,)
        entry = read_entry(Experiment, {**task, **decoding}, f"experiments.{self.name}")
        return entry.changed(cells=cells, known_questions=self.questions.questions or 0)


def written_sets(
    experiment: Experiment, candidates: Mapping[str, Candidates], questions: Mapping[str, QuestionSet]
) -> Iterator[QuestionSet]:
    """The sets of an experiment's questions that a model writes."""
    for name in experiment.datasets.values():
        asked = candidates[name].questions if name in candidates else name
        if asked in questions and questions[asked].source == WRITTEN:
            yield questions[asked]


def writings_of(sets: Iterable[QuestionSet]) -> dict[str, Writing]:
    """What is asked to write and check these sets, by its name."""
    writings = [Writing(entry, is_check) for entry in sets for is_check in (False, True)]
    return {writing.name: writing for writing in writings}
