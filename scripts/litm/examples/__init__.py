"""Examples: prompts with accepted answers and the places of the gold items, made from questions."""
