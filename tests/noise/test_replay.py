"""Replay: every output of the vector code, recomputed from the logged words by the high-precision law."""

from bisect import bisect_right
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.noise.binomial import _law as binomial_law
from discreet.noise.bits import ByteWords
from discreet.noise.gaussian import _law as gaussian_law
from discreet.noise.geometric import _law as geometric_law
from discreet.noise.laplace import _law as laplace_law
from discreet.noise.table import CHUNK, CUT, build, fill
from discreet.testing.bits import HashedBits
from oracles.noise import (
    binomial_weight,
    cumulated,
    gaussian_weight,
    geometric_weight,
    laplace_weight,
    nearest,
)

CASES = [
    (laplace_law, Fraction(1, 2), laplace_weight),
    (laplace_law, 10, laplace_weight),
    (laplace_law, 1000, laplace_weight),
    (laplace_law, 10**6, laplace_weight),
    (laplace_law, 2**50, laplace_weight),
    (geometric_law, Fraction(7, 2), geometric_weight),
    (geometric_law, 12345, geometric_weight),
    (gaussian_law, Fraction(1, 4), gaussian_weight),
    (gaussian_law, 100, gaussian_weight),
    (gaussian_law, 10**6, gaussian_weight),
    (gaussian_law, 2**100, gaussian_weight),
    (binomial_law, 1000, binomial_weight),
    (binomial_law, 2**40 + 1, binomial_weight),
]


class Logged:
    """Words with a log of every array that was drawn."""

    def __init__(self, seed):
        self._words = ByteWords(HashedBits(seed))
        self.log = []

    def words(self, count, width):
        found = self._words.words(count, width)
        self.log.append((width, found.tolist()))
        return found

    def word(self, _width):
        raise AssertionError("a word of 64 bits met a threshold: a 2^-50 event")


class Oracle:
    """The same law from the same words, one slot at a time, by mpmath alone.

    Only *which* words were read comes from the table (marks CUT and `quick`); what they mean is recomputed.
    """

    def __init__(self, made, weight, log):
        self.made, self.weight, self.log = made, weight, iter(log)
        self.cells, ends = cumulated(weight, made.law.shift, made.law.sides, tail=90)
        self.ends = [int(mpmath.floor(mpmath.ldexp(end, 64))) for end in ends]

    def next(self, count, width):
        found_width, words = next(self.log)
        assert (found_width, len(words)) == (width, count)
        return words

    def cell(self, word):
        return self.cells[bisect_right(self.ends, word)]

    def propose(self, count):
        shift = self.made.law.shift
        tops = self.next(count, 16)
        marks = self.made.lookup[tops]
        cut = np.flatnonzero(marks == CUT).tolist()
        low = self.cell_starts(tops)
        if cut:
            for at, rest in zip(cut, self.next(len(cut), 48), strict=True):
                low[at] = self.cell((tops[at] << 48) | rest)
        if not shift:
            return low, []
        width = 32 if shift <= 16 else 64
        tails = self.next(count, width)
        x = [(h << shift) + (tail & ((1 << shift) - 1)) for h, tail in zip(low, tails, strict=True)]
        heads = [tail >> (width - 16) for tail in tails]
        slow = sorted(set(cut) | {at for at, head in enumerate(heads) if head >= self.made.quick})
        rejected = []
        for at, rest in zip(slow, self.next(len(slow), 48), strict=True):
            if not ((heads[at] << 48) | rest) < mpmath.ldexp(self.chance(x[at]), 64):
                rejected.append(at)
        return x, rejected

    def cell_starts(self, tops):
        """The cell of every first word, by its midpoint (right wherever no threshold cuts the word)."""
        return [self.cell((top << 48) | (1 << 47)) for top in tops]

    def chance(self, x):
        return self.weight(x) / self.weight(nearest(x >> self.made.law.shift, self.made.law.shift))

    def fill(self, count):
        out = [None] * count
        todo = list(range(count))
        while todo:
            rejected = []
            for start in range(0, len(todo), CHUNK):
                part = todo[start : start + CHUNK]
                x, failed = self.propose(len(part))
                for at, one in zip(part, x, strict=True):
                    out[at] = one
                rejected += [part[at] for at in failed]
            todo = rejected
        return out


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("read", "parameter", "weight"), CASES, ids=lambda one: getattr(one, "__name__", str(one))
)
def test_replay(read, parameter, weight):
    law = read(parameter)
    made = build(law)
    draw = Logged(f"replay {parameter}".encode())
    out = np.empty(6000, dtype=np.int64)
    fill(made, out, draw)
    oracle = Oracle(made, weight(parameter), draw.log)
    assert oracle.fill(out.size) == out.tolist()
    assert next(oracle.log, None) is None  # every word was accounted for


def test_chunks_follow_each_other():
    law = laplace_law(10)
    made = build(law)
    draw = Logged(b"chunks")
    out = np.empty(CHUNK + 100, dtype=np.int64)
    fill(made, out, draw)
    assert Oracle(made, laplace_weight(10), draw.log).fill(out.size) == out.tolist()
