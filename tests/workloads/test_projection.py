"""Projections keep all sums, give whole numbers, and do not move away from a truth that lies in their set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.workloads.project import fit_pair, simplex, whole_parts
from support.profile import examples

numbers = st.floats(-100, 100, allow_nan=False)


@st.composite
def grouped(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    values = np.array(draw(st.lists(numbers, min_size=len(groups), max_size=len(groups))))
    truth = np.array(draw(st.lists(st.integers(0, 40), min_size=len(groups), max_size=len(groups))))
    return values, groups, truth


class TestSimplex:
    """The nearest x ≥ 0 of a given sum: no nearer to a point of that set than the value was (Moreau 1962)."""

    @given(grouped())
    @settings(max_examples=examples(200))
    def test_is_the_nearest(self, asked):
        values, groups, truth = asked
        sums = np.bincount(groups, truth)
        found = simplex(values, groups, sums)
        assert (found >= 0).all()
        assert np.allclose(np.bincount(groups, found), sums)
        assert ((found - truth) ** 2).sum() <= ((values - truth) ** 2).sum() + 1e-6
        assert ((values - found) * (truth - found)).sum() <= 1e-6 * (
            1 + np.abs(values).max() * 40
        )  # the angle is wide


class TestWhole:
    """Whole numbers ≥ 0 with exactly the sums that were asked for, each within one of what was rounded."""

    @given(grouped())
    @settings(max_examples=examples(200))
    def test_keeps_sums(self, asked):
        values, groups, truth = asked
        sums = np.bincount(groups, truth).astype(np.int64)
        found = whole_parts(values, groups, sums)
        near = simplex(values, groups, sums.astype(float))
        assert found.dtype == np.int64
        assert (found >= 0).all()
        assert (np.bincount(groups, found) == sums).all()
        assert (np.abs(found - near) <= 1 + 1e-6).all()

    @given(st.data(), st.integers(1, 6), st.integers(1, 6))
    @settings(max_examples=examples(150))
    def test_a_pair_of_margins_always_has_a_table(self, data, height, width):
        """Gale and Ryser's case without caps: any two lists of one sum are the margins of a whole table ≥ 0."""
        truth = np.array(
            data.draw(
                st.lists(st.integers(0, 30), min_size=height * width, max_size=height * width)
            )
        )
        truth = truth.reshape(height, width)
        near = np.array(
            data.draw(st.lists(numbers, min_size=height * width, max_size=height * width))
        )
        found = fit_pair(near.reshape(height, width), truth.sum(axis=1), truth.sum(axis=0))
        assert (found >= 0).all()
        assert (found.sum(axis=1) == truth.sum(axis=1)).all()
        assert (found.sum(axis=0) == truth.sum(axis=0)).all()

    @given(st.data(), st.integers(1, 6), st.integers(1, 6))
    @settings(max_examples=examples(50))
    def test_a_whole_table_with_its_own_margins_stays(self, data, height, width):
        truth = np.array(
            data.draw(
                st.lists(st.integers(0, 30), min_size=height * width, max_size=height * width)
            )
        )
        truth = truth.reshape(height, width)
        found = fit_pair(truth.astype(float), truth.sum(axis=1), truth.sum(axis=0))
        assert np.abs(found - truth).max() <= 1
