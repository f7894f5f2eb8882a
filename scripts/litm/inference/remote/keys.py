"""API keys: read from the environment and checked before anything is asked."""

import logging
import os

from litm.base.messages import UserError
from litm.inference.engine import EngineSettings
from litm.inference.remote.failures import masked

#: Placeholder key for own servers that need none, because the SDKs require one.
NO_KEY = "no-key"


def key_variable(base_url: str | None, own_variable: str | None, usual_variable: str) -> str | None:
    """The environment variable with a model's key: the one that its entry names, or else the provider's usual one.

    None for an own server (`base_url`) without a named variable: it never gets the provider's key.
    """
    return own_variable or (None if base_url else usual_variable)


def api_key(settings: EngineSettings, usual_variable: str) -> str:
    """The key in the variable that `key_variable` names, `NO_KEY` without one.

    Raises `UserError` if the key is not set or cannot be sent.
    """
    variable = key_variable(settings.base_url, settings.api_key_variable, usual_variable)
    if variable is None:
        return NO_KEY
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(
            f"{settings.location}: the environment variable {variable} has no key; nothing was asked. Set it, or name "
            "another one by the model's 'api_key_variable'"
        )
    if wrong := key_mistake(key):
        raise UserError(
            f"{settings.location}: the key in the environment variable {variable} {wrong}; nothing was asked"
        )
    return key


def key_mistake(key: str) -> str | None:
    """Why a text cannot be a key, without repeating it; None if it can. Keys are sent as an HTTP header."""
    if len(key.splitlines()) > 1:
        return "has more than one line: set it to one key alone"
    strange = next((place for place, one in enumerate(key, start=1) if not (one.isascii() and one.isprintable())), None)
    if strange:
        return f"has a character (number {strange}) that is not plain ASCII: copy the key again"
    return None


def mask_logs(secret: str) -> None:
    """Mask a key in all later log lines of libraries: with `OPENAI_LOG` set, SDKs log what servers send."""
    for handler in logging.getLogger().handlers:
        handler.addFilter(_Masks(secret))


class _Masks(logging.Filter):
    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = masked(record.getMessage(), self._secret), ()
        if record.exc_info:
            record.exc_text = masked(logging.Formatter().formatException(record.exc_info), self._secret)
        return True
