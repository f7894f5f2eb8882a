"""Plan of question sets: generated with a corpus, derived from NaturalQuestions, taken from a dataset, or your own."""

from dataclasses import asdict

from litm.base.store import canonical_json
from litm.config.corpora import FIRST_OF, FOUND_GOLD, NATURAL_QUESTIONS, OWN_FILE, Corpus
from litm.config.study import Study
from litm.corpora.sources import is_generator
from litm.workflow.data import DataPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


class QuestionPlan:
    """Inputs and params of the rules that make the question sets {generated}, {derived}, {first}, {own} and {found}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._study = study
        self._project = project
        self._data = data

    @property
    def generated(self) -> list[str]:
        """Names of the question sets that come from the generator of a corpus."""
        return [name for name, questions in self._study.questions.items() if is_generator(questions.source)]

    @property
    def derived(self) -> list[str]:
        """Names of the question sets that are derived from annotations."""
        return self._of(NATURAL_QUESTIONS)

    @property
    def first(self) -> list[str]:
        """Names of the question sets that are the first questions of a dataset."""
        return self._of(FIRST_OF)

    @property
    def own(self) -> list[str]:
        """Names of the question sets that are read from a table of the user's."""
        return self._of(OWN_FILE)

    @property
    def found(self) -> list[str]:
        """Names of the question sets whose gold passages are searched."""
        return self._of(FOUND_GOLD)

    def _of(self, source: str) -> list[str]:
        return [name for name, questions in self._study.questions.items() if questions.source == source]

    def _corpus(self, wildcards: Wildcards) -> Corpus:
        return self._study.corpora[str(self._study.questions[wildcards.generated].corpus)]

    def generator(self, wildcards: Wildcards) -> str:
        """The name of the module that generates {generated}."""
        return self._corpus(wildcards).source

    def generator_code(self, wildcards: Wildcards) -> list[str]:
        """generate_questions.py and the generator's module."""
        return self._project.code("generate_questions.py", f"litm.corpora.sources.{self.generator(wildcards)}")

    def generator_settings(self, wildcards: Wildcards) -> str:
        """The settings that change the questions: JSON of the corpus's `CorpusSettings`."""
        return canonical_json(asdict(self._corpus(wildcards).settings))

    def taken(self, wildcards: Wildcards) -> str:
        """The number of questions in {generated}; "" for all."""
        taken = self._study.questions[wildcards.generated].questions
        return "" if taken is None else str(taken)

    def nq_open(self, wildcards: Wildcards) -> str:
        """The file with the questions and answers for {derived}."""
        return self._data.file(str(self._study.questions[wildcards.derived].nq_open))

    def annotations(self, wildcards: Wildcards) -> list[str]:
        """The annotation files with the gold passages of {derived}."""
        return [self._data.file(name) for name in self._study.questions[wildcards.derived].annotations]

    def all_of(self, wildcards: Wildcards) -> str:
        """The file of the dataset whose first questions are {first}."""
        return self._data.file(str(self._study.questions[wildcards.first].dataset))

    def first_taken(self, wildcards: Wildcards) -> int:
        """The number of questions in {first}."""
        taken = self._study.questions[wildcards.first].questions
        assert taken is not None, "the configuration asks for it"
        return taken

    def own_file(self, wildcards: Wildcards) -> str:
        """The user's table of questions {own}."""
        return str(self._study.questions[wildcards.own].file)

    def own_passages(self, wildcards: Wildcards) -> str:
        """The manifest of the corpus that {own} asks about."""
        return f"results/passages/{self._study.questions[wildcards.own].corpus}/manifest.json"

    def own_shards(self, wildcards: Wildcards) -> str:
        """The folder of its shards."""
        return f"results/passages/{self._study.questions[wildcards.own].corpus}/shards"

    def asked(self, wildcards: Wildcards) -> str:
        """The questions whose gold passages {found} contains."""
        return self._data.file(str(self._study.questions[wildcards.found].gold_of))

    def asked_passages(self, wildcards: Wildcards) -> str:
        """The manifest of their corpus."""
        return f"results/passages/{self._study.questions[wildcards.found].corpus}/manifest.json"

    def asked_shards(self, wildcards: Wildcards) -> str:
        """The folder of its shards."""
        return f"results/passages/{self._study.questions[wildcards.found].corpus}/shards"

    def retrieved(self, wildcards: Wildcards) -> str:
        """The passages retrieved for them."""
        found = self._study.questions[wildcards.found]
        return f"results/retrieved/{found.corpus}/{found.retriever}/{found.gold_of}.jsonl.gz"

    def corrections(self, wildcards: Wildcards) -> list[str]:
        """The user's corrections of their gold passages, if any."""
        return [one] if (one := self._study.questions[wildcards.found].corrections) else []

    @property
    def seed(self) -> int:
        """Seed for the sample of questions that the user is asked to judge."""
        return self._study.seed
