"""Tiny GGUF files: a model of LLaMA's architecture with random weights, words as tokens, and a chat template."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quantize

TEMPLATE = "{% for message in messages %}<u>{{ message['content'] }}</u>{% endfor %}<a>"
WIDTH, INNER, LAYERS, HEADS, WINDOW = 64, 96, 2, 4, 256
#: Vocabulary: printable ASCII instead of all 256 bytes of GPT-2; "Ġ" is a space.
WORDS = ["<unk>", "<s>", "</s>", "<u>", "</u>", "<a>", *map(chr, range(33, 127)), "Ġ", "Ċ", "ab"]


def write_gguf(
    path: Path,
    architecture: str = "llama",
    kind: GGMLQuantizationType = GGMLQuantizationType.Q8_0,
    chat_template: str | None = TEMPLATE,
    has_tokenizer: bool = True,
    parts: int = 1,
) -> dict[str, np.ndarray]:
    """Write a model with one kind of weights (norms are always float32); returns the original weights by name."""
    writer = GGUFWriter(path, architecture)
    writer.add_name("Tiny Instruct")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(WORDS))
    if parts > 1:
        writer.add_uint16("split.count", parts)
    if has_tokenizer:
        _add_tokenizer(writer)
    if chat_template is not None:
        writer.add_chat_template(chat_template)
    weights = _random_weights()
    for name, values in weights.items():
        if values.ndim == 1:
            writer.add_tensor(name, values)
        else:
            writer.add_tensor(name, quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def _add_tokenizer(writer: GGUFWriter) -> None:
    special = [TokenType.CONTROL if word.startswith("<") and len(word) > 1 else TokenType.NORMAL for word in WORDS]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(WORDS)
    writer.add_token_types(special)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)


def _random_weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return rng.normal(0, 0.3, (rows, columns)).astype(np.float32)

    weights = {"token_embd.weight": matrix(len(WORDS), WIDTH), "output_norm.weight": np.ones(WIDTH, np.float32)}
    for layer in range(LAYERS):
        own = {
            "attn_norm.weight": np.ones(WIDTH, np.float32),
            "ffn_norm.weight": np.ones(WIDTH, np.float32),
            **{f"attn_{name}.weight": matrix(WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
            "ffn_gate.weight": matrix(INNER, WIDTH),
            "ffn_up.weight": matrix(INNER, WIDTH),
            "ffn_down.weight": matrix(WIDTH, INNER),
        }
        weights |= {f"blk.{layer}.{name}": values for name, values in own.items()}
    return weights
