"""Sparse vector technique, right twice and wrong four times (Lyu, Su, Li 2017, figure 1).

An input is the list of query answers; the threshold is 0 and the sensitivity 1. An output is one
column for each query: 1 above, 0 below, −1 not asked any more. Algorithm 3 gives the noisy answer
in place of 1, NaN in place of 0 and infinity in place of −1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...arithmetic.arrays import Flags, Floats, Integers
from .noise import laplace, on_grid
from .specimen import Specimen

EPSILON = 1.0


def _stopped(above: Flags, most: int | None) -> Integers:
    """Return the answers, stopped after `most` positive ones."""
    answers = above.astype(np.int64)
    if most is None:
        return answers
    # Positive answers before each query: the query itself does not count.
    before = np.cumsum(answers, axis=1) - answers
    return np.where(before >= most, -1, answers)


def algorithm(
    threshold: float, query: float | None, most: int | None
) -> Callable[[Sequence[float], int], Integers]:
    """Make a variant by the scales of the threshold's and the queries' noise, and the limit.

    A scale of None is no noise.
    """

    def run(queries: Sequence[float], size: int) -> Integers:
        answers = np.asarray(queries, dtype=np.float64)
        noise = 0.0 if query is None else laplace(query, (size, len(answers)))
        noisy = answers + noise
        return _stopped(noisy >= laplace(threshold, (size, 1)), most)

    return run


def refreshed(queries: Sequence[float], size: int, most: int = 2) -> Integers:
    """Run algorithm 2 (Dwork, Roth 2014): a fresh threshold after each positive answer, more noise."""
    noise = laplace(4 * most / EPSILON, (size, len(queries)))
    answers = np.asarray(queries, dtype=np.float64) + noise
    thresholds = laplace(2 * most / EPSILON, (size, most + 1))
    found = np.full((size, len(queries)), -1, dtype=np.int64)
    count = np.zeros(size, dtype=np.int64)
    for i in range(len(queries)):
        above = answers[:, i] >= thresholds[np.arange(size), count]
        # After the last positive answer the queries are no longer asked.
        found[:, i] = np.where(count < most, above, -1)
        count = np.minimum(count + above, most)
    return found


def numeric(queries: Sequence[float], size: int) -> Floats:
    """Run algorithm 3 (lecture notes of 2011): the noisy answer that was compared is released."""
    noise = laplace(2 / EPSILON, (size, len(queries)))
    noisy = np.asarray(queries, dtype=np.float64) + noise
    marks = _stopped(noisy >= laplace(2 / EPSILON, (size, 1)), 1)
    without_answer = np.where(marks == 0, np.nan, np.inf)
    return np.where(marks == 1, on_grid(noisy), without_answer)


_STREAM = ((0.0,) * 3 + (0.0,) * 2, (1.0,) * 3 + (-1.0,) * 2)
_LONG = ((0.0,) * 8, (1.0,) * 4 + (-1.0,) * 4)

BROKEN = (
    Specimen.of(
        numeric,
        ((0.0,) * 5, (1.0,) * 4 + (0.0,)),
        "the released answer tells that the threshold was below it: the loss is m ε/2 after m negative answers",
        name="sparse_vector_3",
        broken=True,
        samples=400_000,
    ),
    Specimen.of(
        algorithm(4 / EPSILON, 4 / (3 * EPSILON), 2),
        _STREAM,
        "the queries' noise does not grow with the number of positive answers: the loss is (1 + 6c) ε/4",
        name="sparse_vector_4",
        broken=True,
        samples=100_000,
    ),
    Specimen.of(
        algorithm(2 / EPSILON, None, None),
        ((0.0, 1.0), (1.0, 0.0)),
        "no noise on the queries: below at 1 and above at 0 cannot happen, so the loss is infinite",
        name="sparse_vector_5",
        broken=True,
        samples=4000,
    ),
    Specimen.of(
        algorithm(2 / EPSILON, 2 / EPSILON, None),
        _LONG,
        "no limit on the number of positive answers: the loss grows with the stream",
        name="sparse_vector_6",
        broken=True,
        samples=100_000,
    ),
)

SOUND = (
    Specimen.of(
        algorithm(2 / EPSILON, 8 / EPSILON, 2),
        _STREAM,
        "noise 2Δ/ε on the threshold and 4cΔ/ε on the queries, c = 2",
        name="sparse_vector_1",
    ),
    Specimen.of(
        refreshed,
        _STREAM,
        "the threshold is drawn anew after every positive answer, with noise 2cΔ/ε",
        name="sparse_vector_2",
    ),
)
