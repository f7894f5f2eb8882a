"""What a study downloads and stores: models of the hub and files are looked for here and there, disk is estimated."""

import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from litm.base.download import opened
from litm.base.messages import first_of
from litm.config.data import Dataset
from litm.config.needs import Needs, needs_of
from litm.config.study import Study
from litm.engines.local_models import LocalModel
from litm.models.locations import WEIGHTS, cached_file, indexed_files, weight_bytes
from litm.planning.memory import billions_of, bytes_of_parameters
from litm.planning.tokens import most_work, prompts_by_size
from litm.records.measures import ANSWER

#: Statuses: fine; usable, but worth knowing; the run would fail.
OK, WARNING, MISSING = "ok", "warning", "missing"
#: Seconds that the network may take to answer, and Java to start.
PATIENCE = 5
#: Where the hub's token goes.
LOG_IN = "then set HF_TOKEN to a token of yours, or run `hf auth login`"
#: Owners whose models' terms must be accepted, where the hub cannot be asked.
GATED = ("meta-llama/",)
#: Bytes of a weight on the hub: half precision.
STORED = "bfloat16"
#: Bytes, rough upper estimates: a packed prompt with its scores and token counts; a kept answer and its response; a
#: passage with its entry in Lucene's index; a vector of 768 numbers.
PROMPT, RESPONSE, PASSAGE, VECTOR = 10_000, 2_000, 2_000, 768 * 4
#: Models that a line names.
SHOWN = 6


@dataclass(frozen=True)
class Check:
    """The result for one thing."""

    status: str
    what: str
    message: str
    """The finding and, unless the status is ok, the remedy."""
    download: int | None = 0
    """Bytes of it that are not here yet, None if their number is unknown."""
    gated: bool | None = False
    """Whether terms must be accepted, None if that is unknown."""


#: A check of something that is fine; usable, but worth knowing; without which the run would fail.
ok, warning, missing = partial(Check, OK), partial(Check, WARNING), partial(Check, MISSING)


def in_bytes(size: float) -> str:
    """A number of bytes for people, in units of 10⁹ (GB) or 10⁶ (MB)."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


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
    state = f"to be downloaded from the hub, {in_bytes(download or 0)}"
    if not is_allowed:
        state = f"gated, and your token has no access: {terms}" if has_token else f"gated: {terms}, {LOG_IN}"
    return Check(OK if is_allowed else MISSING, what, state, download, bool(info.gated))


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


def file_check(dataset: Dataset, folder: Path, mirror: str | None) -> Check:
    """Whether a remote file is in `folder` or in the mirror, or its address answers, which is asked for its size."""
    name, url = dataset.file, str(dataset.url)
    about = int(1e6 * dataset.megabytes) if dataset.megabytes else None
    if place := dataset.availability(folder, mirror):
        return ok(name, place)
    try:
        with opened(urllib.request.Request(url, method="HEAD"), PATIENCE) as answer:
            size = int(answer.headers.get("Content-Length") or 0) or about
    except (OSError, ValueError) as error:
        why = str(getattr(error, "reason", error)) or f"no answer within {PATIENCE} seconds"
        remedy = "put the file into a folder and set data_mirror to it"
        return missing(name, f"{url} cannot be reached ({why}): {remedy}", download=about)
    source = f"to be fetched from {url.split('/')[2]}" + (f", {in_bytes(size)}" if size else "")
    return ok(name, source, download=size)


@dataclass(frozen=True)
class Remote:
    """The checks of what is on the network: models of the hub by name, and files."""

    hubs: Mapping[str, Check]
    files: Sequence[Check]


def look_remote(study: Study, results: Path) -> Remote:
    """Ask the hub and the servers of files; results: the folder of results, which may be missing."""
    models = [model for model in study.asked_models.values() if model.is_local and model.hub]
    with ThreadPoolExecutor() as pool:
        hubs = pool.map(hub_check, models)
        files = pool.map(
            lambda dataset: file_check(dataset, results / "data", study.data_mirror), needs_of(study).remote_files
        )
    return Remote(dict(zip((model.name for model in models), hubs, strict=True)), [*files])


def download_lines(study: Study, there: Remote) -> Iterator[str]:
    """Lines on what is downloaded and stored."""
    needs, models = needs_of(study), [study.asked_models[name] for name in there.hubs]
    weights = {model.name: download_of(model, there.hubs[model.name]) for model in models if model.is_local}
    if fetched := {name: size for name, size in weights.items() if size}:
        hub_answers = all(hub.download is not None for hub in there.hubs.values())
        basis = "as the hub says" if hub_answers else "by parameters, as the hub does not answer for all"
        each = first_of([f"{name} {in_bytes(size)}" for name, size in fetched.items()], SHOWN)
        yield f"Weights to download: {in_bytes(sum(fetched.values()))}, {basis} ({each})."
    sizes = [file.download for file in there.files]
    vectors = _vector_bytes(needs)
    of_vectors = f" ({in_bytes(vectors)} are vectors of passages)" if vectors else ""
    of_unknown = f" and {sizes.count(None)} files of unknown size" if None in sizes else ""
    data = in_bytes(sum(filter(None, sizes)))
    yield f"Disk: results {in_bytes(results_bytes(study, needs))}{of_vectors}; data to fetch {data}{of_unknown}."


def first_steps(study: Study, there: Remote) -> str:
    """A line on what comes before the sweeps."""
    first = []
    if gated := [name for name, hub in there.hubs.items() if _is_gated(study.asked_models[name], hub)]:
        first.append(f"accept the terms of {', '.join(gated)} at https://huggingface.co, {LOG_IN}")
    if any(size != 0 for size in (check.download for check in (*there.hubs.values(), *there.files))):
        first.append("`snakemake fetch`, where there is a network")
    if _vector_bytes(needs_of(study)):
        first.append("passages and their vectors, on a GPU")
    return f"First: {'; then '.join([*first, 'the sweeps'])}."


def _is_gated(model: object, hub: Check) -> bool:
    return getattr(model, "hub", "").startswith(GATED) if hub.gated is None else hub.gated


def _passages(needs: Needs) -> int:
    return sum(corpus.settings.passages or corpus.shards * corpus.passages_per_shard for corpus in needs.corpora)


def _vector_bytes(needs: Needs) -> int:
    return VECTOR * _passages(needs) if any(retriever.method == "dense" for retriever in needs.retrievers) else 0


def results_bytes(study: Study, needs: Needs) -> int:
    """Estimated bytes of a study's results, without downloads."""
    total = 0
    for experiment in study.experiments.values():
        answered = [sweep for sweep in study.sweeps_of(ANSWER) if sweep.experiment.name == experiment.name]
        answers = sum(most_work(sweep).prompts for sweep in answered)
        total += PROMPT * prompts_by_size(experiment).total() + RESPONSE * answers
    dense = sum(retriever.method == "dense" for retriever in needs.retrievers)
    return total + (PASSAGE + VECTOR * dense) * _passages(needs)
