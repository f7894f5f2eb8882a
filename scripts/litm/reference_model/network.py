"""Network of the reference model, an ordinary `LlamaForCausalLM`, and its losses on answers and attention hints."""

from collections.abc import Iterable

import torch
from torch.nn import functional
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from litm.reference_model.packing import ANSWER, DOCUMENT, NAME, QUESTION, ROLES, Batch, Hint
from litm.reference_model.recipe import Shape

ROPE_BASE = 1_000_000.0
#: Layer whose last head gets the hints, by role.
HINTED_LAYER = {DOCUMENT: 0, NAME: 1, QUESTION: 2, ANSWER: 3}
#: Name of the attention below in transformers.
RECORDING = "reference_model_recording"

# Queries and keys (B, heads, T, channels) of each layer in the last forward pass.
_recorded: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


def make_network(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """The network with weights as transformers draws them."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        intermediate_size=shape.feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        head_dim=shape.head_width,
        max_position_embeddings=tokenizer.model_max_length,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_BASE},
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    network = LlamaForCausalLM(config)
    network.set_attn_implementation(RECORDING)
    return network


def _recording_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor,
    scaling: float,
    **_: object,
) -> tuple[torch.Tensor, None]:
    """Ordinary attention that also stores its queries and keys in `_recorded`."""
    assert isinstance(module.layer_idx, int)
    _recorded[module.layer_idx] = (query, key)
    # On a CPU the backward pass in bfloat16 is slower than in single precision, conversions included.
    mixed = functional.scaled_dot_product_attention(
        query.float(), key.float(), value.float(), attention_mask, scale=scaling
    )
    return mixed.to(query.dtype).transpose(1, 2).contiguous(), None


AttentionInterface.register(RECORDING, _recording_attention)


def answer_logits(network: LlamaForCausalLM, batch: Batch) -> torch.Tensor:
    """The logits (N, vocabulary) before each answer token, in the order of the batch."""
    mask = torch.zeros(batch.mask.shape).masked_fill(~batch.mask, float("-inf"))
    hidden = network.model(
        input_ids=batch.tokens, position_ids=batch.positions, attention_mask=mask, use_cache=False
    ).last_hidden_state
    return network.lm_head(hidden[batch.answers > 0]).float()


def answer_loss(logits: torch.Tensor, batch: Batch, deciding: float) -> torch.Tensor:
    """Mean cross-entropy of answer tokens, with weight `deciding` for the deciding ones."""
    spoken = batch.answers > 0
    losses = functional.cross_entropy(logits, batch.labels[spoken], reduction="none")
    weights = 1 + (deciding - 1) * batch.decides[spoken]
    return (losses * weights).sum() / weights.sum()


def attention_scaling(network: LlamaForCausalLM) -> float:
    """The factor of the products of queries and keys."""
    dim = network.config.head_dim
    assert dim is not None
    return dim**-0.5


def hint_losses(hints: Iterable[Hint], mask: torch.Tensor, scaling: float) -> dict[str, torch.Tensor]:
    """By role, the mean negative log attention to the hinted token in the last forward pass."""
    hints = list(hints)
    by_role = {role: [hint for hint in hints if hint.role == role] for role in ROLES}
    return {role: _hint_loss(role, of_role, mask, scaling) for role, of_role in by_role.items() if of_role}


def _hint_loss(role: str, hints: list[Hint], mask: torch.Tensor, scaling: float) -> torch.Tensor:
    query, key = (tensor[:, -1] for tensor in _recorded[HINTED_LAYER[role]])
    losses = []
    for sequence in sorted({hint.sequence for hint in hints}):
        rows = [hint.row for hint in hints if hint.sequence == sequence]
        columns = torch.tensor([hint.column for hint in hints if hint.sequence == sequence])
        scores = (query[sequence, rows] @ key[sequence].T).float() * scaling
        scores = scores.masked_fill(~mask[sequence, 0, rows], float("-inf"))
        losses.append(functional.cross_entropy(scores, columns, reduction="none"))
    return torch.cat(losses).mean()
