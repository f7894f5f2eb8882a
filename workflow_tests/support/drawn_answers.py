"""Right and wrong answers drawn with known accuracies and correlations, for tests of statistics."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

#: Accuracies by position of three curves.
TRUTHS = {"flat": [0.5] * 5, "U": [0.75, 0.55, 0.45, 0.5, 0.7], "falling": [0.8, 0.7, 0.6, 0.5, 0.4]}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def correlated(accuracies: Sequence[float], n: int, seed: int, latent: float = 0.8) -> np.ndarray:
    """Right and wrong of n questions, by a Gaussian copula with this correlation of all pairs of positions."""
    random = rng(seed)
    shared, own = random.standard_normal((n, 1)), random.standard_normal((n, len(accuracies)))
    return (math.sqrt(latent) * shared + math.sqrt(1 - latent) * own < stats.norm.ppf(accuracies)).astype(int)
