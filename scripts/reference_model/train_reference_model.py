"""Train the reference model by its recipe, from the start or from the checkpoint of an interrupted run.

prompts: the prompt file of each task
vocabulary: the folder that make_vocabulary.py wrote
store: a folder that keeps trainings, finished ones and others
model: output: a folder, the model and its card
curve: output: a CSV table, how the training went
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import atomic_writer
from litm.base.formats import write_csv
from litm.base.messages import note
from litm.base.progress import progress_bar
from litm.base.store import stored

#: Version: raise it if the code makes another model from the same recipe.
RECIPE = 2
STEPS_BETWEEN_CHECKPOINTS = 50


@program
def main(
    recipe: str, prompts: tuple[Path, ...], vocabulary: str, store: str, model: str, curve: str, threads: int = 1
) -> None:
    import torch
    from transformers import PreTrainedTokenizerFast

    from litm.reference_model.export import model_card, save_model, training_rows
    from litm.reference_model.lessons import Teacher, read_templates
    from litm.reference_model.recipe import read_recipe
    from litm.reference_model.training import Trainer, recent

    def train(checkpoint: Path) -> dict:
        """Train the remaining steps, with checkpoints; returns the facts for the store."""
        if checkpoint.exists():
            trainer.resume(torch.load(checkpoint))
            note(f"{checkpoint}: resumed after {trainer.step} of {trainer.recipe.steps} steps")
        with progress_bar(trainer.recipe.steps, "training", "step") as bar:
            bar.update(trainer.step)
            for _ in trainer.train():
                bar.update()
                if trainer.step % STEPS_BETWEEN_CHECKPOINTS == 0 or trainer.step == trainer.recipe.steps:
                    with atomic_writer(checkpoint) as raw:
                        torch.save(trainer.state(), raw)
                    note(recent(trainer.reports[-STEPS_BETWEEN_CHECKPOINTS:]))
        return {"steps": trainer.step}

    torch.set_num_threads(threads)
    # Subnormal numbers in attention would be slow.
    torch.set_flush_denormal(True)
    made_by = read_recipe(recipe)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(vocabulary)
    trainer = Trainer(made_by, tokenizer, Teacher(read_templates(prompts), made_by.held_out))
    made_of = {"recipe": made_by.settings(), "vocabulary": sorted(tokenizer.get_vocab()), "version": RECIPE}
    entry, _ = stored(store, made_of, train)
    trainer.resume(torch.load(entry))
    save_model(model, trainer.master, tokenizer)
    (Path(model) / "README.md").write_text(model_card(made_by, trainer.master, trainer.reports), encoding="utf-8")
    write_csv(curve, [*training_rows(trainer.reports)])
