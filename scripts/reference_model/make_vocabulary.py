"""Build the tokenizer of the reference model from a sample of its lessons."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import note
from litm.reference_model.lessons import Teacher, build_tokenizer, ordinary_words, read_templates, sample_texts
from litm.reference_model.recipe import read_recipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--prompts", required=True, nargs="+", type=Path, help="the prompt file of each task")
    parser.add_argument("--output", required=True, help="output: a folder")
    args = parser.parse_args()
    recipe = read_recipe(args.recipe)
    texts = sample_texts(Teacher(read_templates(args.prompts), recipe.held_out), recipe.seed)
    tokenizer = build_tokenizer(texts, ordinary_words(texts))
    tokenizer.save_pretrained(args.output)
    note(f"{args.output}: {len(tokenizer)} tokens")


if __name__ == "__main__":
    run(main)
