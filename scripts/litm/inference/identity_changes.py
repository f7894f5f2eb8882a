"""Identity changes: why a sweep asks again, by the fields that differ from the identities in its journal."""

from collections.abc import Iterator, Mapping
from itertools import takewhile

from litm.base.store import canonical_json

#: The reason if the journal knows the identity, but not the prompts.
NEW_PROMPTS = "new prompts"
#: Changed fields by path, as in 'model.dtype': [value before, value now]; None for a missing value.
Changes = dict[str, list]

#: Characters of a value in a message: enough to tell hashes apart.
SHOWN = 16
#: Fields in a message; a model of many files has as many hashes.
FIELDS_SHOWN = 4


def reason_to_ask(identities: Mapping[str, dict], name: str, fields: dict) -> Changes | str | None:
    """Why prompts are asked under an identity: the differences from the nearest identity in a journal.

    identities: the journal's, by digest, in the order of their first answers; name, fields: digest and fields of the
    identity that is asked. Returns `NEW_PROMPTS` if the journal knows the identity, None if the journal is empty. Among
    equally near identities the last counts.
    """
    if name in identities:
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
        return "the journal had no answers to these prompts"
    told = [_told(path, old, new) for path, (old, new) in reason.items()]
    more = [f"{len(told) - FIELDS_SHOWN} more differ"] if len(told) > FIELDS_SHOWN else []
    return "; ".join([*told[:FIELDS_SHOWN], *more])


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
