"""Write the identity of a model: the hashes of its files, its hub commit, its name on a server, or its engine.

location: JSON: the location in models.yaml
tokenizer: a tokenizer file that is not the model's own
digests: a folder that keeps the hashes of files for other programs
store: a folder that keeps GGUF files unpacked
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.loading import hide_torch
from litm.base.messages import note
from litm.base.progress import waiting
from litm.models.configuration import answer_window_of, context_window_of, load_config
from litm.models.gguf import number_format, read_gguf, unpacked
from litm.models.identity import FileDigests, api_identity, folder_identity, hub_identity
from litm.models.locations import check_generation_config, check_own_code, find_in_package, is_gguf

ROOT = Path(__file__).resolve().parents[2]


def identify(location: dict, tokenizer: str | None, digests: str | None = None, store: str | None = None) -> dict:
    """The identity and location of a models.yaml entry."""
    if "engine" in location:
        return identify_engine(location)
    if "api_model" in location:
        return identify_served(location)
    if "package" in location:
        location = {**location, "path": find_in_package(location["package"], "package", ROOT)}
    if is_gguf(location["path"] or ""):
        return identify_gguf(location, tokenizer, digests, store or "results/store/unpacked")
    return identify_stored(location, tokenizer, digests)


def identify_engine(location: dict) -> dict:
    """An engine without a model: its name and version."""
    return {"location": location["engine"], "revision": None, "context_window": None, "identity": location}


def identify_stored(location: dict, tokenizer: str | None, digests: str | None = None) -> dict:
    """A model in a folder or on the hub; its own context window is read from its configuration."""
    path, hub, revision = location["path"], location["hub"], location["revision"]
    known = FileDigests(digests, path or hub)
    own_code = location.get("trust_remote_code", False)
    identity = folder_identity(Path(path), known.sha256, own_code) if path else hub_identity(hub, revision)
    if own_code:
        check_own_code(path or hub, identity.get("commit"))
        note(f"{path or hub}: trust_remote_code is true: Python code that comes with the model runs when it is loaded")
    config = load_config(path or hub, identity.get("commit"), location.get("config"), own_code)
    check_generation_config(path or hub, identity.get("commit"))
    window = context_window_of(config)
    if window is None:
        note(f"{path or hub}: its configuration sets no longest context, so no prompt counts as too long")
    if tokenizer:
        identity["tokenizer"] = known.sha256(Path(tokenizer))
    source = {
        "location": path or hub,
        "revision": identity.get("commit"),
        "context_window": window,
        # Null if only the weights tell.
        "dtype": str(config.dtype).removeprefix("torch.") if config.dtype and not config.sub_configs else None,
        "identity": identity,
        **({"is_quantized": True} if getattr(config, "quantization_config", None) else {}),
        **({"trust_remote_code": True} if own_code else {}),
    }
    return {**source, "answer_window": answer_window_of(config)} if config.is_encoder_decoder else source


def identify_gguf(location: dict, tokenizer: str | None, digests: str | None, store: str) -> dict:
    """A model in a GGUF file, and the folder of its unpacked form, which is loaded.

    weights: their number format in the file.
    """
    path = Path(location["path"])
    known = FileDigests(digests, location["path"])
    header = read_gguf(path)
    dtype = number_format(header, location["dtype"])
    folder, files = unpacked(path, header, dtype, store, known.sha256)
    source = identify_stored({**location, "path": str(folder)}, None, digests)
    separate = {"tokenizer": known.sha256(Path(tokenizer))} if tokenizer else {}
    return {
        **source,
        "gguf": location["path"],
        "weights": header.kind,
        "identity": folder_identity(path, known.sha256) | separate,
        "unpacked": files,
    }


def identify_served(location: dict) -> dict:
    """A model on a server; its tokenizer is the server's, whatever counts tokens here."""
    return {
        "location": location["api_model"],
        "revision": None,
        "context_window": None,
        "base_url": location["base_url"],
        "api_key_variable": location["api_key_variable"],
        "identity": api_identity(location["api_model"], location["base_url"], location["revision"]),
    }


if __name__ == "__main__":
    hide_torch()


@program
def main(
    location: dict, output: str, tokenizer: str | None = None, digests: str | None = None, store: str | None = None
) -> None:
    with waiting(f"{Path(output).stem}: preparing the model's files"):
        identity = identify(location, tokenizer, digests, store)
    write_json(output, identity)
