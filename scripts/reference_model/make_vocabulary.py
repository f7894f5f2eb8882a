"""Build the tokenizer of the reference model from a sample of its lessons.

prompts: the prompt file of each task
output: a folder
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.messages import note


@program
def main(recipe: str, prompts: tuple[Path, ...], output: str) -> None:
    from litm.reference_model.lessons import Teacher, build_tokenizer, ordinary_words, read_templates, sample_texts
    from litm.reference_model.recipe import read_recipe

    made_by = read_recipe(recipe)
    texts = sample_texts(Teacher(read_templates(prompts), made_by.held_out), made_by.seed)
    tokenizer = build_tokenizer(texts, ordinary_words(texts))
    tokenizer.save_pretrained(output)
    note(f"{output}: {len(tokenizer)} tokens")
