"""Privacy curve of composed events: δ at every ε, or ε at every δ, μ, ρ and Rényi divergences.

A curve compares every sound method (`accountants.methods`) and takes the least price, rounded up.
`lower` bounds the curve from below, so that the gap is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ..arithmetic.rational import Number, not_negative, rational
from ..arithmetic.rounding import down, up
from ..errors import InvalidArgument
from ..frozen import frozen
from .accountants.methods import Method, decimal_ceiling, exact_methods, methods, numerical_method
from .accountants.witness import witnesses
from .events import ExponentialSelection
from .explain.attack import Attack, bound_attack, read_rate
from .explain.picture import draw, plot
from .explain.why import MethodPrice, Why
from .measures import Neighbours
from .pricing import gdp, rdp
from .pricing.event_parts import Flattened
from .pricing.limits import STEEP, within_floats
from .pricing.pure import price_pure
from .pricing.zcdp import price_zcdp

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def read_delta(delta: Number) -> Fraction:
    """Read a δ with 0 ≤ δ < 1 exactly.

    Refuses: a δ outside [0, 1) (InvalidArgument).

    >>> from discreet.privacy.curve import read_delta
    >>> read_delta(1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: delta must be at least 0 and below 1, got 1; it should be far below 1/n
    """
    exact = rational(delta, "delta")
    if not 0 <= exact < 1:
        raise InvalidArgument(
            f"delta must be at least 0 and below 1, got {delta}; it should be far below 1/n"
        )
    return exact


def read_epsilon(epsilon: Number) -> Fraction:
    """Read an ε ≥ 0 exactly.

    Refuses: a negative ε, and one beyond 1e300 (InvalidArgument).

    >>> from discreet.privacy.curve import read_epsilon
    >>> read_epsilon(0.1)
    Fraction(1, 10)
    """
    return within_floats(not_negative(epsilon, "epsilon"))


@frozen
class Lower:
    """Privacy curve from below: the least that the events cost.

    Guarantee: no accountant that knows only these events can soundly say less.

    Law: tests/privacy/test_curve.py::TestLowerBoundsOfCutTails
    Law: tests/privacy/test_fine_lattices.py
    """

    of: Curve

    def epsilon(self, delta: Number) -> float:
        """Return a lower bound on the ε at this δ."""
        exact = read_delta(delta)
        if exact == 0:
            pure = price_pure(self.of.parts)
            return math.inf if pure is None else down(float(pure))
        # Each method is a sound bound from below, so that the largest of them is one.
        methods = self.of.from_below
        bounds = [m.lower_epsilon(exact) for m in methods if m.lower_epsilon]
        return max(bounds, default=0.0)

    def delta(self, epsilon: Number) -> float:
        """Return a lower bound on the δ at this ε."""
        exact = read_epsilon(epsilon)
        methods = self.of.from_below
        bounds = [m.lower_delta(exact) for m in methods if m.lower_delta]
        return max(bounds, default=0.0)


@dataclass(frozen=True, repr=False)
class Curve:
    """Price of a composition at every ε and δ: the least that any sound method gives, rounded up.

    Made by `compose(events)`.

    Guarantee: the events together are (ε, δ)-DP at every point of the curve, if their parameters
    were fixed beforehand. A ledger that decides after seeing answers needs a privacy filter.

    Law: tests/privacy/test_curve.py::TestEveryKind

    >>> import discreet as dp
    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.pricing.event_parts import flatten
    >>> curve = dp.Curve(flatten([GaussianNoise.of(scale=10, sensitivity=1)] * 1000))
    >>> round(curve.epsilon(delta=1e-6), 6), round(curve.delta(epsilon=10), 6)
    (19.423656, 0.03378)
    """

    parts: Flattened
    accuracy: float = 1e-3

    def __repr__(self) -> str:
        kinds = []
        for atom, times in self.parts.atoms[:4]:
            name = type(atom).__name__
            kinds.append(f"{times} × {name}")
        if len(self.parts.atoms) > 4:
            kinds.append("…")
        return f"Curve({', '.join(kinds)}; {self.neighbours})"

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation that all the events share."""
        return self.parts.neighbours

    @cached_property
    def _closed(self) -> tuple[Method, ...]:
        return methods(self.parts)

    @cached_property
    def _all(self) -> tuple[Method, ...]:
        numerical = numerical_method(self.parts, self.accuracy)
        if numerical is None:
            return self._closed
        return (*self._closed, numerical)

    @cached_property
    def used(self) -> tuple[Method, ...]:
        """The methods that decide the price: a few if one of them is exact, else all that apply."""
        return exact_methods(self.parts) or self._all

    @cached_property
    def from_below(self) -> tuple[Method, ...]:
        """The methods that bound the price from below.

        They are exact for these events, or for mechanisms that fit them (witnesses).
        """
        if not self._is_one_selection:
            fitting = witnesses(self.parts)
            if fitting is not None:
                return Curve(fitting, self.accuracy).from_below
        exact = tuple(method for method in self.used if method.exact)
        # The numerical method has a lower bound too, but takes longer.
        return exact or tuple(method for method in self._all if method.exact)

    @property
    def _is_one_selection(self) -> bool:
        """True for one exponential selection alone: every point is reached by some selection."""
        if self.parts.count != 1:
            return False
        atom = self.parts.atoms[0][0]
        return isinstance(atom, ExponentialSelection) and atom.epsilon <= STEEP

    def epsilon(self, delta: Number) -> float:
        """Return the least sound ε at this δ, rounded up.

        At δ = 0 it is the sum of the pure ε, infinite if there is none.

        Refuses: a δ outside [0, 1) (InvalidArgument).
        """
        exact = read_delta(delta)
        if exact == 0:
            pure = price_pure(self.parts)
            return math.inf if pure is None else decimal_ceiling(pure)
        return min((method.epsilon(exact) for method in self.used), default=math.inf)

    def delta(self, epsilon: Number) -> float:
        """Return the least sound δ at this ε, rounded up.

        Refuses: a negative ε, and one beyond 1e300 (InvalidArgument).
        """
        exact = read_epsilon(epsilon)
        return min((method.delta(exact) for method in self.used), default=1.0)

    @property
    def lower(self) -> Lower:
        """The curve from below, so that the gap is known."""
        return Lower(self)

    def gap(self, delta: Number) -> float:
        """Return the relative distance of the price from its lower bound: upper/lower − 1.

        >>> import discreet as dp
        >>> from discreet.privacy import GaussianNoise
        >>> dp.compose(GaussianNoise.of(scale=10, sensitivity=1)).gap(1e-6) < 1e-11
        True
        """
        upper = self.epsilon(delta)
        lower = self.lower.epsilon(delta)
        # Equal bounds may both be infinite, or both 0.
        if upper == lower:
            return 0.0
        return upper / lower - 1 if lower else math.inf

    def mu(self) -> float:
        """Return a μ for which the events are μ-GDP, rounded up; infinite if none is known."""
        square = gdp.price_gdp(self.parts)
        if square is None:
            return math.inf
        return up(math.sqrt(square)) if square else 0.0

    def rho(self) -> float:
        """Return a ρ for which the events are ρ-zCDP, rounded up; infinite if none is known."""
        amount = price_zcdp(self.parts)
        return math.inf if amount is None else decimal_ceiling(amount)

    def renyi(self, alpha: float) -> float:
        """Return the Rényi divergence of order α, rounded up; infinite if none is known."""
        return rdp.renyi(self.parts, float(rational(alpha, "alpha")))

    @cached_property
    def _lines(self) -> list[tuple[float, float]]:
        """Points of the curve for straight bounds on an attack.

        They reach from ε = 0 to where δ has come down to its least value.
        """
        least = self.delta(1000)
        # A little above the least δ, which may never vanish; below 1, as δ must be.
        near_least = Fraction(least) * Fraction(1001, 1000)
        near_least += Fraction(1, 10**12)
        near_least = min(near_least, 1 - Fraction(1, 10**6))
        far = min(self.epsilon(near_least), 1e3)
        points = []
        for i in range(65):
            # Closer together near ε = 0, where the curve bends most.
            epsilon = far * (i / 64) ** 1.5
            points.append((epsilon, self.delta(Fraction(epsilon))))
        points.append((1e3, least))
        return points

    def tradeoff(self, false_positive: Number) -> Attack:
        """Bound every guess whether one unit took part (trade-off function of f-DP).

        The result is a lower bound on the false-negative rate at this false-positive rate.

        >>> import discreet as dp
        >>> from discreet.privacy import Response
        >>> dp.compose(Response(1)).tradeoff(0.05).true_positive < 0.05 * 2.7183
        True

        Refuses: a rate outside [0, 1] (InvalidArgument).

        Law: tests/privacy/test_curve.py::TestAttack
        """
        rate = float(read_rate(false_positive, "false_positive"))
        return bound_attack(self._lines, rate)

    def why(self, delta: Number) -> Why:
        """List every method that applies, its ε at this δ and its reason; prints as a table.

        >>> import discreet as dp
        >>> from discreet.privacy import Response
        >>> dp.compose([Response(0.1)] * 100).why(1e-6).winner.method
        'optimal'
        """
        exact = read_delta(delta)
        rows = []
        for method in self._all:
            price = method.epsilon(exact)
            rows.append(MethodPrice(method.name, price, method.because))
        return Why(exact, tuple(rows))

    def draw(self, width: int = 64, height: int = 16) -> str:
        """Draw δ over ε in plain text, for a terminal."""
        return draw(self, width, height)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Plot δ over ε, upper and lower bound, with matplotlib.

        Refuses: with the install command when matplotlib is missing (InvalidArgument).
        """
        return plot(self, axes)
