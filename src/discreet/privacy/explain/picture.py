"""Pictures of a privacy curve, δ on a logarithmic scale over ε: as text, or with matplotlib."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...optional import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..curve import Curve

_FLOOR = 1e-12
"""Smallest δ that is drawn."""
_DECADES = 12
"""Powers of ten from 1 down to the floor."""
_EIGHTHS = " ▁▂▃▄▅▆▇█"
"""Block characters, from empty to full in eighths."""


def span(curve: Curve) -> float:
    """Return the ε up to which a curve is drawn: where its δ has fallen to 1e-12, or the pure ε.

    Refuses: curves without a promise at δ = 1e-12 (InvalidArgument).
    """
    far = curve.epsilon(Fraction(1, 10**12))
    if not math.isfinite(far):
        raise InvalidArgument(
            "nothing to draw: the events keep no (ε, δ) promise at δ = 1e-12; "
            "look at delta(epsilon)"
        )
    # A curve that is 0 from the start still needs an axis.
    return far or 1.0


def draw(curve: Curve, width: int = 64, height: int = 16) -> str:
    """Return a picture of δ over ε in block characters; a text row has eight steps.

    δ has a logarithmic scale from 1 down to 1e-12; ε goes from 0 to `span(curve)`.

    >>> import discreet as dp
    >>> from discreet.privacy import GaussianNoise
    >>> from discreet.privacy.explain.picture import draw
    >>> print(draw(dp.compose(GaussianNoise.of(scale=1, sensitivity=1)), width=24, height=4))
      δ
         1│▇▇▇▆▆▅▄▃▃▂
      1e-3│███████████▇▆▅▃▁
      1e-6│█████████████████▆▄▂
      1e-9│█████████████████████▅▃
          └────────────────────────
           0                7.24  ε

    Refuses: a width outside 16 to 400, a height outside 2 to 100, and curves without a
    promise at δ = 1e-12 (InvalidArgument).
    """
    columns = whole(width, "width", least=16, most=400)
    rows = whole(height, "height", least=2, most=100)
    far = span(curve)
    heights = []
    for column in range(columns):
        epsilon = Fraction(far * column / (columns - 1))
        log_delta = math.log10(max(curve.delta(epsilon), _FLOOR))
        filled = max(0.0, 1 + log_delta / _DECADES)
        heights.append(filled * rows)
    texts = ["  δ"]
    for row in range(rows):
        bottom = rows - 1 - row
        cells = "".join(_block(height - bottom) for height in heights)
        label = _tick(row, rows)
        texts.append(f"{label:>6}│{cells.rstrip()}")
    texts.append("      └" + "─" * columns)
    texts.append(_axis(far, columns))
    return "\n".join(texts)


def _block(filled: float) -> str:
    """Return the block character of a cell that is filled to this part, rounded up to eighths."""
    # The margin keeps a height that is exact but for rounding from filling one eighth more.
    eighths = math.ceil(8 * filled - 1e-9)
    return _EIGHTHS[max(0, min(8, eighths))]


def _tick(row: int, rows: int) -> str:
    """Return the label of a row; empty where it is no whole power of ten."""
    power = _DECADES * row / rows
    if power == 0:
        return "1"
    return f"1e-{power:.0f}" if power == int(power) else ""


def _axis(far: float, columns: int) -> str:
    return "       0" + f"{far:.3g}  ε".rjust(columns - 1)


def plot(curve: Curve, axes: Axes | None = None) -> Axes:
    """Plot δ over ε on a logarithmic scale: the promise, and the lower bound where it is known.

    Returns the axes, so that more can be added.

    Refuses: with the install command when matplotlib is missing (InvalidArgument).
    """
    canvas: Axes = load("matplotlib.pyplot", "plot").subplots()[1] if axes is None else axes
    far = span(curve)
    grid = [far * i / 128 for i in range(129)]
    upper = [curve.delta(Fraction(epsilon)) for epsilon in grid]
    lower = [curve.lower.delta(Fraction(epsilon)) for epsilon in grid]
    canvas.plot(grid, upper, label="promised δ(ε)")
    canvas.plot(grid, lower, linestyle=":", label="at least")
    canvas.set_yscale("log")
    canvas.set_ylim(_FLOOR, 1)
    canvas.set_xlabel("ε")
    canvas.set_ylabel("δ")
    canvas.legend()
    return canvas
