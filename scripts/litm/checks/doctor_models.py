"""The doctor on models and the network: hub models, servers and files are asked, devices and memory are compared."""

import json
import os
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import httpx2

from litm.base.download import find_in_mirror, is_this_machine, opened, within
from litm.base.messages import UserError
from litm.config.data import Dataset
from litm.config.models import ApiModel, Model
from litm.inference.api_engine import key_mistake, key_variable
from litm.inference.costs import (
    ModelSize,
    Numbers,
    Shape,
    bytes_of_parameters,
    cache_bytes,
    cached_tokens,
    is_read_in_pieces,
    layer_bytes,
    loaded_bytes,
    score_bytes,
)
from litm.inference.engine import engine_facts
from litm.inference.retrying import masked
from litm.models.configuration import load_config
from litm.models.files import WEIGHTS, cached_file, is_gguf, missing_weights, weight_bytes
from litm.models.gguf import read_config, read_gguf
from litm.workflow.resources import billions_of

#: Statuses: fine; usable, but worth knowing; the run would fail.
OK, WARNING, MISSING = "ok", "warning", "missing"
#: Seconds that the network may take to answer, and Java to start.
PATIENCE = 5
#: Where the hub's token goes.
LOG_IN = "then set HF_TOKEN to a token of yours, or run `hf auth login`"
#: Locations of a remote file.
FETCHED, IN_MIRROR, ON_NETWORK = "fetched", "in the mirror", "on the network"
#: Bytes of a weight on the hub: half precision.
STORED = "bfloat16"
#: Names that configurations give to the width of the feed-forward network.
INNER_WIDTHS = ("intermediate_size", "ffn_dim", "d_ff", "n_inner")
#: Share of the free memory that may be taken before there is a warning: predictions are within a quarter.
COMFORTABLE = 0.9
#: Bytes of weights from which on a model is slow without a GPU.
LARGE = 2e9


@dataclass(frozen=True)
class Check:
    """The result for one thing. message: the finding and, unless the status is ok, the remedy."""

    status: str
    what: str
    message: str


#: A check of something that is fine; usable, but worth knowing; without which the run would fail.
ok, warning, missing = partial(Check, OK), partial(Check, WARNING), partial(Check, MISSING)


def in_bytes(size: float) -> str:
    """A number of bytes for people, in units of 10⁹ (GB) or 10⁶ (MB)."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


# --- Models of the hub


@dataclass(frozen=True)
class HubModel:
    """A model of the Hugging Face hub. cached: all its weights are in the local cache; error: why the hub gave no
    further facts; gated: its terms must be accepted; token: a token is set; allowed: the token's owner has accepted
    the terms; download: bytes of weights that are not cached.
    """

    cached: bool
    offline: bool = False
    error: str | None = None
    gated: bool = False
    token: bool = False
    allowed: bool = False
    download: int = 0


def hub_model(hub: str, revision: str | None) -> HubModel:
    """Facts about a hub model; the hub is asked only if the model is not cached."""
    from huggingface_hub import HfApi, constants, get_token
    from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError

    if cached_folder(hub, revision):
        return HubModel(cached=True)
    if constants.HF_HUB_OFFLINE:
        return HubModel(cached=False, offline=True)
    api, token = HfApi(), get_token() is not None
    try:
        info = api.model_info(hub, revision=revision, files_metadata=True, timeout=PATIENCE)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        gated = bool(info.gated)
        allowed = not gated or (token and _may_read(api, hub))
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError, OSError, HTTPError) as error:
        return HubModel(cached=False, error=str(error).strip().splitlines()[-1])
    by_kind = (sum(size for name, size in sizes.items() if Path(name).match(kind)) for kind in WEIGHTS)
    download = next(filter(None, by_kind), 0)
    return HubModel(cached=False, gated=gated, token=token, allowed=allowed, download=download)


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
    is_whole = config is not None and not missing_weights(config.parent) and weight_bytes(config.parent)
    return config.parent if config and is_whole else None


def hub_check(model: str, hub: str, facts: HubModel) -> Check:
    """Whether a hub model is cached or can be downloaded."""
    what = f"{model}: {hub}"
    if facts.cached:
        return ok(what, "in the local cache")
    elsewhere = "download it with the target `fetch` where there is a network, or set 'path' to a folder"
    if facts.offline:
        return missing(what, f"not in the local cache, and HF_HUB_OFFLINE forbids to fetch it: {elsewhere}")
    if facts.error:
        return missing(what, f"not in the local cache, and the hub does not provide it ({facts.error}): {elsewhere}")
    if facts.gated and not facts.token:
        return missing(what, f"gated: accept its terms at https://huggingface.co/{hub}, {LOG_IN}")
    if facts.gated and not facts.allowed:
        return missing(what, f"gated, and your token has no access: accept its terms at https://huggingface.co/{hub}")
    return ok(what, f"to be downloaded from the hub, {in_bytes(facts.download)}")


def download_of(model: Model, hub: HubModel | None) -> int:
    """Bytes of weights to download: by the hub, or else by the parameters of the catalogue; 0 if they are here."""
    if not model.hub or (hub and hub.cached):
        return 0
    return hub.download if hub and hub.download else int(bytes_of_parameters(billions_of(model), STORED))


# --- Servers


@dataclass(frozen=True)
class Api:
    """An API. variable: the environment variable of its key, None if it needs none; key: whether that is set; mistake:
    why the key is invalid (the server is then not asked); error: why the server gave no answer; status: of its answer
    to the request for its models; models: their names, None if missing.
    """

    url: str
    variable: str | None
    key: bool
    mistake: str | None = None
    error: str | None = None
    status: int | None = None
    models: tuple[str, ...] | None = None


def api(model: ApiModel) -> Api:
    """The answer of a model's server to a request for its models, which is free of charge."""
    provider = engine_facts(model.engine).provider
    assert provider is not None
    url = f"{(model.base_url or provider.url).rstrip('/')}{provider.models_path}"
    variable = key_variable(model.base_url, model.api_key_variable, provider.key_variable)
    key = os.environ.get(variable or "", "").strip()
    headers = {name: value.format(key=key) for name, value in provider.headers.items()} if key else {}
    facts = Api(url.partition("?")[0], variable, bool(key), key_mistake(key))
    if facts.mistake:
        return facts

    def ask() -> httpx2.Response:
        # A redirect must not be followed with the key, and this machine is not behind a proxy.
        behind_proxy = not is_this_machine(url)
        return httpx2.get(url, headers=headers, timeout=PATIENCE, follow_redirects=False, trust_env=behind_proxy)

    try:
        answer = within(3 * PATIENCE, ask)
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
        return replace(facts, error=masked(str(error), key) or type(error).__name__)
    return replace(facts, status=answer.status_code, models=_model_names(masked(answer.text, key)))


def _model_names(body: str) -> tuple[str, ...] | None:
    """The names in a list of models, which both protocols write alike; None for any other body."""
    try:
        return tuple(model["id"] for model in json.loads(body)["data"])
    except (ValueError, LookupError, TypeError):
        return None


def api_checks(model: str, api_model: str, facts: Api) -> list[Check]:
    """Whether an API's key is set, and its server answers and has the model."""
    checks = []
    if facts.variable and not facts.key:
        checks.append(missing(f"{model}: key", f"set the environment variable {facts.variable} to your key"))
    elif facts.mistake:
        return [missing(f"{model}: key", f"the key in {facts.variable} {facts.mistake}")]
    elif facts.variable:
        checks.append(ok(f"{model}: key", f"{facts.variable} is set"))
    return [*checks, _server_check(f"{model}: server", api_model, facts)]


def _server_check(what: str, api_model: str, facts: Api) -> Check:
    if facts.error:
        return missing(
            what, f"{facts.url} does not answer ({facts.error}): start it, or look at 'base_url' and the network"
        )
    if facts.status in (401, 403):
        wrong = f"the key in {facts.variable}" if facts.variable and facts.key else "a request without a key"
        return missing(what, f"{facts.url} does not accept {wrong} (status {facts.status})")
    if facts.models is None:
        return warning(what, f"{facts.url} answers but does not list its models (status {facts.status})")
    if api_model not in facts.models:
        return missing(what, f"{facts.url} has no model {api_model}: {_listing(facts.models)}")
    return ok(what, f"{facts.url} has {api_model}")


def _listing(names: tuple[str, ...]) -> str:
    more = ", ..." if len(names) > 5 else ""
    return f"it has {', '.join(names[:5])}{more}" if names else "it has none"


# --- Files


@dataclass(frozen=True)
class RemoteFile:
    """A file that the workflow fetches: its location, its bytes if known, and the error if it is unavailable."""

    name: str
    url: str
    where: str
    size: int | None = None
    error: str | None = None


def remote_file(dataset: Dataset, folder: Path, mirror: str | None) -> RemoteFile:
    """Location of a remote file: in `folder`, in the mirror, or at its address, which is asked for the size."""
    assert dataset.url is not None
    if (folder / dataset.file).exists():
        return RemoteFile(dataset.file, dataset.url, FETCHED)
    if mirror and find_in_mirror(Path(mirror).expanduser(), dataset.file, dataset.url, dataset.checksum):
        return RemoteFile(dataset.file, dataset.url, IN_MIRROR)
    request = urllib.request.Request(dataset.url, method="HEAD")
    try:
        with opened(request, PATIENCE) as answer:
            size = int(answer.headers.get("Content-Length") or 0)
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "reason", error)) or f"no answer within {PATIENCE} seconds"
        return RemoteFile(dataset.file, dataset.url, ON_NETWORK, error=reason)
    return RemoteFile(dataset.file, dataset.url, ON_NETWORK, size or None)


def file_check(facts: RemoteFile) -> Check:
    """Whether a remote file is present or can be fetched."""
    if facts.where != ON_NETWORK:
        return ok(facts.name, facts.where)
    if facts.error:
        return missing(
            facts.name,
            f"{facts.url} cannot be reached ({facts.error}): put the file into a folder and set data_mirror to it",
        )
    size = f", {in_bytes(facts.size)}" if facts.size else ""
    return ok(facts.name, f"to be fetched from {facts.url.split('/')[2]}{size}")


@dataclass(frozen=True)
class Remote:
    """What is on the network: models of the hub by name, and files."""

    hubs: Mapping[str, HubModel]
    files: Sequence[RemoteFile]


# --- Devices and memory


@dataclass(frozen=True)
class Gpu:
    """A CUDA device, its memory in bytes."""

    name: str
    free: int
    total: int


def gpus() -> tuple[Gpu, ...]:
    """The CUDA devices that torch sees."""
    import torch

    found = []
    for index in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(index)
        found.append(Gpu(torch.cuda.get_device_name(index), free, total))
    return tuple(found)


def device_check(model: str, device: str, wanted: int, gpus: Sequence[Gpu], weight_bytes: int | None) -> Check:
    """Whether the device of a model's entry exists, and enough GPUs if it is one.

    weight_bytes: of the model's files, None if unknown.
    """
    what = f"{model}: device"
    if device == "cpu":
        return ok(what, "cpu")
    if device == "auto" and not gpus:
        slow = weight_bytes is not None and weight_bytes >= LARGE
        return (warning if slow else ok)(what, "auto: no GPU here, so the CPU" + (", which is slow" if slow else ""))
    first = int(device.partition(":")[2] or 0)
    if first + wanted > len(gpus):
        return missing(
            what,
            f"{device}, {wanted} GPU(s): torch sees {len(gpus)} here; set the model's 'device' or 'gpus', or use "
            "another machine",
        )
    return ok(what, ", ".join(gpu.name for gpu in gpus[first : first + wanted]))


@dataclass(frozen=True)
class Longest:
    """The longest prompt of a model with its answer, in tokens; is_counted: or estimated by its items."""

    tokens: int
    is_counted: bool


@dataclass(frozen=True)
class Free:
    """Free memory: its owner (machine or GPUs), and bytes."""

    where: str
    bytes: int


def memory_of(device: str, wanted: int, gpus: Sequence[Gpu]) -> Free:
    """The total memory of the GPUs that a model would use."""
    first = int(device.partition(":")[2] or 0)
    used = gpus[first : first + wanted]
    return Free(", ".join(gpu.name for gpu in used), sum(gpu.free for gpu in used))


def model_size(location: str, revision: str | None, of_weights: float) -> ModelSize | None:
    """What a model takes, by its configuration and the bytes of its files; None if the configuration is not here."""
    path = Path(location)
    try:
        config = read_config(path) if is_gguf(path) else load_config(location, revision)
    except UserError:
        return None
    text = config.get_text_config()
    stored = None if getattr(config, "quantization_config", None) else getattr(config.dtype, "itemsize", 4)
    if is_gguf(path):
        of_weights, stored = read_gguf(path).weights * 4, 4
    width = getattr(text, "hidden_size", None) or 0
    shape = Shape(
        layers=getattr(text, "num_decoder_layers", None) or getattr(text, "num_hidden_layers", None) or 0,
        width=width,
        inner_width=int(next((value for name in INNER_WIDTHS if (value := getattr(text, name, None))), 4 * width)),
        heads=getattr(text, "num_attention_heads", None) or 0,
        kv_heads=getattr(text, "num_key_value_heads", None),
        head_size=getattr(text, "head_dim", None),
        in_pieces=is_read_in_pieces(text.to_dict()),
    )
    return shape.size(of_weights, stored)


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
