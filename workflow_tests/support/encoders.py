"""A tiny encoder and a tiny cross-encoder with random weights, for tests of dense retrieval and of reranking."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

WORDS = [f"w{number}" for number in range(200)]


def make_encoder(folder: Path, positions: int = 64) -> Path:
    """A BERT with 32 dimensions and the vocabulary w0 to w199, saved in the folder."""
    return _saved(BertModel, folder, layers=2, max_position_embeddings=positions)


def make_cross_encoder(folder: Path, layers: int = 2, labels: int = 1) -> Path:
    """The same with a head that gives each pair of texts `labels` scores."""
    return _saved(BertForSequenceClassification, folder, layers, num_labels=labels)


def _saved(architecture: type, folder: Path, layers: int, **config_keys: int) -> Path:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({token: id for id, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokens), hidden_size=32, num_hidden_layers=layers, num_attention_heads=4, intermediate_size=64,
        # Weights that are large enough for attention to differ between tokens.
        **{"max_position_embeddings": 64, "initializer_range": 0.5, **config_keys},
    )  # fmt: skip
    architecture(config).eval().save_pretrained(folder)
    return folder
