"""How often contrasts and claims on what competes with the answer are wrong, in simulated studies without an effect.

Each study has made-up answers of a known truth. The programs are those of the tables: exact McNemar tests with Holm's
correction over all positions and sizes of two levels of `fillers` (`condition_differences.csv`), the three differences
of `two_facts.csv`, and the claims of later work. A rate is the share of the studies with any wrong conclusion in the
family; it may be at most 5 %.

    PYTHONPATH=scripts python benchmarks/competition_errors.py --studies 2000
"""

import argparse
from collections.abc import Callable, Iterator
from math import sqrt

import numpy as np
import pandas as pd
from measuring import table
from scipy import special

from litm.analysis.facts import DIFFERENCES, two_facts_rows
from litm.analysis.grid import CORRECT, Grid
from litm.analysis.significance import SIGNIFICANT, holm, paired_p
from litm.claims.evidence import Cell, Relations, ScoredEvidence
from litm.claims.statements import CLAIMS
from litm.claims.verdicts import CONTRADICTED, SUPPORTED, decide
from litm.examples.orders import RANDOM
from litm.placements import AS_RETRIEVED, depth_of, gold_placement

POSITIONS, SIZES, PLACES = (0, 9, 19), (20, 100), ((0, 39), (39, 0), (19, 20), (20, 19))
#: Accuracies, and the standard deviation of a question's easiness, in units of a standard normal.
ACCURACIES, EASINESS = (0.1, 0.5, 0.9), 1.0
LEVELS = {"e": "neutral", "e-same_form": "same_form"}
ORDERS = {"e": "ranked", "e-reversed": "reversed", "e-ends": "ends", "e-random": RANDOM}
MODELS = 4
CLAIM = {claim.name: claim for claim in CLAIMS}


def answers(rng: np.random.Generator, n: int, columns: int, accuracy: float) -> np.ndarray:
    """(questions, columns): answers of one accuracy that correlate within a question, by its easiness."""
    bound = float(special.ndtri(accuracy)) * sqrt(1 + EASINESS**2)
    return (rng.normal(0, EASINESS, (n, 1)) + rng.normal(0, 1, (n, columns)) < bound).astype(int)


def filler_errors(rng: np.random.Generator, n: int, accuracy: float) -> bool:
    """Whether a study of two levels that do not differ shows a difference at any position and size."""
    columns = len(POSITIONS) * len(SIZES)
    both = answers(rng, n, 2 * columns, accuracy)
    return min(holm([paired_p(both[:, [place, columns + place]]) for place in range(columns)])) < SIGNIFICANT


def fact_errors(rng: np.random.Generator, n: int, accuracy: float) -> list[bool]:
    """Of each difference, whether a study in which places change nothing shows one."""

    def sweep(found: np.ndarray, names: list[str]) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "model": "m", "experiment": "e", "task": "t", "metric": "m", "size": 40, "id": question,
                "placement": gold_placement(place), "target": name, "excluded": False,
                "correct": found[question, at, which],
            }
            for at, place in enumerate(PLACES) for question in range(n) for which, name in enumerate(names)
        )  # fmt: skip

    found = answers(rng, n, 4 * len(PLACES), accuracy).reshape(n, len(PLACES), 4)
    parts = [sweep(found[:, :, [2]], ["first"]), sweep(found[:, :, [3]], ["second"])]
    rows = two_facts_rows(sweep(found[:, :, :2], ["first", "second"]), parts)
    return [any((row.get(f"{name}_p_holm") or 1) < SIGNIFICANT for row in rows) for name in DIFFERENCES]


def verdicts(claim: str, evidence: ScoredEvidence) -> list[str]:
    """The verdicts of a claim on the cases of one family."""
    relations = Relations(
        {f"m{number}": {"training_length": 1000} for number in range(MODELS)},
        {name: {"task": "registered_codes", "fillers": level, "made_of": "e"} for name, level in LEVELS.items()}
        if claim != "no_order_beats_random"
        else {name: {"task": "open_domain_qa", "order": order, "made_of": "e"} for name, order in ORDERS.items()},
    )
    return [decision.verdict for decision in decide(list(CLAIM[claim].ask(evidence, relations)))]


def evidence(
    rng: np.random.Generator, n: int, accuracy: float, lost: float = 0.0, shared: bool = True
) -> ScoredEvidence:
    """Evidence of `MODELS` models on two levels and two sizes of one accuracy, and of `lost` less at the larger size;
    half of all wrong answers in the middle copy. shared: whether the sizes have the same questions.
    """
    found: dict[Cell, Grid] = {}
    wrong: dict[Cell, Grid] = {}
    for model in range(MODELS):
        for experiment in LEVELS:
            of_sizes = answers(rng, n, len(POSITIONS) * len(SIZES), accuracy).reshape(n, len(SIZES), -1)
            for at, size in enumerate(SIZES):
                places = [round(place * (size - 1) / 19) for place in POSITIONS]
                for column, place in enumerate(places):
                    cell = Cell(f"m{model}", experiment, size, place, f"gold_at_{place}", depth_of(place, size))
                    right = of_sizes[:, at, column] * (rng.random(n) >= (lost / accuracy if at else 0))
                    ids = pd.RangeIndex(n) + (0 if shared else at * n)
                    found[cell] = Grid([place], ids, {CORRECT: right.astype(float)[:, None]}, None)
                    copied = (rng.random(int((right == 0).sum())) < 1 / 2).astype(float)[:, None]
                    if len(copied):
                        wrong[cell] = Grid([place], ids[right == 0], {CORRECT: copied}, None)
    lengths = {cell: 400.0 if cell.size == SIZES[0] else 900.0 for cell in found}
    return ScoredEvidence(found, lengths, {}, wrong)


def order_evidence(rng: np.random.Generator, n: int, accuracy: float, lost: float) -> ScoredEvidence:
    """Evidence of `MODELS` models on fixed orders of one accuracy, and on a random one of `lost` less."""
    found: dict[Cell, Grid] = {}
    for model in range(MODELS):
        right = answers(rng, n, len(ORDERS), accuracy)
        right[:, -1] *= rng.random(n) >= lost / accuracy
        for column, experiment in enumerate(ORDERS):
            cell = Cell(f"m{model}", experiment, SIZES[0], None, AS_RETRIEVED, None)
            found[cell] = Grid([None], pd.RangeIndex(n), {CORRECT: right[:, [column]].astype(float)}, None)
    return ScoredEvidence(found, {}, {}, {})


def claim_errors(claim: str, rng: np.random.Generator, n: int, accuracy: float) -> bool:
    """Whether any case of a claim has a wrong verdict, where the truth is on the limit of "supported"."""
    at_most_small = ("neutral_costs_little", "no_order_beats_random")
    lost = 0.05 if claim in at_most_small else 0.0
    if claim == "no_order_beats_random":
        made = order_evidence(rng, n, accuracy, lost)
    else:
        made = evidence(rng, n, accuracy, lost, shared=claim != "neutral_costs_little")
    # On a limit of both ranges, any verdict is wrong; where there is no effect, "supported" alone.
    mistakes = {SUPPORTED, CONTRADICTED} if claim in (*at_most_small, "errors_copy_fillers") else {SUPPORTED}
    return not mistakes.isdisjoint(verdicts(claim, made))


#: What is simulated, with the names of its families.
FAMILIES: dict[str, tuple[Callable[..., object], tuple[str, ...]]] = {
    "two levels of fillers": (filler_errors, ("all positions and sizes",)),
    "two facts": (fact_errors, DIFFERENCES),
} | {
    name: (lambda rng, n, accuracy, name=name: claim_errors(name, rng, n, accuracy), (f"{MODELS} models",))
    for name in (
        "same_form_costs_more",
        "neutral_costs_little",
        "errors_copy_fillers",
        "primacy_fades_beyond_half",
        "no_order_beats_random",
    )
}


def rates(what: str, studies: int, n: int, accuracy: float, seed: int = 0) -> list[float]:
    """The share of the studies with a wrong conclusion, for each family."""
    rng = np.random.default_rng([seed, n, round(100 * accuracy), *what.encode()])
    simulate, _ = FAMILIES[what]
    return np.mean([np.atleast_1d(simulate(rng, n, accuracy)) for _ in range(studies)], axis=0).tolist()


def rows(studies: int, numbers: tuple[int, ...]) -> Iterator[list[object]]:
    """One row per family and number of questions, with the rate at each accuracy in per cent."""
    for what, (_, families) in FAMILIES.items():
        for n in numbers:
            found = [rates(what, studies, n, accuracy) for accuracy in ACCURACIES]
            for family, of_family in zip(families, zip(*found, strict=True), strict=True):
                yield [what, family, n, *(f"{100 * rate:.1f}" for rate in of_family)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000, help="simulated studies of each row and accuracy")
    studies = parser.parse_args().studies
    heading = ["what", "family", "questions", *(f"accuracy {accuracy}" for accuracy in ACCURACIES)]
    print(f"{studies} studies; per cent with any wrong conclusion; limits of 5 %: ±{196 * sqrt(0.0475 / studies):.1f}")
    print(table(heading, rows(studies, (30, 100))))


if __name__ == "__main__":
    main()
