"""Checks of remote things: hub models, APIs with their keys, and remote files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litm.checks.doctor.check import Check, in_bytes, missing, ok, warning

#: Where the hub's token goes.
LOG_IN = "then set HF_TOKEN to a token of yours, or run `hf auth login`"
#: Locations of a remote file.
FETCHED, IN_MIRROR, ON_NETWORK = "fetched", "in the mirror", "on the network"


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


@dataclass(frozen=True)
class RemoteFile:
    """A file that the workflow fetches: its location, its bytes if known, and the error if it is unavailable."""

    name: str
    url: str
    where: str
    size: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class Remote:
    """What is on the network: models of the hub by name, and files."""

    hubs: Mapping[str, HubModel]
    files: Sequence[RemoteFile]


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


def _listing(names: tuple[str, ...]) -> str:
    more = ", ..." if len(names) > 5 else ""
    return f"it has {', '.join(names[:5])}{more}" if names else "it has none"
