"""Prompts as a model reads them: templates, chat rendering, tokenizers, token counts. Nothing here needs weights."""
