"""Exponential mechanism: draw an index i with probability exactly ∝ exp(rate·scores[i]).

It is exact for scores of any size and spread: nothing underflows to 0.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from ..arithmetic.arrays import Integers
from ..arithmetic.rational import Number
from ..frozen import frozen
from .bits import Bits, ByteWords, RandomWords, readable
from .block_draws import count_of
from .exact_search import STEP, settle
from .score_gaps import CHANCE_ERROR, ScoreArray, Scores, scores_of
from .uniform import Uniform

# Weights are counted in units of 2^-40 of the best one.
_UNIT_BITS = 40


@frozen(eq=False)
class Envelope:
    """Integer bounds of every candidate's weight exp(−e), in units of 2^-unit.

    `certain` has the lower bounds. `ends` has the cumulated upper bounds: the first, the sum of the
    first two, and so on.
    """

    scores: Scores
    unit: int
    certain: Integers
    ends: Integers
    width: int = 64
    step: int = STEP

    def sample(self, count: int, draw: RandomWords) -> Integers:
        """Draw `count` independent indices by rejection from the upper bounds.

        A uniform integer below the sum of the upper bounds falls to one candidate, at some offset
        within its bound. An offset below `certain` is accepted at once; others are decided exactly.
        """
        drawn = np.empty(count, dtype=np.int64)
        open_slots = np.arange(count)
        total = int(self.ends[-1])
        while open_slots.size:
            units = Uniform(total, self.width).sample(open_slots.size, draw)
            index = self.ends.searchsorted(units, side="right")
            starts = np.where(index > 0, self.ends.take(index - 1), 0)
            offsets = units - starts
            drawn[open_slots] = index
            accepted = offsets < self.certain.take(index)
            for at in np.flatnonzero(~accepted):
                offset = int(offsets[at])
                accepted[at] = self._accepts(int(index[at]), offset, draw)
            # All rejected slots are proposed again together.
            open_slots = open_slots[~accepted]
        return drawn

    def _accepts(self, index: int, offset: int, draw: RandomWords) -> bool:
        """Decide whether offset + U, U uniform in [0, 1), is below 2^unit·exp(−e)."""

        def thresholds(precision: int) -> list[tuple[int, int]]:
            low, high = self.scores.bounds(index, precision + self.unit)
            one = 1 << precision
            # The part of the weight within this unit, from 0 to one.
            low_part = min(one, max(0, low - offset * one))
            high_part = min(one, max(0, high - offset * one))
            return [(low_part, high_part), (one, one)]

        word = draw.word(self.step)
        return settle(word, self.step, thresholds, draw, step=self.step) == 0


def envelope(
    scores: Scores, *, fine: int = _UNIT_BITS, width: int = 64, step: int = STEP
) -> Envelope:
    """Bound every weight 2^unit·exp(−e) by integers, whose upper bounds add up to less than 2^62.

    `fine` is the largest `unit`; `width` and `step` are the numbers of bits that a draw reads.
    """
    # Fewer bits for many candidates, so that the cumulated weights fit in 64 bits.
    unit = min(fine, 60 - scores.values.size.bit_length())
    weights = scores.chances()
    margin = CHANCE_ERROR * 2.0**unit
    weights *= 2.0**unit
    # The margin is taken off and rounded down for the certain part, added and rounded up above it.
    certain = np.maximum(np.floor(weights - margin), 0.0).astype(np.int64)
    weights += margin
    most = np.minimum(np.ceil(weights, out=weights).astype(np.int64), 1 << unit)
    return Envelope(scores, unit, certain, np.cumsum(most), width, step)


@overload
def exponential_choice(
    scores: ScoreArray, rate: Number, size: None = None, *, bits: Bits | None = None
) -> int: ...
@overload
def exponential_choice(
    scores: ScoreArray, rate: Number, size: int, *, bits: Bits | None = None
) -> Integers: ...
def exponential_choice(
    scores: ScoreArray, rate: Number, size: int | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw an index i with P(i) ∝ exp(rate·scores[i]), exactly: McSherry and Talwar (2007).

    Every weight, relative to the best, is bounded by integers from floats with a proven margin. An
    index is proposed from the upper bounds. It is accepted by rejection, nearly always at once,
    else by an exact comparison with as many bits as it takes. Nothing underflows: a weight of
    exp(−10^300) is that weight.

    >>> from discreet.noise import exponential_choice
    >>> exponential_choice([0, 10**6, 3], 1), exponential_choice([1e300, -1e300], 1, 3).tolist()
    (1, [0, 0, 0])

    Guarantee: P(i) is exactly proportional to exp(rate·scores[i]).

    Refuses: InvalidArgument for no scores, NaN or infinite ones, and a rate that is no rational,
        before any bit is drawn.

    Law: tests/noise/test_trees.py::TestChoices
    """
    checked = scores_of(scores, rate)
    count = 1 if size is None else count_of(size)
    draw = ByteWords(readable(bits))
    drawn = envelope(checked).sample(count, draw)
    return int(drawn[0]) if size is None else drawn
