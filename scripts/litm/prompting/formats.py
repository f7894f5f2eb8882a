"""Prompt formats: raw, chat, and named templates."""

#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"

#: The place of the prompt in a named template.
PROMPT_FIELD = "{prompt}"


def named_template(prompt_format: str) -> str | None:
    """The name of the template's file; None for a raw prompt or a chat template."""
    return None if prompt_format in (RAW, CHAT) else prompt_format
