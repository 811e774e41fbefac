"""Binomial mechanism on the integers: release, privacy price and error.

Fair coins, counted and centred: Bin(N, 1/2) − N/2 (Dwork, Kenthapadi, McSherry, Mironov, Naor
2006). Priced exactly from its pmf, never from a loose closed form.
"""

from __future__ import annotations

import math

from ... import noise
from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import Number as Real
from ...arithmetic.rational import positive, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from ...noise.binomial import MAX_TRIALS
from ...noise.bits import Bits
from ...privacy.calibrate import fits
from ...privacy.events import BinomialNoise
from ...privacy.measures import ApproxDP, Measure, Neighbours
from ..laws import binomial as law
from ..laws.error_bound import (
    brief,
    first_true,
    least_whole,
    per_cell_beta,
)
from ..laws.normal import quantile
from ..reading.value import Whole, deprecated_call, refuse_pure
from ..sensitivity import GivenSensitivity, ReadSensitivity, read_sensitivity
from .gaussian import Gaussian
from .integer import IntegerMechanism, add_drawn, whole_l1

# The incomplete beta function keeps nine digits for any number of trials.
_TAIL_MARGIN = 2.0**-30


@frozen(init=False, repr=False)
class Binomial(IntegerMechanism):
    """Binomial mechanism: adds centred binomial noise to whole numbers.

    `trials` is even, so that the noise is whole and centred; `sensitivity` is Δ1, whole, or a
    `Sensitivity`. Useful where several parties each toss coins: sums of binomial noise are
    binomial.

    >>> import discreet as dp
    >>> coins = dp.Binomial(trials=400, sensitivity=1)
    >>> coins.scale, coins.error(beta=0.05), round(coins.variance, 9)
    (10.0, 20, 100.0)

    Guarantee: one release is (ε, δ)-DP by the exact pmf, never without δ; `error` is the exact
    quantile.
    Refuses: floats, odd trials, a sensitivity that is not whole, and budgets without δ
    (InvalidArgument), before a bit is drawn.
    Law: tests/mechanisms/test_binomial.py::TestPrice, tests/mechanisms/test_binomial.py::TestError
    """

    trials: int
    sensitivity: ReadSensitivity
    neighbours: Neighbours
    event: BinomialNoise = field(compare=False)

    def __init__(
        self, trials: int, sensitivity: GivenSensitivity, *, neighbours: Neighbours | None = None
    ) -> None:
        n = whole(trials, "trials", least=2, most=MAX_TRIALS)
        stated, relation = read_sensitivity(sensitivity, neighbours)
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
    @deprecated_call("sensitivity")
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: GivenSensitivity,
        neighbours: Neighbours | None = None,
    ) -> Binomial:
        """Choose the fewest coins that keep (ε, δ).

        Two coins more never cost more: they are noise added to noise.

        >>> import discreet as dp
        >>> dp.Binomial.spending(dp.ApproxDP(1, 1e-6), sensitivity=1)
        Binomial(trials=80, sensitivity=1)

        Guarantee: the event of the returned mechanism costs at most `spend`.
        Refuses: every measure but ApproxDP with δ > 0 (InvalidArgument).
        Law: tests/mechanisms/test_binomial.py::TestCalibration
        """
        budget = refuse_pure(spend, "binomial", "ApproxDP or Geometric")
        if not isinstance(budget, ApproxDP):
            raise InvalidArgument(
                f"binomial noise is bounded, so it keeps no {type(budget).__name__}; use ApproxDP"
            )
        stated, _ = read_sensitivity(sensitivity, neighbours)
        norm = whole_l1(stated)

        def suffices(half: int) -> bool:
            return half > 0 and fits(BinomialNoise(2 * half, norm), budget)

        # A binomial of N coins has variance N/4: start at the Gaussian of the same budget.
        gaussian = Gaussian.spending(budget, sensitivity=norm)
        guess = 2 * float(gaussian.scale) ** 2
        return cls(2 * first_true(suffices, guess), sensitivity, neighbours=neighbours)

    @classmethod
    @deprecated_call("beta")
    def for_error(
        cls,
        error: Real,
        *,
        beta: Real = 0.05,
        sensitivity: GivenSensitivity,
        cells: int = 1,
        neighbours: Neighbours | None = None,
    ) -> Binomial:
        """Choose the most coins whose error stays within a bound.

        >>> import discreet as dp
        >>> dp.Binomial.for_error(19, sensitivity=1).error()
        19

        Refuses: an error that even two coins exceed (InvalidArgument).
        """
        bound = min(math.floor(positive(error, "error")), MAX_TRIALS)
        cell_beta = per_cell_beta(beta, cells)

        def exceeds(half: int) -> bool:
            if half <= 0:
                return False
            # The tail is rounded up: coins that fit only by rounding are not taken.
            too_many = 2 * half > MAX_TRIALS
            return too_many or up(law.tail(bound, 2 * half), _TAIL_MARGIN) > cell_beta

        # A β near 1 has a quantile near 0; the guess must stay finite.
        z = max(quantile(cell_beta), 1e-6)
        guess = 2 * ((bound + 0.5) / z) ** 2
        # One pair of coins fewer than the first number that exceeds the bound.
        half = first_true(exceeds, min(guess, MAX_TRIALS / 2)) - 1
        if half < 1:
            raise InvalidArgument(
                f"even two coins miss by more than {error}; allow a larger error or use Geometric"
            )
        return cls(2 * half, sensitivity, neighbours=neighbours)

    def release(self, value: Whole, *, bits: Bits | None = None) -> Whole:
        """Return the whole value with fresh noise; arrays stop at the ends of int64."""
        centre = self.trials // 2

        def draw(size: int | None) -> int | Integers:
            return noise.binomial(self.trials, size, bits=bits) - centre

        return add_drawn(value, draw)

    def error(self, beta: Real = 0.05, *, cells: int = 1, whole: bool = True) -> int:  # noqa: ARG002 - always whole
        """Bound |release − value| with probability 1 − β, in all of `cells` cells at once.

        The exact quantile.
        """
        cell_beta = per_cell_beta(beta, cells)

        def tail(t: int) -> float:
            return law.tail(t, self.trials)

        guess = min(self.trials / 2, self.scale * quantile(cell_beta) - 0.5)
        return least_whole(tail, cell_beta, guess, _TAIL_MARGIN)

    def _pmf(self, distance: Floats) -> Floats:
        return law.pmf(distance, self.trials)

    def _cdf(self, distance: Floats) -> Floats:
        return law.cdf(distance, self.trials)

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
        return up(law.mean_size(self.trials))
