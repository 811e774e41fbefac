"""All thresholds at once: no splitting, no search, one band around both distribution functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidArgument
from .bounds import Floats, dkw_margin, level


def dkw(
    first: ArrayLike, second: ArrayLike, *, delta: float = 0.0, confidence: float = 0.999
) -> float:
    """Bound ε at δ from below by every threshold event of a scalar output, in both directions.

    Both empirical distribution functions lie within √(ln(4/α)/2n) of the true ones, at all points together, with
    probability 1 − α (Dvoretzky, Kiefer, Wolfowitz; Massart), so every threshold may be tried and the best reported.
    Coarser than `audit` for one good event, but it uses all the runs and needs no search.

    >>> import numpy as np
    >>> from discreet.audit import dkw
    >>> dkw(np.zeros(1000), np.ones(1000)) > 2.5
    True

    Refuses NaN: an output that is not a number has no place in an order; use `audit`.
    """
    xs, ys = (np.sort(np.asarray(side, dtype=np.float64).ravel()) for side in (first, second))
    if not len(xs) or not len(ys) or np.isnan(xs[-1]) or np.isnan(ys[-1]):
        raise InvalidArgument(
            "dkw needs at least one number on each side and no NaN; audit() takes any output"
        )
    alpha = (1 - level(confidence, "confidence")) / 2
    cuts = np.concatenate([xs, ys])
    p = np.searchsorted(xs, cuts, "right") / len(xs)
    q = np.searchsorted(ys, cuts, "right") / len(ys)
    off_p, off_q = dkw_margin(len(xs), alpha), dkw_margin(len(ys), alpha)
    forms = [
        (p, off_p, q, off_q),
        (q, off_q, p, off_p),
        (1 - p, off_p, 1 - q, off_q),
        (1 - q, off_q, 1 - p, off_p),
    ]
    return max(0.0, *(_least(a, b, c, d, delta) for a, b, c, d in forms)) * (1 - 1e-12)


def _least(high: Floats, off_high: float, low: Floats, off_low: float, delta: float) -> float:
    surplus = high - off_high - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(surplus) - np.log(np.minimum(low + off_low, 1.0))
    return float(np.max(ratios, where=surplus > 0, initial=0.0))
