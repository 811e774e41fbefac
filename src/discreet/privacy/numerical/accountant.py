"""The numerical price of a composition: certified upper and lower bounds on its privacy curve.

    events ── parts_of ──► pairs, one multiset per direction ──► combs on a grid ──► tilted ring ──► bounds

The grid, the tilt and the length of the ring are chosen here for each question, never by the caller, and refined until
the bracket is as narrow as was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ...arithmetic.rational import Number, rational
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ..events import Event
from ..pairs.dominating import merged_parts, parts_of
from ..pairs.loss_masses import LossPair, ceiling
from ..pricing.limits import within_floats
from .direction import Bracket, DirectionBounds
from .pair import pairs_of


@frozen(eq=False)
class Numerical:
    """Bounds on the privacy curve of a composition, worst over both directions, each within a relative `gap` if it can.

    Lower bounds are for the composed dominating pairs: no accounting that knows only these pairs can promise less.
    """

    sides: tuple[DirectionBounds, ...]
    gap: float
    known: dict[tuple[str, Fraction], Bracket] = field(default_factory=dict)

    def epsilon(self, delta: Number) -> float:
        """Return an ε, rounded up, such that the composition is (ε, δ)-DP; ∞ if none is known.

        >>> from discreet.privacy import LaplaceNoise
        >>> from discreet.privacy.numerical.accountant import numerical
        >>> numerical([LaplaceNoise(10, 1)] * 4).epsilon(0)
        0.4

        Refuses δ below 0 or from 1 on.
        """
        return self._bracket("epsilon", _delta(delta)).upper

    def lower_epsilon(self, delta: Number) -> float:
        """Return an ε, rounded down, below which the composed pairs are not (ε, δ)-DP."""
        return self._bracket("epsilon", _delta(delta)).lower

    def delta(self, epsilon: Number) -> float:
        """Return a δ, rounded up, such that the composition is (ε, δ)-DP.

        >>> from discreet.privacy import GaussianNoise
        >>> from discreet.privacy.numerical.accountant import numerical
        >>> round(numerical([GaussianNoise.of(2, 1)] * 4).delta(1), 9)
        0.126936738
        """
        return self._bracket("delta", within_floats(rational(epsilon, "epsilon"))).upper

    def lower_delta(self, epsilon: Number) -> float:
        """Return a δ, rounded down, that the composed pairs exceed."""
        return self._bracket("delta", within_floats(rational(epsilon, "epsilon"))).lower

    def _bracket(self, what: str, at: Fraction) -> Bracket:
        """Ask every direction; one that is seen to be no worse than another needs no narrow bracket."""
        if (what, at) not in self.known:
            worst = Bracket(0.0, 0.0)
            for side in self.sides:
                if what == "epsilon":
                    found = side.epsilon(at, self.gap, worst.lower)
                else:
                    found = side.delta(-ceiling(-at), self.gap, worst.lower)
                worst = Bracket(max(worst.lower, found.lower), max(worst.upper, found.upper))
            self.known[what, at] = worst
        return self.known[what, at]


def numerical(events: Sequence[Event], *, gap: float = 1e-3) -> Numerical:
    """Price a composition numerically, with certified bounds on both sides.

    Upper: each pair's curve is joined by chords at grid points (connect the dots; Doroshenko et al. 2022), in mass
    space; the discretised pairs are composed by a Fourier transform after an exponential tilt (Esscher), and every
    error is bounded and added. Lower: see `lower`. Adaptive choice of what is asked in each slot is allowed, the
    slots themselves must be fixed beforehand: this is NOT a filter.

    >>> from discreet.privacy import LaplaceNoise
    >>> from discreet.privacy.numerical.accountant import numerical
    >>> price = numerical([LaplaceNoise(10, 1)] * 100)
    >>> 0 < price.epsilon(1e-6) / price.lower_epsilon(1e-6) - 1 < 1e-3
    True

    Refuses events of mixed neighbour relations, nothing at all, and a gap outside (0, 1).
    """
    todo = list(events)
    if not todo:
        raise InvalidArgument("at least one event is needed; nothing done costs nothing")
    if len({event.neighbours for event in todo}) > 1:
        raise InvalidArgument(
            "the events mix 'add-remove' and 'replace' neighbours; restate them under one relation"
        )
    if not 0 < gap < 1:
        raise InvalidArgument(f"gap must lie between 0 and 1, got {gap}; 1e-3 and 1e-4 are usual")
    return Numerical(sides_of(part for event in todo for part in parts_of(event)), gap)


def sides_of(parts: Iterable[tuple[Event, int]]) -> tuple[DirectionBounds, ...]:
    """Return the two directions of a composition, or one if both are the same."""
    groups = [(pairs_of(event), times) for event, times in merged_parts(parts)]
    remove: list[tuple[LossPair, int]] = [(pair.remove, times) for pair, times in groups]
    if all(pair.remove is pair.add for pair, _ in groups):
        return (DirectionBounds(tuple(remove)),)
    return DirectionBounds(tuple(remove)), DirectionBounds(
        tuple((pair.add, times) for pair, times in groups)
    )


def _delta(value: Number) -> Fraction:
    exact = rational(value, "delta")
    if not 0 <= exact < 1:
        raise InvalidArgument(f"delta must be at least 0 and below 1, got {value}")
    return exact
