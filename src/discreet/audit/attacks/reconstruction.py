"""Reconstruction attack: many too accurate answers reveal the secret bits (Dinur, Nissim 2003).

There are n secret bits and k random subset sums, each with noise of deviation σ. With k of a few
times n, least squares and rounding find nearly all bits where σ is far below √n, whatever the law
of the noise. A total (ε, δ) over all k sums makes σ grow with √k, and the attack fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arithmetic.arrays import Flags
from ...errors import InvalidArgument


def reconstruct(answers: Any, queries: Any) -> Flags:  # noqa: ANN401 arrays or lists
    """Guess secret bits from answers to subset sums.

    `queries` has a row for each answer and a column for each bit.

    >>> import numpy as np
    >>> from discreet.audit import reconstruct
    >>> rng = np.random.default_rng(0)
    >>> secret, queries = rng.integers(0, 2, 64), rng.integers(0, 2, (256, 64))
    >>> answers = queries @ secret + rng.normal(0, 1, 256)
    >>> bool((reconstruct(answers, queries) == secret).mean() > 0.95)
    True

    Refuses: `InvalidArgument` for shapes that do not fit.
    Law: `tests/audit/test_attacks.py::TestReconstruction`
    """
    sums = np.asarray(answers, dtype=np.float64)
    subsets = np.asarray(queries, dtype=np.float64)
    if subsets.ndim != 2 or sums.shape != (len(subsets),) or not subsets.size:
        raise InvalidArgument(
            "queries is a matrix with a row for each answer and a column for each secret bit"
        )
    solution, *_ = np.linalg.lstsq(subsets, sums, rcond=None)
    return np.asarray(solution > 0.5)
