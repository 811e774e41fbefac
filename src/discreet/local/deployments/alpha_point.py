"""α-point rounding: a device rounds all its numbers to a grid that it shifted once (Ding, Kulkarni, Yekhanin 2017)."""

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
    """Round numbers from low to high to the points low, low + step, …, high, by one shift α of this device.

    α is uniform in 0 … resolution − 1, in units of step/resolution, drawn once. x in [L, L + step) becomes L + step iff
    x + α ≥ L + step: over devices the rounded number is x on average (to step/resolution). On one device near numbers
    become the same point, so a memoised answer does not change with every minute.

    >>> from discreet.local import AlphaPoint
    >>> minutes = AlphaPoint(0, 60, step=30, alpha=7, resolution=30)
    >>> minutes.point(22), minutes.point(23)
    (0, 1)

    Refuses a step that does not divide the range.
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
        least, most, wide = rational(low, "low"), rational(high, "high"), positive(step, "step")
        if least >= most or ((most - least) / wide).denominator != 1:
            raise InvalidArgument(
                f"step must divide the range from {low} to {high} into whole parts, got {step}"
            )
        fine = whole(resolution, "resolution", least=1)
        drawn = uniform(fine, bits=bits) if alpha is None else whole(alpha, "alpha", most=fine - 1)
        fields = {"low": least, "high": most, "step": wide, "alpha": drawn, "resolution": fine}
        fill(self, **fields)

    @property
    def points(self) -> int:
        """How many grid points there are."""
        return int((self.high - self.low) / self.step) + 1

    def point(self, value: Number) -> int:
        """Return the number of the grid point that a number is rounded to; a number outside is clipped first."""
        try:
            exact = min(max(rational(value, "value"), self.low), self.high)
        except InvalidArgument:
            raise InvalidArgument("a value must be a finite number") from None  # without the value
        below, rest = divmod(exact - self.low, self.step)
        return int(below) + (rest + self.step * self.alpha / self.resolution >= self.step)

    def value(self, value: Number) -> Fraction:
        """Return the rounded number itself."""
        return self.low + self.step * self.point(value)

    def to_json(self) -> dict[str, Any]:
        """Return the device's own grid; α never leaves the device."""
        amounts = {name: str(getattr(self, name)) for name in ("low", "high", "step")}
        return {**amounts, "alpha": self.alpha, "resolution": self.resolution}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> AlphaPoint:
        """Read what `to_json` wrote."""
        return cls(**given)
