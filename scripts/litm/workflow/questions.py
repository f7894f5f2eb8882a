"""Question sets that the workflow makes: generated with a corpus, or derived from NaturalQuestions."""

from dataclasses import asdict

from litm.config.corpora import Corpus
from litm.config.study import Study
from litm.corpora import GENERATORS
from litm.records import canonical_json
from litm.workflow.data import DataPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


class QuestionPlan:
    """Inputs and params of the rules that make the question sets {generated} and {derived}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._study = study
        self._project = project
        self._data = data

    @property
    def generated(self) -> list[str]:
        """Names of the question sets that come from the generator of a corpus."""
        return [name for name, questions in self._study.questions.items() if questions.source in GENERATORS]

    @property
    def derived(self) -> list[str]:
        """Names of the question sets that are derived from annotations."""
        return [name for name in self._study.questions if name not in self.generated]

    def _corpus(self, wildcards: Wildcards) -> Corpus:
        return self._study.corpora[str(self._study.questions[wildcards.generated].corpus)]

    def generator(self, wildcards: Wildcards) -> str:
        """The name of the module that generates {generated}."""
        return self._corpus(wildcards).source

    def generator_code(self, wildcards: Wildcards) -> list[str]:
        """generate_questions.py and the generator's module."""
        return self._project.code("generate_questions.py", f"litm.corpora.{self.generator(wildcards)}")

    def generator_settings(self, wildcards: Wildcards) -> str:
        """What changes the questions: JSON of the corpus's `CorpusSettings`."""
        return canonical_json(asdict(self._corpus(wildcards).settings))

    def nq_open(self, wildcards: Wildcards) -> str:
        """The file of the questions and answers that {derived} takes its own from."""
        return self._data.file(str(self._study.questions[wildcards.derived].nq_open))

    def annotations(self, wildcards: Wildcards) -> list[str]:
        """The files of annotations that {derived} finds the gold passages in."""
        return [self._data.file(name) for name in self._study.questions[wildcards.derived].annotations]
