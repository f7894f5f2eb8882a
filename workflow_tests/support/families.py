"""Tiny models with random weights, one for each family of architectures, and prompts for them."""

import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    MptConfig,
    MptForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
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


def llama() -> PreTrainedModel:
    return LlamaForCausalLM(LlamaConfig(**GROUPED))


def mistral() -> PreTrainedModel:
    return MistralForCausalLM(MistralConfig(**GROUPED, sliding_window=WINDOW))


def qwen2() -> PreTrainedModel:
    return Qwen2ForCausalLM(Qwen2Config(**GROUPED))


def gemma3() -> PreTrainedModel:
    """One layer with a sliding window and one without; tied embeddings would have it repeat its last word."""
    layers = ["sliding_attention", "full_attention"]
    shape = Gemma3TextConfig(
        **GROUPED, head_dim=8, sliding_window=WINDOW, layer_types=layers, tie_word_embeddings=False
    )  # fmt: skip
    return Gemma3ForCausalLM(shape)


def gpt_neox() -> PreTrainedModel:
    return GPTNeoXForCausalLM(GPTNeoXConfig(**SHAPE, initializer_range=0.5))


def mpt() -> PreTrainedModel:
    shape = MptConfig(
        d_model=32, n_heads=4, n_layers=2, expansion_ratio=2, max_seq_len=256, vocab_size=len(WORDS),
        initializer_range=0.5, **IDS,
    )  # fmt: skip
    return MptForCausalLM(shape)


def t5() -> PreTrainedModel:
    shape = T5Config(
        vocab_size=len(WORDS), d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
        feed_forward_proj="gated-gelu", initializer_factor=4.0, tie_word_embeddings=False,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    return T5ForConditionalGeneration(shape)


FAMILIES = {make.__name__: make for make in (llama, mistral, qwen2, gemma3, gpt_neox, mpt, t5)}
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
