"""HTTP clients for SDKs: prompts go only to the configured server, and the environment's settings for the provider do
not apply to other servers.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from litm.base.download import host_of, is_this_machine
from litm.inference.engine import Provider


def client_options(url: str) -> dict[str, Any]:
    """Options of the SDKs' HTTP clients (`DefaultAsyncHttpxClient`) for a server.

    Redirects are not followed: the prompt would go to another server and its answer would count as this server's.
    Servers on this machine are reached without the environment's proxy. Bodies are read as UTF-8: a header may name
    another encoding or one that is not for text (hex), which makes the SDKs fail with arbitrary errors.
    """
    options: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [_read_as_utf8]}}
    if is_this_machine(url):
        options["mounts"] = dict.fromkeys(("http://", "https://", "all://"))
    return options


async def _read_as_utf8(response: Any) -> None:
    response.encoding = "utf-8"


def is_of_provider(url: str, provider: Provider) -> bool:
    """Whether the server belongs to the provider, as eu.api.openai.com does to api.openai.com."""
    own = host_of(provider.url)
    return host_of(url) == own or host_of(url).endswith(f".{own}")


def unused_variables(url: str, provider: Provider, key_variable: str | None) -> list[str]:
    """The environment variables of the provider's SDK that are ignored for a server, sorted.

    The variable with the provider's address is always ignored, because the config has the address. Variables that add
    an organisation, a project, headers or other credentials count for the provider's servers only. key_variable: the
    variable with the model's key.
    """
    names = [name for name in sorted(os.environ) if name.startswith(provider.variables)]
    if is_of_provider(url, provider):
        return [name for name in names if name == f"{provider.variables}BASE_URL"]
    # Clients get their keys as arguments, and the SDK's log level sends nothing.
    return [name for name in names if name not in {provider.key_variable, key_variable, f"{provider.variables}LOG"}]


@contextmanager
def hidden_variables(names: Sequence[str]) -> Iterator[None]:
    """The environment without these variables, which SDKs read when a client is created."""
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)
