"""α-point rounding: a device rounds its numbers to a grid that it shifted once.

See Ding, Kulkarni, Yekhanin 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...noise import Bits, uniform


@frozen(init=False)
class AlphaPoint:
    """Round numbers from low to high to the points low, low + step, …, high, by one shift α.

    α is uniform in 0 … resolution − 1, in units of step/resolution, drawn once for a device. x in
    [L, L + step) becomes L + step iff x + α ≥ L + step. Over devices the rounded number is x on
    average (to step/resolution). On one device near numbers become the same point, so a memoised
    answer does not change with every minute.

    >>> from discreet.local import AlphaPoint
    >>> minutes = AlphaPoint(0, 60, step=30, alpha=7, resolution=30)
    >>> minutes.point(22), minutes.point(23)
    (0, 1)

    Refuses: `InvalidArgument` for a step that does not divide the range.
    Law: `tests/local/test_longitudinal.py::TestAlphaPoint`
    """

    low: Fraction
    high: Fraction
    step: Fraction
    alpha: int
    resolution: int

    def __init__(
        self,
        low: Number,
        high: Number,
        step: Number,
        *,
        resolution: int = 1 << 16,
        alpha: int | None = None,
        bits: Bits | None = None,
    ) -> None:
        bottom = rational(low, "low")
        top = rational(high, "high")
        width = positive(step, "step")
        if bottom >= top or ((top - bottom) / width).denominator != 1:
            raise InvalidArgument(
                f"step must divide the range from {low} to {high} into whole parts, got {step}"
            )
        units = whole(resolution, "resolution", least=1)
        # An α that is given was drawn before, by this device.
        shift = (
            uniform(units, bits=bits) if alpha is None else whole(alpha, "alpha", most=units - 1)
        )
        fill(self, low=bottom, high=top, step=width, alpha=shift, resolution=units)

    @property
    def points(self) -> int:
        """The number of grid points."""
        return int((self.high - self.low) / self.step) + 1

    def point(self, value: Number) -> int:
        """Return the index of the grid point of a number; a number outside is clipped first."""
        try:
            exact = min(max(rational(value, "value"), self.low), self.high)
        except InvalidArgument:
            # The reader's own refusal would carry the value.
            raise InvalidArgument("a value must be a finite number") from None
        below, remainder = divmod(exact - self.low, self.step)
        shift = self.step * self.alpha / self.resolution
        rounds_up = remainder + shift >= self.step
        return int(below) + rounds_up

    def value(self, value: Number) -> Fraction:
        """Return the rounded number itself."""
        return self.low + self.step * self.point(value)

    def to_json(self) -> dict[str, Any]:
        """Return the grid with its α, for the device's own storage; α must not leave the device."""
        return {
            "low": str(self.low),
            "high": str(self.high),
            "step": str(self.step),
            "alpha": self.alpha,
            "resolution": self.resolution,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AlphaPoint:
        """Read a grid written by `to_json`."""
        return cls(**given)
