"""The prompts of a sweep, each with the key of its response."""

from collections.abc import Iterable
from dataclasses import dataclass

from litm.journal import response_key
from litm.prompt_format import Content, prompt_content


@dataclass(frozen=True)
class Prompt:
    """One prompt of a sweep and the key of its response."""

    id: str
    size: int
    placement: str
    content: Content
    key: str


def sweep_prompts(examples: Iterable[dict], identity: str, prompt_template: str) -> list[Prompt]:
    """The prompts of all example records, in their order, each with its key under an identity digest.

    prompt_template: the model's, which decides whether it is asked with messages or with a text.
    """
    return [_prompt(example, identity, prompt_template) for example in examples]


def _prompt(example: dict, identity: str, prompt_template: str) -> Prompt:
    content = prompt_content(example, prompt_template)
    return Prompt(example["id"], example["size"], example["placement"], content, response_key(identity, content))
