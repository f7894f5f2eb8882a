"""Why a sweep asks again: what tells its identity from those that its journal has answers of."""

from collections.abc import Iterator, Mapping

#: The journal has answers of the same identity; the prompts asked are not among them.
NEW_PROMPTS = "new prompts"
#: Fields by their path, as in 'model.dtype', with the value before and the value now; None where there is none.
Changes = dict[str, list]

#: Characters of a value in a message: enough to tell hashes apart.
SHOWN = 16
#: Fields in a message; a model of many files has as many hashes.
FIELDS_SHOWN = 4


def reason_to_ask(identities: Mapping[str, dict], name: str, fields: dict) -> Changes | str | None:
    """Why prompts are asked under an identity: what differs from the nearest of those that a journal has answers of.

    identities: the journal's, by digest, in the order of their first answers; name, fields: the digest and the fields
    of the one that is asked. `NEW_PROMPTS` if the journal knows it, None if the journal is empty. Of several that are
    as near, the last.
    """
    if name in identities:
        return NEW_PROMPTS
    changes = [identity_changes(old, fields) for old in reversed(list(identities.values()))]
    return min(changes, key=len, default=None)


def identity_changes(old: dict, new: dict) -> Changes:
    """The innermost fields of two identities that differ, sorted by their paths."""
    before, now = dict(_leaves(old)), dict(_leaves(new))
    paths = sorted(before.keys() | now.keys())
    same = {path for path in before.keys() & now.keys() if before[path] == now[path]}
    return {path: [before.get(path), now.get(path)] for path in paths if path not in same}


def _leaves(fields: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def reason_in_words(reason: Changes | str) -> str:
    """The reason to ask, on one line, to come after 'asked because'."""
    if isinstance(reason, str):
        return "the journal had no answers to these prompts"
    told = [f"{path} was {_shown(old)} and is {_shown(new)}" for path, (old, new) in reason.items()]
    more = [f"{len(told) - FIELDS_SHOWN} more differ"] if len(told) > FIELDS_SHOWN else []
    return "; ".join([*told[:FIELDS_SHOWN], *more])


def _shown(value: object) -> str:
    if value is None:
        return "not there"
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
