"""Export of the trained network: a folder that any program for Llama models can load, with its model card."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from litm.corpora.made_up import words
from litm.reference_model.recipe import Recipe
from litm.reference_model.training import Report

#: Steps per row of the training table.
STEPS_A_ROW = 50


def save_model(folder: str | Path, network: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Weights in bfloat16, configuration, generation settings (greedy) and tokenizer."""
    weights = {name: tensor.to(torch.bfloat16) for name, tensor in network.state_dict().items()}
    config = type(network.config).from_dict(network.config.to_dict())
    config.dtype = torch.bfloat16
    config.architectures = ["LlamaForCausalLM"]
    plain = LlamaForCausalLM(config).bfloat16()
    plain.load_state_dict(weights)
    plain.generation_config = GenerationConfig(
        do_sample=False, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def training_rows(reports: Sequence[Report], steps: int = STEPS_A_ROW) -> Iterator[dict]:
    """The training table: means over every `steps` steps, per task.

    tokens: all tokens seen up to the last of these steps.
    """
    tokens = 0
    for start in range(0, len(reports), steps):
        chunk = reports[start : start + steps]
        tokens += sum(report.tokens for report in chunk)
        for task in sorted({report.task for report in chunk}):
            of_task = [report for report in chunk if report.task == task]
            yield {"step": chunk[-1].step + 1, "tokens": tokens, "task": task, **_means(of_task)}


def _means(reports: Sequence[Report]) -> dict[str, float]:
    fields = ("size", "loss", "exact", "deciding")
    return {"steps": len(reports)} | {
        field: sum(getattr(report, field) for report in reports) / len(reports) for field in fields
    }


def model_card(recipe: Recipe, network: LlamaForCausalLM, reports: Sequence[Report]) -> str:
    """The model card in Markdown: description and making; all figures are from this training."""
    shape = recipe.shape
    largest: dict[str, int] = {}
    for stage in recipe.stages:
        for task, course in stage.courses.items():
            largest[task] = max(largest.get(task, 0), course.sizes[1])
    trained = ", ".join(f"{task} up to {size} items" for task, size in sorted(largest.items()))
    return words("reference_model")["card"].format(
        parameters=sum(parameter.numel() for parameter in network.parameters()) / 1e6,
        layers=shape.layers,
        width=shape.width,
        heads=shape.heads,
        offsets=shape.heads - 1,
        feed_forward=shape.feed_forward,
        vocabulary=network.config.vocab_size,
        trained=trained,
        steps=len(reports),
        tokens=sum(report.tokens for report in reports) / 1e6,
        seed=recipe.seed,
    )
