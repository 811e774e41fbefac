"""DKW audit: a lower bound on ε from all thresholds of a scalar output at once.

It is named after the inequality of Dvoretzky, Kiefer and Wolfowitz, and needs no separate runs to
choose a threshold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from .bounds import dkw_margin, read_probability


def dkw(
    first: ArrayLike, second: ArrayLike, *, delta: float = 0.0, confidence: float = 0.999
) -> float:
    """Bound ε at δ from below by every threshold event of a scalar output, in both directions.

    `first` and `second` are outputs on the two inputs. Both empirical distribution functions lie
    within √(ln(4/α)/2n) of the true ones, at all points together, with probability 1 − α
    (Dvoretzky, Kiefer, Wolfowitz; Massart). So every threshold may be tried and the best reported.
    It is coarser than `audit` for one good event, but it uses all the runs and needs no search.

    >>> import numpy as np
    >>> from discreet.audit import dkw
    >>> dkw(np.zeros(1000), np.ones(1000)) > 2.5
    True

    Guarantee: the bound is below the true ε with probability at least `confidence`.
    Refuses: `InvalidArgument` for no numbers, and for NaN, which has no order; use `audit`.
    Law: `tests/audit/test_one_run.py::TestDkwForm`
    """
    xs = np.sort(np.asarray(first, dtype=np.float64).ravel())
    ys = np.sort(np.asarray(second, dtype=np.float64).ravel())
    # NaN is sorted to the end.
    if not len(xs) or not len(ys) or np.isnan(xs[-1]) or np.isnan(ys[-1]):
        raise InvalidArgument(
            "dkw needs at least one number on each side and no NaN; audit() takes any output"
        )
    alpha = (1 - read_probability(confidence, "confidence")) / 2
    thresholds = np.concatenate([xs, ys])
    p = np.searchsorted(xs, thresholds, "right") / len(xs)
    q = np.searchsorted(ys, thresholds, "right") / len(ys)
    margin_p = dkw_margin(len(xs), alpha)
    margin_q = dkw_margin(len(ys), alpha)
    # An event or its complement, likelier on either input.
    bounds = (
        _least(p, margin_p, q, margin_q, delta),
        _least(q, margin_q, p, margin_p, delta),
        _least(1 - p, margin_p, 1 - q, margin_q, delta),
        _least(1 - q, margin_q, 1 - p, margin_p, delta),
    )
    # Rounded down, as every lower bound.
    return max(0.0, *bounds) * (1 - 1e-12)


def _least(high: Floats, margin_high: float, low: Floats, margin_low: float, delta: float) -> float:
    """Return the largest ln((p − δ)/q) over all thresholds, with p lowered and q raised."""
    surplus = high - margin_high - delta
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(surplus) - np.log(np.minimum(low + margin_low, 1.0))
    return float(np.max(ratios, where=surplus > 0, initial=0.0))
