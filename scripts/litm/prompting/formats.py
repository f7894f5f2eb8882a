"""Prompt formats, and the content that each format takes."""

#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"

PROMPT_FIELD = "{prompt}"
