"""Budget allocation among the Gaussian releases of a model, by a single scale s.

Every release is Gaussian, so that its μ² (of Gaussian DP) adds up under composition. A release has
L2 sensitivity Δ, is made t times and gets the share f of the budget. Its noise has the standard
deviation σ = s·Δ·√(t/f), rounded up, and costs f/s² of μ². All releases together cost 1/s². s is
the least scale, up to a relative 2^−40, for which the accountant finds the composed events within
the budget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ...frozen import frozen
from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...mechanisms.additive.lattice import root_up
from ...noise import Bits
from ...privacy.calibrate import fits, least_scale
from ...privacy.events import Event, GaussianNoise, Repeated
from ...privacy.events import Sequence as InOrder
from ...privacy.measures import Measure, Neighbours, PureDP
from ..coding.rows import Exact, narrow


@frozen
class Slice:
    """Request of one release: Δ2² of an integer vector, its dimension, its uses and its share."""

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
        """The privacy event of all uses."""
        if self.times == 1:
            return self.noise.event
        return Repeated(self.noise.event, self.times)

    def noisy(self, exact: Exact, bits: Bits | None = None) -> Floats:
        """Add noise to exact integers of any shape and size, for one use; floats from here on.

        Law: tests/learn/test_sizes.py::TestNoSumWraps
        """
        flat = narrow(exact.ravel())
        if flat.dtype != np.int64:
            # The mechanism's arrays stop at the ends of int64. The same noise is drawn on zeros
            # and added in Python's integers, so that no person stands at a jump.
            drawn = self.noise.release(np.zeros(flat.size, dtype=np.int64), bits=bits)
            released: Exact = flat + drawn.astype(object)
        else:
            released = self.noise.release(flat.astype(np.int64), bits=bits)
        return np.asarray(released, dtype=np.float64).reshape(exact.shape)


def divide(spend: Measure, slices: Sequence[Slice], neighbours: Neighbours) -> tuple[Release, ...]:
    """Return the noise of every release: σ = s·Δ·√(times/share), at the least s that fits the budget.

    s is the same for all of them, and found up to 2^−40 of its size. Each of `slices` asks for one
    release; the shares add up to 1.

    Guarantee: the composition of all releases costs at most `spend` by the accountant's own check.
    Refuses: pure ε, which no Gaussian noise satisfies, and a budget too large for the integer grid.
    Law: tests/learn/test_neighbours.py::TestMomentsMoveByAtMostTheirSensitivity

    >>> import discreet as dp
    >>> from discreet.learn.training.budget import Slice, divide
    >>> moments = Slice(squared=10**8, dimension=5, times=1, share="1/5")
    >>> steps = Slice(squared=10**8, dimension=5, times=4, share="4/5")
    >>> first, second = divide(dp.ZCDP("1/2"), [moments, steps], "add-remove")
    >>> int(first.noise.scale), int(second.noise.scale)
    (22361, 22361)
    """
    if isinstance(spend, PureDP):
        raise InvalidArgument(
            "a model is trained with Gaussian noise, which keeps no pure ε; "
            f"spend dp.ApproxDP({spend.epsilon}, 1e-6)"
        )
    base = least_scale(
        lambda scale: GaussianNoise.of(scale, 1, neighbours=neighbours), spend, start=4
    )
    # The lattice and the rounding of σ to integers may cost a little more than the continuous
    # noise of `base`. The scale grows by 2^−40, 2^−39, … until the exact events fit.
    for power in range(-40, 0):
        scale = base * (1 + Fraction(2) ** power)
        releases = tuple(_release(part, scale, neighbours) for part in slices)
        if fits(events_of(releases), spend):
            return releases
    raise InvalidArgument(
        "this spend is too large for the grid on which models are trained; spend less"
    )


def events_of(releases: Iterable[Release]) -> Event:
    """Return the event of an adaptive composition: each release may depend on those before."""
    events = [release.event for release in releases]
    return events[0] if len(events) == 1 else InOrder(events)


def _release(part: Slice, scale: Fraction, neighbours: Neighbours) -> Release:
    """Return the noise of one release at a scale s; the sensitivity and σ are rounded up."""
    # ⌈√Δ²⌉: the sensitivity is rounded up, so that the noise is never too small for it.
    sensitivity = 1
    if part.squared > 1:
        sensitivity = math.isqrt(part.squared - 1) + 1
    variance = scale**2 * part.squared * part.times / Fraction(part.share)
    # Both the root and σ are rounded up: more noise is the safe direction.
    sigma = math.ceil(root_up(variance))
    noise = DiscreteGaussian(sigma, sensitivity, neighbours=neighbours, dimension=part.dimension)
    return Release(noise, part.times)
