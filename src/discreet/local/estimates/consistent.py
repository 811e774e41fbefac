"""Consistency as post-processing: the frequencies ≥ 0 with sum 1 nearest to an estimate.

It makes estimates possible and nearer to the truth on the whole, but biased.
"""

from __future__ import annotations

import numpy as np

from .estimate import Array


def project(values: Array) -> Array:
    """Return the point of the simplex nearest to `values`.

    The method is called "Norm-Sub" (Wang, Lopuhaä-Zwakenberg et al. 2020). The projection subtracts
    one number from all values and truncates at 0 (Held, Wolfe, Crowder 1974). It never moves away
    from a true vector of frequencies, since the simplex is convex. But it is biased: small
    frequencies come out too small.

    >>> import numpy as np
    >>> from discreet.local.estimates.consistent import project
    >>> project(np.array([0.7, 0.5, -0.1])).round(6).tolist()
    [0.6, 0.4, 0.0]

    Law: `tests/local/test_choice.py::TestEstimate`
    """
    falling = np.sort(values)[::-1]
    # Number to subtract if exactly the k largest values stay positive.
    kept = np.arange(1, values.size + 1)
    surplus = (np.cumsum(falling) - 1) / kept
    last = np.flatnonzero(falling > surplus)[-1]
    return np.asarray(np.maximum(values - surplus[last], 0.0))
