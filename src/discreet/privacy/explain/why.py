"""Why a price is what it is: every method that applies, side by side."""

from __future__ import annotations

import math
from fractions import Fraction

from ...arithmetic.rounding import shown
from ...frozen import frozen


@frozen
class MethodPrice:
    """One method, its price, and the reason for it."""

    method: str
    epsilon: float
    because: str


@frozen(repr=False)
class Why:
    """Every method that applies, its ε at one δ, and which won; prints as a small table.

    >>> from discreet.privacy import Why
    >>> from discreet.privacy.explain.why import MethodPrice
    >>> from fractions import Fraction
    >>> Why(Fraction(1, 10**6), (MethodPrice("basic", 10.0, "they add up"), MethodPrice("zCDP", 5.7, "so do the ρ")))
    ε at δ = 1e-06
      basic             10   they add up
    → zCDP             5.7   so do the ρ
    """

    delta: Fraction
    rows: tuple[MethodPrice, ...]

    @property
    def winner(self) -> MethodPrice:
        """The method with the least ε; of equals, the simplest."""
        return min(self.rows, key=lambda row: row.epsilon)

    def __repr__(self) -> str:
        best = self.winner
        lines = [f"ε at δ = {shown(self.delta)}"]
        for row in self.rows:
            mark = "→" if row is best else " "
            lines.append(f"{mark} {row.method:<10}{_short(row.epsilon):>10}   {row.because}")
        return "\n".join(lines)


def _short(price: float) -> str:
    """Print a price upwards in six digits; a float that is the nearest to a short decimal prints as that."""
    return shown(Fraction(repr(price)) if math.isfinite(price) else price, 6)
