"""Network of the reference model, an ordinary `LlamaForCausalLM`; its initial weights; its optimizer for matrices."""

from collections.abc import Iterable
from typing import cast

import torch
from torch.nn import functional
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.models.llama.modeling_llama import LlamaAttention

from litm.reference_model.recipe import Shape

#: Roles of the heads that get hints, see `Hint`.
DOCUMENT, NAME, QUESTION, ANSWER = ROLES = ("document", "name", "question", "answer")
ROPE_BASE = 1_000_000.0
#: Layer whose last head gets the hints, by role.
HINTED_LAYER = {DOCUMENT: 0, NAME: 1, QUESTION: 2, ANSWER: 3}
#: Name of the attention below in transformers.
RECORDING = "reference_model_recording"
# Queries and keys (B, heads, T, channels) of each layer in the last forward pass.
recorded: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}


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
    """Ordinary attention that also stores its queries and keys in `recorded`."""
    assert isinstance(module.layer_idx, int)
    recorded[module.layer_idx] = (query, key)
    # On a CPU the backward pass in bfloat16 is slower than in single precision, conversions included.
    mixed = functional.scaled_dot_product_attention(
        query.float(), key.float(), value.float(), attention_mask, scale=scaling
    )
    return mixed.to(query.dtype).transpose(1, 2).contiguous(), None


AttentionInterface.register(RECORDING, _recording_attention)


def attention_scaling(network: LlamaForCausalLM) -> float:
    """The factor of the products of queries and keys."""
    dim = network.config.head_dim
    assert dim is not None
    return dim**-0.5


_EMBEDDING, _OTHERS = 0.1, 0.03
#: Value of the first channel of every embedding, which steers the heads that look back.
_CONSTANT = 0.3
#: Sharpness of attention, scale of outputs, and strengths of matching; found by trial.
_SHARPNESS, _LOUDNESS, _MATCH, _MATCH_ALL, _SAME = 2.5, 0.2, 1.5, 1.2, 0.5


@torch.no_grad()
def initialise(network: LlamaForCausalLM, generator: torch.Generator) -> None:
    """Draw all matrices, then set those of the attention by hand."""
    for name, parameter in network.named_parameters():
        if parameter.ndim == 2:
            std = _EMBEDDING if "embed_tokens" in name else _OTHERS
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * std)
    network.model.embed_tokens.weight[:, 0] = _CONSTANT
    layers = [cast(LlamaAttention, layer.self_attn) for layer in network.model.layers]
    width, dim = network.config.hidden_size, layers[0].head_dim
    read = _orthogonal(width, dim, generator).T
    # A code per head, except the last one, which gets hints.
    codes = [_orthogonal(width, dim, generator) for _ in range(network.config.num_attention_heads - 1)]
    for attention in layers[1:]:
        _copy(attention, generator)
    for attention in layers[2:]:
        _match_same(attention, generator)
    _look_back(layers[0], dim, read, codes)
    _match_codes(layers[1], dim, read, codes, generator)
    _carry_documents(layers, dim, generator)


def _orthogonal(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    """A matrix with orthonormal columns (or rows, if there are fewer) that leaves the first row zero."""
    tall = torch.linalg.qr(torch.randn(max(rows, columns), min(rows, columns), generator=generator))[0]
    matrix = tall.clone() if rows >= columns else tall.T.clone()
    matrix[0] = 0
    return matrix


def _head(head: int, dim: int) -> slice:
    return slice(head * dim, (head + 1) * dim)


def _look_back(attention: LlamaAttention, dim: int, read: torch.Tensor, codes: list[torch.Tensor]) -> None:
    """Heads that look back by 1, 2, ... tokens and write a code of the token there, each with its own matrix.

    The rotary embedding rotates a key by the angle of its position. A query rotated back by the angle of an offset is
    closest to the key at that offset, whatever the tokens are: both come from the constant channel.
    """
    half = dim // 2
    frequencies = ROPE_BASE ** (-torch.arange(half) / half)
    # The slow half of the channels hardly changes between tokens.
    fast = _SHARPNESS * (torch.arange(half) < half / 2).float()
    for head, code in enumerate(codes):
        rows, angle = _head(head, dim), -(head + 1) * frequencies
        for matrix in (attention.q_proj.weight, attention.k_proj.weight):
            matrix[rows] *= 0.1
        attention.k_proj.weight[rows, 0] = torch.cat([fast, torch.zeros(half)])
        attention.q_proj.weight[rows, 0] = torch.cat([fast * torch.cos(angle), fast * torch.sin(angle)])
        attention.v_proj.weight[rows] = read
        attention.o_proj.weight[:, rows] = _LOUDNESS * code


def _match_codes(
    attention: LlamaAttention, dim: int, read: torch.Tensor, codes: list[torch.Tensor], generator: torch.Generator
) -> None:
    """Head h looks for tokens that have, h + 1 tokens before them, the same token as here h tokens before: the first
    head finds what followed this token earlier. The hinted head looks for tokens with the same predecessors.
    """
    for head, code in enumerate(codes):
        rows = _head(head, dim)
        attention.k_proj.weight[rows] += _MATCH * _slow(code.T)
        attention.q_proj.weight[rows] += _MATCH * _slow(read if head == 0 else codes[head - 1].T)
    rows = _head(len(codes), dim)
    for code in codes:
        mix = _slow(torch.linalg.qr(torch.randn(dim, dim, generator=generator))[0])
        for matrix in (attention.q_proj.weight, attention.k_proj.weight):
            matrix[rows] += _MATCH_ALL * mix @ code.T


def _carry_documents(layers: list[LlamaAttention], dim: int, generator: torch.Generator) -> None:
    """The hinted heads pass on the identity of a document: from its number to its tokens; from a name in it to the same
    name in a query; from there to the query's end. The search for the answer then favours tokens of that document.
    """
    width = layers[0].v_proj.weight.shape[1]
    source, in_text, in_query, at_end = (_orthogonal(width, dim, generator) for _ in range(4))
    last = slice(-dim, None)
    for role, seen, written in ((DOCUMENT, source, in_text), (NAME, in_text, in_query), (QUESTION, in_query, at_end)):
        attention = layers[HINTED_LAYER[role]]
        attention.v_proj.weight[last] = seen.T
        attention.o_proj.weight[:, last] = _LOUDNESS * written
    answer = layers[HINTED_LAYER[ANSWER]]
    answer.q_proj.weight[last] += _MATCH_ALL * _slow(at_end.T)
    answer.k_proj.weight[last] += _MATCH_ALL * _slow(in_text.T)


def _slow(matrix: torch.Tensor) -> torch.Tensor:
    """The rows of a head's matrix moved to the channels that the rotary embedding hardly rotates, each over two
    channels, with zeros elsewhere. Matching over long distances needs these channels.
    """
    quarter = len(matrix) // 4
    nothing = torch.zeros_like(matrix[:quarter])
    first, second, third, fourth = matrix.split(quarter)
    return torch.cat([nothing, first + second, nothing, third + fourth])


def _copy(attention: LlamaAttention, generator: torch.Generator) -> None:
    """Make heads write the tokens that they attend to: the output matrix inverts the value matrix."""
    channels, width = attention.v_proj.weight.shape
    undo = _orthogonal(width, channels, generator)
    attention.v_proj.weight.copy_(undo.T)
    attention.o_proj.weight.copy_(_LOUDNESS * undo)


def _match_same(attention: LlamaAttention, generator: torch.Generator) -> None:
    """Make heads attend to tokens like their own."""
    channels, width = attention.q_proj.weight.shape
    same = _SAME * _orthogonal(width, channels, generator).T
    attention.q_proj.weight += same
    attention.k_proj.weight += same


#: Coefficients and steps of the quintic Newton-Schulz iteration.
_A, _B, _C, _STEPS = 3.4445, -4.7750, 2.0315, 5


def orthogonalised(matrices: torch.Tensor) -> torch.Tensor:
    """The matrices (N, rows, columns) with all singular values near 1."""
    x = matrices / (matrices.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for _ in range(_STEPS):
        gram = x @ x.mT
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """For matrices; all matrices of one shape are updated together."""

    def __init__(self, parameters: Iterable[torch.Tensor], lr: float, momentum: float = 0.95):
        super().__init__(list(parameters), {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            shapes: dict[torch.Size, list[torch.Tensor]] = {}
            for parameter in group["params"]:
                shapes.setdefault(parameter.shape, []).append(parameter)
            for shape, parameters in shapes.items():
                updates = []
                for parameter in parameters:
                    state = self.state[parameter]
                    assert parameter.grad is not None
                    buffer = state.setdefault("momentum", torch.zeros_like(parameter))
                    buffer.mul_(group["momentum"]).add_(parameter.grad)
                    updates.append(parameter.grad.add(buffer, alpha=group["momentum"]))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for parameter, update in zip(parameters, orthogonalised(torch.stack(updates)), strict=True):
                    parameter.add_(update, alpha=-scale)
