"""What an SDK's client is made with: an HTTP client that sends a prompt nowhere else, and an environment that adds
nothing to requests to a server that is not the provider's.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from litm.base.addresses import host_of, is_this_machine
from litm.inference.engine import Provider


def client_options(url: str) -> dict[str, Any]:
    """Options of the SDKs' HTTP clients (`DefaultAsyncHttpxClient`) for a server.

    Redirects are not followed, because the prompt would be sent to where they lead and the answer count as this
    server's. What is on this machine is asked without the environment's proxy. All is read as UTF-8: a header may name
    another encoding than the reply has, or one that is none of text (hex), which ends the SDKs with errors of any kind.
    """
    options: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [_read_as_utf8]}}
    if is_this_machine(url):
        options["mounts"] = dict.fromkeys(("http://", "https://", "all://"))
    return options


async def _read_as_utf8(response: Any) -> None:
    response.encoding = "utf-8"


def is_of_provider(url: str, provider: Provider) -> bool:
    """Whether the server is the provider's own, such as eu.api.openai.com of api.openai.com."""
    own = host_of(provider.url)
    return host_of(url) == own or host_of(url).endswith(f".{own}")


def unused_variables(url: str, provider: Provider, key_variable: str | None) -> list[str]:
    """The environment variables of the provider's SDK that do not count for a server, sorted.

    That with the provider's address never counts, because the config has it. Those that add an organisation, a project,
    headers or other credentials do so for the provider's own server only. key_variable: where the model's key is.
    """
    names = [name for name in sorted(os.environ) if name.startswith(provider.variables)]
    if is_of_provider(url, provider):
        return [name for name in names if name == f"{provider.variables}BASE_URL"]
    # Keys are given to clients, and how much an SDK logs goes nowhere.
    return [name for name in names if name not in {provider.key_variable, key_variable, f"{provider.variables}LOG"}]


@contextmanager
def hidden_variables(names: Sequence[str]) -> Iterator[None]:
    """The environment without these variables, which SDKs read while a client is made."""
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)
