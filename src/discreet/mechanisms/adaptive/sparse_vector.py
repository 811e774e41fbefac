"""Sparse vector technique (above threshold): compare any number of answers with a noisy threshold.

The price does not grow with the number of comparisons, only with the number of answers "yes" that
may be given before the run ends.
"""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from functools import partial
from typing import NoReturn

import numpy as np

from ...arithmetic.arrays import AnyArray, Flags
from ...arithmetic.rational import Number, between_0_and_1, positive, rational, whole
from ...arithmetic.rounding import up
from ...errors import BudgetExceeded, InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, grid_exponent, laplace
from ...noise.bits import generation
from ...noise.geometric import MAX_SCALE
from ...privacy.events import SparseVector as SparseVectorEvent
from ...privacy.measures import ADD_REMOVE, Measure, Neighbours, read_neighbours
from ..laws.error_bound import parameter_repr, read_beta
from ..reading.allowance import epsilon_for_error, largest_epsilon
from ..reading.steps import add_exactly, sensitivity_in_steps, step_size, to_steps


@frozen(init=False)
class SparseVector:
    """Sparse vector technique: compares noisy answers with a noisy threshold, up to c yeses.

    Each answer plus Lap(2cΔ/ε₂) is compared with one noisy threshold T + Lap(Δ/ε₁); the run stops
    at the c-th yes, c = `answers` (Lyu, Su, Li 2017, Algorithm 7; variants that forget the factor
    c, the stop or the noise on the answers are not private). If one person moves all answers the
    same way (`monotone`, as counting does under add/remove) Lap(cΔ/ε₂) suffices. Proof, which holds
    on the lattice: shift the threshold's noise by Δ, which costs e^ε₁; then no `no` gets less
    likely, and each `yes` moves by at most 2Δ, which costs e^(ε₂/c). ε₁ is `threshold_share`·ε. By
    default ε₁ : ε₂ = 1 : (2c)^(2/3) (monotone: c^(2/3)), which minimises the variance of the
    comparison.

    >>> import discreet as dp
    >>> svt = dp.SparseVector(epsilon=1, sensitivity=1, answers=2)
    >>> svt.release([0, 10**6, 0, 10**6, 0], threshold=1000).tolist()
    [False, True, False, True]

    Answers are rounded to a lattice whose step is about 2^-40 of the smaller noise scale.

    Guarantee: one run is ε-DP with ε = ε₁ + ε₂, however many noes.
    Refuses: ε or Δ not above 0, answers below 1, NaN and infinite values (InvalidArgument); after
    the c-th yes a run refuses everything (BudgetExceeded).
    Law: tests/mechanisms/test_sparse_vector.py::TestPrice,
    tests/mechanisms/test_sparse_vector.py::TestError
    """

    epsilon: Fraction
    sensitivity: Fraction
    answers: int
    threshold_share: Fraction
    monotone: bool
    neighbours: Neighbours

    __repr__ = parameter_repr

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
        # One person moves a monotone answer by Δ against the threshold, any other by 2Δ.
        share: Number = _best_share(c if monotone else 2 * c)
        if threshold_share is not None:
            share = threshold_share
        # The default is checked too: for very many answers its short rational is 0.
        part = ": the part of epsilon spent on the threshold"
        exact_share = between_0_and_1(share, "threshold_share", part)
        exact_epsilon = positive(epsilon, "epsilon")
        delta = positive(sensitivity, "sensitivity")
        relation = read_neighbours(neighbours)
        fill(self, epsilon=exact_epsilon, sensitivity=delta, answers=c)
        fill(self, threshold_share=exact_share, monotone=bool(monotone), neighbours=relation)
        # Refused here, not in the middle of a run.
        if max(self.steps) > MAX_SCALE:
            raise InvalidArgument(
                "the noise would not fit in 64 bits: take a larger epsilon, "
                "or a threshold_share nearer to the default"
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
        """Spend a budget: ε itself under PureDP, else the largest ε that fits."""
        event_at = partial(SparseVectorEvent, answers=answers, neighbours=neighbours)
        epsilon = largest_epsilon(event_at, spend)
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
        """Take the least ε whose `error(queries, beta)` is at most `error`.

        >>> import discreet as dp
        >>> dp.SparseVector.for_error(50, queries=1000, sensitivity=1).error(1000) <= 50
        True
        """
        unit = cls(1, sensitivity, answers=answers, monotone=monotone, neighbours=neighbours)
        epsilon = epsilon_for_error(unit.error(queries, beta), error)
        return cls(epsilon, sensitivity, answers=answers, monotone=monotone, neighbours=neighbours)

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the threshold's noise, Δ/ε₁."""
        return self.sensitivity / (self.epsilon * self.threshold_share)

    @property
    def scale(self) -> Fraction:
        """The scale of each answer's noise, 2cΔ/ε₂ (monotone: cΔ/ε₂)."""
        moves = self.answers if self.monotone else 2 * self.answers
        answer_epsilon = self.epsilon * (1 - self.threshold_share)
        return moves * self.sensitivity / answer_epsilon

    @property
    def exponent(self) -> int:
        """The exponent of the lattice: steps of about 2^-40 of the smaller noise."""
        return grid_exponent(min(self.scale, self.threshold_scale))

    @property
    def steps(self) -> tuple[Fraction, Fraction]:
        """The scales of the threshold's and of the answers' noise, in lattice steps."""
        step = step_size(self.exponent)
        # Δ in whole steps may be a little larger than asked, and the noise grows with it.
        whole_steps = sensitivity_in_steps(self.sensitivity, self.exponent)
        growth = whole_steps / (self.sensitivity / step) / step
        return self.threshold_scale * growth, self.scale * growth

    @property
    def event(self) -> SparseVectorEvent:
        """The event to be priced: one run with at most c yeses."""
        return SparseVectorEvent(self.epsilon, self.answers, neighbours=self.neighbours)

    def start(self, threshold: Number, *, bits: Bits | None = None) -> SparseVectorRun:
        """Start a run: draw the threshold's noise. The threshold is public."""
        return SparseVectorRun(self, threshold, bits=bits)

    def release(self, values: object, threshold: Number, *, bits: Bits | None = None) -> Flags:
        """Answer a list of questions, in order, up to and including the c-th yes."""
        # Read before the run starts: a bad value is refused before a bit is drawn.
        value_steps = to_steps(values, self.exponent)
        if value_steps.ndim != 1:
            raise InvalidArgument("values must be a list of numbers, in the order they are asked")
        return self.start(threshold, bits=bits).ask_places(value_steps)

    def error(self, queries: int, beta: Number = 0.05) -> float:
        """Bound α: every yes is at least T − α and every no at most T + α, for k questions.

        Holds with probability at least 1 − β. The threshold's noise exceeds its scale·ln(2/β) with
        probability β/2; one of k answers' noise exceeds its scale·ln(1/(1 − (1 − β/2)^(1/k))) with
        probability β/2 (Dwork, Roth 2014, Theorem 3.24, with the exact quantile).
        """
        half = read_beta(beta) / 2
        k = whole(queries, "queries", least=1)
        beta_each = -math.expm1(math.log1p(-half) / k)
        threshold_noise = math.log(1 / half) * float(self.threshold_scale)
        answer_noise = math.log(1 / beta_each) * float(self.scale)
        # The lattice adds a few steps, each 2^-40 of the scale: below a relative 1e-10.
        return up(threshold_noise + answer_noise, 1e-10)


class SparseVectorRun:
    """Run of the sparse vector technique: one noisy threshold, at most c yeses.

    Guarantee: belongs to the process that started it, and cannot be copied or pickled: two runs
    with one threshold would give 2c yeses for the price of c.
    Refuses: a copy, and questions in another process (InvalidArgument); questions after the c-th
    yes (BudgetExceeded).
    Law: tests/mechanisms/test_sparse_vector.py::TestRun,
    tests/mechanisms/test_sparse_vector.py::TestOneRunIsOneRun
    """

    __slots__ = ("_bits", "_generation", "_left", "_lock", "_mechanism", "_scale", "_threshold")

    def __init__(
        self, mechanism: SparseVector, threshold: Number, *, bits: Bits | None = None
    ) -> None:
        exact_steps = rational(threshold, "threshold") / step_size(mechanism.exponent)
        # Half-up, as the answers are rounded.
        rounded = math.floor(exact_steps + Fraction(1, 2))
        threshold_scale, scale = mechanism.steps
        self._mechanism = mechanism
        self._bits = bits
        self._scale = scale
        self._threshold = rounded + laplace(threshold_scale, bits=bits)
        self._left = mechanism.answers
        self._generation = generation()
        # Two threads must not both get the last yes.
        self._lock = threading.Lock()

    def __reduce__(self) -> NoReturn:
        raise InvalidArgument(
            "a run cannot be copied: the copy's yeses would not be paid for; start another"
        )

    @property
    def left(self) -> int:
        """The number of yeses left."""
        return self._left

    @property
    def over(self) -> bool:
        """True once all c yeses have been given."""
        return self._left == 0

    def ask(self, value: float) -> bool:
        """Return whether a noisy value reaches the noisy threshold.

        Refuses: a question after the last yes (BudgetExceeded); it would cost more than was paid.
        """
        value_steps = to_steps([value], self._mechanism.exponent)
        return bool(self.ask_places(value_steps)[0])

    def ask_places(self, places: AnyArray) -> Flags:
        """Answer values given in lattice steps, up to and including the last yes allowed."""
        with self._lock:
            # A forked child has the same threshold: its yeses would not be paid for.
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
            noise = laplace(self._scale, places.size, bits=self._bits)
            noisy = add_exactly(places, noise)
            above = np.asarray(noisy >= self._threshold, dtype=np.bool_)
            yeses = np.flatnonzero(above)[: self._left]
            self._left -= yeses.size
            if not self._left:
                # Nothing after the last yes may be told.
                return above[: yeses[-1] + 1]
            return above


def _best_share(ratio: int) -> Fraction:
    """Return ε₁/ε with ε₁ : ε₂ = 1 : ratio^(2/3), as a short rational.

    Any share is private; this one is accurate.

    >>> from discreet.mechanisms.adaptive.sparse_vector import _best_share
    >>> _best_share(8)
    Fraction(1, 5)
    """
    share = 1 / (1 + ratio ** (2 / 3))
    return Fraction(share).limit_denominator(1000)
