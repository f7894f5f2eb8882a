"""Identity of a sweep: everything that defines a response, except the prompt; equal identities, and how two differ.

The digest of an identity, the name of the folder of its answers and part of their keys, is taken of the config as
written. Lookups compare identities in the form that `equal_form` gives them.
"""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit

from litm.base.store import canonical_json
from litm.engines.interface import CHAT_ENDPOINT
from litm.engines.registry import engine_facts, engine_names
from litm.prompting.prompt_format import CHAT, RAW


def sweep_identity(source: dict, model: dict, template: str | dict | None, decoding: dict) -> dict:
    """The identity of a sweep: everything that defines an answer, except the prompt.

    source: `folder_identity`, `hub_identity` or `api_identity`; model: the settings that change answers (dtype,
    attention, ...); template: the text of the prompt template, if the model has one, or `chat_identity` for a server's
    chats that are rendered here; decoding: limit of new tokens, stop rule.
    """
    return {"source": source, "model": model, "template": template, "decoding": decoding}


#: Names of this machine; not ::1, where another server may listen at the same port.
LOCAL_HOSTS = ("localhost", "127.0.0.1")
PORTS = {"http": 80, "https": 443}


def equal_form(identity: Mapping[str, Any]) -> dict:
    """The normal form of an identity, for comparison only.

    These count as equal: whole numbers with and without .0; a server's address with and without a final slash or its
    protocol's port, or as localhost and 127.0.0.1; the provider's address and none; a `request` that sends the same
    fields; `raw` and `chat` if the server renders chats.
    """
    form = _whole_numbers(dict(identity))
    source, model = form.get("source"), form.get("model")
    if not isinstance(source, dict) or not isinstance(model, dict):
        return form
    engine, endpoint = model.get("engine"), model.get("endpoint", CHAT_ENDPOINT)
    if engine in engine_names() and (provider := engine_facts(engine).provider):
        if endpoint == CHAT_ENDPOINT and model.get("prompt_template") == RAW:
            model["prompt_template"] = CHAT
        # With a revision, an identity does not tell whether there is an address, so both cases are taken.
        urls = [source["base_url"]] if "base_url" in source else [None, provider.url]
        limit, request = form.get("decoding", {}).get("max_new_tokens", 0), model.get("request") or {}
        model["request"] = [_whole_numbers(provider.sent_fields(url, endpoint, limit, request)) for url in urls]
        if "base_url" in source:
            parts = urlsplit(source["base_url"] or provider.url)
            host = "localhost" if parts.hostname in LOCAL_HOSTS else parts.hostname
            port = parts.port or PORTS.get(parts.scheme)
            source["base_url"] = f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}?{parts.query}"
    return form


def _whole_numbers(value: Any) -> Any:
    """The same JSON value, with numbers without a fraction as integers."""
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def equal_digests(identities: Mapping[str, Mapping], identity: Mapping) -> list[str]:
    """The digests of identities that are equal to `identity` in meaning, in their order.

    identities: the fields of each by its digest.
    """
    form = canonical_json(equal_form(identity))
    return [name for name, fields in identities.items() if canonical_json(equal_form(fields)) == form]


#: The reason if there are answers under the identity, but not to the prompts.
NEW_PROMPTS = "new prompts"
#: Changed fields by path, as in 'model.dtype': [value before, value now]; None for a missing value.
Changes = dict[str, list]
#: Characters of a value in a message: enough to tell hashes apart.
SHOWN = 16
#: Fields in a message; a model of many files has as many hashes.
FIELDS_SHOWN = 4


def reason_to_ask(identities: Mapping[str, dict], fields: dict) -> Changes | str | None:
    """Why prompts are asked under an identity: the differences from the nearest one under which they have been.

    identities: the fields of those under which the sweep was asked, by digest; fields: of the identity that is asked.
    Returns `NEW_PROMPTS` if one is equal, None if there are none. Among equally near identities the last counts.
    """
    if equal_digests(identities, fields):
        return NEW_PROMPTS
    changes = [identity_changes(old, fields) for old in reversed(list(identities.values()))]
    return min(changes, key=len, default=None)


def identity_changes(old: dict, new: dict) -> Changes:
    """The innermost fields of two identities that differ, sorted by their paths."""
    before, now = dict(_leaves(old)), dict(_leaves(new))
    paths = sorted(before.keys() | now.keys())
    # Compared as texts: True, 1 and 1.0 are equal in Python, but not to a server.
    same = {path for path in before.keys() & now.keys() if canonical_json(before[path]) == canonical_json(now[path])}
    return {path: [before.get(path), now.get(path)] for path in paths if path not in same}


def _leaves(fields: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def reason_in_words(reason: Changes | str) -> str:
    """The reason to ask, on one line, for use after 'asked because'."""
    if isinstance(reason, str):
        return "there were no answers to these prompts"
    differences = [_told(path, old, new) for path, (old, new) in reason.items()]
    more = [f"{len(differences) - FIELDS_SHOWN} more differ"] if len(differences) > FIELDS_SHOWN else []
    return "; ".join([*differences[:FIELDS_SHOWN], *more])


def _told(path: str, old: object, new: object) -> str:
    """The old and the new value of a field; starts at the first difference if that is beyond the characters shown."""
    before, now = _text(old), _text(new)
    if before == now:
        before, now = canonical_json(old), canonical_json(new)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
    start = max(0, same - SHOWN // 4) if same >= SHOWN else 0
    return f"{path} was {_shown(before, start)} and is {_shown(now, start)}"


def _text(value: object) -> str:
    return "not there" if value is None else " ".join(str(value).split())


def _shown(text: str, start: int) -> str:
    before, after = "..." if start else "", "..." if len(text) > start + SHOWN else ""
    return before + text[start : start + SHOWN] + after
