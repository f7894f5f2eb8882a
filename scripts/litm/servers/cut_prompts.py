"""Prompts that a server cut in silence, by its own counts of their tokens."""

from collections.abc import Mapping, Sequence
from statistics import mean, median

from litm.records.served import is_served

#: Prompts of different lengths with the largest count, from which on it may be a limit.
FEWEST = 3
#: Least ratio of the characters per token of a cut prompt to those of other prompts.
TIMES = 1.2
#: Tokens: context lengths of servers are multiples of it.
STEP = 256
#: Different lengths with the largest count, and tokens by which they differ, that are no chance: few prompts have it.
MANY, SPREAD = 5, 10
#: Tokens: context lengths that people type are multiples of it.
ROUND = 250
#: Fraction of the largest count above which a count may be that of a prompt that was cut, too.
NEAR = 0.98
#: Characters per token that no text has as a whole, and characters of a prompt that is long enough to tell.
MOST_PER_TOKEN, LONG = 12, 2_000


def cut_at(lengths: Sequence[int], tokens: Sequence[int | None]) -> int | None:
    """The number of tokens to which prompts were cut, None if no count shows a cut.

    lengths: characters of the prompts of a sweep; tokens: as the server counts them, None if unknown. Cut are prompts
    of different lengths with the same largest count, if it is a multiple of `STEP` or shorter prompts have fewer
    characters per token, or if there are `MANY` of them with a round count or more characters per token than shorter
    prompts; and long prompts with more than `MOST_PER_TOKEN`.
    """
    counted = [(count, length) for length, count in zip(lengths, tokens, strict=True) if count]
    limit = max((count for count, _ in counted), default=0)
    few = [count for count, length in counted if length > max(LONG, MOST_PER_TOKEN * count)]
    # No prompt has more tokens than those that were cut; one of blanks, dots or numbers has few by itself.
    if few and TIMES * max(few) >= limit:
        return max(few)
    at_limit = [length for count, length in counted if count == limit]
    if len(at_limit) < FEWEST or len(set(at_limit)) == 1:
        return None
    # Documents of one form share a count by chance: they have as many characters per token as shorter prompts.
    shorter = [length / count for count, length in counted if count < NEAR * limit] or [0]
    is_spread = max(at_limit) - min(at_limit) > SPREAD * min(at_limit) / limit
    is_dense = 0 in (limit % STEP, limit % ROUND) or mean(at_limit) / limit > median(shorter) / NEAR
    if len(set(at_limit)) >= MANY and is_spread and is_dense:
        return limit
    usual = [length / count for count, length in counted if count < limit]
    is_cut = min(at_limit) / limit > TIMES * max(usual) if usual else limit % STEP == 0
    return limit if is_cut else None


def cut_by_server(identity_fields: Mapping, lengths: Sequence[int], tokens: Sequence[int | None]) -> int | None:
    """`cut_at` for answers of a server; None for others: a model that runs here reads its prompts whole, and the dummy
    counts words, which some scripts do not part.

    identity_fields: of the sweep's manifest.
    """
    return cut_at(lengths, tokens) if is_served(identity_fields) else None
