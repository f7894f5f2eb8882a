"""Right and wrong answers drawn with known accuracies and correlations, for tests of statistics."""

import math

import numpy as np
from scipy import stats

#: Accuracies by position of three curves.
TRUTHS = {"flat": [0.5] * 5, "U": [0.75, 0.55, 0.45, 0.5, 0.7], "falling": [0.8, 0.7, 0.6, 0.5, 0.4]}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def correlated(accuracies: list[float], n: int, seed: int, latent: float = 0.8) -> np.ndarray:
    """Right and wrong of n questions, by a Gaussian copula with this correlation of all pairs of positions."""
    random = rng(seed)
    scores = math.sqrt(latent) * random.standard_normal((n, 1)) + math.sqrt(1 - latent) * random.standard_normal(
        (n, len(accuracies))
    )
    return (scores < stats.norm.ppf(accuracies)).astype(int)
