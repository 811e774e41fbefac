"""Report-noisy-max: add noise to every score, tell which is greatest and nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, whole
from ...arithmetic.rounding import fraction_up, up
from ...arithmetic.series import legendre
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, grid_exponent, laplace, permute_and_flip
from ...noise.score_gaps import ScoreArray, scores_of
from ...privacy.events import PermuteAndFlipSelection
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon
from ..reading.steps import add, cells, step, steps
from .exponential import gaps_of, rate_of, read_selection
from .permute_and_flip import MOST_LISTED, PermuteAndFlip, flip_law

Noise: TypeAlias = Literal["exponential", "laplace"]
_ROWS = 1024  # places of the integrand at a time
_TAIL = 45.0  # beyond 45 scales lies less than 3e-20 of the law


@frozen(init=False)
class NoisyMax:
    """Add noise of scale 2Δ/ε to each score and report the index of the greatest; ties go to the lower index.

    Price: ε-DP; a monotone score needs only Δ/ε (Dwork, Roth 2014, §3.3). Proof, which holds on the lattice with ties
    too: fix all noise but candidate i's; i wins on D if its noise is at least some r, and then wins on D' if it is at
    least r + 2Δ (monotone: r + Δ); P[Z ≥ r + 2Δ] ≥ e^(−ε) P[Z ≥ r] for exponential, Laplace and geometric noise.

    `noise="exponential"` has exactly the law of permute-and-flip (Ding et al. 2021) and is released as such;
    `noise="laplace"` rounds scores to a lattice of 2^-40 of the scale and adds exact two-sided geometric noise.

    >>> import discreet as dp
    >>> dp.NoisyMax(epsilon=1, sensitivity=1, noise="laplace").probabilities([1, 0]).round(4).tolist()
    [0.6209, 0.3791]
    >>> dp.NoisyMax(epsilon=1, sensitivity=1).release([0, 10_000, 0])
    1

    Refuses ε or Δ not above 0, another noise, no candidates, NaN and infinite scores, before any bit is drawn.
    """

    epsilon: Fraction
    sensitivity: Fraction
    noise: Noise
    monotone: bool
    neighbours: Neighbours

    __repr__ = named

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number,
        *,
        noise: Noise = "exponential",
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        if noise not in ("exponential", "laplace"):
            raise InvalidArgument(f"noise must be 'exponential' or 'laplace', got {noise!r}")
        fill(
            self,
            noise=noise,
            **read_selection(epsilon, sensitivity, monotone=monotone, neighbours=neighbours),
        )

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
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        epsilon = largest_epsilon(
            lambda e: PermuteAndFlipSelection(e, neighbours=neighbours), spend
        )
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
        """Take the least ε whose `error(options, beta)` is at most `error`: all noise is in proportion to 1/ε.

        >>> import discreet as dp
        >>> dp.NoisyMax.for_error(10, options=4, sensitivity=1, noise="laplace").error(options=4) <= 10
        True
        """
        unit = cls(1, sensitivity, noise=noise, monotone=monotone, neighbours=neighbours)
        ratio = fraction_up(unit.error(whole(options, "options", least=2), beta)) / positive(
            error, "error"
        )
        return cls(ratio, sensitivity, noise=noise, monotone=monotone, neighbours=neighbours)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: 2Δ/ε, or Δ/ε for a monotone score."""
        return 1 / rate_of(
            self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
        )

    @property
    def event(self) -> PermuteAndFlipSelection:
        """What was done: one report-noisy-max at ε."""
        return PermuteAndFlipSelection(self.epsilon, neighbours=self.neighbours)

    def release(self, scores: ScoreArray, *, bits: Bits | None = None) -> int:
        """Draw the noise, report the index of the greatest noisy score."""
        if self.noise == "exponential":
            return permute_and_flip(scores, 1 / self.scale, bits=bits)
        exponent = grid_exponent(self.scale)
        places = steps(scores_of(scores, 1).values, exponent)
        # Δ in whole steps, and the noise with it, may be a little larger than asked: never smaller
        scale = (
            self.scale
            * cells(self.sensitivity, exponent)
            / (self.sensitivity / step(exponent))
            / step(exponent)
        )
        noisy = add(places, laplace(scale, places.size, bits=bits))
        return int(np.argmax(noisy))

    def probabilities(self, scores: ScoreArray) -> NDArray[np.float64]:
        """Return the law of continuous noise (the lattice differs by about 2^-40), for at most 2 000 candidates."""
        if self.noise == "exponential":
            return flip_law(scores, 1 / self.scale)
        return _laplace_law(-gaps_of(scores) / float(self.scale))

    def error(self, options: int, beta: Number = 0.05) -> float:
        """Bound how far below the best score the choice falls, with probability at least 1 − β.

        Exponential noise: as for permute-and-flip. Laplace noise: the best loses to one candidate s below it with
        probability (2 + x)e^(−x)/4, x = s/scale, and to one of n with at most n times that.
        """
        if self.noise == "exponential":
            kin = PermuteAndFlip(
                self.epsilon, self.sensitivity, monotone=self.monotone, neighbours=self.neighbours
            )
            return kin.error(options, beta)
        others = whole(options, "options", least=1) - 1
        low, high = 0.0, 800.0
        for _ in range(70):
            middle = (low + high) / 2
            beaten = others * (2 + middle) * math.exp(-middle) / 4
            low, high = (low, middle) if beaten <= read_beta(beta) else (middle, high)
        return up(high * float(self.scale), 1e-11) if others else 0.0


def _laplace_law(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Integrate f(z − s_i) Π_{j≠i} F(z − s_j) between the scores, where the integrand is analytic; the best is 0."""
    if scores.size > MOST_LISTED:
        raise InvalidArgument(
            f"the exact law is listed for at most {MOST_LISTED} candidates; release has no such limit"
        )
    reach = scores[scores > -2 * _TAIL]  # whoever lies lower wins with probability below 1e-38
    ends = np.unique(np.concatenate([reach, np.arange(reach.min() - _TAIL, _TAIL)]))
    nodes, weights = legendre(20)
    half = np.diff(ends)[:, None] / 2
    places = (ends[:-1, None] + half * (nodes + 1)).reshape(-1)
    measure = (half * weights).reshape(-1)
    law = np.zeros(scores.size)
    for start in range(0, places.size, _ROWS):
        part = slice(start, start + _ROWS)
        far = np.abs(places[part, None] - scores[None, :])
        below = places[part, None] < scores[None, :]
        logs = np.where(below, math.log(0.5) - far, np.log1p(-np.exp(-far) / 2))
        law += measure[part] @ np.exp(logs.sum(axis=1, keepdims=True) - logs + math.log(0.5) - far)
    return law
