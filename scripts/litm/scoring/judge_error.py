"""The error of a judge: accuracies and contrasts of judged answers, corrected by the labels of some of them.

Prediction-powered inference (Angelopoulos et al. 2023) for answers in strata: labels are drawn within each stratum (a
position, with what the judge and the metric's strict rule say), so the share of right answers of a stratum is known
with an error. An answer without a label counts as this share, and the error of the shares widens each interval. No
assumption is made on the judge: its errors may differ from position to position.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from litm.base.intervals import mean_error


@dataclass(frozen=True)
class Labelled:
    """Judged answers of a curve to complete questions; some have a label."""

    verdicts: np.ndarray
    """(questions, positions): 1 if the judge calls the answer right, else 0."""
    strict: np.ndarray
    """(questions, positions): the same by the strict rule."""
    labels: np.ndarray
    """(questions, positions): the same by a person, NaN without a label."""
    clusters: np.ndarray | None = None
    """One integer per question, None without."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of questions and of positions."""
        questions, positions = self.verdicts.shape
        return questions, positions

    @cached_property
    def strata(self) -> np.ndarray:
        """(questions, positions): the number of each answer's stratum, 4·position + 2·verdict + strict."""
        columns = np.arange(self.verdicts.shape[1])
        return (4 * columns + 2 * self.verdicts + self.strict).astype(np.int64)

    @cached_property
    def counts(self) -> np.ndarray:
        """(strata, 3): answers, labels, and labels that say right."""
        labelled = ~np.isnan(self.labels)
        strata, many = self.strata.ravel(), 4 * self.verdicts.shape[1]
        counted = (np.ones(strata.size), labelled.ravel(), np.nan_to_num(self.labels).ravel())
        return np.column_stack([np.bincount(strata, weight, many) for weight in counted])

    @property
    def is_complete(self) -> bool:
        """Whether each stratum with answers has a label; without one its share is unknown."""
        answers, labels, _ = self.counts.T
        return bool((labels[answers > 0] > 0).all())

    @cached_property
    def expected(self) -> np.ndarray:
        """(questions, positions): the share of right answers among the labels of each answer's stratum."""
        _, labels, right = self.counts.T
        return (right / np.maximum(labels, 1))[self.strata]

    @cached_property
    def share_variances(self) -> np.ndarray:
        """(strata,): the variance of an answer around the share of its stratum.

        A share of none or all of few labels is no certainty: one further label counts, which is right with the pooled
        share of the same verdicts at all positions.
        """
        _, labels, right = self.counts.T
        by_kind = self.counts.reshape(-1, 4, 3).sum(axis=0)
        pooled = np.tile((by_kind[:, 2] + 1) / (by_kind[:, 1] + 2), len(labels) // 4)
        share = (right + pooled) / (labels + 1)
        return share * (1 - share)

    def at(self, position: int) -> "Labelled":
        """The answers at a position (its index)."""
        verdicts, strict, labels = (grid[:, [position]] for grid in (self.verdicts, self.strict, self.labels))
        return Labelled(verdicts, strict, labels, self.clusters)

    def second_phase(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variance that the error of the shares adds to a weighted sum of the positions' means, and its square over
        its degrees of freedom; weights: of each position, or (positions, sums) for several sums.

        With N answers and m labels in a stratum of n questions, the weight w of its position and the variance s² of its
        answers it is Σ (N·w/n)²·s²/m: the second phase of a two-phase sample (Särndal, Swensson & Wretman 1992, section
        9.3), where answers to a question count as independent beyond their strata. A stratum's variance has a degree of
        freedom for each label: the further label is one more, the share one less (Satterthwaite).
        """
        sizes, labels, _ = self.counts.T
        number = np.maximum(labels, 1)
        of_strata = np.repeat(weights, 4, axis=0).T * sizes / len(self.verdicts)
        each = of_strata**2 * self.share_variances / number * self._cluster_factor
        return each.sum(axis=-1), (each**2 / number).sum(axis=-1)

    @property
    def _cluster_factor(self) -> float:
        """The mean number of labels that share a cluster, by which the error of the shares may be larger at most."""
        if self.clusters is None:
            return 1.0
        per_cluster = np.bincount(self.clusters, (~np.isnan(self.labels)).sum(axis=1))
        return float((per_cluster**2).sum() / max(1, per_cluster.sum()))


def corrected_accuracy(
    answers: Labelled, weights: np.ndarray | None = None, confidence: float = 0.95
) -> tuple[float, float, float]:
    """The mean accuracy of the positions, corrected, with its limits: Student's t of the expected answers and of two
    further ones, one right and one wrong, with the error of the shares.

    weights: of the positions, sum 1; equal ones if omitted.
    """
    many = answers.shape[1]
    shares = np.full(many, 1 / many) if weights is None else weights
    column, clusters = answers.expected @ shares, answers.clusters
    if clusters is not None:
        clusters = np.append(clusters, clusters.max() + np.array([1, 2]))
    more = np.append(column, [0.0, 1.0])
    centre = float(more.mean())
    error, df = mean_error(more, centre, clusters)
    added, over_df = answers.second_phase(shares)
    variance = error**2 + float(added)
    t = float(special.stdtrit(variance**2 / (error**4 / df + float(over_df)), (1 + confidence) / 2))
    low, high, value = centre - t * variance**0.5, centre + t * variance**0.5, float(column.mean())
    return value, max(0.0, min(low, value)), min(1.0, max(high, value))


def drawn(verdicts: np.ndarray, strict: np.ndarray, number: float, rng: np.random.Generator) -> np.ndarray:
    """(questions, positions): whether an answer is drawn for a label.

    Each position gets an equal part of `number`. Half of a part goes to strata by their size, half to each stratum
    equally, so that rare disagreements are seen; each stratum gets at least two labels, or all of its answers.
    """
    positions = verdicts.shape[1]
    chosen = np.zeros(verdicts.shape, dtype=bool)
    for column in range(positions):
        kinds = 2 * verdicts[:, column] + strict[:, column]
        sizes = np.bincount(kinds.astype(np.int64), minlength=4)
        part = number / positions
        wanted = part / 2 * (sizes / max(1, sizes.sum()) + (sizes > 0) / max(1, (sizes > 0).sum()))
        for kind in np.flatnonzero(sizes):
            rows = np.flatnonzero(kinds == kind)
            count = min(len(rows), max(2, round(wanted[kind])))
            chosen[rng.choice(rows, count, replace=False), column] = True
    return chosen
