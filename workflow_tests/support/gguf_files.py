"""Tiny GGUF files: a model of LLaMA's architecture with random weights, words as tokens, and a chat template."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quantize

TEMPLATE = "{% for message in messages %}<u>{{ message['content'] }}</u>{% endfor %}<a>"
WIDTH, INNER, LAYERS, HEADS, WINDOW = 64, 96, 2, 4, 256
#: Vocabulary: printable ASCII instead of all 256 bytes of GPT-2; "Ġ" is a space.
WORDS = ["<unk>", "<s>", "</s>", "<u>", "</u>", "<a>", *map(chr, range(33, 127)), "Ġ", "Ċ", "ab"]
TOKENIZER = {
    "tokenizer_model": "gpt2", "tokenizer_pre": "default", "token_list": WORDS,
    "token_types": [TokenType.CONTROL if word[0] == "<" != word else TokenType.NORMAL for word in WORDS],
    "token_merges": ["a b"], "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "add_bos_token": False,
}  # fmt: skip


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
    facts = {
        "name": "Tiny Instruct", "context_length": WINDOW, "embedding_length": WIDTH, "block_count": LAYERS,
        "feed_forward_length": INNER, "head_count": HEADS, "head_count_kv": HEADS, "layer_norm_rms_eps": 1e-5,
        "rope_freq_base": 10000.0, "vocab_size": len(WORDS),
    }  # fmt: skip
    facts |= TOKENIZER if has_tokenizer else {}
    facts |= {} if chat_template is None else {"chat_template": chat_template}
    for name, value in facts.items():
        getattr(writer, f"add_{name}")(value)
    if parts > 1:
        writer.add_uint16("split.count", parts)
    weights = _random_weights()
    for name, values in weights.items():
        is_norm = values.ndim == 1
        writer.add_tensor(name, values if is_norm else quantize(values, kind), raw_dtype=None if is_norm else kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


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
