"""Budget readers for mechanisms with a parameter ε: the largest ε whose event fits a budget.

Also the least ε for an error in proportion to 1/ε, and a check that a budget is (ε, δ).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...arithmetic.rational import Number, positive
from ...arithmetic.rounding import fraction_up
from ...errors import InvalidArgument
from ...privacy.calibrate import least_scale
from ...privacy.events import Event
from ...privacy.measures import ApproxDP, Measure, PureDP
from .value import read_budget


def largest_epsilon(
    make: Callable[[Fraction], Event], budget: Measure, *, slots: int = 1
) -> Fraction:
    """Find the largest ε for which the event `make(ε)`, of pure price slots·ε, fits the budget.

    | budget | ε |
    |---|---|
    | PureDP, or ApproxDP with δ = 0 | exactly ε/slots |
    | any other measure | 1/scale, for the least scale = 1/ε that fits, rounded up |

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.allowance import largest_epsilon
    >>> from discreet.privacy.events import ExponentialSelection
    >>> largest_epsilon(ExponentialSelection, dp.PureDP(1))
    Fraction(1, 1)

    Guarantee: the event of the returned ε costs at most the budget.
    Refuses: a budget of zero, and anything but a measure (InvalidArgument).
    Law: tests/mechanisms/test_allowance.py::test_the_largest_epsilon_fits_and_more_does_not
    """
    spent = read_budget(budget)
    if isinstance(spent, PureDP):
        return spent.epsilon / slots

    def event_at(scale: Fraction) -> Event:
        return make(1 / scale)

    # The calibrator rounds 1/ε up, hence ε down: the event costs at most the budget.
    return 1 / least_scale(event_at, spent, start=Fraction(slots))


def epsilon_for_error(unit_error: float, error: Number) -> Fraction:
    """Return the least ε that keeps an error in proportion to 1/ε, given the error at ε = 1.

    >>> from discreet.mechanisms.reading.allowance import epsilon_for_error
    >>> round(float(epsilon_for_error(30.0, 10)), 9)
    3.0

    Refuses: an error that is not above 0 (InvalidArgument).
    """
    # Rounded up, so that ε is never too small.
    return fraction_up(unit_error) / positive(error, "error")


def read_approximate_budget(budget: Measure, why: str) -> tuple[Fraction, Fraction]:
    """Read a budget that must be (ε, δ) with both above zero.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.allowance import read_approximate_budget
    >>> read_approximate_budget(dp.ApproxDP(1, "1e-6"), "unknown keys")
    (Fraction(1, 1), Fraction(1, 1000000))

    Refuses: every other budget (InvalidArgument); `why` names in the message what needs δ.
    """
    if not isinstance(budget, ApproxDP) or budget.delta == 0 or budget.epsilon == 0:
        raise InvalidArgument(
            f"{why} needs ApproxDP(ε, δ) with ε > 0 and δ > 0, such as ApproxDP(1, 1e-6)"
        )
    return budget.epsilon, budget.delta
