"""The doctor on models and the network: hub models, servers and files are asked, devices and memory are compared."""

import json
import os
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from ssl import SSLCertVerificationError

import httpx2

from litm.base.download import is_this_machine, opened, within
from litm.base.messages import UserError
from litm.base.schema import listing
from litm.config.data import Dataset
from litm.engines.local_models import LocalModel
from litm.engines.registry import engine_facts
from litm.engines.served_models import ServedModel
from litm.models.configuration import load_config
from litm.models.locations import WEIGHTS, cached_file, indexed_files, is_gguf, weight_bytes
from litm.planning.memory import (
    SIZES,
    ModelSize,
    Numbers,
    billions_of,
    bytes_of_parameters,
    cache_bytes,
    cached_tokens,
    layer_bytes,
    loaded_bytes,
    score_bytes,
    size_of,
    sized,
)
from litm.servers.api_engine import key_mistake, key_variable
from litm.servers.retrying import masked
from litm.servers.server_errors import UNTRUSTED, first_cause

#: Statuses: fine; usable, but worth knowing; the run would fail.
OK, WARNING, MISSING = "ok", "warning", "missing"
#: Seconds that the network may take to answer, and Java to start.
PATIENCE = 5
#: Where the hub's token goes.
LOG_IN = "then set HF_TOKEN to a token of yours, or run `hf auth login`"
#: Bytes of a weight on the hub: half precision.
STORED = "bfloat16"
#: Share of the free memory that may be taken before there is a warning: predictions are within a quarter.
COMFORTABLE = 0.9
#: Bytes of weights from which on a model is slow without a GPU.
LARGE = 2e9


@dataclass(frozen=True)
class Check:
    """The result for one thing. message: the finding and, unless the status is ok, the remedy; download: bytes of it
    that are not here yet, None if their number is unknown; gated: whether terms must be accepted, None if that is
    unknown.
    """

    status: str
    what: str
    message: str
    download: int | None = 0
    gated: bool | None = False


#: A check of something that is fine; usable, but worth knowing; without which the run would fail.
ok, warning, missing = partial(Check, OK), partial(Check, WARNING), partial(Check, MISSING)


def in_bytes(size: float) -> str:
    """A number of bytes for people, in units of 10⁹ (GB) or 10⁶ (MB)."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


# --- Models of the hub


def hub_check(model: LocalModel) -> Check:
    """Whether a hub model is in the local cache or can be downloaded; the hub is asked only if it is not cached."""
    from huggingface_hub import HfApi, constants, get_token
    from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError

    hub = str(model.hub)
    what, terms = f"{model.name}: {hub}", f"accept its terms at https://huggingface.co/{hub}"
    if cached_folder(hub, model.revision):
        return ok(what, "in the local cache")
    elsewhere = "download it with the target `fetch` where there is a network, or set 'path' to a folder"
    if constants.HF_HUB_OFFLINE:
        why = "HF_HUB_OFFLINE forbids to fetch it"
        return missing(what, f"not in the local cache, and {why}: {elsewhere}", download=None, gated=None)
    api, has_token = HfApi(), get_token() is not None
    try:
        info = api.model_info(hub, revision=model.revision, files_metadata=True, timeout=PATIENCE)
        is_allowed = not info.gated or (has_token and _may_read(api, hub))
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError, OSError, HTTPError) as error:
        why = f"the hub does not provide it ({str(error).strip().splitlines()[-1]})"
        return missing(what, f"not in the local cache, and {why}: {elsewhere}", download=None, gated=None)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    by_kind = (sum(size for name, size in sizes.items() if Path(name).match(kind)) for kind in WEIGHTS)
    download = next(filter(None, by_kind), None)
    told = f"to be downloaded from the hub, {in_bytes(download or 0)}"
    if not is_allowed:
        told = f"gated, and your token has no access: {terms}" if has_token else f"gated: {terms}, {LOG_IN}"
    return Check(OK if is_allowed else MISSING, what, told, download, bool(info.gated))


def _may_read(api, hub: str) -> bool:
    from huggingface_hub.errors import GatedRepoError

    try:
        api.auth_check(hub)
    except GatedRepoError:
        return False
    return True


def cached_folder(hub: str, revision: str | None) -> Path | None:
    """The folder of a hub model in the local cache; None unless it has all weights."""
    config = cached_file(hub, "config.json", revision)
    is_whole = config is not None and not indexed_files(config.parent, are_there=False) and weight_bytes(config.parent)
    return config.parent if config and is_whole else None


def download_of(model: LocalModel, hub: Check | None) -> int:
    """Bytes of weights to download: by the hub, or else by the parameters of the catalogue; 0 if they are here."""
    if not model.hub or (hub and hub.download is not None):
        return (hub and hub.download) or 0
    return int(bytes_of_parameters(billions_of(model), STORED))


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
        told = f"{variable} is set" if key else f"set the environment variable {variable} to your key"
        yield (ok if key else missing)(f"{model.name}: key", told)
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
    elif longer := [one for one in names if one.startswith(model.api_model) or one.endswith(f"/{model.api_model}")]:
        told = f"{url} does not list {model.api_model}, but {listing(longer, model.api_model)}"
        yield warning(what, f"{told}: fine if the server knows the shorter name, else set 'api_model' to the longer")
    else:
        listed = listing(names, model.api_model) or "none"
        yield missing(what, f"{url} has no model {model.api_model}: it has {listed}")


# --- Files


def file_check(dataset: Dataset, folder: Path, mirror: str | None) -> Check:
    """Whether a remote file is in `folder` or in the mirror, or its address answers, which is asked for its size."""
    name, url = dataset.file, str(dataset.url)
    about = int(1e6 * dataset.megabytes) if dataset.megabytes else None
    if found := dataset.found(folder, mirror):
        return ok(name, found)
    try:
        with opened(urllib.request.Request(url, method="HEAD"), PATIENCE) as answer:
            size = int(answer.headers.get("Content-Length") or 0) or about
    except (OSError, ValueError) as error:
        why = str(getattr(error, "reason", error)) or f"no answer within {PATIENCE} seconds"
        remedy = "put the file into a folder and set data_mirror to it"
        return missing(name, f"{url} cannot be reached ({why}): {remedy}", download=about)
    told = f"to be fetched from {url.split('/')[2]}" + (f", {in_bytes(size)}" if size else "")
    return ok(name, told, download=size)


@dataclass(frozen=True)
class Remote:
    """The checks of what is on the network: models of the hub by name, and files."""

    hubs: Mapping[str, Check]
    files: Sequence[Check]


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
    return [Free(torch.cuda.get_device_name(one), torch.cuda.mem_get_info(one)[0]) for one in range(count)]


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


@dataclass(frozen=True)
class Longest:
    """The longest prompt of a model with its answer, in tokens; is_counted: or estimated by its items."""

    tokens: int
    is_counted: bool


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
    longest: Longest | None,
    gpus: int = 1,
    batch_tokens: int = 0,
) -> Check:
    """Whether a model's weights, the cache of its longest prompt, a layer that reads it and the scores of its attention
    fit the memory that is free, and the caches of a batch of `batch_tokens`. gpus: that share the weights and the
    caches; each has the scores of its own layers.
    """
    what = f"{model}: memory"
    tokens = longest.tokens if longest else 0
    weights, per_token = loaded_bytes(size, numbers), cache_bytes(size, numbers)
    cache, scores = per_token * tokens, score_bytes(size, numbers, tokens)
    batch = per_token * (cached_tokens(tokens, batch_tokens) - tokens)
    takes = f"weights take {in_bytes(weights)}"
    if longest is not None:
        about = "" if longest.is_counted else "about "
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
