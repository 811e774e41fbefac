"""Conversions between privacy measures, each the tightest known.

| from, to | ApproxDP at δ | ZCDP | GaussianDP | RenyiDP |
|---|---|---|---|---|
| PureDP ε | ln(e^ε − δ(1+e^ε)) * | ε·tanh(ε/2) | μ = −2Φ⁻¹(1/(1+e^ε)) | as * |
| ApproxDP ε, δ0 > 0 | the same after the leak δ0 | none | none | none |
| ZCDP ρ | Canonne–Kamath–Steinke infimum | | none | ρα |
| GaussianDP μ | the exact curve | μ²/2 | | αμ²/2 |
| RenyiDP | the improved form, best order up to the last | none | none | chords between orders |

(*) By randomized response, which dominates every ε-DP mechanism. Only a pure promise converts to
PureDP. The sources are with the functions: `pure`, `boxes`, `zcdp`, `gdp`, `rdp`.

Guarantee: a mechanism that keeps a promise keeps every conversion of it; all round up.

Law: tests/laws/test_laws_of_prices.py::TestConversionsNeverFlatter
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeVar

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .calibrate import fits
from .curve import Curve
from .events import Promise
from .measures import ZCDP, ApproxDP, GaussianDP, Measure, Order, PureDP, RenyiDP
from .pricing.event_parts import flatten
from .pricing.gdp import gaussian_measure
from .pricing.pure import pure_measure
from .pricing.rdp import price_order
from .pricing.zcdp import zcdp_measure

_Converted = TypeVar("_Converted")
"""A measure, or an amount of one."""


def epsilon(measure: Measure, delta: Number) -> float:
    """Return the least ε of a promise at this δ, rounded up; infinite if it implies none.

    >>> import discreet as dp
    >>> from discreet.privacy.convert import epsilon
    >>> round(epsilon(dp.ZCDP(0.5), 1e-6), 9), epsilon(dp.PureDP(1), 0)
    (5.221534445, 1.0)
    """
    return Curve(flatten(Promise(measure))).epsilon(delta)


def delta(measure: Measure, epsilon: Number) -> float:
    """Return the least δ of a promise at this ε, rounded up.

    >>> import discreet as dp
    >>> from discreet.privacy.convert import delta
    >>> round(delta(dp.PureDP(1), 0.5), 9)
    0.287649137
    """
    return Curve(flatten(Promise(measure))).delta(epsilon)


def implies(measure: Measure, promise: Measure) -> bool:
    """Return whether one promise implies another, by the tightest known conversion.

    >>> import discreet as dp
    >>> dp.implies(dp.GaussianDP(1), dp.ZCDP(0.5)), dp.implies(dp.ZCDP(0.5), dp.GaussianDP(1))
    (True, False)

    Refuses: InvalidArgument for other objects than measures.

    Law: tests/privacy/test_convert.py::test_implies_is_the_order
    """
    return fits(Promise(measure), promise)


def to_pure(measure: Measure) -> PureDP:
    """Restate a promise that is pure already.

    >>> import discreet as dp
    >>> from discreet.privacy import to_pure
    >>> to_pure(dp.ApproxDP(1, 0))
    PureDP(1)

    Refuses: InvalidArgument for every other promise: no δ, ρ or μ above 0 implies a pure one.
    """
    return _known(measure, pure_measure(Promise(measure)), "PureDP")


def to_approx(measure: Measure, delta: Number) -> ApproxDP:
    """Restate a promise as (ε, δ) at a given δ, with the least ε.

    >>> import discreet as dp
    >>> from discreet.privacy import to_approx
    >>> to_approx(dp.PureDP(1), 0)
    ApproxDP(1, 0)

    Refuses: InvalidArgument for a δ at which the promise implies no ε.
    """
    price = epsilon(measure, delta)
    amount = Fraction(price) if math.isfinite(price) else None
    return ApproxDP(_known(measure, amount, "ApproxDP"), delta)


def to_zcdp(measure: Measure) -> ZCDP:
    """Restate a promise as zCDP with the least ρ.

    >>> import discreet as dp
    >>> from discreet.privacy import to_zcdp
    >>> to_zcdp(dp.GaussianDP(1)), 0.4621 < to_zcdp(dp.PureDP(1)).rho < 0.4622
    (ZCDP(0.5), True)

    Refuses: InvalidArgument for (ε, δ) with δ > 0 and for Rényi promises: they imply no ρ.
    """
    return _known(measure, zcdp_measure(Promise(measure)), "ZCDP")


def to_gaussian(measure: Measure) -> GaussianDP:
    """Restate a promise as Gaussian DP with the least μ.

    >>> import discreet as dp
    >>> from discreet.privacy import to_gaussian
    >>> 1.2320 < to_gaussian(dp.PureDP(1)).mu < 1.2321
    True

    Refuses: InvalidArgument for all but pure and Gaussian promises: the others imply no μ.
    """
    return _known(measure, gaussian_measure(Promise(measure)), "GaussianDP")


def to_renyi(measure: Measure, orders: Iterable[Number]) -> RenyiDP:
    """Restate a promise as Rényi DP at these orders.

    >>> import discreet as dp
    >>> from discreet.privacy import to_renyi
    >>> to_renyi(dp.ZCDP(0.5), [2, 8])
    RenyiDP({2: 1, 8: 4})

    Refuses: InvalidArgument for (ε, δ) with δ > 0, for orders up to 1, and for orders above the
        largest of a Rényi promise.

    Law: tests/privacy/test_convert.py::test_orders_must_be_above_one
    """
    listed = [rational(order, "alpha") for order in orders]
    # A promise of 0 at these orders is built only for its checks of the orders.
    alphas = RenyiDP(dict.fromkeys(listed, 0)).alphas
    amounts: dict[Order, Number] = {}
    for alpha in alphas:
        amounts[alpha] = _known(measure, price_order(Promise(measure), alpha), "RenyiDP")
    return RenyiDP(amounts)


def _known(measure: Measure, converted: _Converted | None, to: str) -> _Converted:
    """Return a restated promise; refuse None, which says that the measure implies none."""
    if converted is None:
        raise InvalidArgument(
            f"{measure!r} implies no {to} promise; compose the events themselves instead"
        )
    return converted
