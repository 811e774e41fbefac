"""Exact draw among runs of equal scores by the exponential law.

Only as many runs are read as decide the draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ...frozen import frozen
from ...noise import Bits
from ...noise.bits import ByteWords, readable
from ...noise.exact_search import settle
from ...noise.exp import Bounds, exp_neg

# Guard bits of a weight beyond the precision of the draw and the bits of the total mass.
_GUARD_BITS = 48


@frozen
class Piece:
    """Run of neighbouring candidates with equal score.

    `start` is the first candidate, `length` their number, `depth` how far they lie below the best
    score. `each` is the public weight of one candidate, a whole number.
    """

    start: int
    length: int
    depth: int
    each: int = 1

    @property
    def mass(self) -> int:
        """The public weight of all its candidates together."""
        return self.length * self.each


class _CachedPieces:
    """Pieces read from an iterator so far, then the following ones.

    One draw iterates over them again with every further digit.
    """

    __slots__ = ("following", "read")

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.read: list[Piece] = []
        self.following = iter(pieces)

    def __iter__(self) -> Iterator[Piece]:
        yield from self.read
        for piece in self.following:
            self.read.append(piece)
            yield piece


def choose_piece(
    pieces: Iterable[Piece], total: int, rate: Fraction, *, bits: Bits | None = None
) -> Piece:
    """Draw a piece with probability exactly ∝ mass·exp(−rate·depth).

    The pieces come in order of depth and have the mass `total` together. Weights are enclosed by
    integers. All pieces too deep to be told from 0 at the current precision are enclosed together,
    by [0, remaining mass · last weight]. So a draw reads few of them, and more only if the decision
    needs it.

    >>> from discreet.mechanisms.selection.score_runs import Piece, choose_piece
    >>> from fractions import Fraction
    >>> choose_piece([Piece(0, 1, 0), Piece(1, 5, 10**6)], 6, Fraction(1))
    Piece(start=0, length=1, depth=0, each=1)

    Guarantee: the law of the draw is exact, whatever the number of digits it takes.
    Law: tests/mechanisms/test_inverse.py::TestChoice
    """
    cached = _CachedPieces(pieces)
    draw = ByteWords(readable(bits))

    def cumulated(precision: int) -> Iterator[Bounds]:
        return _ends(cached, total, rate, precision)

    index = settle(draw.word(64), 64, cumulated, draw)
    return cached.read[index]


def _ends(pieces: Iterable[Piece], total: int, rate: Fraction, precision: int) -> Iterator[Bounds]:
    """Bound the cumulated probabilities of the pieces, in units of 2^-precision."""
    fine = precision + _GUARD_BITS + total.bit_length()
    low_sum = 0
    high_sum = 0
    covered = 0
    last_weight = 0
    sums: list[Bounds] = []
    for piece, (low, high) in _weights(pieces, rate, fine):
        last_weight = high
        # A weight that may be 0 ends the reading: all deeper pieces weigh no more.
        if low == 0:
            break
        low_sum += piece.mass * low
        high_sum += piece.mass * high
        covered += piece.mass
        sums.append((low_sum, high_sum))
    # The unread pieces weigh between 0 and their mass times the last weight.
    high_sum += (total - covered) * last_weight
    one = 1 << precision
    has_unread = covered < total
    if not has_unread:
        # The last piece ends at exactly 1, below.
        del sums[-1:]
    for low, high in sums:
        # Rounded outward: the lower end down by the largest total, the upper end up by the least.
        lower = (low << precision) // high_sum
        upper = -(-(high << precision) // low_sum)
        yield lower, min(one, upper)
    yield (0 if has_unread else one), one


def _weights(pieces: Iterable[Piece], rate: Fraction, fine: int) -> Iterator[tuple[Piece, Bounds]]:
    """Bound exp(−rate·(depth − least depth)) of pieces sorted by depth, each from the last."""
    low = 1 << fine
    high = 1 << fine
    last_depth = None
    factors = dict[int, Bounds]()
    for piece in pieces:
        move = 0 if last_depth is None else piece.depth - last_depth
        if move not in factors:
            gap = rate * move
            factors[move] = exp_neg(gap.numerator, gap.denominator, fine)
        factor_low, factor_high = factors[move]
        # The product of lower bounds is rounded down, that of upper bounds up.
        low = low * factor_low >> fine
        high = -(-(high * factor_high) >> fine)
        last_depth = piece.depth
        yield piece, (low, high)
