"""Privacy measures: promises of pure, approximate, concentrated, Gaussian and Rényi DP.

A measure is a budget and a guarantee alike; its amounts are exact rationals.

    PureDP(ε)         every output at most e^ε times as likely
    ApproxDP(ε, δ)    … but for a mass of δ
    ZCDP(ρ)           Rényi divergence of every order α at most ρα
    GaussianDP(μ)     no easier to distinguish than N(0, 1) from N(μ, 1)
    RenyiDP({α: ε})   Rényi divergence at most ε(α) at the listed orders

Sum two of a kind with `+`, repeat with `k * m`; twenty times `PureDP(0.05)` is exactly `PureDP(1)`.
`a <= b` means that, by the tightest known conversion, every mechanism with the promise a has the
promise b too (a fits in the budget b). It works across measures: `ZCDP(0.1) <= ApproxDP(3, 1e-6)`.
Pure and approximate promises have ε and δ as amounts. The others have a curve, read by
`.epsilon(delta)` and `.delta(epsilon)`; `convert` has both for every measure. `decimal_text` writes
a price as a decimal.

A promise is about neighbours. Their relation (adjacency) says which two data sets must be
indistinguishable: add-remove or replace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from types import ModuleType
from typing import Literal, TypeAlias

from ..arithmetic.rational import Number, exact_text, not_negative, rational, whole
from ..arithmetic.rounding import brief_text, shown, up
from ..errors import InvalidArgument
from ..frozen import fill, frozen

Neighbours: TypeAlias = Literal["add-remove", "replace"]

ADD_REMOVE: Neighbours = "add-remove"
"""D' is D with one unit more or one unit less."""
REPLACE: Neighbours = "replace"
"""D' is D with one unit exchanged for another; the size is public."""

# Above this μ² its root is displayed as ∞: the square of a float of that size is no float.
_MAX_SQUARE = 10**300
Order: TypeAlias = int | float | Fraction | str
"""A Rényi order α as users write it."""


def read_measure(value: object) -> Measure:
    """Return a promise or a budget, checked to be a measure.

    >>> from discreet.privacy.measures import read_measure
    >>> read_measure(1.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: a measure is expected, such as PureDP(1) or ...; got float

    Refuses: InvalidArgument for every other object.
    """
    if not isinstance(value, Measure):
        kind = type(value).__name__
        raise InvalidArgument(
            f"a measure is expected, such as PureDP(1) or ApproxDP(1, 1e-6); got {kind}"
        )
    return value


def read_neighbours(value: object) -> Neighbours:
    """Return a neighbour relation, checked.

    >>> from discreet.privacy.measures import read_neighbours
    >>> read_neighbours("replace")
    'replace'
    >>> read_neighbours("swap")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: neighbours must be 'add-remove' or 'replace', got 'swap'

    Refuses: InvalidArgument for every other value.
    """
    if value not in (ADD_REMOVE, REPLACE):
        raise InvalidArgument(f"neighbours must be 'add-remove' or 'replace', got {value!r}")
    return value


def _conversions() -> ModuleType:
    """Return the module that compares promises.

    It prices, so it is in a higher layer: this is the one upward import of the package.
    """
    from . import convert

    return convert


class _Promise:
    """Comparison of promises, shared by all measures."""

    __slots__ = ()

    def implies(self, promise: Measure) -> bool:
        """Return whether this promise implies `promise`, by the tightest known conversion.

        >>> import discreet as dp
        >>> dp.PureDP(1).implies(dp.ZCDP(0.5)), dp.ZCDP(0.5).implies(dp.PureDP(9))
        (True, False)

        Refuses: InvalidArgument for other objects than measures.

        Law: tests/privacy/test_measures.py::TestOrder
        """
        kept: bool = _conversions().implies(read_measure(self), promise)
        return kept

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Measure):
            return NotImplemented
        return self.implies(other)


def _epsilon(self: ZCDP | GaussianDP | RenyiDP, delta: Number) -> float:
    """Return the least ε of this promise at a δ, rounded up.

    >>> import discreet as dp
    >>> round(dp.GaussianDP(1).epsilon(delta=1e-10), 9)
    6.547924067
    """
    price: float = _conversions().epsilon(self, delta)
    return price


def _delta(self: ZCDP | GaussianDP | RenyiDP, epsilon: Number) -> float:
    """Return the least δ of this promise at an ε, rounded up.

    >>> import discreet as dp
    >>> round(dp.GaussianDP(1).delta(epsilon=1), 9)
    0.126936738
    """
    price: float = _conversions().delta(self, epsilon)
    return price


@frozen(init=False, repr=False)
class PureDP(_Promise):
    """Promise of ε-differential privacy: P[M(D) ∈ S] ≤ e^ε P[M(D') ∈ S].

    Dwork, McSherry, Nissim, Smith 2006.

    >>> import discreet as dp
    >>> sum([dp.PureDP(0.05)] * 19, dp.PureDP(0.05)) == dp.PureDP(1)
    True
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        fill(self, epsilon=not_negative(epsilon, "epsilon"))

    def __repr__(self) -> str:
        return f"PureDP({exact_text(self.epsilon)})"

    def __str__(self) -> str:
        return f"ε = {brief_text(self.epsilon)}"

    def __add__(self, other: PureDP) -> PureDP:
        if not isinstance(other, PureDP):
            return NotImplemented
        return PureDP(self.epsilon + other.epsilon)

    def __rmul__(self, times: int) -> PureDP:
        return PureDP(whole(times, "times") * self.epsilon)


@frozen(init=False, repr=False)
class ApproxDP(_Promise):
    """Promise of (ε, δ)-differential privacy: P[M(D) ∈ S] ≤ e^ε P[M(D') ∈ S] + δ.

    >>> import discreet as dp
    >>> dp.ApproxDP(1, "1e-6") + dp.ApproxDP(0.5, "1e-6")
    ApproxDP(1.5, 2e-06)
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number) -> None:
        fill(self, epsilon=not_negative(epsilon, "epsilon"), delta=not_negative(delta, "delta"))
        if self.delta >= 1:
            raise InvalidArgument(f"delta must be below 1, got {delta}; it should be far below 1/n")

    def __repr__(self) -> str:
        return f"ApproxDP({exact_text(self.epsilon)}, {exact_text(self.delta)})"

    def __str__(self) -> str:
        return f"(ε, δ) = ({brief_text(self.epsilon)}, {brief_text(self.delta)})"

    def __add__(self, other: ApproxDP) -> ApproxDP:
        if not isinstance(other, ApproxDP):
            return NotImplemented
        return ApproxDP(self.epsilon + other.epsilon, self.delta + other.delta)

    def __rmul__(self, times: int) -> ApproxDP:
        k = whole(times, "times")
        return ApproxDP(k * self.epsilon, k * self.delta)


@frozen(init=False, repr=False)
class ZCDP(_Promise):
    """Promise of ρ-zero-concentrated DP: Rényi divergence at most ρα at all orders α > 1.

    Bun, Steinke 2016.

    >>> import discreet as dp
    >>> 2 * dp.ZCDP("1/8")
    ZCDP(0.25)
    """

    rho: Fraction

    epsilon = _epsilon
    delta = _delta

    def __init__(self, rho: Number) -> None:
        fill(self, rho=not_negative(rho, "rho"))

    def __repr__(self) -> str:
        return f"ZCDP({exact_text(self.rho)})"

    def __str__(self) -> str:
        return f"ρ = {brief_text(self.rho)}"

    def __add__(self, other: ZCDP) -> ZCDP:
        if not isinstance(other, ZCDP):
            return NotImplemented
        return ZCDP(self.rho + other.rho)

    def __rmul__(self, times: int) -> ZCDP:
        return ZCDP(whole(times, "times") * self.rho)


@frozen(init=False, repr=False)
class GaussianDP(_Promise):
    """Promise of μ-Gaussian DP: no test tells D from D' better than N(0, 1) from N(μ, 1).

    Dong, Roth, Su 2022. The amount stored is μ², because squares add: μ itself may be irrational.

    >>> import discreet as dp
    >>> dp.GaussianDP(3) + dp.GaussianDP(4)
    GaussianDP(5)
    """

    squared: Fraction

    epsilon = _epsilon
    delta = _delta

    def __init__(self, mu: Number) -> None:
        fill(self, squared=not_negative(mu, "mu") ** 2)

    @classmethod
    def of_square(cls, squared: Number) -> GaussianDP:
        """Make the promise whose μ² is the given amount."""
        promise = cls(0)
        fill(promise, squared=not_negative(squared, "squared"))
        return promise

    @property
    def mu(self) -> float:
        """μ, rounded up, or exact if it is a short decimal; ∞ from 1e150 on.

        A float stands for its shortest decimal here.
        """
        if self.squared > _MAX_SQUARE:
            return math.inf
        root: float = float(self.squared) ** 0.5
        if Fraction(repr(root)) ** 2 == self.squared:
            return root
        # An inexact root is rounded up: a promise is never displayed as stronger than it is.
        return up(root)

    def __repr__(self) -> str:
        if math.isfinite(self.mu):
            decimal = Fraction(f"{self.mu:.12g}")
            if decimal**2 == self.squared:
                return f"GaussianDP({exact_text(decimal)})"
        return f"GaussianDP.of_square({exact_text(self.squared)})"

    def __str__(self) -> str:
        nearest = f"{self.mu:.6g}"
        if math.isinf(self.mu) or Fraction(nearest) ** 2 >= self.squared:
            return f"μ = {nearest}"
        # A promise is never displayed as less than it is.
        return f"μ = {shown(self.mu, 6)}"

    def __add__(self, other: GaussianDP) -> GaussianDP:
        if not isinstance(other, GaussianDP):
            return NotImplemented
        return GaussianDP.of_square(self.squared + other.squared)

    def __rmul__(self, times: int) -> GaussianDP:
        return GaussianDP.of_square(whole(times, "times") * self.squared)


@frozen(init=False, repr=False)
class RenyiDP(_Promise):
    """Promise of Rényi DP: divergence at most ε(α) at each listed order α > 1 (Mironov 2017).

    >>> import discreet as dp
    >>> dp.RenyiDP({2: 0.5, 8: 1}) + dp.RenyiDP({2: 0.5, 8: 1})
    RenyiDP({2: 1, 8: 2})
    """

    orders: tuple[tuple[Fraction, Fraction], ...]

    epsilon = _epsilon
    delta = _delta

    def __init__(self, epsilons: Mapping[Order, Number]) -> None:
        given: object = epsilons
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            raise InvalidArgument(
                f"RenyiDP takes a mapping of orders to epsilons, such as {{2: 0.5}}; got {kind}"
            )
        pairs = list[tuple[Fraction, Fraction]]()
        for alpha, epsilon in epsilons.items():
            pairs.append((rational(alpha, "alpha"), not_negative(epsilon, "epsilon")))
        pairs.sort()
        if not pairs or pairs[0][0] <= 1:
            raise InvalidArgument(
                "RenyiDP needs at least one order alpha, and each must be greater than 1"
            )
        # 2 and "2.0" are two keys and one order.
        distinct_orders = {alpha for alpha, _ in pairs}
        if len(distinct_orders) < len(pairs):
            raise InvalidArgument("RenyiDP lists an order alpha twice; give every order once")
        fill(self, orders=tuple(pairs))

    @property
    def alphas(self) -> tuple[Fraction, ...]:
        """The listed orders."""
        return tuple(alpha for alpha, _ in self.orders)

    def __repr__(self) -> str:
        pairs = [f"{exact_text(alpha)}: {exact_text(amount)}" for alpha, amount in self.orders]
        return "RenyiDP({" + ", ".join(pairs) + "})"

    def __str__(self) -> str:
        pairs = []
        for alpha, amount in self.orders:
            # A bound at an order holds at all smaller ones, so an order is never shown as greater.
            order = brief_text(alpha, upward=False)
            pairs.append(f"{brief_text(amount)} at {order}")
        return "ε(α) = " + ", ".join(pairs)

    def __add__(self, other: RenyiDP) -> RenyiDP:
        if not isinstance(other, RenyiDP):
            return NotImplemented
        if self.alphas != other.alphas:
            raise InvalidArgument(
                "RenyiDP promises add only at the same orders alpha; list the same orders in both"
            )
        sums: dict[Order, Number] = {}
        for (alpha, mine), (_, theirs) in zip(self.orders, other.orders, strict=True):
            sums[alpha] = mine + theirs
        return RenyiDP(sums)

    def __rmul__(self, times: int) -> RenyiDP:
        k = whole(times, "times")
        return RenyiDP({alpha: k * amount for alpha, amount in self.orders})


Measure: TypeAlias = PureDP | ApproxDP | ZCDP | GaussianDP | RenyiDP


def decimal_text(measure: Measure) -> str:
    """Write a price in decimals, never as less than it is.

    >>> from discreet.privacy import ApproxDP, GaussianDP, PureDP
    >>> from discreet.privacy.measures import decimal_text
    >>> decimal_text(PureDP("127/60")), decimal_text(ApproxDP("1/3", "1e-6"))
    ('ε = 2.11667', '(ε, δ) = (0.333334, 1e-06)')
    >>> decimal_text(GaussianDP.of_square("1/50"))
    'μ = 0.141422'
    """
    if isinstance(measure, PureDP):
        return f"ε = {_decimal(measure.epsilon)}"
    if isinstance(measure, ApproxDP):
        return f"(ε, δ) = ({_decimal(measure.epsilon)}, {_decimal(measure.delta)})"
    if isinstance(measure, ZCDP):
        return f"ρ = {_decimal(measure.rho)}"
    return str(measure)


def _decimal(amount: Fraction) -> str:
    exact = exact_text(amount)
    if "/" not in exact and len(exact) <= 12:
        return exact
    # `shown` rounds up: a price is never displayed as less than it is.
    return shown(amount, 6)
