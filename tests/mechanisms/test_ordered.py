"""Ordered values: A_k bounds every move of the middle and grows by one step per neighbour, by brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.beyond import ordered as module
from discreet.mechanisms.beyond.ordered import PLACES, Range, ranks, small_spans, span
from support.profile import examples


class TestSpan:
    """On all data of four small values: |f − f'| ≤ A_0 on both sides, A_k(x) ≤ A_(k+1)(x'), and A_0 is exact."""

    @pytest.fixture
    def small(self, monkeypatch):
        monkeypatch.setattr(module, "PLACES", 4)
        return range(5)

    @pytest.mark.untraced
    @pytest.mark.parametrize(("a", "b"), [(1, 2), (0, 1), (3, 4), (1, 3), (0, 4)])
    def test_brute_force(self, small, a, b):
        data = [np.array(x) for x in itertools.combinations_with_replacement(small, 4)]
        spans = {tuple(x): [span(x, a, b, k) for k in range(6)] for x in data}
        for x, y in itertools.product(data, repeat=2):
            if neighbours(x, y):
                moved = abs(int(x[a:b].sum()) - int(y[a:b].sum()))
                assert moved <= min(spans[tuple(x)][0], spans[tuple(y)][0])
                assert all(
                    s <= t for s, t in zip(spans[tuple(x)], spans[tuple(y)][1:], strict=False)
                )
        for x in data:  # A_0 is reached: it is the local sensitivity itself
            reached = max(
                abs(int(x[a:b].sum()) - int(y[a:b].sum())) for y in data if neighbours(x, y)
            )
            assert reached == spans[tuple(x)][0]

    @pytest.mark.parametrize(("a", "b"), [(1, 2), (0, 1), (3, 4), (1, 3), (0, 4)])
    def test_the_small_ones_are_found_by_search(self, small, a, b):
        for x in map(np.array, itertools.combinations_with_replacement(small, 4)):
            spans = [span(x, a, b, k) for k in range(6)]
            for bound, most in itertools.product(small, range(1, 6)):
                found = sum(one <= bound for one in spans[:most])
                assert small_spans(x, a, b, bound, most) == found

    def test_in_the_end_it_is_the_whole_range(self):
        assert span(np.array([5, 5, 5]), 1, 2, 3) == PLACES
        assert span(np.array([5, 5, 5]), 1, 2, 0) == 0


def neighbours(x, y):
    """Whether two sorted lists differ by replacing one value."""
    left = list(x)
    for v in y:
        if v in left:
            left.remove(v)
    return len(left) == 1


class TestRange:
    """Clamped, rounded, sorted; and back to values within half a step."""

    @given(st.lists(st.floats(-10, 10), min_size=1, max_size=20))
    def test_there_and_back(self, values):
        bounds = Range(-1, 3)
        places = bounds.sorted(values)
        expected = sorted(min(max(v, -1), 3) for v in values)
        assert [bounds.value(int(p)) for p in places] == pytest.approx(expected, abs=4 / PLACES)

    def test_ends(self):
        bounds = Range("0.1", "0.3")
        assert bounds.sorted([-math.inf, math.inf]).tolist() == [0, PLACES]
        assert (bounds.value(0), bounds.value(PLACES)) == (0.1, 0.3)
        assert bounds.sorted(np.array([], dtype=float)).size == 0

    @pytest.mark.parametrize("values", [[math.nan], ["a"], [[1.0]], [True], 3.0], ids=str)
    def test_refusals(self, values):
        with pytest.raises(InvalidArgument):
            Range(0, 1).sorted(values)

    def test_bounds_out_of_order(self):
        for low, high in ((1, 1), (2, 1), (-1.7e308, 1.7e308), ("1e16", "10000000000000000.1")):
            with pytest.raises(InvalidArgument):
                Range(low, high)


@settings(max_examples=examples(50))
@given(st.fractions(0, 1), st.integers(1, 50))
def test_ranks(q, n):
    a, b = ranks(q, n)
    assert b == a + 1
    assert 1 <= b <= n
    assert b == max(1, math.ceil(Fraction(q) * n))
