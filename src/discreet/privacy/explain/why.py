"""Table of the accounting methods that apply to a composition: ε by each at one δ, and its rule."""

from __future__ import annotations

import math
from fractions import Fraction

from ...arithmetic.rounding import shown
from ...frozen import frozen


@frozen
class MethodPrice:
    """Price of one method, and the reason for it."""

    method: str
    epsilon: float
    because: str


@frozen(repr=False)
class Why:
    """Every method that applies, its ε at one δ, and the winner; prints as a small table.

    >>> from discreet.privacy import Why
    >>> from discreet.privacy.explain.why import MethodPrice
    >>> from fractions import Fraction
    >>> basic = MethodPrice("basic", 10.0, "they add up")
    >>> Why(Fraction(1, 10**6), (basic, MethodPrice("zCDP", 5.7, "so do the ρ")))
    ε at δ = 1e-06
      basic             10   they add up
    → zCDP             5.7   so do the ρ
    """

    delta: Fraction
    rows: tuple[MethodPrice, ...]

    @property
    def winner(self) -> MethodPrice:
        """The method with the least ε; of equals, the simplest, as it comes first."""
        return min(self.rows, key=lambda row: row.epsilon)

    def __repr__(self) -> str:
        winner = self.winner
        lines = [f"ε at δ = {shown(self.delta)}"]
        for row in self.rows:
            mark = "→" if row is winner else " "
            price = _six_digits(row.epsilon)
            lines.append(f"{mark} {row.method:<10}{price:>10}   {row.because}")
        return "\n".join(lines)


def _six_digits(price: float) -> str:
    """Print a price in six digits, rounded up.

    A float that is the nearest to a short decimal prints as that decimal.
    """
    if not math.isfinite(price):
        return shown(price, 6)
    return shown(Fraction(repr(price)), 6)
