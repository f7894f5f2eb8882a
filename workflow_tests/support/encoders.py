"""A tiny encoder with random weights, for tests of dense retrieval."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

WORDS = [f"w{number}" for number in range(200)]


def make_encoder(folder: Path, layers: int = 2, positions: int = 64) -> Path:
    """A BERT of 32 dimensions for so many tokens, with a vocabulary of words w0 to w199, saved in the folder."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({token: id for id, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        # Weights that are large enough for attention to differ between tokens.
        initializer_range=0.5,
    )
    BertModel(config).eval().save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
