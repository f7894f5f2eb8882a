"""Tokens of contexts of a user's session, before there are prompts: its steps are counted as they are shown."""

from functools import lru_cache
from pathlib import Path

from litm.base.files import read_text
from litm.config.data import QuestionSet
from litm.config.experiments import Experiment
from litm.config.study import Study
from litm.config.sweeps import Model
from litm.corpora.sessions import read_session, steps
from litm.engines.model_files import count_tokens
from litm.examples.planted_sessions import item_of, shortened, treated
from litm.examples.tasks import load_task
from litm.records.questions import Item


def session_tokens(study: Study, model: str, experiment: Experiment) -> dict[int, float]:
    """About the tokens of the steps of a context, by its size; {} for an experiment on no session.

    The message that is placed is counted as a step of mean length. By the model's tokenizer, or by characters.
    """
    sets = [study.questions.get(name) for name in {*experiment.datasets.values()}]
    if len(sets) != 1 or sets[0] is None or not sets[0].session:
        return {}
    path = _tokenizer(study.models[model]) if model in study.models else None
    copies = 2 if load_task(experiment.task).repeats else 1
    sizes = sorted(experiment.cell_sizes)
    return {size: copies * tokens for size, tokens in zip(sizes, _counted(sets[0], path, tuple(sizes)), strict=True)}


def _tokenizer(entry: Model) -> str | None:
    """The model's tokenizer.json, or the folder with it; None without one."""
    for place in (entry.tokenizer, entry.stored_at(Path())):
        if place and (Path(place) if place.endswith(".json") else Path(place, "tokenizer.json")).is_file():
            return place
    return None


#: Characters of a token without a tokenizer: GPT-NeoX's takes 3.36 to 3.41 for the sessions of examples/sessions.
CHARACTERS = 3.4


@lru_cache(maxsize=64)
def _counted(questions: QuestionSet, tokenizer: str | None, sizes: tuple[int, ...]) -> list[float]:
    summary = read_text(questions.compacted).strip() if questions.compacted else None
    messages = read_session(Path(questions.session or "")).messages
    whole = [item_of([shortened(message, questions.result_words) for message in step]) for step in steps(messages)]
    contexts = [treated(whole[: size - 1], questions.keep_results, summary) for size in sizes]
    texts = list(dict.fromkeys(text for context in contexts for step in context for text in step))
    counts = count_tokens(tokenizer, texts) if tokenizer else [len(text) / CHARACTERS for text in texts]
    tokens = dict(zip(texts, counts, strict=True))

    def of_step(step: Item) -> float:
        return sum(tokens[text] for text in step)

    return [sum(map(of_step, context)) * (1 + 1 / len(context)) for context in contexts]
