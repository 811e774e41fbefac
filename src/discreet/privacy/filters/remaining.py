"""Remaining (ε, δ) budget, stated as the largest single question that would still fit.

A filter counts in an amount of its own (ρ, μ², …) that the author of an (ε, δ) budget never wrote.
Such an author can use three numbers: the largest ε of one pure question, the most exact Gaussian
noise, and the δ for events with a δ of their own. No filter admits or refuses by these numbers; the
planner caps Gaussian noise by `gaussian_of`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...arithmetic.root_finder import bisect
from ...arithmetic.rounding import fraction_up, shown
from ...frozen import frozen
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from .rule import MAX_LEAK

# Bisection steps: 2^−24 is six decimal digits of the interval.
_BISECTION_STEPS = 24
# Relative error that the floats of a converted Gaussian budget may have.
_ROUNDING_ERROR = 1 + Fraction(1, 10**8)


@frozen
class RemainingBudget:
    """Largest single question that fits now: pure with `epsilon`, or Gaussian with `mu`.

    `mu` is None where the filter has no price for Gaussian noise. `delta` is for events with a δ
    of their own, such as the selection of unknown keys. `tail` is the δ at which `mu` is stated.

    Law: tests/privacy/test_filter_sums.py::TestRefusals
    """

    epsilon: Fraction
    mu: GaussianDP | None
    delta: Fraction
    tail: Fraction

    @property
    def box(self) -> ApproxDP:
        """The largest (ε, δ) that one question can spend, pure or Gaussian; δ is that for keys."""
        gaussian = Fraction()
        if self.mu is not None:
            gaussian = rounded_down(self._gaussian_epsilon)
        return ApproxDP(max(self.epsilon, gaussian), self.delta)

    @property
    def _gaussian_epsilon(self) -> float:
        if self.mu is None or not self.mu.squared:
            return 0.0
        return self.mu.epsilon(delta=self.tail)

    def __str__(self) -> str:
        text = f"ε = {float(self.epsilon):.4g} in one question"
        if self.mu is not None and self.mu.squared:
            box = f"({self._gaussian_epsilon:.4g}, {shown(self.tail)})"
            text += f", or Gaussian noise of (ε, δ) = {box}"
        if self.delta:
            text += f"; and δ = {shown(self.delta)} for unknown keys"
        return text


def largest_pure(by_sum: Fraction, pays: Callable[[Fraction], bool], most: Fraction) -> Fraction:
    """Return the largest ε of a pure event that still fits, too small by at most 2^-24 of `most`.

    `by_sum` is the ε that the rule of sums has left, and always fits. `pays` says whether the
    filter's own amount pays for an ε. The search ends at `most`.

    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.remaining import largest_pure
    >>> largest_pure(Fraction(1, 2), lambda e: e < Fraction(1, 3), Fraction(1))
    Fraction(1, 2)
    >>> float(largest_pure(Fraction(0), lambda e: e <= Fraction(1, 4), Fraction(1)))
    0.25
    """
    low = by_sum
    high = most
    # One probe just above the sum saves the bisection where the tail pays for less than the sum.
    if low >= high or not pays(low + (high - low) / 2**_BISECTION_STEPS):
        return low
    # The low end was paid for: what is displayed as fitting does fit.
    return bisect(pays, low, high, _BISECTION_STEPS)[0]


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
        # Gaussian noise of μ is μ²/2-zCDP, and has divergence αμ²/2 at order α.
        case ZCDP(rho=rho):
            return GaussianDP.of_square(2 * rho)
        case RenyiDP(orders=orders):
            return GaussianDP.of_square(min(2 * epsilon / alpha for alpha, epsilon in orders))
        case _:
            return None


def restate(amount: Measure, tail: Fraction, leak: Fraction = Fraction()) -> Measure:
    """Return an amount of a filter as (ε, δ) at the δ that the budget keeps for its tail.

    ε is rounded up. `leak` is added to that δ; a pure amount has no tail and gets `leak` alone.

    >>> import discreet as dp
    >>> from fractions import Fraction
    >>> from discreet.privacy.filters.remaining import restate
    >>> round(float(restate(dp.GaussianDP("0.25"), Fraction(1, 10**6)).epsilon), 2)
    1.06
    """
    match amount:
        case PureDP(epsilon=epsilon):
            if leak:
                return ApproxDP(epsilon, leak)
            return amount
        case GaussianDP() | ZCDP() | RenyiDP():
            epsilon = _rounded_up(amount.epsilon(delta=tail))
            return ApproxDP(epsilon, min(tail + leak, MAX_LEAK))
        case _:
            return amount


def rounded_down(epsilon: float) -> Fraction:
    """Return the nearest decimal of six digits, or the one below if the nearest is larger.

    Larger means by more than a rounding error: 1 stays 1 after a conversion there and back.

    >>> from discreet.privacy.filters.remaining import rounded_down
    >>> rounded_down(1.0000000001), rounded_down(0.12345678)
    (Fraction(1, 1), Fraction(1929, 15625))
    """
    nearest = Fraction(f"{epsilon:.6g}")
    if nearest <= Fraction(epsilon) * _ROUNDING_ERROR:
        return nearest
    # 5e-6 is half a unit of the sixth digit or more, so that the text rounds to the one below.
    return Fraction(f"{epsilon * (1 - 5e-6):.6g}")


def _rounded_up(epsilon: float) -> Fraction:
    """Round up to five digits: a displayed price is never smaller than it is."""
    exact = fraction_up(epsilon)
    unit = Fraction(10) ** (len(str(int(exact))) - 5)
    # -(-a // b) is the ceiling.
    return -(-exact // unit) * unit
