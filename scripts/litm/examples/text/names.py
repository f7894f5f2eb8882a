"""Names of places and countries that do not exist, made of the mini-encyclopedia's syllables."""

from random import Random

from litm.corpora.made_up import coined_name, name_parts, stem

#: Names that share all but their last two letters: Varnhold, Varnholt, Varnholm, ...
FAMILY = 5
_SEEDS = 2**32


def coined_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names, such as "Melitor"."""
    seed = rng.randrange(_SEEDS)
    return [coined_name(seed, index) for index in range(count)]


def similar_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names in random order, in families of `FAMILY` that differ only in the last two letters.

    No name contains another. The last family may be smaller.
    """
    seed = rng.randrange(_SEEDS)
    # Without endings that make a swear word of some stems.
    endings = tuple(coda for coda in name_parts("coda")[0] if coda not in ("ck", "nt"))
    families = range(-(-count // FAMILY))
    names = [stem(seed, family) + coda for family in families for coda in rng.sample(endings, FAMILY)][:count]
    return rng.sample(names, count)
