"""Loading of generating models of Hugging Face: all weights, as stored or quantised."""

import logging
from typing import Any, cast

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    BitsAndBytesConfig,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging as transformers_logging

from litm.base.loading import first_line, loading
from litm.base.messages import UserError
from litm.inference.engine import INT8, NF4, NO_QUANTIZATION, EngineSettings
from litm.models.files import ADAPTER_REMEDY
from litm.models.generation_config import check_generation_config

#: Rows of a weight matrix that bitsandbytes' fast product on a processor takes at a time.
FAST_PRODUCT_ROWS = 32

transformers_logging.disable_progress_bar()
# bitsandbytes warns at every product that int8 computes in float16; the schema of models says it once.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def load_model(settings: EngineSettings, config: PretrainedConfig, device: torch.device) -> PreTrainedModel:
    """The model on a device, ready to generate: an encoder-decoder or a causal model, by its configuration.

    Raises `UserError` if it cannot be loaded, or if its files lack some of its weights.
    """
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    dtype = settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype)
    with loading(f"model {settings.location}", loading_problem):
        # A cast, because the checker does not see that the loading report makes it a pair.
        model, report = cast(Any, kind).from_pretrained(
            settings.location,
            config=config,
            revision=settings.revision,
            trust_remote_code=settings.trust_remote_code,
            use_safetensors=True,
            dtype=dtype,
            attn_implementation=settings.attention,
            quantization_config=quantization_config(settings.quantization, dtype, config),
            # Quantised weights are created on the device and cannot be moved.
            device_map="auto" if settings.gpus > 1 else {"": device},
            output_loading_info=True,
            # Mismatches are reported below, instead of in a traceback.
            ignore_mismatched_sizes=True,
        )
    if getattr(model, "_hf_peft_config_loaded", False):
        raise UserError(f"model {settings.location} {ADAPTER_REMEDY}")
    # For a hub model, the file exists only now.
    check_generation_config(settings.location, settings.revision)
    # Weights that the files lack would be random.
    absent = sorted([*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])])
    if absent:
        raise UserError(
            f"model {settings.location}: its files lack {len(absent)} weights of {type(model).__name__} or have "
            f"them in another shape ({absent[0]}, ...); get the model again"
        )
    if device.type == "cpu" and settings.quantization == NF4:
        compute_odd_shapes_plainly(model)
    return model.eval()


def compute_odd_shapes_plainly(model: PreTrainedModel) -> None:
    """Keep 4-bit weights from bitsandbytes' fast product for processors with AVX-512 if it would fail.

    It needs rows of whole blocks, `FAST_PRODUCT_ROWS` at a time; only small models have other shapes.
    """
    # Imported here: it takes a second.
    from bitsandbytes.nn import Linear4bit

    for module in model.modules():
        if isinstance(module, Linear4bit):
            block = cast(Any, module.weight).quant_state.blocksize
            if module.in_features % block or module.out_features % FAST_PRODUCT_ROWS:
                module.support_avx512bf16_for_cpu = False


def loading_problem(error: Exception) -> str:
    """One line on why a model could not be loaded, with the remedy where it is a setting."""
    text = str(error).strip()
    if "does not support an attention" in text or "does not support Flash Attention" in text:
        return "its architecture has no such implementation of attention: set the model's 'attention' to eager"
    return first_line(error)


def quantization_config(
    quantization: str, dtype: torch.dtype | str, config: PretrainedConfig
) -> BitsAndBytesConfig | None:
    """The settings for bitsandbytes (NF4: Dettmers et al. 2023); computes in `dtype`, 'auto' being the stored one."""
    if quantization == NO_QUANTIZATION:
        return None
    if getattr(config, "quantization_config", None):
        raise UserError("its weights are quantised already: set the model's 'quantization' to none")
    if quantization == INT8:
        return BitsAndBytesConfig(load_in_8bit=True)
    computed_in = (config.dtype or torch.float32) if isinstance(dtype, str) else dtype
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=NF4,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=computed_in,
    )
