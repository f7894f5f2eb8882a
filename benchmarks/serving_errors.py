"""How often the verdicts of `litm check --against` are wrong, and what they cost, in simulated checks.

A check has 15 cells (three lengths, five depths), whose answers correlate by question, and stops as the program does:
a cell is asked no more once it has its verdict. Printed for each truth and margin: how often a check ends with
"not worse", with "worse", and with the latter at a cell that is not; questions asked, of 15 times the largest number;
and the questions of a fixed design, that of `litm compare` with a power of 80 % if nothing is lost.

    PYTHONPATH=scripts python benchmarks/serving_errors.py --checks 2000
"""

import argparse
from collections.abc import Iterator
from math import ceil, sqrt

import numpy as np
from measuring import table
from scipy import special

from litm.analysis.power import POWER, observed, questions_needed
from litm.analysis.regression import LOST
from litm.analysis.sequential import gains, looks
from litm.analysis.significance import SIGNIFICANT, holm

CELLS, DEPTHS, MOST = 15, 5, 400
#: Correlation between the cells of whether a question is lost or won, as a share of the variance of a normal number.
SHARED = 0.3
MIDDLE = [cell for cell in range(CELLS) if 0 < cell % DEPTHS < DEPTHS - 1]


def truths(margin: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Shares of questions lost and won in each cell, by what is true."""

    def everywhere(lost: float, won: float) -> tuple[np.ndarray, np.ndarray]:
        return np.full(CELLS, lost), np.full(CELLS, won)

    limit = {name: everywhere(won + margin, won) for name, won in (("", 0.0), (", 5 % won", 0.05))}
    one_cell = everywhere(0.02, 0.02)
    one_cell[0][7] += margin
    middle = everywhere(0.01, 0.01)
    middle[0][MIDDLE] += 0.4
    return {
        "equal answers": everywhere(0, 0),
        "1 % lost, 1 % won": everywhere(0.01, 0.01),
        "5 % lost, 5 % won": everywhere(0.05, 0.05),
        "worse by the margin in 1 cell": one_cell,
        **{f"worse by the margin everywhere{name}": shares for name, shares in limit.items()},
        "40 points worse in the middle": middle,
    }


def differences(rng: np.random.Generator, lost: np.ndarray, won: np.ndarray) -> np.ndarray:
    """(cells, questions): -1, 0 and 1 with these shares."""
    normal = sqrt(SHARED) * rng.normal(size=MOST) + sqrt(1 - SHARED) * rng.normal(size=(CELLS, MOST))
    level = special.ndtr(normal)
    return (level > 1 - won[:, None]).astype(float) - (level < lost[:, None])


def check(found: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each cell: whether it is shown to be worse, whether it is shown not to be, and its number of questions."""
    worse = np.array([np.maximum.accumulate(gains(-cell, margin)) for cell in found])
    good = np.array([np.maximum.accumulate(gains(cell, -margin)) for cell in found])
    asked, is_open = np.full(CELLS, MOST), np.full(CELLS, True)
    for look in looks(MOST):
        asked[is_open] = look
        p_worse = holm([min(1.0, float(np.exp(-worse[cell, asked[cell] - 1]))) for cell in range(CELLS)])
        is_worse = np.array(p_worse) < SIGNIFICANT
        is_good = np.exp(-good[np.arange(CELLS), asked - 1]) < SIGNIFICANT
        is_open &= ~(is_worse | is_good)
        if not is_open.any():
            break
    return is_worse, is_good & ~is_worse, asked


def fixed_design(lost: float, won: float, margin: float) -> int | None:
    """Questions of a cell, as the last line of `litm compare` has them, if the sides do not differ in the mean."""
    same = (1 - lost - won) / 2
    counts = np.round(2000 * np.array([same, same, lost, won])).astype(int)
    pairs = np.repeat([[1, 1], [0, 0], [0, 1], [1, 0]], counts, axis=0)
    needed = questions_needed("primacy", margin, observed(pairs), 1 - (1 - POWER) / CELLS, 1 - 2 * SIGNIFICANT)
    return needed and ceil(needed + 1.5 * LOST / margin)


def rows(checks: int, margins: tuple[float, ...]) -> Iterator[list[object]]:
    """One row per margin and truth."""
    for margin in margins:
        for what, (lost, won) in truths(margin).items():
            rng = np.random.default_rng([checks, round(1000 * margin), *what.encode()])
            made = [check(differences(rng, lost, won), margin) for _ in range(checks)]
            is_false = lost - won <= margin + 1e-9
            passes = np.mean([good.all() for _, good, _ in made])
            fails = np.mean([worse.any() for worse, *_ in made])
            mistakes = np.mean([(worse & is_false).any() for worse, *_ in made])
            asked = [int(number.sum()) for *_, number in made]
            fixed = fixed_design(float(lost[0]), float(won[0]), margin) if np.array_equal(lost, won) else None
            yield [
                f"{100 * margin:g}", what, *(f"{100 * share:.1f}" for share in (passes, fails, mistakes)),
                f"{np.mean(asked):,.0f}", f"{np.quantile(asked, 0.9):,.0f}", f"{CELLS * fixed:,}" if fixed else "",
            ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=2000, help="simulated checks of each row")
    checks = parser.parse_args().checks
    heading = [
        "margin", "truth", "not worse %", "worse %", "worse by mistake %", "questions", "90 % at most", "fixed design"
    ]  # fmt: skip
    print(f"{checks} checks of {CELLS} cells; per cent; limits of 5 %: ±{196 * sqrt(0.0475 / checks):.1f}")
    print(table(heading, rows(checks, (0.05, 0.1, 0.15))))


if __name__ == "__main__":
    main()
