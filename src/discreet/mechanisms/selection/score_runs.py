"""Choose among runs of equal scores: exactly by the exponential law, and only as many runs are read as decide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ...frozen import frozen
from ...noise import Bits
from ...noise.bits import readable
from ...noise.exact_search import settle
from ...noise.exp import Bounds, exp_neg
from ...noise.random_words import ByteWords


@frozen
class Piece:
    """Neighbouring places of equal score: where they begin, how many there are, how deep they lie below the best.

    `each` is what a place counts by itself, a public whole number.
    """

    start: int
    length: int
    depth: int
    each: int = 1

    @property
    def mass(self) -> int:
        """What all its places count."""
        return self.length * self.each


class _Pulled:
    """Pieces that were read so far, and the rest of them; one draw reads them again with every further digit."""

    __slots__ = ("read", "rest")

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self.read: list[Piece] = []
        self.rest = iter(pieces)

    def __iter__(self) -> Iterator[Piece]:
        yield from self.read
        for piece in self.rest:
            self.read.append(piece)
            yield piece


def choose_piece(
    pieces: Iterable[Piece], total: int, rate: Fraction, *, bits: Bits | None = None
) -> Piece:
    """Draw a piece with probability exactly ∝ mass·exp(−rate·depth).

    The pieces come in order of depth and have the mass `total` together. Weights are enclosed by integers; all pieces
    too deep to be told from 0 with the digits at hand are enclosed together, by [0, mass left · weight reached], so a
    draw reads few of them, and more only where the decision takes it.

    >>> from discreet.mechanisms.selection.score_runs import Piece, choose_piece
    >>> from fractions import Fraction
    >>> choose_piece([Piece(0, 1, 0), Piece(1, 5, 10**6)], 6, Fraction(1))
    Piece(start=0, length=1, depth=0, each=1)
    """
    pulled, draw = _Pulled(pieces), ByteWords(readable(bits))
    found = settle(draw.word(64), 64, lambda precision: _ends(pulled, total, rate, precision), draw)
    return pulled.read[found]


def _ends(pieces: Iterable[Piece], total: int, rate: Fraction, precision: int) -> Iterator[Bounds]:
    """Bound the cumulated probabilities of the pieces, in units of 2^-precision."""
    fine = precision + 48 + total.bit_length()
    low_sum = high_sum = covered = reached = 0
    sums: list[Bounds] = []
    for piece, (low, high) in _weights(pieces, rate, fine):
        reached = high
        if low == 0:
            break
        low_sum, high_sum = low_sum + piece.mass * low, high_sum + piece.mass * high
        covered += piece.mass
        sums.append((low_sum, high_sum))
    high_sum += (total - covered) * reached
    one, rest = 1 << precision, covered < total
    for low, high in sums if rest else sums[:-1]:
        yield (low << precision) // high_sum, min(one, -(-(high << precision) // low_sum))
    yield (0 if rest else one), one


def _weights(pieces: Iterable[Piece], rate: Fraction, fine: int) -> Iterator[tuple[Piece, Bounds]]:
    """Bound exp(−rate·(depth − least depth)) of pieces sorted by depth, each from the one before."""
    low = high = 1 << fine
    last, steps = None, dict[int, Bounds]()
    for piece in pieces:
        move = 0 if last is None else piece.depth - last
        if move not in steps:
            gap = rate * move
            steps[move] = exp_neg(gap.numerator, gap.denominator, fine)
        low, high = low * steps[move][0] >> fine, -(-(high * steps[move][1]) >> fine)
        last = piece.depth
        yield piece, (low, high)
