"""The doctor on models: servers are asked, devices and memory are compared."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLCertVerificationError

import httpx2

from litm.base.download import is_this_machine, within
from litm.base.messages import UserError
from litm.base.schema import listing
from litm.engines.registry import engine_facts
from litm.engines.served_models import ServedModel
from litm.models.configuration import load_config
from litm.models.locations import is_gguf
from litm.planning.downloads import PATIENCE, Check, in_bytes, missing, ok, warning
from litm.planning.memory import (
    SIZES,
    ModelSize,
    Numbers,
    cache_bytes,
    cached_tokens,
    layer_bytes,
    loaded_bytes,
    score_bytes,
    size_of,
    sized,
)
from litm.planning.tokens import COUNTED, Work
from litm.servers.api_engine import key_mistake, key_variable
from litm.servers.retrying import masked
from litm.servers.server_errors import UNTRUSTED, first_cause

#: Share of the free memory that may be taken before there is a warning: predictions are within a quarter.
COMFORTABLE = 0.9
#: Bytes of weights from which on a model is slow without a GPU.
LARGE = 2e9


# --- Servers


def server_checks(model: ServedModel) -> Iterator[Check]:
    """Whether the key of a model's server is set, and the server answers and has the model: it is asked for its models,
    which is free of charge.
    """
    provider = engine_facts(model.engine).provider
    assert provider is not None
    address = f"{(model.base_url or provider.url).rstrip('/')}{provider.models_path}"
    variable = key_variable(model.base_url, model.api_key_variable, provider.key_variable)
    key = os.environ.get(variable or "", "").strip()
    if mistake := key_mistake(key):
        yield missing(f"{model.name}: key", f"the key in {variable} {mistake}")
        return
    if variable:
        finding = f"{variable} is set" if key else f"set the environment variable {variable} to your key"
        yield (ok if key else missing)(f"{model.name}: key", finding)
    headers = {name: value.format(key=key) for name, value in provider.headers.items()} if key else {}

    def ask() -> httpx2.Response:
        # A redirect must not be followed with the key, and this machine is not behind a proxy.
        behind_proxy = not is_this_machine(address)
        return httpx2.get(address, headers=headers, timeout=PATIENCE, follow_redirects=False, trust_env=behind_proxy)

    what, url = f"{model.name}: server", address.partition("?")[0]
    try:
        answer = within(3 * PATIENCE, ask)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        why = masked(str(error), key) or type(error).__name__
        remedy = "start it, or look at 'base_url' and the network" if model.base_url else "look at the network"
        if isinstance(first_cause(error), SSLCertVerificationError):
            remedy = UNTRUSTED
        elif is_this_machine(address) and not model.base_url:
            remedy = "start it"
        yield missing(what, f"{url} does not answer ({why}): {remedy}")
        return
    status, names = f"(status {answer.status_code})", None
    with suppress(ValueError, LookupError, TypeError):
        names = [str(name) for name in provider.model_names(json.loads(masked(answer.text, key)))]
    if answer.status_code in (401, 403):
        wrong = f"the key in {variable}" if key else "a request without a key"
        yield missing(what, f"{url} does not accept {wrong} {status}")
    elif names is None:
        yield warning(what, f"{url} answers but does not list its models {status}")
    elif {model.api_model, f"{model.api_model}:latest", f"models/{model.api_model}"} & {*names}:
        yield ok(what, f"{url} has {model.api_model}{', asked in batches' if model.batch else ''}")
    elif longer := [name for name in names if name.startswith(model.api_model) or name.endswith(f"/{model.api_model}")]:
        finding = f"{url} does not list {model.api_model}, but {listing(longer, model.api_model)}"
        yield warning(what, f"{finding}: fine if the server knows the shorter name, else set 'api_model' to the longer")
    else:
        listed = listing(names, model.api_model) or "none"
        yield missing(what, f"{url} has no model {model.api_model}: it has {listed}")


# --- Devices and memory


@dataclass(frozen=True)
class Free:
    """Free memory: its owner (machine or GPUs), and bytes."""

    where: str
    bytes: int


def gpus() -> list[Free]:
    """The free memory of the CUDA devices that torch sees."""
    import torch

    count = torch.cuda.device_count()
    return [Free(torch.cuda.get_device_name(index), torch.cuda.mem_get_info(index)[0]) for index in range(count)]


def used_gpus(device: str, wanted: int, gpus: Sequence[Free]) -> Sequence[Free]:
    """The GPUs that a model would use."""
    first = int(device.partition(":")[2] or 0)
    return gpus[first : first + wanted]


def device_check(model: str, device: str, wanted: int, gpus: Sequence[Free], weight_bytes: int | None) -> Check:
    """Whether the device of a model's entry exists, and enough GPUs if it is one.

    weight_bytes: of the model's files, None if unknown.
    """
    what = f"{model}: device"
    if device == "cpu":
        return ok(what, "cpu")
    if device == "auto" and not gpus:
        slow = weight_bytes is not None and weight_bytes >= LARGE
        return (warning if slow else ok)(what, "auto: no GPU here, so the CPU" + (", which is slow" if slow else ""))
    used = used_gpus(device, wanted, gpus)
    if len(used) < wanted:
        return missing(
            what,
            f"{device}, {wanted} GPU(s): torch sees {len(gpus)} here; set the model's 'device' or 'gpus', or use "
            "another machine",
        )
    return ok(what, ", ".join(gpu.where for gpu in used))


def model_size(location: str, revision: str | None, of_weights: float) -> ModelSize | None:
    """What a model takes, by its configuration and the bytes of its files; None if the configuration is not here, or
    names no sizes.
    """
    if is_gguf(location):
        return size_of(Path(location))
    try:
        config = load_config(location, revision)
    except UserError:
        return None
    text = config.get_text_config()
    # An architecture has other names for some, which its configuration translates.
    translated = {name: getattr(text, name, None) for names in SIZES for name in names}
    stored = None if getattr(config, "quantization_config", None) else getattr(config.dtype, "itemsize", 4)
    return sized({**text.to_dict(), **translated}, of_weights, stored)


def memory_check(
    model: str,
    size: ModelSize,
    numbers: Numbers,
    free: Free,
    longest: Work | None,
    gpus: int = 1,
    batch_tokens: int = 0,
) -> Check:
    """Whether a model's weights, the cache of its longest prompt, a layer that reads it and the scores of its attention
    fit the memory that is free, and the caches of a batch of `batch_tokens`. gpus: that share the weights and the
    caches; each has the scores of its own layers.
    """
    what = f"{model}: memory"
    tokens = longest.longest if longest else 0
    weights, per_token = loaded_bytes(size, numbers), cache_bytes(size, numbers)
    cache, scores = per_token * tokens, score_bytes(size, numbers, tokens)
    batch = per_token * (cached_tokens(tokens, batch_tokens) - tokens)
    takes = f"weights take {in_bytes(weights)}"
    if longest is not None:
        about = "" if longest.basis == COUNTED else "about "
        takes += f", the cache of the longest prompt ({about}{tokens} tokens) {in_bytes(cache)}"
        if batch:
            takes += f", those of a batch ('batch_tokens: {batch_tokens}') {in_bytes(batch)}"
        if scores:
            takes += f", the scores of eager attention {in_bytes(scores)}" + (" on each GPU" if gpus > 1 else "")
    takes += f"; {in_bytes(free.bytes)} free on {free.where}"
    needed = weights + cache + layer_bytes(size, numbers, tokens) + gpus * scores
    if needed > free.bytes and scores * gpus > free.bytes / 2:
        return missing(
            what, f"{takes}: choose smaller sizes (`only`), or another 'attention' or engine; more GPUs do not help"
        )
    if needed > free.bytes:
        return missing(what, f"{takes}: use a larger device, 'gpus', or fewer bits ('quantization: nf4', 'dtype')")
    if needed + batch > free.bytes:
        return warning(what, f"{takes}: that is too much for a batch; lower 'batch_tokens'")
    if needed + batch > COMFORTABLE * free.bytes:
        return warning(what, f"{takes}: that is close; free memory there or use fewer bits ('quantization', 'dtype')")
    if longest is None and per_token:
        takes += f", enough to cache about {(free.bytes - weights) / per_token:.0f} tokens"
    return ok(what, takes)
