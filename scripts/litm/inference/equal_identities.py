"""Identities that are written differently and mean the same: an answer under one of them is one under the other.

The digest of an identity, which is part of the keys of its answers, is of what the config says; so journals of earlier
runs stay valid. Where answers are looked up, identities are compared in the form that `equal_form` gives them.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from litm.base.hashing import canonical_json
from litm.domain.example import Content
from litm.domain.response import Response
from litm.inference.engine import CHAT_ENDPOINT, Provider
from litm.inference.engines import engine_facts, engine_names
from litm.inference.journal import response_key
from litm.models.files import is_read
from litm.prompting.formats import CHAT, RAW

#: Names of this machine. Another server may listen at the same port of ::1.
LOCAL_HOSTS = ("localhost", "127.0.0.1")
PORTS = {"http": 80, "https": 443}
#: The engine in which `dtype: auto` is the stored number format; vLLM has rules of its own.
KEEPS_STORED_DTYPE = "transformers"


def equal_form(identity: Mapping[str, Any], stored_dtype: str | None = None) -> dict:
    """An identity in the one form of all that mean the same; for comparing alone.

    Written alike are: whole numbers and the same with .0; a server's address with and without a final slash, its
    protocol's port, or as localhost and 127.0.0.1; the provider's address and none; `request` where the fields that are
    sent are the same; `raw` and `chat` where the server makes chats; the number format of the stored weights and
    auto; files of a model's folder that nothing reads, and none. stored_dtype: of the model that is asked, None if it
    is not known; whoever has other files has another identity anyway.
    """
    form = _whole_numbers(dict(identity))
    source, model = form.get("source"), form.get("model")
    if not isinstance(source, dict) or not isinstance(model, dict):
        return form
    if isinstance(source.get("files"), dict):
        source["files"] = {name: sha256 for name, sha256 in source["files"].items() if is_read(name.rpartition("/")[2])}
    engine = model.get("engine")
    provider = engine_facts(engine).provider if engine in engine_names() else None
    if provider is not None:
        _equal_server(source, model, form.get("decoding", {}), provider)
    elif (engine, model.get("dtype")) == (KEEPS_STORED_DTYPE, "auto") and "quantization" not in model:
        model["dtype"] = stored_dtype or "auto"
    return form


def _equal_server(source: dict, model: dict, decoding: Mapping, provider: Provider) -> None:
    endpoint = model.get("endpoint", CHAT_ENDPOINT)
    if endpoint == CHAT_ENDPOINT and model.get("prompt_template") == RAW:
        model["prompt_template"] = CHAT
    # With a revision, an identity does not say whether there is an address, so the fields are those of both cases.
    urls = [source["base_url"]] if "base_url" in source else [None, provider.url]
    limit, request = decoding.get("max_new_tokens", 0), model.get("request") or {}
    model["request"] = [_whole_numbers(provider.sent_fields(url, endpoint, limit, request)) for url in urls]
    if "base_url" in source:
        source["base_url"] = _address(source["base_url"] or provider.url)


def _address(url: str) -> str:
    parts = urlsplit(url)
    host = "localhost" if parts.hostname in LOCAL_HOSTS else parts.hostname
    port = parts.port or PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}?{parts.query}"


def _whole_numbers(value: Any) -> Any:
    """The same JSON value, in which numbers without a fraction are whole."""
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def equal_digests(identities: Mapping[str, Mapping], identity: Mapping, stored_dtype: str | None = None) -> list[str]:
    """The digests of those identities that mean the same as `identity`, in their order.

    identities: the fields of each by its digest, as a journal has them.
    """
    own = canonical_json(equal_form(identity, stored_dtype))
    return [name for name, fields in identities.items() if canonical_json(equal_form(fields, stored_dtype)) == own]


def equal_answers(
    asked: Iterable[tuple[str, Content]], digests: Iterable[str], responses: Mapping[str, Response]
) -> dict[str, Response]:
    """Answers to prompts without one of their own, under other identities that mean the same, by the prompts' keys.

    asked: the key and the content of each prompt; digests: as of `equal_digests`; responses: by key.
    """
    names = list(digests)
    found: dict[str, Response] = {}
    for key, content in asked:
        others = (response_key(name, content) for name in names) if key not in responses else ()
        for other in others:
            if other in responses:
                found[key] = responses[other]
                break
    return found
