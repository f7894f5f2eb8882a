"""The study of `litm check`: how a model's name becomes an entry, and the small study and the full one of it."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from litm.base.messages import UserError

#: The model that is none, and what titles say of it.
MADE_UP, IN_TITLES = "made_up_answers", " (made-up answers)"
#: First letters of the names of OpenAI's and of Anthropic's models.
OPENAI, ANTHROPIC = ("gpt-", "chatgpt-", "o1", "o3", "o4"), ("claude-",)
#: Servers with OpenAI's protocol, by what stands before a slash: address, and the variable with the key.
SERVERS: dict[str, tuple[str | None, str]] = {
    "openai": (None, "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "together": ("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": ("https://api.x.ai/v1", "XAI_API_KEY"),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
}
#: Experiments: key-value pairs; documents with their references; those on the user's own documents.
PAIRS, DOCUMENTS = "check_pairs", ("check_documents", "check_closed_book", "check_oracle")
MINE = ("my_positions", "my_closed_book", "my_oracle")
#: What the full study of own documents asks too: how many of them, in which order.
AS_RETRIEVED = "my_as_retrieved"
#: Experiments on made-up facts in documents without questions, their figures, and their lengths in tokens.
MY_FACTS = ("my_facts", "my_facts_alone", "my_linked_facts")
FACTS_FIGURES, FACTS_LENGTHS = ("my_facts", "my_facts_by_length"), (1500, 4000)
#: The same for a session.
MY_SESSION = ("my_said_facts", "my_tool_facts", "my_instruction", "my_instruction_repeated")
SESSION_FIGURES, SESSION_LENGTHS = ("my_instructions_in_session", "my_session_by_length"), (3000, 7000)
FIGURES = (PAIRS, DOCUMENTS[0])
#: Facts of the small study, and of the full one, which has all lengths up to the window.
FACTS, FULL_FACTS = 12, 100
#: Questions of each, also of the full study; its further sizes with their positions.
QUESTIONS, FULL = 24, 200
FULL_POSITIONS = {PAIRS: {100: [0, 25, 50, 74, 99]}, DOCUMENTS[0]: {10: [0, 2, 5, 7, 9]}}


@dataclass(frozen=True)
class Asked:
    """What is asked for: the model's name and entry ({} for one of the catalogue), prices, budget, and the user's own
    documents, with a table of questions or without, or session.
    """

    name: str
    entry: Mapping[str, Any]
    prices: Mapping[str, float] | None
    budget: float
    documents: Path | None = None
    questions: Path | None = None
    session: Path | None = None

    @property
    def is_made_up(self) -> bool:
        """Whether there is no model."""
        return self.name == MADE_UP


def entry_of(model: str, url: str | None, catalogue: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the entry of a model; {} for one of the catalogue. `UserError` for a name that nothing has."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model.rstrip("/").removeprefix("./")).strip("-.").lower()
    server, _, rest = model.partition("/")
    if url:
        return name, {"engine": "openai", "api_model": model, "base_url": url}
    if model in catalogue:
        return model, {}
    if Path(model).exists():
        return Path(model).resolve().stem.lower(), {"engine": "transformers", "path": str(Path(model).resolve())}
    if model.startswith(ANTHROPIC) or server == "anthropic":
        return name, {"engine": "anthropic", "api_model": model.removeprefix("anthropic/")}
    if model.startswith(OPENAI):
        return name, {"engine": "openai", "api_model": model}
    if server in SERVERS and rest:
        address, variable = SERVERS[server]
        there = {"base_url": address, "api_key_variable": variable} if address else {}
        return name, {"engine": "openai", "api_model": rest, **there}
    if re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return name, {"engine": "transformers", "hub": model}
    near = get_close_matches(model, catalogue, n=1)
    hint = f"did you mean {near[0]}?" if near else "of a server of your own give --url too"
    raise UserError(
        f"{model}: no known model: neither of the catalogue, nor of OpenAI or Anthropic, nor a folder, nor OWNER/NAME "
        f"on the hub; {hint}"
    )


def check_study(asked: Asked) -> dict[str, Any]:
    """The config of the small study."""
    in_titles = IN_TITLES if asked.is_made_up else ""
    documents, closed_book, oracle = DOCUMENTS
    entry = {**asked.entry}
    if asked.prices is not None:
        entry |= {"prices": {**asked.prices}}
    experiments: dict[str, dict[str, Any]] = {
        PAIRS: {
            "task": "kv_retrieval",
            "title": f"Key-value pairs{in_titles}",
            "positions": {50: [0, 12, 25, 37, 49]},
            "examples": QUESTIONS,
            "max_new_tokens": 120,
        },
        documents: {
            "task": "multi_document_qa",
            "title": f"Questions about made-up documents{in_titles}",
            "dataset": documents,
            "positions": {20: [0, 5, 10, 14, 19]},
            "examples": QUESTIONS,
            "max_new_tokens": 80,
        },
    }
    if not asked.is_made_up:
        asked_alone = {"dataset": "mini_gazetteer_questions", "examples": QUESTIONS}
        experiments[documents] |= {"closed_book": closed_book, "oracle": oracle}
        experiments |= {
            closed_book: {"task": "closed_book_qa", "title": "Closed book", **asked_alone, "max_new_tokens": 150},
            oracle: {"task": "oracle_qa", "title": "Oracle", **asked_alone, "max_new_tokens": 80},
        }
    study: dict[str, Any] = {"models": [asked.name], "experiments": [*experiments], "figures": [*FIGURES]}
    models = {"models": {asked.name: entry}} if entry else {}
    if asked.session:
        study["my_data"] = {"session": str(asked.session), "lengths": [*SESSION_LENGTHS]}
        return _of_mine(study, MY_SESSION, SESSION_FIGURES, models, FACTS)
    if asked.documents and asked.questions:
        study["my_data"] = {"documents": str(asked.documents), "questions": str(asked.questions)}
        return _of_mine(study, MINE, MINE[:1], models, QUESTIONS)
    if asked.documents:
        study["my_data"] = {"documents": str(asked.documents), "lengths": [*FACTS_LENGTHS]}
        return _of_mine(study, MY_FACTS, FACTS_FIGURES, models, FACTS)
    gazetteer = {"questions": "mini_gazetteer_questions", "corpus": "mini_gazetteer"}
    study["define"] = {
        **models,
        "candidates": {documents: {**gazetteer, "kind": "gold_and_random", "documents": 20}},
        "experiments": experiments,
        "figures": {name: {"title": experiments[name]["title"], "experiments": [name]} for name in FIGURES},
    }
    return study


def _of_mine(
    study: Mapping[str, Any], names: Sequence[str], figures: Sequence[str], models: Mapping[str, Any], number: int
) -> dict[str, Any]:
    """The study with these experiments alone: the user's own text measures what the others do.

    number: questions of each.
    """
    experiments = {name: {"examples": number} for name in names}
    define = {**models, "experiments": experiments}
    return {**study, "experiments": [*names], "figures": [*figures], "define": define}


def full_study(study: Mapping[str, Any], answers: Path) -> dict[str, Any]:
    """The config of the full study: the same with more questions and another size; of own documents with questions also
    how many of them, in which order.

    answers: the folder of the answers of the small study, which are used again.
    """
    full = deepcopy({**study})
    full["answers"] = str(answers.resolve())
    if MINE[0] in full["experiments"]:
        full["experiments"].append(AS_RETRIEVED)
        full["figures"].append(AS_RETRIEVED)
        full["define"]["experiments"][AS_RETRIEVED] = {}
    lengths = full.get("my_data", {}).pop("lengths", None)
    for name, experiment in full["define"]["experiments"].items():
        experiment["examples"] = FULL_FACTS if lengths else FULL
        if name in FULL_POSITIONS:
            experiment["positions"] = {**experiment["positions"], **FULL_POSITIONS[name]}
    return full
