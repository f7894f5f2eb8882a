"""From examples to responses: the prompts of a sweep and what was answered to them."""
