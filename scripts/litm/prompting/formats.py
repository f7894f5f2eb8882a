"""The kinds of prompt templates, and what a model is asked with."""

#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"

PROMPT_FIELD = "{prompt}"
