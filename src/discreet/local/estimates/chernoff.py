"""Chernoff's bound on the error of a mean of independent reports, by their exact laws.

The bound holds for every set of inputs, since it takes the worst input at each rate.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.rounding import up
from ..table import SCALE, MeanTable
from .estimate import Array

# Number of rates λ that are tried; each gives a sound bound, and the best is taken.
_RATES = 64


def chernoff_margin(table: MeanTable, n: int, beta: float) -> float:
    """Bound |mean of reports − mean of inputs| on the scale [−1, 1], whatever the inputs are.

    Chernoff: P[Σ(v_i − x_i) ≥ nt] ≤ e^{−nλt} Π E e^{λ(v_i − x_i)} for every λ > 0. So
    t = (ψ(λ) + ln(2/β)/n)/λ suffices, with ψ(λ) = max_x ln E e^{λ(v − x)}; the other side with −λ.

    >>> from discreet.local.estimates.chernoff import chernoff_margin
    >>> from fractions import Fraction
    >>> from discreet.local.table import make_table
    >>> round(chernoff_margin(make_table(Fraction(1)), 10_000, 0.05), 3)
    0.055

    Guarantee: the bound holds with probability at least 1 − β and is rounded up.
    Law: `tests/local/test_number.py::TestTable`
    """
    log = math.log(2 / beta) / n
    # The best rate for a normal law of the same variance; the grid extends to both sides of it.
    normal_rate = math.sqrt(2 * log / table.worst)
    rates = normal_rate * np.geomspace(0.05, 2, _RATES)
    above = min((_log_moment(table, rate) + log) / rate for rate in rates)
    below = min((_log_moment(table, -rate) + log) / rate for rate in rates)
    return up(max(above, below))


def _log_moment(table: MeanTable, rate: float) -> float:
    """Return max over x in [−1, 1] of ln E e^{λ(v − x)}, rounded up.

    Between inputs x_i and x_i + s the law is a mixture: ((1 − f)A + fB) e^{−λsf} e^{−λx_i} is
    largest at f = 1/(λs) − A/(B − A), or at an end.
    """
    values = table.values / SCALE
    # The largest exponent is taken out, so that no power of e overflows.
    shift = float(np.abs(rate * values).max())
    laws = table.weights / SCALE
    moments: Array = laws @ np.exp(rate * values - shift)
    left = moments[:-1]
    right = moments[1:]
    x = table.inputs[:-1]
    step = 2 / (len(moments) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = left / (right - left)
        stationary = 1 / (rate * step) - odds
    inner = np.nan_to_num(stationary, nan=0.0, posinf=1.0, neginf=0.0)
    best = -math.inf
    for f in (np.zeros_like(left), np.ones_like(left), np.clip(inner, 0.0, 1.0)):
        mixture = (1 - f) * left + f * right
        inputs = x + step * f
        logs = np.log(mixture) - rate * inputs
        best = max(best, float(logs.max()))
    # The margin exceeds the rounding errors of the powers, sums and logarithms above.
    return up(best + shift, 2.0**-40) + 1e-15 * (1 + shift)
