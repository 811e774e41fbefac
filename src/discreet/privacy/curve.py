"""The privacy curve of events: what they cost together, read in any of the usual ways."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ..arithmetic.rational import Number, rational
from ..arithmetic.rounding import down, up
from ..errors import InvalidArgument
from ..frozen import frozen
from .accountants.methods import Method, ceiling, exact_methods, methods, numerical_method
from .accountants.witness import witnesses
from .events import ExponentialSelection
from .explain.attack import Attack, attack, read_rate
from .explain.picture import draw, plot
from .explain.why import MethodPrice, Why
from .neighbours import Neighbours
from .pricing import gdp, rdp
from .pricing.event_parts import Flattened
from .pricing.limits import STEEP, within_floats
from .pricing.pure import price_pure
from .pricing.zcdp import price_zcdp

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def read_delta(delta: Number) -> Fraction:
    """Read a δ with 0 ≤ δ < 1 exactly.

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

    >>> from discreet.privacy.curve import read_epsilon
    >>> read_epsilon(0.1)
    Fraction(1, 10)
    """
    exact = rational(epsilon, "epsilon")
    if exact < 0:
        raise InvalidArgument(f"epsilon must be at least 0, got {epsilon}")
    return within_floats(exact)


@frozen
class Lower:
    """What the events cost at least: no accountant that knows only these events can soundly say less."""

    of: Curve

    def epsilon(self, delta: Number) -> float:
        """Return a lower bound on the ε at this δ."""
        exact = read_delta(delta)
        if exact == 0:
            pure = price_pure(self.of.parts)
            return math.inf if pure is None else down(float(pure))
        return max(
            (m.lower_epsilon(exact) for m in self.of.from_below if m.lower_epsilon), default=0.0
        )

    def delta(self, epsilon: Number) -> float:
        """Return a lower bound on the δ at this ε."""
        exact = read_epsilon(epsilon)
        return max((m.lower_delta(exact) for m in self.of.from_below if m.lower_delta), default=0.0)


@dataclass(frozen=True, repr=False)
class Curve:
    """The price of a composition at every ε and δ: the least that any sound method gives, rounded up.

    Made by `compose(events)`. Valid for events whose slots were fixed beforehand; a ledger that decides after seeing
    answers needs a filter.

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
        kinds = ", ".join(
            f"{times} × {type(atom).__name__}" for atom, times in self.parts.atoms[:4]
        )
        return f"Curve({kinds}{', …' if len(self.parts.atoms) > 4 else ''}; {self.neighbours})"

    @property
    def neighbours(self) -> Neighbours:
        """The relation all the events share."""
        return self.parts.neighbours

    @cached_property
    def _closed(self) -> tuple[Method, ...]:
        return methods(self.parts)

    @cached_property
    def _all(self) -> tuple[Method, ...]:
        numerical = numerical_method(self.parts, self.accuracy)
        return self._closed if numerical is None else (*self._closed, numerical)

    @cached_property
    def used(self) -> tuple[Method, ...]:
        """The methods that decide the price: a few if one of them is exact, else all that apply."""
        return exact_methods(self.parts) or self._all

    @cached_property
    def from_below(self) -> tuple[Method, ...]:
        """The methods that bound the price from below: exact for these events, or for mechanisms that fit them."""
        first = self.parts.atoms[0][0] if self.parts.count == 1 else None
        alone = isinstance(first, ExponentialSelection) and first.epsilon <= STEEP
        seen = (
            None if alone else witnesses(self.parts)
        )  # alone, every point is reached by some selection
        if seen is not None:
            return Curve(seen, self.accuracy).from_below
        return tuple(m for m in self.used if m.exact) or tuple(m for m in self._all if m.exact)

    def epsilon(self, delta: Number) -> float:
        """Return the least sound ε at this δ; at δ = 0 the sum of the pure ε, infinite if there is none.

        Refuses δ outside [0, 1).
        """
        exact = read_delta(delta)
        if exact == 0:
            pure = price_pure(self.parts)
            return math.inf if pure is None else ceiling(pure)
        return min((m.epsilon(exact) for m in self.used), default=math.inf)

    def delta(self, epsilon: Number) -> float:
        """Return the least sound δ at this ε. Refuses a negative ε."""
        exact = read_epsilon(epsilon)
        return min((m.delta(exact) for m in self.used), default=1.0)

    @property
    def lower(self) -> Lower:
        """The same curve from below, so that the gap is known."""
        return Lower(self)

    def gap(self, delta: Number) -> float:
        """Return how far the price may be above the truth, relatively: upper/lower − 1.

        >>> import discreet as dp
        >>> from discreet.privacy import GaussianNoise
        >>> dp.compose(GaussianNoise.of(scale=10, sensitivity=1)).gap(1e-6) < 1e-11
        True
        """
        high, low = self.epsilon(delta), self.lower.epsilon(delta)
        if high == low:
            return 0.0
        return high / low - 1 if low else math.inf

    def mu(self) -> float:
        """Return a μ for which the events are μ-Gaussian DP, rounded up; infinite if we know none."""
        square = gdp.price_gdp(self.parts)
        if square is None:
            return math.inf
        return up(math.sqrt(square)) if square else 0.0

    def rho(self) -> float:
        """Return a ρ for which the events are ρ-zCDP, rounded up; infinite if we know none."""
        amount = price_zcdp(self.parts)
        return math.inf if amount is None else ceiling(amount)

    def renyi(self, alpha: float) -> float:
        """Return the Rényi divergence of order α, rounded up; infinite if we know none."""
        return rdp.renyi(self.parts, float(rational(alpha, "alpha")))

    @cached_property
    def _lines(self) -> list[tuple[float, float]]:
        """Points of the curve from ε = 0 to where δ has come down to its least, for straight bounds on an attack."""
        least = self.delta(1000)
        near = min(
            Fraction(least) * Fraction(1001, 1000) + Fraction(1, 10**12), 1 - Fraction(1, 10**6)
        )
        far = min(self.epsilon(near), 1e3)
        grid = [far * (i / 64) ** 1.5 for i in range(65)]
        return [*((e, self.delta(Fraction(e))) for e in grid), (1e3, least)]

    def tradeoff(self, false_positive: Number) -> Attack:
        """Bound every guess whether one unit took part: the least false-negative rate at this false-positive rate.

        >>> import discreet as dp
        >>> from discreet.privacy import Response
        >>> dp.compose(Response(1)).tradeoff(0.05).true_positive < 0.05 * 2.7183
        True

        Refuses a rate outside [0, 1].
        """
        return attack(self._lines, float(read_rate(false_positive, "false_positive")))

    def why(self, delta: Number) -> Why:
        """List every method that applies with its ε at this δ, say which won and why; prints as a table.

        >>> import discreet as dp
        >>> from discreet.privacy import Response
        >>> dp.compose([Response(0.1)] * 100).why(1e-6).winner.method
        'optimal'
        """
        exact = read_delta(delta)
        return Why(
            exact, tuple(MethodPrice(m.name, m.epsilon(exact), m.because) for m in self._all)
        )

    def draw(self, width: int = 64, height: int = 16) -> str:
        """Draw δ over ε in plain text, for a terminal."""
        return draw(self, width, height)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Plot δ over ε, upper and lower bound, with matplotlib; says how to install it when it is missing."""
        return plot(self, axes)
