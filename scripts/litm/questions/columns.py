"""Columns of a table of questions: which has the questions, and which the right answers rather than a system's."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from litm.base.messages import UserError, first_of, quoted

#: Columns by what they are for, likeliest first, in letters and digits alone: `Ground Truth`, `ground-truth` and
#: `groundTruth` are one. Frameworks group them (LangSmith's `inputs.question`, MLflow's `inputs/question`).
QUESTIONS = ("question", "query", "userinput", "userquery", "userquestion", "input", "inputs")
COLUMNS: Mapping[str, Sequence[str]] = {
    "question": (*QUESTIONS, *(f"{group}{name}" for group in ("inputs", "input") for name in QUESTIONS[:-1])),
    "file": ("file", "source", "document"),
    "page": ("page",),
    "text": ("text", "context", "passage", "referencecontexts", "referencecontext"),
}
#: Columns whose names say that their answers are right: of RAGAS, TruLens, DeepEval, LangSmith, MLflow, Langfuse.
RIGHT = re.compile(
    r"(?:ground)?truths?(?:answers?|responses?)?|gold|true(?:answers?)|ideal|expectations(?:expectedresponse)?"
    r"|(?:reference|expected|gold|golden|correct|best|ideal|target)(?:answer|output|response)s?"
    r"|(?:referenceoutputs?|expectedoutputs?)(?:answer|output)"
)
#: Columns with right answers if no such name is there. RAGAS and Hugging Face call a system's answer `answer`.
PLAIN = re.compile(r"answers?|references?|targets?|expected")
#: Columns with the answers of a system, and with what it has retrieved, how it was judged and what it took.
SAID = re.compile(
    r"(?:outputs?)?(?:actual|model|system|bot|rag|llm|ai|generated|predicted|student|assistant)?"
    r"(?:answer|output|response|prediction|completion|generation)s?|pred(?:icted|s)?|generatedtext|multiresponses"
)
OUTPUT = re.compile(r"outputs?")
RETRIEVED = re.compile(
    r"contexts|retriev(?:ed|al)(?:contexts?|documents?|docs?|passages?|chunks?|nodes?|texts?)|source(?:document|node)s?"
    r"|faithfulness|groundedness|(?:answer|response|context)relevanc[ey]|latency(?:m?s)?|(?:prompt|completion|total)tokens"
    r"|scores?|f1|exactmatch|(?:is)?correct(?:ness)?|passed|verdict"
)


@dataclass(frozen=True)
class Columns:
    """The names of columns by what they are for, likeliest first."""

    question: tuple[str, ...]
    """Columns with the question."""
    answers: tuple[str, ...]
    """Columns with the right answers."""
    file: tuple[str, ...]
    """Columns with the file that has the answer."""
    page: tuple[str, ...]
    """Columns with the page that has the answer."""
    text: tuple[str, ...]
    """Columns with the text that has the answer."""
    said: tuple[str, ...] = ()
    """Columns with a system's answers."""

    @property
    def roles(self) -> tuple[tuple[str, ...], ...]:
        """The names for each role but a system's answers."""
        return self.question, *((name,) for name in self.answers), self.file, self.page, self.text


def plain_name(name: str) -> str:
    """A name of a column in letters and digits alone."""
    return re.sub(r"[\W_]+", "", name.lower())


def columns_of(names: Sequence[str], filled: Collection[str], where: str) -> Columns:
    """The columns of a table. filled: the names of those with a filled cell; where: the beginning of messages.

    Raises `UserError` if the names leave open which answers are right.
    """
    plain = {name: plain_name(name) for name in names}

    def matching(pattern: re.Pattern[str], among: Collection[str] = filled) -> tuple[str, ...]:
        return tuple(name for name in names if name in among and pattern.fullmatch(plain[name]))

    answers = matching(RIGHT) or matching(PLAIN) or matching(RIGHT, names) or matching(PLAIN, names)
    said = tuple(name for name in (*matching(SAID), *matching(PLAIN)) if name not in answers)
    only = {plain[name] for name in answers}
    # Phoenix's `reference` is what was retrieved, and `contexts`, a score or a judgement is beside a system's `answer`.
    doubtful = (only <= {"reference", "references"} and any(OUTPUT.fullmatch(plain[name]) for name in said)) or (
        only <= {"answer", "answers"} and not said and matching(RETRIEVED)
    )
    if (said and not answers) or (answers and doubtful):
        listed = [quoted(name, 60) for name in dict.fromkeys((*answers, *said))]
        raise UserError(
            f"{where}: the names of its columns leave open which answers are right and which are a system's (found "
            f"{first_of(listed, 4)}); rename the column with the right ones to 'ground_truth'"
        )
    by_role = {
        role: tuple(name for alias in aliases for name in names if plain[name] == alias)
        for role, aliases in COLUMNS.items()
    }
    # A system's context is what it has retrieved.
    text = tuple(name for name in by_role.pop("text") if not said or plain[name] != "context")
    return Columns(answers=answers, text=text, said=tuple(dict.fromkeys(said)), **by_role)
