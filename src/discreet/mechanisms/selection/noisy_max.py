"""Report-noisy-max mechanism: add noise to every score and release the index of the greatest."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from ...arithmetic.arrays import Floats
from ...arithmetic.rational import Number, one_of, whole
from ...arithmetic.root_finder import bisect
from ...arithmetic.rounding import up
from ...arithmetic.series import legendre
from ...frozen import fill, frozen
from ...noise import Bits, grid_exponent, laplace, permute_and_flip
from ...noise.score_gaps import ScoreArray, scores_of
from ...privacy.events import PermuteAndFlipSelection
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours
from ..laws.error_bound import read_beta
from ..reading.allowance import epsilon_for_error, largest_epsilon
from ..reading.steps import add_exactly, sensitivity_in_steps, step_size, to_steps
from .exponential import ScoreSelection, gaps_below_best
from .permute_and_flip import PermuteAndFlip, check_listed, flip_law

Noise: TypeAlias = Literal["exponential", "laplace"]

# Points of the integrand that are evaluated at a time, to bound the memory.
_BLOCK = 1024
# Beyond 45 scales lies less than 3e-20 of the law.
_TAIL = 45.0


@frozen(init=False, repr=False)
class NoisyMax(ScoreSelection):
    """Report-noisy-max: adds noise of scale 2Δ/ε to each score and reports the greatest's index.

    Ties go to the lower index. A monotone score needs only Δ/ε (Dwork, Roth 2014, §3.3). Proof,
    which holds on the lattice with ties too: fix all noise but candidate i's; i wins on D if its
    noise is at least some r, and then wins on D' if it is at least r + 2Δ (monotone: r + Δ);
    P[Z ≥ r + 2Δ] ≥ e^(−ε) P[Z ≥ r] for exponential, Laplace and geometric noise.

    | noise | released as |
    |---|---|
    | `"exponential"` | permute-and-flip, which has exactly the same law (Ding et al. 2021) |
    | `"laplace"` | scores rounded to 2^-40 of the scale, plus exact two-sided geometric noise |

    >>> import discreet as dp
    >>> dp.NoisyMax(epsilon=1, sensitivity=1, noise="laplace").probabilities([1, 0]).round(4).tolist()
    [0.6209, 0.3791]
    >>> dp.NoisyMax(epsilon=1, sensitivity=1).release([0, 10_000, 0])
    1

    Guarantee: one release is ε-DP, on the lattice with ties too.
    Refuses: ε or Δ not above 0, another noise, no candidates, NaN and infinite scores
    (InvalidArgument), before any bit is drawn.
    Law: tests/mechanisms/test_noisy_max.py::TestExponentialNoise,
    tests/mechanisms/test_noisy_max.py::TestLaplaceNoise,
    tests/mechanisms/test_noisy_max.py::TestLattice
    """

    epsilon: Fraction
    sensitivity: Fraction
    noise: Noise
    monotone: bool
    neighbours: Neighbours

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number,
        *,
        noise: Noise = "exponential",
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        one_of(noise, "noise", "exponential", "laplace")
        ScoreSelection.__init__(
            self, epsilon, sensitivity, monotone=monotone, neighbours=neighbours
        )
        fill(self, noise=noise)

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Number,
        noise: Noise = "exponential",
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> NoisyMax:
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        event_at = partial(PermuteAndFlipSelection, neighbours=neighbours)
        epsilon = largest_epsilon(event_at, spend)
        return cls(epsilon, sensitivity, noise=noise, monotone=monotone, neighbours=neighbours)

    @classmethod
    def for_error(
        cls,
        error: Number,
        *,
        options: int,
        sensitivity: Number,
        beta: Number = 0.05,
        noise: Noise = "exponential",
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> NoisyMax:
        """Take the least ε whose `error(options, beta)` is at most `error`.

        >>> import discreet as dp
        >>> dp.NoisyMax.for_error(10, options=4, sensitivity=1, noise="laplace").error(options=4) <= 10
        True
        """
        unit = cls(1, sensitivity, noise=noise, monotone=monotone, neighbours=neighbours)
        unit_error = unit.error(whole(options, "options", least=2), beta)
        epsilon = epsilon_for_error(unit_error, error)
        return cls(epsilon, sensitivity, noise=noise, monotone=monotone, neighbours=neighbours)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: 2Δ/ε, or Δ/ε for a monotone score."""
        return 1 / self.rate

    @property
    def event(self) -> PermuteAndFlipSelection:
        """The event to be priced: one report-noisy-max at ε."""
        return PermuteAndFlipSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Return the index of the greatest noisy score; exponential noise by permute-and-flip."""
        if self.noise == "exponential":
            return permute_and_flip(scores, 1 / self.scale, bits=bits)
        exponent = grid_exponent(self.scale)
        score_steps = to_steps(scores_of(scores, 1).values, exponent)
        step = step_size(exponent)
        # Δ in whole steps may be a little larger than asked, and the noise grows with it.
        widening = sensitivity_in_steps(self.sensitivity, exponent) / (self.sensitivity / step)
        scale_in_steps = self.scale * widening / step
        drawn = laplace(scale_in_steps, score_steps.size, bits=bits)
        noisy = add_exactly(score_steps, drawn)
        # argmax takes the first of equal scores, as the proof assumes.
        return int(np.argmax(noisy))

    def probabilities(self, scores: ScoreArray) -> Floats:
        """Return the law of continuous noise, for at most 2 000 candidates.

        The law on the lattice differs from it by about 2^-40.
        """
        if self.noise == "exponential":
            return flip_law(scores, 1 / self.scale)
        return _laplace_law(-gaps_below_best(scores) / float(self.scale))

    def error(self, options: int, beta: Number = 0.05) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β.

        Exponential noise: as for permute-and-flip. Laplace noise: the best loses to one candidate s
        below it with probability (2 + x)e^(−x)/4, x = s/scale, and to one of n with at most n times
        that.
        """
        if self.noise == "exponential":
            same_law = PermuteAndFlip(
                self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
            )
            return same_law.error(options, beta)
        others = whole(options, "options", least=1) - 1
        probability = read_beta(beta)
        if not others:
            return 0.0
        gap = _gap_of_laplace(others, probability)
        # A margin of 1e-11 is above the 2^-40 by which the lattice differs.
        return up(gap * float(self.scale), 1e-11)


def _gap_of_laplace(others: int, beta: float) -> float:
    """Find the x with n(2 + x)e^(−x)/4 = β, from above."""

    def is_likely(x: float) -> bool:
        return others * (2 + x) * math.exp(-x) / 4 > beta

    # e^-800 is below the least float, hence below every β.
    return bisect(is_likely, 0.0, 800.0, 70)[1]


def _laplace_law(scores: Floats) -> Floats:
    """Integrate f(z − s_i) Π_{j≠i} F(z − s_j); the best score is 0.

    The integral is cut at the scores, between which the integrand is analytic.
    """
    check_listed(scores.size)
    # Candidates further below win with probability below 1e-38.
    near = scores[scores > -2 * _TAIL]
    unit_cuts = np.arange(near.min() - _TAIL, _TAIL)
    cuts = np.unique(np.concatenate([near, unit_cuts]))
    nodes, weights = legendre(20)
    half = np.diff(cuts)[:, None] / 2
    points = cuts[:-1, None] + half * (nodes + 1)
    points = points.reshape(-1)
    measure = (half * weights).reshape(-1)
    law = np.zeros(scores.size)
    for start in range(0, points.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        column = points[block, None]
        distance = np.abs(column - scores)
        below = column < scores
        left = math.log(0.5) - distance
        right = np.log1p(-np.exp(-distance) / 2)
        log_cdf = np.where(below, left, right)
        # The product over j ≠ i as a sum of logarithms less the candidate's own.
        log_others = log_cdf.sum(axis=1, keepdims=True) - log_cdf
        integrand = np.exp(log_others + math.log(0.5) - distance)
        law += measure[block] @ integrand
    return law
