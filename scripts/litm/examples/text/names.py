"""Names of places and countries that do not exist, made of the mini-encyclopedia's syllables."""

from random import Random

from litm.corpora.encyclopedia.names import CODAS, coined_name, stem

#: How many names share all but their last two letters: Varnhold, Varnholt, Varnholm, ...
FAMILY = 5
# Without the endings that make a swear word of some stems.
_ENDINGS = tuple(coda for coda in CODAS if coda not in ("ck", "nt"))
_SEEDS = 2**32


def coined_names(rng: Random, count: int) -> list[str]:
    """`count` different names, such as "Melitor"."""
    seed = rng.randrange(_SEEDS)
    return [coined_name(seed, index) for index in range(count)]


def similar_names(rng: Random, count: int) -> list[str]:
    """`count` different names in random order, in families of `FAMILY` that differ in the last two letters only.

    No name is part of another. The last family is smaller if `count` is no multiple.
    """
    seed = rng.randrange(_SEEDS)
    families = range(-(-count // FAMILY))
    names = [stem(seed, family) + coda for family in families for coda in rng.sample(_ENDINGS, FAMILY)][:count]
    return rng.sample(names, count)
