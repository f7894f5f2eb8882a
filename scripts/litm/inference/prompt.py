"""The prompts of a sweep, each with the key of its response."""

from collections.abc import Iterable
from dataclasses import dataclass

from litm.domain.example import Content, Example
from litm.domain.response import response_key
from litm.prompting.formats import CHAT


@dataclass(frozen=True)
class Prompt:
    """One prompt of a sweep and the key of its response. sha256: see `Example.prompt_sha256`."""

    id: str
    size: int
    placement: str
    content: Content
    key: str
    sha256: str


def sweep_prompts(examples: Iterable[Example], identity: str, prompt_template: str) -> list[Prompt]:
    """The prompts of all examples, in their order, with their keys under an identity digest.

    prompt_template: the model's, which decides between a list of messages and a text.
    """
    return [_prompt(example, identity, prompt_template) for example in examples]


def _prompt(example: Example, identity: str, prompt_template: str) -> Prompt:
    content = example.content(prompt_template == CHAT)
    key = response_key(identity, content)
    return Prompt(example.id, example.size, example.placement, content, key, example.prompt_sha256)
