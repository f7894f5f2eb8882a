"""Prompting: templates, chat rendering, tokenizers and token counts. No weights are needed."""
