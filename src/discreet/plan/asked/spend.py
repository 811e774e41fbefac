"""What may be spent, in the words of a hurry: a number is an ε where the ledger promises a pure ε, and only there."""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import Number, positive
from ...errors import InvalidArgument
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP


def read_spend(spend: object, epsilon: Number | None, promise: Measure) -> Measure | None:
    """Return the spend as a measure: `spend=1` and `epsilon=1` are ε = 1 under a promise of pure ε.

    >>> from discreet.plan.asked.spend import read_spend
    >>> from discreet.privacy import ApproxDP, PureDP
    >>> read_spend(1, None, PureDP(3)), read_spend(None, "1/2", PureDP(3)), read_spend(ApproxDP(1, 0), None, PureDP(3))
    (PureDP(1), PureDP(0.5), ApproxDP(1, 0))

    Refuses both, and a number where several measures could be meant.
    """
    if spend is not None and epsilon is not None:
        raise InvalidArgument("give spend= or epsilon=, not both: they say the same")
    number, name = (spend, "spend") if epsilon is None else (epsilon, "epsilon")
    if number is None or isinstance(number, Measure):
        return number
    if not isinstance(number, int | float | str | Fraction) or isinstance(number, bool):
        return number  # type: ignore[return-value]  # refused where all terms are read
    amount = positive(number, name)
    if isinstance(promise, PureDP):
        return PureDP(amount)
    raise InvalidArgument(
        f"{name}={number} names no measure, and this ledger's budget is {promise}; write {_others(number, promise)}"
    )


def _others(number: object, promise: Measure) -> str:
    match promise:
        case ApproxDP(delta=delta):
            return f"PureDP({number}) or ApproxDP({number}, {float(delta):g})"
        case ZCDP():
            return f"ZCDP({number})"
        case GaussianDP():
            return f"GaussianDP({number})"
        case _:
            return f"PureDP({number})"
