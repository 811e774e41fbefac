"""Binomial noise on the integers: what it does, what it costs, how far off it is.

Fair coins, counted and centred: Bin(N, 1/2) − N/2 (Dwork, Kenthapadi, McSherry, Mironov, Naor 2006). Priced exactly
from its pmf, never from a loose closed form.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

from ... import noise
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.binomial import MOST_TRIALS
from ...noise.bits import Bits
from ...privacy.calibrate import fits
from ...privacy.events import BinomialNoise
from ...privacy.measures import ApproxDP, Measure
from ...privacy.neighbours import Neighbours
from ..laws import binomial as coins
from ..laws.error_bound import around, at, brief, first_true, least_whole, level
from ..laws.normal import quantile
from ..reading.budget import refuse_pure
from ..reading.deprecation import formerly
from ..reading.value import Whole, read_whole
from ..sensitivity import Sensitivity, read_sensitivity
from .gaussian import Gaussian
from .integer import add_drawn, whole_l1

_MARGIN = 2.0**-30  # the incomplete beta function keeps nine digits for any number of trials


@frozen(init=False, repr=False)
class Binomial:
    """Add centred binomial noise to whole numbers; (ε, δ) exactly, and no promise without δ.

    `trials` is even, so that the noise is whole and centred; `sensitivity` is Δ1, whole, or a `Sensitivity`. Useful
    where several parties each toss coins: sums of binomial noise are binomial.

    >>> import discreet as dp
    >>> coins = dp.Binomial(trials=400, sensitivity=1)
    >>> coins.scale, coins.error(beta=0.05), round(coins.variance, 9)
    (10.0, 20, 100.0)

    Refuses floats, odd trials, a sensitivity that is not whole, and budgets without δ.
    """

    trials: int
    sensitivity: Fraction | Sensitivity
    neighbours: Neighbours
    event: BinomialNoise = field(compare=False)

    def __init__(
        self, trials: int, sensitivity: Real | Sensitivity, *, neighbours: Neighbours | None = None
    ) -> None:
        n, (stated, relation) = (
            whole(trials, "trials", least=2, most=MOST_TRIALS),
            read_sensitivity(sensitivity, neighbours),
        )
        if n % 2:
            raise InvalidArgument(
                f"trials must be even, so that the noise is whole and centred, got {n}; take {n + 1}"
            )
        event = BinomialNoise(n, whole_l1(stated), neighbours=relation)
        fill(self, trials=n, sensitivity=stated, neighbours=relation, event=event)

    def __repr__(self) -> str:
        return f"Binomial(trials={self.trials}, sensitivity={brief(self.sensitivity)})"

    @property
    def scale(self) -> float:
        """The standard deviation, √N/2."""
        return math.sqrt(self.trials) / 2

    @classmethod
    @formerly("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Real | Sensitivity,
        neighbours: Neighbours | None = None,
    ) -> Binomial:
        """Choose the fewest coins that keep (ε, δ); two coins more only ever help, being noise added to noise.

        >>> import discreet as dp
        >>> dp.Binomial.spending(dp.ApproxDP(1, 1e-6), sensitivity=1)
        Binomial(trials=80, sensitivity=1)
        """
        budget = refuse_pure(spend, "binomial", "ApproxDP or Geometric")
        if not isinstance(budget, ApproxDP):
            raise InvalidArgument(
                f"binomial noise is bounded, so it keeps no {type(budget).__name__}; use ApproxDP"
            )
        stated = read_sensitivity(sensitivity, neighbours)[0]
        norm = whole_l1(stated)

        def holds(half: int) -> bool:
            return half > 0 and fits(BinomialNoise(2 * half, norm), budget)

        guess = 2 * float(Gaussian.spending(budget, sensitivity=norm).scale) ** 2
        return cls(2 * first_true(holds, guess), sensitivity, neighbours=neighbours)

    @classmethod
    @formerly("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: Real | Sensitivity,
        cells: int = 1,
        neighbours: Neighbours | None = None,
    ) -> Binomial:
        """Choose the most coins whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Binomial.for_error(19, sensitivity=1).error()
        19

        Refuses an error that even two coins exceed.
        """
        bound, chance = min(math.floor(positive(error, "error")), MOST_TRIALS), level(beta, cells)

        def misses(half: int) -> bool:
            return half > 0 and (
                2 * half > MOST_TRIALS or up(coins.tail(bound, 2 * half), _MARGIN) > chance
            )

        guess = 2 * ((bound + 0.5) / max(quantile(chance), 1e-6)) ** 2
        half = first_true(misses, min(guess, MOST_TRIALS / 2)) - 1
        if half < 1:
            raise InvalidArgument(
                f"even two coins miss by more than {error}; allow a larger error or use Geometric"
            )
        return cls(2 * half, sensitivity, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        exact = read_whole(value)
        centre = self.trials // 2
        return cast(
            "Whole",
            add_drawn(exact, lambda size: noise.binomial(self.trials, size, bits=bits) - centre),
        )

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once: the exact quantile."""
        chance = level(beta, cells)
        guess = min(self.trials / 2, self.scale * quantile(chance) - 0.5)
        return least_whole(lambda t: coins.tail(t, self.trials), chance, guess, _MARGIN)

    def interval(self, answer: Whole, beta: Real = 0.05, *, cells: int = 1) -> tuple[Any, Any]:
        """Return the interval around a released answer that holds the true one with probability 1 − β.

        >>> import discreet as dp
        >>> dp.Binomial(trials=400, sensitivity=1).interval(42)
        (22, 62)
        """
        return around(read_whole(answer), self.error(beta, cells=cells))

    def pmf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) = x).

        >>> import discreet as dp
        >>> dp.Binomial(trials=4, sensitivity=1).pmf([-2, 0, 3]).round(12).tolist()
        [0.0625, 0.375, 0.0]
        """
        return at(lambda y: coins.pmf(y - value, self.trials), x)

    def cdf(self, x: object, value: int = 0) -> Any:  # noqa: ANN401 - a float or an array
        """Return P(release(value) ≤ x)."""
        return at(lambda y: coins.cdf(y - value, self.trials), x)

    @property
    def variance(self) -> float:
        """The variance of the noise, N/4."""
        return self.trials / 4

    def expected_error(self) -> float:
        """Return E|release − value| = (N/2)·C(N, N/2)/2^N.

        >>> import discreet as dp
        >>> round(dp.Binomial(trials=400, sensitivity=1).expected_error(), 6)
        7.97386
        """
        return up(coins.mean_size(self.trials))
