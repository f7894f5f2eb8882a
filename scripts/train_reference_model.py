"""Train the reference model by its recipe, from nothing or from where an earlier run was stopped."""

import argparse
from pathlib import Path

import torch

from litm.cli import note, run
from litm.questions import read_template
from litm.records import atomic_writer
from litm.reference_model.lessons import Teacher
from litm.reference_model.recipe import TASKS, read_recipe
from litm.reference_model.sample import ordinary_words, sample_texts
from litm.reference_model.training import Trainer
from litm.reference_model.vocabulary import build_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--schema", required=True, help="of the recipe")
    parser.add_argument("--prompts", required=True, help="the folder of the prompt files")
    parser.add_argument("--checkpoint", required=True, help="where a stopped training goes on; kept")
    parser.add_argument("--steps-between-checkpoints", type=int, default=50)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    # Weights of attention that are all but nothing must not cost more than others.
    torch.set_flush_denormal(True)
    recipe = read_recipe(args.recipe, args.schema)
    templates = {task: read_template(Path(args.prompts) / f"{task}.txt") for task in TASKS}
    teacher = Teacher(templates, recipe.held_out)
    texts = sample_texts(teacher, recipe.seed)
    trainer = Trainer(recipe, build_tokenizer(texts, ordinary_words(texts)), teacher)
    if Path(args.checkpoint).exists():
        trainer.resume(torch.load(args.checkpoint))
        note(f"{args.checkpoint}: goes on at step {trainer.step} of {recipe.steps}")
    for report in trainer.train():
        if trainer.step % args.steps_between_checkpoints == 0 or trainer.step == recipe.steps:
            with atomic_writer(args.checkpoint) as raw:
                torch.save(trainer.state(), raw)
        if trainer.step % 10 == 0:
            r = trainer.reports[-10:]
            line = {}
            for x in r:
                line.setdefault(x.task[:5], []).append(x)
            note(f"{report.step} " + " | ".join(f"{k} size {sum(x.size for x in v)/len(v):.1f} loss {sum(x.loss for x in v)/len(v):.2f} exact {sum(x.exact for x in v)/len(v):.2f} deciding {sum(x.deciding for x in v)/len(v):.2f} " + " ".join(f"{h} {sum(x.hints.get(h,0) for x in v)/len(v):.2f}" for h in v[0].hints) for k, v in line.items()))


if __name__ == "__main__":
    run(main)
