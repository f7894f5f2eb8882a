"""Prompt files of resources/prompts, with fields for context and question."""

import re
from pathlib import Path

from litm.base.files import read_text
from litm.base.messages import UserError


def read_template(path: str | Path, with_context: bool = True) -> str:
    """The text of a prompt file, without its final line end.

    Raises `UserError` unless it is UTF-8 and contains {question}, and {context} once if there are items to show.
    """
    template = read_text(path).removesuffix("\n")
    if "{question}" not in template:
        raise UserError(f"{path}: the prompt must contain {{question}}")
    if template.count("{context}") != int(with_context):
        wanted = "once, where the items go" if with_context else "nowhere, because there are no items to show"
        raise UserError(f"{path}: the prompt must contain {{context}} {wanted}")
    return template


def render(template: str, context: str, question: str) -> tuple[str, int]:
    """Fill in {context} and {question}; returns the prompt and the offset of the context in it.

    All fields are filled in one pass, so braces within questions and documents stay.
    """
    values = {"context": context, "question": question}
    parts = re.split(r"\{(context|question)\}", template)
    prompt, context_start = "", 0
    for index, part in enumerate(parts):
        is_field = index % 2 == 1
        if is_field and part == "context":
            context_start = len(prompt)
        prompt += values[part] if is_field else part
    return prompt, context_start
