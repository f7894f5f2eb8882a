"""The configuration of a model, and its context windows: how many tokens it reads and writes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from litm.base.loading import loading, show_torch
from litm.base.messages import UserError, quoted

if TYPE_CHECKING:
    from transformers import PretrainedConfig

#: Names of the context length in configurations, most usual first; architectures with two lengths have two names.
CONTEXT_WINDOW_NAMES = ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length")
ENCODER_WINDOW_NAMES = (*CONTEXT_WINDOW_NAMES, "max_encoder_position_embeddings")
DECODER_WINDOW_NAMES = (*CONTEXT_WINDOW_NAMES, "max_decoder_position_embeddings")
#: Set by T5-style models, whose positions are relative and therefore unlimited.
RELATIVE_POSITIONS = "relative_attention_num_buckets"
#: Sizes that every network needs.
COUNTS = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")
#: The key of a configuration that makes transformers read its weights from another file.
WEIGHTS_NAME = "transformers_weights"


def load_config(
    location: str, revision: str | None, changes: Mapping[str, Any] | None = None, own_code: bool = False
) -> "PretrainedConfig":
    """The configuration of a model in a folder or on the hub, with its architecture's defaults filled in.

    changes: values that override its own; own_code: whether code that comes with the model may run. Raises `UserError`
    if the configuration cannot be read, lacks a key of `changes`, or names a file of weights.
    """
    if own_code:
        # That code may import it.
        show_torch()
    from transformers import AutoConfig

    with loading(f"configuration of {location}"):
        config, unknown = AutoConfig.from_pretrained(
            location, revision=revision, trust_remote_code=own_code, return_unused_kwargs=True, **(changes or {})
        )
    if unknown:
        (name, *_) = unknown
        raise UserError(f"configuration of {location}: it has no '{name}': fix the model's 'config'")
    if weights := getattr(config, WEIGHTS_NAME, None):
        raise UserError(
            f"configuration of {location}: '{WEIGHTS_NAME}' names {quoted(str(weights))}, a file that the model's "
            f"identity would not cover: name it model.safetensors, in the model's folder, and remove '{WEIGHTS_NAME}'"
        )
    for name in COUNTS:
        if isinstance(count := getattr(config.get_text_config(), name, None), int) and count < 1:
            raise UserError(f"configuration of {location}: '{name}' must be at least 1, found {count}")
    return config


def context_window_of(config: "PretrainedConfig") -> int | None:
    """Most tokens of prompt and answer together (for an encoder-decoder: of the prompt) by a model's configuration;
    None for no limit.

    For models with relative positions `n_positions` is no limit, but the length of their training inputs.
    """
    if not config.is_encoder_decoder:
        return _longest(config.get_text_config(), CONTEXT_WINDOW_NAMES)
    return _longest(getattr(config, "encoder", config).get_text_config(), ENCODER_WINDOW_NAMES)


def answer_window_of(config: "PretrainedConfig") -> int | None:
    """Most tokens of an answer by an encoder-decoder, whose decoder has a context of its own; None for no limit."""
    return _longest(config.get_text_config(decoder=True), DECODER_WINDOW_NAMES)


def _longest(config: "PretrainedConfig", names: Iterable[str]) -> int | None:
    if hasattr(config, RELATIVE_POSITIONS):
        return None
    return next((length for name in names if isinstance(length := getattr(config, name, None), int)), None)
