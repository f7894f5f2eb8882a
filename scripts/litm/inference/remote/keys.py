"""Keys of APIs: from the environment, and checked before anything is asked."""

import logging
import os

from litm.base.errors import UserError
from litm.inference.engine import EngineSettings
from litm.inference.remote.failures import masked

#: What a server of one's own, which wants no key, is given in its place, because the SDKs want one.
NO_KEY = "no-key"


def api_key(settings: EngineSettings, usual_variable: str) -> str:
    """The key, from the environment variable that the model names, or else the provider's usual one.

    A server of one's own is given `NO_KEY`, and never the provider's, unless a variable is named. Raises `UserError`
    if it is not set, or cannot be sent.
    """
    variable = settings.api_key_variable or (None if settings.base_url else usual_variable)
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
    """Why a text cannot be a key, without a word of it; None if it can. Keys are sent as a header of HTTP."""
    if len(key.splitlines()) > 1:
        return "has more than one line: set it to one key alone"
    strange = next((place for place, one in enumerate(key, start=1) if not (one.isascii() and one.isprintable())), None)
    if strange:
        return f"has a character (number {strange}) that is not plain ASCII: copy the key again"
    return None


def mask_logs(secret: str) -> None:
    """From now on what libraries log has *** for a key: asked to (`OPENAI_LOG`), SDKs log what servers send."""
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
