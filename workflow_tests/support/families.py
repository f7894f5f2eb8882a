"""Tiny models with random weights, one for each family of architectures, and prompts for them."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    Gemma3TextConfig,
    GPTNeoXConfig,
    LlamaConfig,
    MistralConfig,
    MptConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    T5Config,
)

#: Vocabulary: word 0 pads, word 1 ends an answer.
WORDS = ["<pad>", "</s>", *(f"w{n}" for n in range(2, 96))]
#: Tokens that layers with a sliding window see: most prompts are longer.
WINDOW = 8
IDS = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": None}
SHAPE = {
    "vocab_size": len(WORDS), "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 256, **IDS,
}  # fmt: skip
GROUPED = {**SHAPE, "num_key_value_heads": 2, "initializer_range": 0.5}
#: One layer with a sliding window and one without; tied embeddings would have the model repeat its last word.
GEMMA = {
    "head_dim": 8, "sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"],
    "tie_word_embeddings": False,
}  # fmt: skip
MPT = {"d_model": 32, "n_heads": 4, "n_layers": 2, "expansion_ratio": 2, "max_seq_len": 256, "initializer_range": 0.5}
T5 = {
    "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "feed_forward_proj": "gated-gelu",
    "initializer_factor": 4.0, "tie_word_embeddings": False, "decoder_start_token_id": 0, "pad_token_id": 0,
    "eos_token_id": 1,
}  # fmt: skip
CONFIGS = {
    "llama": LlamaConfig(**GROUPED),
    "mistral": MistralConfig(**GROUPED, sliding_window=WINDOW),
    "qwen2": Qwen2Config(**GROUPED),
    "gemma3": Gemma3TextConfig(**GROUPED, **GEMMA),
    "gpt_neox": GPTNeoXConfig(**SHAPE, initializer_range=0.5),
    "mpt": MptConfig(**MPT, vocab_size=len(WORDS), **IDS),
    "t5": T5Config(**T5, vocab_size=len(WORDS)),
}
#: Functions that make a model with random weights, by family.
FAMILIES: dict[str, Callable[[], PreTrainedModel]] = {
    name: partial((AutoModelForSeq2SeqLM if name == "t5" else AutoModelForCausalLM).from_config, config)
    for name, config in CONFIGS.items()
}
#: MPT has no other implementation in transformers.
ATTENTION = {"mpt": "eager"}


def save_model(family: str, folder: Path, seed: int = 1) -> None:
    """A model folder of that family, with the same weights for the same seed."""
    torch.manual_seed(seed)
    model = FAMILIES[family]()
    # Otherwise the padding's embedding is zero, and a model that reads padding would hardly show it.
    torch.nn.init.normal_(model.get_input_embeddings().weight[0].detach())
    model.save_pretrained(folder)
    words = Tokenizer(WordLevel({word: id for id, word in enumerate(WORDS)}, unk_token="<pad>"))
    words.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="</s>").save_pretrained(folder)


def random_prompts(count: int, longest: int = 60) -> list[list[int]]:
    """Token ids of prompts of many lengths, from 1 to `longest`."""
    chance = random.Random(count)
    return [[chance.randrange(2, len(WORDS)) for _ in range(chance.randint(1, longest))] for _ in range(count)]


def related_prompts(count: int, longest: int = 120) -> list[list[int]]:
    """Token ids of prompts of many lengths; groups of four share a prefix."""
    chance = random.Random(count)
    prompts: list[list[int]] = []
    while len(prompts) < count:
        common = [chance.randrange(2, len(WORDS)) for _ in range(chance.randint(longest // 4, longest))]
        for _ in range(4):
            own = [chance.randrange(2, len(WORDS)) for _ in range(chance.randint(1, longest // 4))]
            prompts.append(common[: chance.randrange(len(common))] + own)
    return chance.sample(prompts[:count], count)
