"""Pictures of a privacy curve: plain text for a terminal, matplotlib for everything else."""

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
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def span(curve: Curve) -> float:
    """Return the ε up to which a curve is drawn: where its δ has fallen to 1e-12, or the pure ε."""
    far = curve.epsilon(Fraction(1, 10**12))
    if not math.isfinite(far):
        raise InvalidArgument(
            "nothing to draw: the events keep no (ε, δ) promise at δ = 1e-12; look at delta(epsilon)"
        )
    return far or 1.0


def draw(curve: Curve, width: int = 64, height: int = 16) -> str:
    """Draw δ on a logarithmic scale over ε, in block characters, eight to a line.

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

    Refuses fewer than 16 columns or 2 lines, and curves without a promise at δ = 1e-12.
    """
    columns, lines = (
        whole(width, "width", least=16, most=400),
        whole(height, "height", least=2, most=100),
    )
    far = span(curve)
    deltas = [curve.delta(Fraction(far * i / (columns - 1))) for i in range(columns)]
    tall = [max(0.0, 1 + math.log10(max(d, _FLOOR)) / 12) * lines for d in deltas]
    rows = []
    for line in range(lines):
        bottom = lines - 1 - line
        cells = "".join(_EIGHTHS[max(0, min(8, math.ceil(8 * (t - bottom) - 1e-9)))] for t in tall)
        rows.append(f"{_tick(line, lines):>6}│{cells.rstrip()}")
    return "\n".join(["  δ", *rows, "      └" + "─" * columns, _axis(far, columns)])


def _tick(line: int, lines: int) -> str:
    power = 12 * line / lines
    if power == 0:
        return "1"
    return f"1e-{power:.0f}" if power == int(power) else ""


def _axis(far: float, columns: int) -> str:
    return "       0" + f"{far:.3g}  ε".rjust(columns - 1)


def plot(curve: Curve, axes: Axes | None = None) -> Axes:
    """Plot δ over ε on a logarithmic scale: what is promised, and the lower bound where it is known.

    Returns the axes, for more. Refuses with the install command when matplotlib is missing.
    """
    canvas: Axes = load("matplotlib.pyplot", "plot").subplots()[1] if axes is None else axes
    far = span(curve)
    grid = [far * i / 128 for i in range(129)]
    upper = [curve.delta(Fraction(e)) for e in grid]
    lower = [curve.lower.delta(Fraction(e)) for e in grid]
    canvas.plot(grid, upper, label="promised δ(ε)")
    canvas.plot(grid, lower, linestyle=":", label="at least")
    canvas.set_yscale("log")
    canvas.set_ylim(_FLOOR, 1)
    canvas.set_xlabel("ε")
    canvas.set_ylabel("δ")
    canvas.legend()
    return canvas
