"""From questions to examples: prompts with the answers that count and the places of the gold items."""
