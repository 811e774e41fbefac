"""What is left of an (ε, δ) budget, in the words it was written in: the largest single question that would still fit.

A filter counts in an amount of its own (ρ, μ², …) that nobody wrote. What somebody who wrote (ε, δ) can use is: the
largest ε of one pure question, the most exact Gaussian noise, and the δ for events that leak with one of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...arithmetic.rounding import fraction_up, shown
from ...frozen import frozen
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from .rule import MOST_LEAK

_STEPS = 24
_HAIR = 1 + Fraction(1, 10**8)


@frozen
class RemainingBudget:
    """The largest single question that fits now: pure with `epsilon`, or Gaussian with `mu`; either with `delta`.

    `mu` is None where the filter has no price for Gaussian noise; `delta` is for events with a δ of their own, such as
    the selection of unknown keys.
    """

    epsilon: Fraction
    mu: GaussianDP | None
    delta: Fraction
    tail: Fraction

    @property
    def box(self) -> ApproxDP:
        """The largest (ε, δ) that one question can spend: pure or Gaussian, whichever is more; δ is that for keys."""
        gaussian = Fraction() if self.mu is None else rounded_down(self._gaussian)
        return ApproxDP(max(self.epsilon, gaussian), self.delta)

    @property
    def _gaussian(self) -> float:
        return 0.0 if self.mu is None or not self.mu.squared else self.mu.epsilon(delta=self.tail)

    def __str__(self) -> str:
        words = f"ε = {float(self.epsilon):.4g} in one question"
        if self.mu is not None and self.mu.squared:
            at = f"({self._gaussian:.4g}, {shown(self.tail)})"
            words += f", or Gaussian noise of (ε, δ) = {at}, which is μ = {self.mu.mu:.4g}"
        return words if not self.delta else f"{words}; and δ = {shown(self.delta)} for unknown keys"


def largest_pure(by_sum: Fraction, pays: Callable[[Fraction], bool], most: Fraction) -> Fraction:
    """Return the largest ε of one pure event: what the sum leaves, or what the tail still pays, to six digits.

    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.remaining import largest_pure
    >>> largest_pure(Fraction(1, 2), lambda e: e < Fraction(1, 3), Fraction(1))
    Fraction(1, 2)
    >>> float(largest_pure(Fraction(0), lambda e: e <= Fraction(1, 4), Fraction(1)))
    0.25
    """
    low, high = by_sum, most
    if low >= high or not pays(low + (high - low) / 2**_STEPS):
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if pays(middle) else (low, middle)
    return low


def gaussian_of(left: Measure) -> GaussianDP | None:
    """Return the most exact Gaussian noise that an amount pays for.

    >>> import discreet as dp
    >>> from discreet.privacy.filters.remaining import gaussian_of
    >>> gaussian_of(dp.ZCDP("1/8")), gaussian_of(dp.PureDP(1))
    (GaussianDP(0.5), None)
    """
    match left:
        case GaussianDP():
            return left
        case ZCDP(rho=rho):
            return GaussianDP.of_square(2 * rho)
        case RenyiDP(orders=orders):
            return GaussianDP.of_square(min(2 * epsilon / alpha for alpha, epsilon in orders))
        case _:
            return None


def restate(amount: Measure, tail: Fraction, leak: Fraction = Fraction()) -> Measure:
    """Return an amount of a filter as (ε, δ) at the δ that the budget keeps for its tail, rounded up.

    >>> import discreet as dp
    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.remaining import restate
    >>> round(float(restate(dp.GaussianDP("0.25"), Fraction(1, 10**6)).epsilon), 2)
    1.06
    """
    match amount:
        case PureDP(epsilon=epsilon):
            return ApproxDP(epsilon, leak) if leak else amount
        case GaussianDP() | ZCDP() | RenyiDP():
            return ApproxDP(_rounded(amount.epsilon(delta=tail)), min(tail + leak, MOST_LEAK))
        case _:
            return amount


def rounded_down(epsilon: float) -> Fraction:
    """Return the nearest decimal of six digits, or the one below if it is more by more than a rounding error.

    >>> from discreet.privacy.filters.remaining import rounded_down
    >>> rounded_down(1.0000000001), rounded_down(0.12345678)
    (Fraction(1, 1), Fraction(1929, 15625))
    """
    near = Fraction(f"{epsilon:.6g}")
    return near if near <= Fraction(epsilon) * _HAIR else Fraction(f"{epsilon * (1 - 5e-6):.6g}")


def _rounded(epsilon: float) -> Fraction:
    """Round up to five digits: it is shown, and decides nothing."""
    exact = fraction_up(epsilon)
    unit = Fraction(10) ** (len(str(int(exact))) - 5)
    return -(-exact // unit) * unit
