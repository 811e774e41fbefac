"""Reconstruction: enough answers that are too accurate give the whole secret away (Dinur, Nissim 2003).

n secret bits and k subset sums, each off by noise of deviation σ: least squares and rounding find nearly all bits where
σ is far below √n, however the noise was made. A total (ε, δ) over all k sums makes σ grow with √k, and it fails.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument


def reconstruct(answers: Any, queries: Any) -> NDArray[np.bool_]:  # noqa: ANN401 arrays or lists
    """Guess secret bits from answers to subset sums; `queries` has a row for each answer, a column for each bit.

    >>> import numpy as np
    >>> from discreet.audit import reconstruct
    >>> rng = np.random.default_rng(0)
    >>> secret, queries = rng.integers(0, 2, 64), rng.integers(0, 2, (256, 64))
    >>> bool((reconstruct(queries @ secret + rng.normal(0, 1, 256), queries) == secret).mean() > 0.95)
    True

    Refuses shapes that do not fit.
    """
    given, asked = np.asarray(answers, dtype=np.float64), np.asarray(queries, dtype=np.float64)
    if asked.ndim != 2 or given.shape != (len(asked),) or not asked.size:
        raise InvalidArgument(
            "queries is a matrix with a row for each answer and a column for each secret bit"
        )
    found, *_ = np.linalg.lstsq(asked, given, rcond=None)
    return np.asarray(found > 0.5)
