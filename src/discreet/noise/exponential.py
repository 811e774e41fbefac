"""Choice of an index with weights exp(rate·score), exact at any spread of scores."""

from __future__ import annotations

from typing import overload

import numpy as np

from ..arithmetic.rational import Number
from ..frozen import frozen
from .bits import Bits, readable
from .block_draws import count_of
from .exact_search import STEP, settle
from .law import Integers
from .random_words import ByteWords, RandomWords
from .score_gaps import CHANCE_ERROR, ScoreArray, Scores, scores_of
from .uniform import Uniform

_FINE = 40  # weights in units of 2^-40 of the best one


@frozen(eq=False)
class Envelope:
    """Integer weights above the true ones, in units of 2^-unit, and how much of each is certain."""

    scores: Scores
    unit: int
    certain: Integers
    ends: Integers
    width: int = 64
    step: int = STEP

    def sample(self, count: int, draw: RandomWords) -> Integers:
        """Draw by rejection from the envelope: a place below `certain` accepts, one above it is settled exactly."""
        found = np.empty(count, dtype=np.int64)
        todo = np.arange(count)
        while todo.size:
            places = Uniform(int(self.ends[-1]), self.width).sample(todo.size, draw)
            index = self.ends.searchsorted(places, side="right")
            offsets = places - np.where(index > 0, self.ends.take(index - 1), 0)
            found[todo] = index
            kept = offsets < self.certain.take(index)
            for at in np.flatnonzero(~kept):
                kept[at] = self._exact(int(index[at]), int(offsets[at]), draw)
            todo = todo[~kept]
        return found

    def _exact(self, index: int, offset: int, draw: RandomWords) -> bool:
        """Decide whether the real place offset + U, U uniform in [0, 1), is below 2^unit·exp(−e)."""

        def ends(precision: int) -> list[tuple[int, int]]:
            low, high = self.scores.bounds(index, precision + self.unit)
            one = 1 << precision
            clipped = (min(one, max(0, end - offset * one)) for end in (low, high))
            return [(next(clipped), next(clipped)), (one, one)]

        return settle(draw.word(self.step), self.step, ends, draw, step=self.step) == 0


def envelope(scores: Scores, *, fine: int = _FINE, width: int = 64, step: int = STEP) -> Envelope:
    """Bound every weight by integers: certain ≤ 2^unit·exp(−e) ≤ certain + 2 or so, with the sum below 2^62."""
    unit = min(fine, 60 - scores.values.size.bit_length())
    weights = scores.chances()
    margin = CHANCE_ERROR * 2.0**unit
    weights *= 2.0**unit
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
    """Draw an index i with P(i) ∝ exp(rate·scores[i]), exactly: the law of McSherry and Talwar (2007).

    Every weight, relative to the best, is bounded by integers from floats with a proven margin; an index is proposed
    from the upper bounds and accepted by rejection, nearly always at once, else by an exact comparison with as many
    bits as it takes. Nothing underflows: a weight of exp(−10^300) is that weight.

    >>> from discreet.noise import exponential_choice
    >>> exponential_choice([0, 10**6, 3], 1), exponential_choice([1e300, -1e300], 1, 3).tolist()
    (1, [0, 0, 0])

    Refuses no scores, NaN or infinite ones, and a rate that is no rational, before any bit is drawn.
    """
    checked = scores_of(scores, rate)
    count = 1 if size is None else count_of(size)
    draw = ByteWords(readable(bits))
    found = envelope(checked).sample(count, draw)
    return int(found[0]) if size is None else found
