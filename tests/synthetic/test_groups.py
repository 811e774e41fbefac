"""Groups of cells: exactly as many as planned, none empty, neighbours together, NULL apart."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.synthetic.attribute import Attribute
from discreet.synthetic.groups import group_cells, grouped
from support.profile import examples

COUNTS = st.lists(st.floats(0, 1e6), min_size=9, max_size=60)


def column(values, *, null=False):
    return Attribute("c", tuple(values), None, Fraction(1), None, null)


class TestEqualGroups:
    @given(counts=COUNTS, groups=st.integers(3, 40), null=st.booleans(), text=st.booleans())
    @settings(max_examples=examples(80), deadline=None)
    def test_law(self, counts, groups, null, text):
        places = range(len(counts) - null)
        own = column(map(str, places) if text else places, null=null)
        found = group_cells(own, np.array(counts), groups)
        wanted = min(groups, len(counts))
        assert sorted(set(found.tolist())) == list(range(wanted))
        if not text:
            assert (np.diff(found) >= 0).all()
        if null:
            assert (found == found[-1]).sum() == 1

    def test_a_cell_that_holds_most_rows_is_alone(self):
        counts = np.array([900.0, *[5.0] * 20])
        found = group_cells(column(range(21)), counts, 5)
        assert (found == found[0]).sum() == 1
        sums = np.bincount(found, counts)[1:]
        assert sums.max() <= 2 * sums.min()

    def test_rare_listed_values_are_joined_whatever_their_names(self):
        counts = np.array([1.0, 500.0, 2.0, 400.0, 3.0, 1.0, 300.0, 2.0, 1.0])
        own = column("zyxwvutsr")
        found = group_cells(own, counts, 4)
        rare = found[counts < 10]
        assert len(set(rare.tolist())) == 1
        assert own.group_labels(found)[:3] == ("y", "w", "t")

    def test_bins_keep_their_ends(self):
        ages = Attribute("age", None, (0, 10, 20, 30), Fraction(1), None, False)
        assert ages.group_labels(np.array([0, 0, 1])) == ("0 to 19", "20 to 29")


class TestSums:
    def test_they_are_exact_beyond_64_bits(self):
        table = np.array([[2**62, 2**62], [2**62, 1]])
        found = grouped(table, [np.array([0, 0]), np.array([0, 1])])
        assert found.tolist() == [[2**63, 2**62 + 1]]
