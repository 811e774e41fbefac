"""Spend given as a number: an ε where the ledger promises a pure ε, and only there."""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import Number, positive
from ...errors import InvalidArgument
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP


def read_spend(spend: object, epsilon: Number | None, promise: Measure) -> Measure | None:
    """Return the spend as a measure: `spend=1` and `epsilon=1` are ε = 1 under a pure promise.

    >>> from discreet.plan.asked.spend import read_spend
    >>> from discreet.privacy import ApproxDP, PureDP
    >>> read_spend(1, None, PureDP(3)), read_spend(None, "1/2", PureDP(3))
    (PureDP(1), PureDP(0.5))
    >>> read_spend(ApproxDP(1, 0), None, PureDP(3))
    ApproxDP(1, 0)

    Refuses: both, and a number where several measures could be meant (InvalidArgument).

    Law: tests/plan/test_terms.py::TestTerms
    """
    if spend is not None and epsilon is not None:
        raise InvalidArgument("give spend= or epsilon=, not both: they say the same")
    number: object = spend
    name = "spend"
    if epsilon is not None:
        number = epsilon
        name = "epsilon"
    if number is None or isinstance(number, Measure):
        return number
    if not isinstance(number, int | float | str | Fraction) or isinstance(number, bool):
        # Refused where all terms are read, with one message for every kind of value.
        return number  # type: ignore[return-value]
    amount = positive(number, name)
    if isinstance(promise, PureDP):
        return PureDP(amount)
    raise InvalidArgument(
        f"{name}={number} names no measure, and this ledger's budget is {promise}; "
        f"write {_alternatives(number, promise)}"
    )


def _alternatives(number: object, promise: Measure) -> str:
    match promise:
        case ApproxDP(delta=delta):
            return f"PureDP({number}) or ApproxDP({number}, {float(delta):g})"
        case ZCDP():
            return f"ZCDP({number})"
        case GaussianDP():
            return f"GaussianDP({number})"
        case _:
            return f"PureDP({number})"
