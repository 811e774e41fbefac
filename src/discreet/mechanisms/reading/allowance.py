"""How much a budget allows: the largest ε of a mechanism whose event still fits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...errors import InvalidArgument
from ...privacy.calibrate import least_scale
from ...privacy.events import Event
from ...privacy.measures import ApproxDP, Measure, PureDP
from .budget import read_budget


def largest_epsilon(
    make: Callable[[Fraction], Event], budget: Measure, *, slots: int = 1
) -> Fraction:
    """Find the largest ε for which `make(ε)`, whose pure price is slots·ε, fits the budget.

    Under PureDP, or ApproxDP with δ = 0, this is exactly ε/slots; under any other measure the calibrator finds the
    least 1/ε that fits, rounded to the safe side.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.allowance import largest_epsilon
    >>> from discreet.privacy.events import ExponentialSelection
    >>> largest_epsilon(ExponentialSelection, dp.PureDP(1))
    Fraction(1, 1)

    Refuses a budget of zero.
    """
    spent = read_budget(budget)
    if isinstance(spent, PureDP):
        return spent.epsilon / slots
    return 1 / least_scale(lambda scale: make(1 / scale), spent, start=Fraction(slots))


def approximate(budget: Measure, why: str) -> tuple[Fraction, Fraction]:
    """Read a budget that must be (ε, δ) with both above zero.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.allowance import approximate
    >>> approximate(dp.ApproxDP(1, "1e-6"), "unknown keys")
    (Fraction(1, 1), Fraction(1, 1000000))

    Refuses every other measure, saying why δ is needed.
    """
    if not isinstance(budget, ApproxDP) or budget.delta == 0 or budget.epsilon == 0:
        raise InvalidArgument(
            f"{why} needs ApproxDP(ε, δ) with ε > 0 and δ > 0, such as ApproxDP(1, 1e-6)"
        )
    return budget.epsilon, budget.delta
