"""Whether prompts of a model can share a batch: not if an answer depends on the longest of them, or on padding."""

from inspect import signature

import torch
from transformers import PreTrainedModel

from litm.local.generation import padded
from litm.local.prefix_sharing import TRIED, follows_longest

#: The largest root mean square of the difference that padding may make to the outputs of a token, as a fraction of
#: their standard deviation. RWKV has 0.8 or more, small models of 45 other families less than 0.0001.
MOST_DIFFERENCE = 0.2


def one_at_a_time(model: PreTrainedModel, tokens: int) -> str:
    """Why prompts of at most `tokens` with their answers are asked one at a time; "" if they can share a batch."""
    if follows_longest(model, tokens):
        return "its rotary angles depend on the longest prompt of a batch"
    return "it reads padding as text" if reads_padding(model) else ""


@torch.inference_mode()
def reads_padding(model: PreTrainedModel) -> bool:
    """Whether the output of a causal model for a prompt changes with padding, as in RWKV, which takes no mask."""
    if model.config.is_encoder_decoder:
        return False
    vocabulary = model.config.get_text_config().vocab_size
    ids = [vocabulary * number // TRIED for number in range(TRIED)]
    takes, outputs = signature(model.forward).parameters, []
    for rows in ([ids[::2]], [ids[::2], ids]):
        tokens, mask = padded(model, rows, on_the_right=False)
        # As `generate` counts positions.
        more = {"position_ids": (mask.cumsum(-1) - 1).clamp(min=0)} if "position_ids" in takes else {}
        outputs.append(model(input_ids=tokens, attention_mask=mask, **more).logits[0, -1].float())
    alone, beside = outputs
    return bool((beside - alone).square().mean().sqrt() > MOST_DIFFERENCE * alone.std())
