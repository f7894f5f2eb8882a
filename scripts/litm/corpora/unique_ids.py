"""Unique ids of passages: checked by hashes, because the ids would take too much memory."""

from array import array
from collections.abc import Callable, Iterator

import numpy as np

from litm.base.messages import UserError, quoted
from litm.corpora.passages import Passage

#: Repeated hashes that are looked up in the source: one suffices to name an id, but different ids may share a hash.
LOOKED_FOR = 100_000

Read = Callable[[], Iterator[tuple[str, Passage]]]


def unique_passages(read: Read) -> Iterator[Passage]:
    """The passages of a source, read by `read` from its beginning; raises after the last one if an id is repeated.

    Keeps 8 bytes per id (168 MB for the 21 million passages of Wikipedia). The `UserError` names the id and both
    places, which takes a second pass over the source.
    """
    # Python's hash is the fastest, and differs between processes, but hashes do not outlive this function.
    hashes = array("q")
    for _, passage in read():
        hashes.append(hash(passage.id))
        yield passage
    if repeated := _repeated(hashes):
        check_ids(read, repeated)


def check_ids(read: Read, hashes: set[int]) -> None:
    """Raise `UserError` for the first repeated id among those with one of the hashes.

    Different ids with the same hash (once in some 100,000 corpora of 21 million passages) are no error.
    """
    first: dict[str, str] = {}
    for where, passage in read():
        if hash(passage.id) in hashes:
            if passage.id in first:
                raise UserError(
                    f"{where}: the id {quoted(passage.id)} is also at {first[passage.id]}; "
                    f"give every passage an id of its own, or remove one of the two"
                )
            first[passage.id] = where


def _repeated(hashes: array) -> set[int]:
    """Hashes that occur more than once, at most `LOOKED_FOR`; sorts the array in place."""
    values = np.frombuffer(hashes, dtype=np.int64)
    values.sort()
    return set(values[1:][values[1:] == values[:-1]][:LOOKED_FOR].tolist())
