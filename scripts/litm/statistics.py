"""Statistics of accuracies: small pure functions, the formula and its source in each docstring."""

from statsmodels.stats.proportion import proportion_confint


def wilson_interval(correct: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion (Wilson 1927), as fractions.

    (p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n); it stays inside [0, 1] and is never empty, also for
    0 or n correct of n. Raises `ValueError` for n = 0: no answers, no interval.
    """
    if not 0 <= correct <= n or n == 0:
        raise ValueError(f"need 0 <= correct <= n and n > 0, got correct={correct}, n={n}")
    low, high = proportion_confint(correct, n, alpha=1 - confidence, method="wilson")
    # At 0 and n of n a limit is exactly the proportion, which rounding can miss by a unit in the last place.
    proportion = correct / n
    return max(0.0, min(float(low), proportion)), min(1.0, max(float(high), proportion))
