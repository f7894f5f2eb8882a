"""Train the reference model by its recipe, from the start or from the checkpoint of an interrupted run."""

import argparse
from pathlib import Path

from litm.base.cli import run

# isort: split
import pandas as pd
import torch
from transformers import PreTrainedTokenizerFast

from litm.base.files import atomic_writer
from litm.base.messages import note
from litm.base.progress import progress_bar
from litm.base.records import write_csv
from litm.base.store import stored
from litm.reference_model.export import model_card, save_model, training_rows
from litm.reference_model.lessons import Teacher, read_templates
from litm.reference_model.recipe import read_recipe
from litm.reference_model.training import Trainer, recent

#: Version: raise it if the code makes another model from the same recipe.
RECIPE = 2
STEPS_BETWEEN_CHECKPOINTS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--prompts", required=True, nargs="+", type=Path, help="the prompt file of each task")
    parser.add_argument("--vocabulary", required=True, help="the folder that make_vocabulary.py wrote")
    parser.add_argument("--store", required=True, help="a folder that keeps trainings, finished ones and others")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", required=True, help="output: a folder, the model and its card")
    parser.add_argument("--curve", required=True, help="output: a CSV table, how the training went")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    # Subnormal numbers in attention would be slow.
    torch.set_flush_denormal(True)
    recipe = read_recipe(args.recipe)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(args.vocabulary)
    trainer = Trainer(recipe, tokenizer, Teacher(read_templates(args.prompts), recipe.held_out))
    made_of = {"recipe": recipe.settings(), "vocabulary": sorted(tokenizer.get_vocab()), "version": RECIPE}
    entry, _ = stored(args.store, made_of, lambda checkpoint: train(trainer, checkpoint))
    trainer.resume(torch.load(entry))
    save_model(args.model, trainer.master, tokenizer)
    (Path(args.model) / "README.md").write_text(model_card(recipe, trainer.master, trainer.reports), encoding="utf-8")
    write_csv(args.curve, pd.DataFrame(training_rows(trainer.reports)))


def train(trainer: Trainer, checkpoint: Path) -> dict:
    """Train the remaining steps, with checkpoints; returns the facts for the store."""
    if checkpoint.exists():
        trainer.resume(torch.load(checkpoint))
        note(f"{checkpoint}: resumed after {trainer.step} of {trainer.recipe.steps} steps")
    with progress_bar(trainer.recipe.steps, "training", "step") as bar:
        bar.update(trainer.step)
        for _ in trainer.train():
            bar.update()
            if trainer.step % STEPS_BETWEEN_CHECKPOINTS == 0 or trainer.step == trainer.recipe.steps:
                _save(trainer, checkpoint)
                note(recent(trainer.reports[-STEPS_BETWEEN_CHECKPOINTS:]))
    return {"steps": trainer.step}


def _save(trainer: Trainer, checkpoint: Path) -> None:
    with atomic_writer(checkpoint) as raw:
        torch.save(trainer.state(), raw)


if __name__ == "__main__":
    run(main)
