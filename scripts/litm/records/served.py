"""The server and its model in a response's `made_with`."""

from collections import Counter
from collections.abc import Mapping


def made_with_server(software: str, url: str, name: str) -> str:
    """`made_with` of a server's answer. software: the SDK and its version.

    name: the server's name for the model, or `api_model` if it gives none.
    """
    return f"{software}, {url}, {name}"


#: What follows the software in `made_with` of an answer that came in a batch.
IN_A_BATCH = " in a batch"


def served_name(made_with: str) -> str:
    """The model's name in a result of `made_with_server`."""
    return made_with.split(", ", 2)[-1]


def is_served(identity_fields: Mapping) -> bool:
    """Whether a server runs the model, by the fields of an identity."""
    return "api_model" in identity_fields.get("source", {})


def several_names(manifest: Mapping) -> str:
    """`2 names of models in the server's answers: alpha (10), gamma (2)`; "" for one name or no server."""
    if not is_served(manifest["identity_fields"]):
        return ""
    answers: Counter[str] = Counter()
    for made_with, number in manifest["made_with"].items():
        answers[served_name(made_with)] += number
    named = ", ".join(f"{name} ({number:,})" for name, number in sorted(answers.items()))
    return f"{len(answers)} names of models in the server's answers: {named}" if len(answers) > 1 else ""
