"""The sparse vector technique: any number of questions "is it above the threshold?", and only the yeses cost."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, positive, rational, whole
from ...arithmetic.rounding import fraction_up, up
from ...errors import BudgetExceeded, InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, grid_exponent, laplace
from ...noise.bits import generation
from ...noise.geometric import MOST_SCALE
from ...privacy.events import SparseVector as SparseVectorEvent
from ...privacy.measures import Measure
from ...privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..laws.error_bound import named, read_beta
from ..reading.allowance import largest_epsilon
from ..reading.steps import add, cells, step, steps


@frozen(init=False)
class SparseVector:
    """Compare each answer plus Lap(2cΔ/ε₂) with one noisy threshold T + Lap(Δ/ε₁); stop at the c-th yes.

    Price: ε = ε₁ + ε₂, however many noes (Lyu, Su, Li 2017, Algorithm 7; variants that forget the factor c, the stop
    or the noise on the answers are not private). If one person moves all answers the same way (`monotone`, as counting
    does under add/remove) Lap(cΔ/ε₂) suffices. Proof, which holds on the lattice: shift the threshold's noise by Δ,
    which costs e^ε₁; then no `no` gets less likely, and each `yes` moves by at most 2Δ, which costs e^(ε₂/c).
    Unless told otherwise ε₁ : ε₂ = 1 : (2c)^(2/3) (monotone: c^(2/3)), which minimises the variance of the comparison.

    >>> import discreet as dp
    >>> svt = dp.SparseVector(epsilon=1, sensitivity=1, answers=2)
    >>> svt.release([0, 10**6, 0, 10**6, 0], threshold=1000).tolist()
    [False, True, False, True]

    Answers are rounded to a lattice of 2^-40 of the noise. Refuses ε or Δ not above 0, answers below 1, NaN and
    infinite values; after the c-th yes a run refuses everything (BudgetExceeded).
    """

    epsilon: Fraction
    sensitivity: Fraction
    answers: int
    threshold_share: Fraction
    monotone: bool
    neighbours: Neighbours

    __repr__ = named

    def __init__(
        self,
        epsilon: Number,
        sensitivity: Number,
        *,
        answers: int = 1,
        threshold_share: Number | None = None,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        if monotone and neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "answers are monotone under 'add-remove' neighbours only; leave monotone out"
            )
        c = whole(answers, "answers", least=1)
        share = (
            _best_share(c if monotone else 2 * c)
            if threshold_share is None
            else rational(threshold_share, "share")
        )
        if not 0 < share < 1:
            raise InvalidArgument(
                "threshold_share must lie between 0 and 1: the part of epsilon spent on the threshold"
            )
        fill(
            self,
            epsilon=positive(epsilon, "epsilon"),
            sensitivity=positive(sensitivity, "sensitivity"),
            answers=c,
            threshold_share=share,
            monotone=bool(monotone),
            neighbours=read_neighbours(neighbours),
        )
        if max(self.steps) > MOST_SCALE:
            raise InvalidArgument(
                "the noise would not fit in 64 bits: take a larger epsilon, or a threshold_share nearer to the default"
            )

    @classmethod
    def spending(
        cls,
        spend: Measure,
        *,
        sensitivity: Number,
        answers: int = 1,
        threshold_share: Number | None = None,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> SparseVector:
        """Spend a budget: ε itself under PureDP, the largest ε that fits under any other measure."""
        epsilon = largest_epsilon(
            lambda e: SparseVectorEvent(e, answers, neighbours=neighbours), spend
        )
        return cls(
            epsilon,
            sensitivity,
            answers=answers,
            threshold_share=threshold_share,
            monotone=monotone,
            neighbours=neighbours,
        )

    @classmethod
    def for_error(
        cls,
        error: Number,
        *,
        queries: int,
        sensitivity: Number,
        beta: Number = 0.05,
        answers: int = 1,
        monotone: bool = False,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> SparseVector:
        """Take the least ε whose `error(queries, beta)` is at most `error`: all noise is in proportion to 1/ε.

        >>> import discreet as dp
        >>> dp.SparseVector.for_error(50, queries=1000, sensitivity=1).error(1000) <= 50
        True
        """
        unit = cls(1, sensitivity, answers=answers, monotone=monotone, neighbours=neighbours)
        ratio = fraction_up(unit.error(queries, beta)) / positive(error, "error")
        return cls(ratio, sensitivity, answers=answers, monotone=monotone, neighbours=neighbours)

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the threshold's noise, Δ/ε₁."""
        return self.sensitivity / (self.epsilon * self.threshold_share)

    @property
    def scale(self) -> Fraction:
        """The scale of each answer's noise, 2cΔ/ε₂ (monotone: cΔ/ε₂)."""
        c = self.answers if self.monotone else 2 * self.answers
        return c * self.sensitivity / (self.epsilon * (1 - self.threshold_share))

    @property
    def exponent(self) -> int:
        """The lattice: steps of 2^exponent, about 2^-40 of the smaller noise."""
        return grid_exponent(min(self.scale, self.threshold_scale))

    @property
    def steps(self) -> tuple[Fraction, Fraction]:
        """The two scales in lattice steps; Δ in whole steps may be a little larger than asked, the noise with it."""
        grain = step(self.exponent)
        growth = cells(self.sensitivity, self.exponent) / (self.sensitivity / grain) / grain
        return self.threshold_scale * growth, self.scale * growth

    @property
    def event(self) -> SparseVectorEvent:
        """What was done: one run with at most c yeses."""
        return SparseVectorEvent(self.epsilon, self.answers, neighbours=self.neighbours)

    def start(self, threshold: Number, *, bits: Bits | None = None) -> SparseVectorRun:
        """Start a run: draw the threshold's noise. The threshold is public."""
        return SparseVectorRun(self, threshold, bits=bits)

    def release(
        self, values: object, threshold: Number, *, bits: Bits | None = None
    ) -> NDArray[np.bool_]:
        """Answer a list of questions, in order, up to and including the c-th yes."""
        places = steps(values, self.exponent)
        if places.ndim != 1:
            raise InvalidArgument("values must be a list of numbers, in the order they are asked")
        return self.start(threshold, bits=bits).ask_places(places)

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound α: with probability at least 1 − β, every yes is at least T − α and every no at most T + α, for k
        questions.

        The threshold's noise exceeds its scale·ln(2/β) with probability β/2; one of k answers' noise exceeds its scale·
        ln(1/(1 − (1 − β/2)^(1/k))) with probability β/2 (Dwork, Roth 2014, Theorem 3.24, with the exact quantile).
        """
        half, k = read_beta(beta) / 2, whole(queries, "queries", least=1)
        each = -math.expm1(math.log1p(-half) / k)
        reach = math.log(1 / half) * float(self.threshold_scale) + math.log(1 / each) * float(
            self.scale
        )
        return up(reach, 1e-10)  # the lattice adds a few steps, each 2^-40 of the scale


class SparseVectorRun:
    """A run under way: one noisy threshold, at most c yeses, then it is over.

    It belongs to the process that started it, and cannot be copied or pickled: two runs with one threshold would give
    2c yeses for the price of c.
    """

    __slots__ = ("_bits", "_generation", "_left", "_lock", "_mechanism", "_place", "_scale")

    def __init__(
        self, mechanism: SparseVector, threshold: Number, *, bits: Bits | None = None
    ) -> None:
        place = math.floor(
            rational(threshold, "threshold") / step(mechanism.exponent) + Fraction(1, 2)
        )
        threshold_scale, scale = mechanism.steps
        self._mechanism = mechanism
        self._bits = bits
        self._scale = scale
        self._place = place + laplace(threshold_scale, bits=bits)
        self._left = mechanism.answers
        self._generation = generation()
        self._lock = threading.Lock()  # two threads must not both get the last yes

    def __reduce__(self) -> NoReturn:
        raise InvalidArgument(
            "a run cannot be copied: the copy's yeses would not be paid for; start another"
        )

    @property
    def left(self) -> int:
        """How many yeses are left."""
        return self._left

    @property
    def over(self) -> bool:
        """Whether all c yeses have been given."""
        return self._left == 0

    def ask(self, value: float) -> bool:
        """Return whether a noisy value reaches the noisy threshold.

        Refuses when the run is over: one more answer would cost more than was paid.
        """
        return bool(self.ask_places(steps([value], self._mechanism.exponent))[0])

    def ask_places(self, places: NDArray[Any]) -> NDArray[np.bool_]:
        """Answer values given in lattice steps, up to and including the last yes allowed."""
        with self._lock:
            if self._generation != generation():
                raise InvalidArgument(
                    "this run belongs to the process that started it; start another in this one"
                )
            if self.over:
                raise BudgetExceeded(
                    "this run has given all the yeses it was paid for; start another",
                    asked=1,
                    left=0,
                )
            noisy = add(places, laplace(self._scale, places.size, bits=self._bits))
            above = np.asarray(noisy >= self._place, dtype=np.bool_)
            yeses = np.flatnonzero(above)[: self._left]
            self._left -= yeses.size
            return above[: yeses[-1] + 1] if self.over else above


def _best_share(ratio: int) -> Fraction:
    """Return ε₁/ε with ε₁ : ε₂ = 1 : ratio^(2/3), as a short rational (any share is private; this one is accurate).

    >>> from discreet.mechanisms.adaptive.sparse_vector import _best_share
    >>> _best_share(8)
    Fraction(1, 5)
    """
    return Fraction(1 / (1 + ratio ** (2 / 3))).limit_denominator(1000)
