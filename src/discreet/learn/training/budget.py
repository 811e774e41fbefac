"""One budget for all the noise of a model: a single scale s, as every release is Gaussian and μ² adds up.

A release with sensitivity Δ that is made t times and gets the share f of the budget has noise of σ = s·Δ·√(t/f), which
costs f/s² of μ²; all of them together cost 1/s². s is the least for which the whole sequence keeps the promise, checked
on the events themselves, with the lattice of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from ...errors import InvalidArgument
from ...frozen import frozen
from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...mechanisms.additive.lattice import root_up
from ...privacy.calibrate import fits, least_scale
from ...privacy.events import Event, GaussianNoise, Repeated
from ...privacy.events import Sequence as InOrder
from ...privacy.measures import Measure, PureDP
from ...privacy.neighbours import Neighbours


@frozen
class Slice:
    """What one release asks of the budget: Δ2² of a vector of whole numbers, how often, and its share."""

    squared: int
    dimension: int
    times: int = 1
    share: Fraction = Fraction(1)


@frozen
class Release:
    """Noise for a vector, drawn anew each of the `times` it is used."""

    noise: DiscreteGaussian
    times: int

    @property
    def event(self) -> Event:
        """What all its uses cost."""
        return self.noise.event if self.times == 1 else Repeated(self.noise.event, self.times)


def divide(spend: Measure, slices: Sequence[Slice], neighbours: Neighbours) -> tuple[Release, ...]:
    """Return the noise of every release, the least that keeps the promise.

    >>> import discreet as dp
    >>> from discreet.learn.training.budget import Slice, divide
    >>> first, second = divide(dp.ZCDP("1/2"), [Slice(10**8, 5, 1, "1/5"), Slice(10**8, 5, 4, "4/5")], "add-remove")
    >>> int(first.noise.scale), int(second.noise.scale)
    (22361, 22361)

    Refuses pure ε: no Gaussian noise keeps it.
    """
    if isinstance(spend, PureDP):
        raise InvalidArgument(
            f"a model is trained with Gaussian noise, which keeps no pure ε; spend dp.ApproxDP({spend.epsilon}, 1e-6)"
        )
    base = least_scale(
        lambda scale: GaussianNoise.of(scale, 1, neighbours=neighbours), spend, start=4
    )
    for power in range(
        -40, 0
    ):  # the lattice and whole scales cost next to nothing: one step is enough
        made = tuple(
            _release(part, base * (1 + Fraction(2) ** power), neighbours) for part in slices
        )
        if fits(events_of(made), spend):
            return made
    raise InvalidArgument(
        "this spend is too large for the grid on which models are trained; spend less"
    )


def events_of(releases: Iterable[Release]) -> Event:
    """Return the one event of releases made one after the other, each of which may look at those before."""
    events = [release.event for release in releases]
    return events[0] if len(events) == 1 else InOrder(events)


def _release(part: Slice, scale: Fraction, neighbours: Neighbours) -> Release:
    whole = math.isqrt(part.squared - 1) + 1 if part.squared > 1 else 1
    sigma = math.ceil(root_up(scale**2 * part.squared * part.times / Fraction(part.share)))
    noise = DiscreteGaussian(sigma, whole, neighbours=neighbours, dimension=part.dimension)
    return Release(noise, part.times)
