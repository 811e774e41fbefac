"""Inverse sensitivity: the law over the whole lattice by brute force, the exact price, the exact choice of a piece."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.beyond import inverse, ordered
from discreet.mechanisms.beyond.inverse import InverseQuantile
from discreet.mechanisms.beyond.ordered import PLACES
from discreet.mechanisms.selection import score_runs as choosing
from discreet.mechanisms.selection.score_runs import Piece
from discreet.privacy.measures import ZCDP, PureDP
from discreet.testing.bits import ScriptedBits, UntouchedBits
from oracles.selection import assert_agrees
from support.profile import draws, examples

SMALL = 6


@pytest.fixture
def small(monkeypatch):
    """A lattice of seven places, so that all data can be enumerated."""
    monkeypatch.setattr(ordered, "PLACES", SMALL)
    monkeypatch.setattr(inverse, "PLACES", SMALL)


def law(made, values):
    """The law over all places from the pieces."""
    weights = np.zeros(SMALL + 1)
    rate = float(made.epsilon / (2 * made.sensitivity * made.quantile.denominator))
    for piece in made.pieces(np.sort(np.array(values, dtype=np.int64))):
        weights[piece.start : piece.start + piece.length] = math.exp(-rate * piece.depth)
    return weights / weights.sum()


def score(values, o, q):
    """How many values are on the wrong side: the definition."""
    n = len(values)
    return -max(0, q * n - sum(v <= o for v in values), sum(v < o for v in values) - q * n)


class TestPieces:
    """Pieces cover every place once, the best first, each at the depth that the definition gives."""

    @settings(deadline=None)
    @given(st.lists(st.integers(0, PLACES), max_size=12), st.fractions(0, 1, max_denominator=10))
    def test_cover(self, values, q):
        made = InverseQuantile(1, 0, 1, quantile=q)
        pieces = made.pieces(np.sort(np.array(values, dtype=np.int64)))
        ends = sorted((p.start, p.start + p.length) for p in pieces)
        assert ends[0][0] == 0
        assert ends[-1][1] == PLACES + 1
        assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))
        assert [p.depth for p in pieces] == sorted(p.depth for p in pieces)
        for p in pieces:
            for o in {p.start, p.start + p.length - 1}:
                assert Fraction(-p.depth, q.denominator) == score(values, o, q)

    def test_the_quantile_itself_is_best(self):
        pieces = InverseQuantile(1, 0, 1).pieces(np.array([10, 20, 30]))
        assert pieces[0] == Piece(20, 1, 0)


class TestPrice:
    """On all data of up to four values the loss is at most ε, and the log-odds move by at most ε."""

    @pytest.mark.untraced
    @pytest.mark.usefixtures("small")
    @pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(1, 4), Fraction(1)])
    def test_add_remove(self, q):
        made = InverseQuantile(1, 0, 1, quantile=q)
        for n in range(4):
            for values in itertools.combinations_with_replacement(range(SMALL + 1), n):
                for extra in range(SMALL + 1):
                    move = np.log(law(made, values) / law(made, [*values, extra]))
                    assert move.max() - move.min() <= 1 + 1e-9

    @pytest.mark.untraced
    @pytest.mark.usefixtures("small")
    def test_replace(self):
        made = InverseQuantile(1, 0, 1, neighbours="replace")
        worst = 0.0
        for values in itertools.combinations_with_replacement(range(SMALL + 1), 3):
            for at, new in itertools.product(range(3), range(SMALL + 1)):
                move = np.log(law(made, values) / law(made, [*values[:at], new, *values[at + 1 :]]))
                worst = max(worst, move.max() - move.min())
        assert 0.99 < worst <= 1 + 1e-9

    def test_spending(self):
        assert InverseQuantile.spending(PureDP(1), low=0, high=1).event.epsilon == 1
        assert InverseQuantile.spending(ZCDP("1/8"), low=0, high=1).epsilon >= 1
        assert InverseQuantile(1, 0, 1, quantile="0.9").sensitivity == Fraction(9, 10)


class TestChoice:
    """A piece is drawn with probability exactly ∝ length·exp(−rate·depth)."""

    @settings(deadline=None, max_examples=examples(40))
    @given(
        st.lists(st.tuples(st.integers(1, 2**32), st.integers(0, 60)), min_size=1, max_size=8),
        st.integers(4, 80),
        st.sampled_from([choosing._GUARD_BITS, choosing._FIRST_GUARD_BITS]),
    )
    def test_bounds_enclose(self, parts, precision, guard):
        import mpmath as mp

        pieces = [Piece(0, length, depth) for length, depth in sorted(parts, key=lambda p: p[1])]
        rate = Fraction(3, 7)
        with mp.workdps(60):
            exact = [p.length * mp.e ** (-mp.mpf(3) / 7 * p.depth) for p in pieces]
            total = sum(p.length for p in pieces)
            found = list(choosing._ends(pieces, total, rate, precision, guard))
            for i, (low, high) in enumerate(found):
                end = mp.fsum(exact[: i + 1]) / mp.fsum(exact) * 2**precision
                assert low <= end + mp.mpf(10) ** -30
                assert end <= high + mp.mpf(10) ** -30
                assert high - low <= 2

    @pytest.mark.parametrize(
        ("first", "start"), [(b"\xff" * 7 + b"\x7f", 0), (bytes(7) + b"\x80", 1)]
    )
    def test_a_word_next_to_an_end_is_told_by_more_digits(self, first, start):
        """Two pieces of one half each: a word of 64 bits beside the half decides nothing yet."""
        bits = ScriptedBits(first + b"\x5a" * 64)
        drawn = choosing.choose_piece([Piece(0, 1, 0), Piece(1, 1, 0)], 2, Fraction(1), bits=bits)
        assert drawn.start == start

    @pytest.mark.untraced
    @pytest.mark.statistical
    @pytest.mark.usefixtures("small")
    def test_frequencies(self):
        """3 000 medians on seven places against the brute-force law; false alarm ≤ 1e-9."""
        made = InverseQuantile(2, 0, SMALL)
        drawn = [round(made.release([1.0, 1.0, 4.0, 5.0])) for _ in range(draws(6000))]
        rate = 2 / (2 * 0.5)
        weights = np.array(
            [math.exp(rate * score([1, 1, 4, 5], o, Fraction(1, 2))) for o in range(SMALL + 1)]
        )
        assert_agrees(np.bincount(drawn, minlength=SMALL + 1), weights / weights.sum())


class TestError:
    """The answer is at most `error` ranks off, but for a chance β, for any data."""

    @pytest.mark.untraced
    @pytest.mark.usefixtures("small")
    def test_holds_on_all_small_data(self):
        made = InverseQuantile(2, 0, 1)
        full = InverseQuantile(2, 0, 1).error(0.2)
        for values in itertools.combinations_with_replacement(range(SMALL + 1), 8):
            ranks = np.array(
                [-score(values, o, Fraction(1, 2)) for o in range(SMALL + 1)], dtype=float
            )
            assert law(made, values)[ranks > full].sum() <= 0.2

    def test_size(self):
        assert InverseQuantile(1, 0, 1).error(0.05) == pytest.approx(
            math.log(2.0**32 * 0.95 / 0.05), rel=1e-9
        )

    @pytest.mark.statistical
    def test_accurate(self):
        """One release at β = 1e-9: the bound's own failure probability is the false-alarm rate."""
        values = np.random.default_rng(3).normal(50, 10, 20_001)
        made = InverseQuantile(1, 0, 100, quantile=0.25)
        off = abs((values <= made.release(values)).sum() - 0.25 * values.size)
        assert off <= made.error(1e-9) + 1


def test_no_values_give_a_uniform_place():
    assert 0 <= InverseQuantile(1, 0, 1).release(np.array([], dtype=float)) <= 1


def test_bad_input_is_refused_and_nothing_is_drawn():
    for bad in (
        lambda: InverseQuantile(1, 0, 1).release([math.nan], bits=UntouchedBits()),
        lambda: InverseQuantile(0, 0, 1),
        lambda: InverseQuantile(1, 1, 0),
        lambda: InverseQuantile(1, 0, 1, quantile=1.5),
    ):
        with pytest.raises(InvalidArgument):
            bad()
