"""Checks of a budget that a mechanism may spend: a privacy measure above zero."""

from __future__ import annotations

from typing import assert_never

from ...errors import InvalidArgument
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP


def read_budget(measure: object) -> Measure:
    """Check a budget; (ε, 0) is read as pure ε.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.budget import read_budget
    >>> read_budget(dp.ApproxDP(1, 0))
    PureDP(1)

    Refuses: what is no measure, and a budget of zero, which no finite noise keeps
    (InvalidArgument).

    >>> read_budget(dp.PureDP(0))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: PureDP(0) leaves nothing to spend, only infinite noise keeps it; give more than 0
    """
    if not isinstance(measure, Measure):
        given = type(measure).__name__
        raise InvalidArgument(
            f"a measure such as PureDP(1) or ApproxDP(1, 1e-6) is expected, got {given}"
        )
    if isinstance(measure, ApproxDP) and measure.delta == 0:
        measure = PureDP(measure.epsilon)
    if _is_zero(measure):
        raise InvalidArgument(
            f"{measure!r} leaves nothing to spend, only infinite noise keeps it; give more than 0"
        )
    return measure


def _is_zero(measure: Measure) -> bool:
    match measure:
        case PureDP(epsilon=amount) | ZCDP(rho=amount) | GaussianDP(squared=amount):
            return amount == 0
        case RenyiDP(orders=orders):
            # One order at zero already asks for infinite noise.
            return any(epsilon == 0 for _, epsilon in orders)
        case ApproxDP():
            # (0, δ) with δ > 0 is kept by finite noise.
            return False
        case _:
            assert_never(measure)


def refuse_pure(measure: object, noise: str, others: str) -> Measure:
    """Check a budget for noise whose privacy loss is unbounded, such as Gaussian noise.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.budget import refuse_pure
    >>> refuse_pure(dp.PureDP(1), "Gaussian", "ApproxDP, ZCDP, GaussianDP or Laplace")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: Gaussian noise has no pure ε; use ApproxDP, ZCDP, GaussianDP or Laplace
    """
    budget = read_budget(measure)
    if isinstance(budget, PureDP):
        raise InvalidArgument(f"{noise} noise has no pure ε; use {others}")
    return budget
