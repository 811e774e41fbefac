"""Numerical accountant: certified bounds by the privacy loss distribution (PLD) of a composition.

    events ── parts_of ──► dominating pairs, one multiset per direction
           ── discretisation ──► loss grids ── tilted FFT convolution ──► upper and lower bounds

The accountant chooses the grid, the exponential tilt and the length of the transform for each
question. It refines them until upper and lower bound are as close as the caller asked.

Guarantee: `epsilon` and `delta` are never below the curve of the composed dominating pairs.
`lower_epsilon` and `lower_delta` are never above it.

Law: tests/privacy/test_pld.py::TestOracle
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ..events import Event
from ..events.combined import read_events
from ..loss.loss_masses import ceiling
from ..pairs.dominating import merged_parts, parts_of
from ..pricing.limits import within_floats
from .direction import Bracket, DirectionBounds
from .pair import directions_of, pairs_of


@frozen(eq=False)
class Numerical:
    """Bounds on the privacy curve of a composition: the worse of both directions.

    Each bracket is narrowed to a relative `gap` where the work allows it. `known` keeps the
    brackets that were computed before.

    Guarantee: upper bounds hold for the events. Lower bounds hold for the composed dominating
    pairs: no accounting that knows only these pairs can promise less.

    Law: tests/privacy/test_pld.py::TestOracle
    """

    directions: tuple[DirectionBounds, ...]
    gap: float
    known: dict[tuple[str, Fraction], Bracket] = field(default_factory=dict)

    def epsilon(self, delta: Number) -> float:
        """Return an ε, rounded up, such that the composition is (ε, δ)-DP; ∞ if none is known.

        >>> from discreet.privacy import LaplaceNoise
        >>> from discreet.privacy.numerical.accountant import numerical
        >>> numerical([LaplaceNoise(10, 1)] * 4).epsilon(0)
        0.4

        Refuses: δ below 0, or 1 and above (InvalidArgument).
        """
        return self._bracket("epsilon", _read_delta(delta)).upper

    def lower_epsilon(self, delta: Number) -> float:
        """Return an ε, rounded down, below which the composed pairs are not (ε, δ)-DP."""
        return self._bracket("epsilon", _read_delta(delta)).lower

    def delta(self, epsilon: Number) -> float:
        """Return a δ, rounded up, such that the composition is (ε, δ)-DP.

        >>> from discreet.privacy import GaussianNoise
        >>> from discreet.privacy.numerical.accountant import numerical
        >>> round(numerical([GaussianNoise.of(2, 1)] * 4).delta(1), 9)
        0.126936738
        """
        return self._bracket("delta", _read_epsilon(epsilon)).upper

    def lower_delta(self, epsilon: Number) -> float:
        """Return a δ, rounded down, that the composed pairs exceed."""
        return self._bracket("delta", _read_epsilon(epsilon)).lower

    def _bracket(self, quantity: str, at: Fraction) -> Bracket:
        """Bracket ε at a δ, or δ at an ε: the worst over the directions."""
        key = (quantity, at)
        if key in self.known:
            return self.known[key]
        worst = Bracket(0.0, 0.0)
        for direction in self.directions:
            # The lower bound so far is passed on: a direction whose upper bound is seen to be
            # below it cannot change the maximum, and need not be refined.
            if quantity == "epsilon":
                bounds = direction.epsilon(at, self.gap, worst.lower)
            else:
                # ε becomes the largest float not above it. δ(ε) falls with ε, so that the upper
                # bound on δ stays one. For lower bounds `methods` asks at floats, which stay.
                epsilon = -ceiling(-at)
                bounds = direction.delta(epsilon, self.gap, worst.lower)
            lower = max(worst.lower, bounds.lower)
            upper = max(worst.upper, bounds.upper)
            worst = Bracket(lower, upper)
        self.known[key] = worst
        return worst


def numerical(events: Sequence[Event], *, gap: float = 1e-3) -> Numerical:
    """Price a composition by its privacy loss distribution, with certified bounds on both sides.

    Upper bounds: the curve of each pair is joined by chords at grid points (connect-the-dots;
    Doroshenko et al. 2022), in mass space. The discretised pairs are composed by FFT after an
    exponential tilt (Esscher); every error is bounded and added. Lower bounds: see `lower_bound`.

    Guarantee: sound if later questions depend on earlier answers, as long as the parameters of
    all events were fixed beforehand. This is NOT a privacy filter.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.numerical.accountant import numerical
    >>> price = numerical([LaplaceNoise(10, 1)] * 100)
    >>> 0 < price.epsilon(1e-6) / price.lower_epsilon(1e-6) - 1 < 1e-3
    True

    Refuses: no events, events of mixed neighbour relations, a gap outside (0, 1) (InvalidArgument).

    Law: tests/privacy/test_pld.py::TestEnds
    """
    composed = read_events(events)
    if not 0 < gap < 1:
        raise InvalidArgument(f"gap must lie between 0 and 1, got {gap}; 1e-3 and 1e-4 are usual")
    parts: list[tuple[Event, int]] = []
    for event in composed:
        parts.extend(parts_of(event))
    groups = [(pairs_of(event), times) for event, times in merged_parts(parts)]
    return Numerical(directions_of(groups), gap)


def _read_epsilon(value: Number) -> Fraction:
    return within_floats(rational(value, "epsilon"))


def _read_delta(value: Number) -> Fraction:
    exact = rational(value, "delta")
    if not 0 <= exact < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, got {value}")
    return exact
