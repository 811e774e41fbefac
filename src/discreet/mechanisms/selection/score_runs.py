"""Exact draw by the exponential mechanism among runs of neighbouring candidates with equal scores.

Runs come best first, and only as many are read as decide the draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache

from ...frozen import frozen
from ...noise import Bits
from ...noise.bits import ByteWords, readable
from ...noise.exact_search import gap_of, settle
from ...noise.exp import Bounds, exp_neg

# Guard bits of a weight beyond the precision of the draw and the bits of the total mass.
_GUARD_BITS = 48
# Bits of a draw that are read at once; those by which most draws are decided, with less to spare.
_WIDTH = 64
_FIRST_BITS = 32
_FIRST_GUARD_BITS = 16
# The largest digit of a depth.
_DIGIT = 15


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
    """Iterable over the pieces of an iterator that can be iterated again.

    Pieces are read when first asked for; one draw iterates anew for every higher precision.
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
    word = draw.word(_WIDTH)
    # The first bits decide nearly every draw, and need few of the pieces.
    first_bits = word >> _WIDTH - _FIRST_BITS
    coarse = _ends(cached, total, rate, _FIRST_BITS, _FIRST_GUARD_BITS)
    index = gap_of(first_bits, first_bits + 1, coarse)
    if index >= 0:
        return cached.read[index]

    def cumulated(precision: int) -> Iterator[Bounds]:
        return _ends(cached, total, rate, precision, _GUARD_BITS)

    return cached.read[settle(word, _WIDTH, cumulated, draw)]


def _ends(
    pieces: Iterable[Piece], total: int, rate: Fraction, precision: int, guard: int
) -> Iterator[Bounds]:
    """Bound the cumulated probabilities of the pieces, in units of 2^-precision."""
    fine = precision + guard + total.bit_length()
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
            factors[move] = _decay(move, rate, fine)
        factor_low, factor_high = factors[move]
        # The product of lower bounds is rounded down, that of upper bounds up.
        low = low * factor_low >> fine
        high = -(-(high * factor_high) >> fine)
        last_depth = piece.depth
        yield piece, (low, high)


@lru_cache(maxsize=64)
def _decays(rate: Fraction, fine: int) -> dict[int, Bounds]:  # noqa: ARG001 what it is known for
    """Return the table of bounds computed so far at one rate and precision, which callers fill."""
    return {}


def _decay(move: int, rate: Fraction, fine: int) -> Bounds:
    """Bound 2^fine · exp(−rate·move) by a product over the digits of the move.

    The factors of digits are few and kept: a product of them is faster than a series.
    """
    known = _decays(rate, fine)
    low = 1 << fine
    high = 1 << fine
    place = 0
    while move >> place:
        part = (move >> place & _DIGIT) << place
        place += _DIGIT.bit_length()
        if part and part not in known:
            gap = rate * part
            known[part] = exp_neg(gap.numerator, gap.denominator, fine)
        if part:
            part_low, part_high = known[part]
            low = low * part_low >> fine
            high = -(-(high * part_high) >> fine)
    return low, high
