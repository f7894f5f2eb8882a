"""Network addresses and the secrets in them: users and passwords."""

import ipaddress
import re
from urllib.parse import urlsplit

#: User and password of an address, also if a slash in the password makes its first part look like a port.
CREDENTIALS = re.compile(r"(?<=://)(?:[^\s/?#]*@|[^\s/?#:@\[]*:(?!\d+(?:[/?#]|$))\S*@)")


def without_passwords(text: str) -> str:
    """The text with *** for the user and the password of each address in it."""
    return CREDENTIALS.sub("***@", text)


def check_has_no_password(url: str) -> str:
    """The same address; ValueError, which does not repeat it, if it contains a user or a password."""
    if CREDENTIALS.search(url):
        raise ValueError(
            "has a user or a password in it, which logs and results would repeat: leave them out (a server's key is in "
            "an environment variable, see 'api_key_variable'; a file that needs a password is for you to download)"
        )
    return url


def public_url(url: str) -> str:
    """An address without its possible secrets: user, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}".rstrip("/")


def host_of(url: str) -> str:
    """The host name of an address."""
    return urlsplit(url).hostname or ""


def is_this_machine(url: str) -> bool:
    """Whether an address is one of this machine (localhost, 127.0.0.1, ::1)."""
    host = host_of(url)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
