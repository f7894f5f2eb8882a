"""Keys of models that have defaults in the configuration: `model_defaults`."""

from typing import Annotated, Literal

from pydantic import Field

from litm.base.schema import FILLED_IN, Entry
from litm.config.values import Device


class AskKeys(Entry):
    """Keys of models that answer prompts; a config may have defaults for them."""

    prompt_template: str = FILLED_IN
    """Format of the prompt: raw (as it is), chat (as the user's message in the tokenizer's or the server's chat
    template), or a file of resources/prompt_templates. If left out: raw if the tokenizer has no chat template, chat if
    the model's name marks a model that follows instructions (instruct, chat, it), otherwise an error.
    """
    on_failure: Literal["stop", "count"] = "stop"
    """What to do if prompts get no answer (for example by a server's failure): stop (an error) or count (they are
    counted as failed in the tables and not scored). In both cases all answers are kept, and only prompts without an
    answer are asked again: after stop by the next run, after count by `snakemake --forcerun generate`. It changes no
    answer.
    """


class RunKeys(Entry):
    """Keys of models that run here; a config may have defaults for them."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Number format of the weights and the computation. auto is what the device computes fast and exactly: bfloat16
    where the processor or GPU has instructions for it, else float32, on a GPU float16 (not for encoder-decoders). Log,
    manifest and report say which was taken and why. Answers in different formats are never mixed: on a machine that
    takes another format all prompts are asked again, and naming the first one here keeps its answers. Weights that are
    stored quantised keep their own format with auto.
    """
    quantization: Literal["none", "nf4", "int8"] = "none"
    """none, or a format of bitsandbytes: nf4 (4 bits, NF4 with double quantisation) or int8. Computation is in `dtype`;
    int8 multiplies in float16, and its answers may depend on the batch.
    """
    attention: Literal["sdpa", "eager", "flash_attention_2"] = "sdpa"
    """Attention implementation of transformers."""
    device: Device = "auto"
    gpus: int = Field(1, ge=1)
    """GPUs per sweep; the model's layers are spread over several GPUs."""
    shards: int = Field(1, ge=1)
    """Jobs per sweep, divided by question, so that several GPUs or machines work on it at once. Each job reuses all
    earlier answers, even those of another number of shards.
    """
    batch_tokens: int = Field(16384, ge=1)
    """Tokens in one batch, with padding and new tokens. When memory runs out it is halved, with a note."""
    threads: int = Field(8, ge=1)
    """CPU threads per sweep, at most Snakemake's cores."""


class RequestKeys(Entry):
    """Keys of models on a server; a config may have defaults for them."""

    concurrency: int = Field(8, ge=1)
    """Simultaneous requests to a server."""
    request_timeout: int = Field(600, ge=1)
    """Seconds without any data from the server after which a request is cancelled and sent again."""
    request_total_timeout: Annotated[int, Field(ge=1)] | None = None
    """Seconds after which a request is cancelled and sent again even if the server still sends data, such as blanks
    that keep a connection open while a model reasons. If left out, an hour, or `request_timeout` if that is longer.
    """
    request_attempts: int = Field(10, ge=1)
    """Attempts per prompt, with growing waits between them. After the last, the prompt has no answer until the next
    run.
    """


class ModelDefaults(RequestKeys, AskKeys, RunKeys):
    """Defaults for keys that a model's entry leaves out."""
