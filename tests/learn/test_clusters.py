"""k-means: a start from a noisy grid, in which a row lies in one cell."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.learn.coding.feature import UNIT
from discreet.learn.coding.rows import CodedRows
from discreet.learn.recipes.clusters import GRID, Plane, cells_of

SCHEMA = dp.Schema("points", dp.Rows(), {"x": dp.Real(-100, 100), "z": dp.Real(-100, 100)})
BUDGET = dp.ApproxDP(50, "1e-4")
SPEND = dp.ApproxDP(1, "1e-6")


def ledger():
    return dp.open_ledger(":memory:", BUDGET)


class TestARowMovesOneCell:
    """A row adds its weight to one cell of the grid, whatever rows are beside it."""

    def test_any_row_alone_and_in_company(self):
        rng = np.random.default_rng(1)
        numbers = rng.integers(-UNIT, UNIT + 1, (300, 2)).astype(float)
        rows = CodedRows(numbers, np.full((300, 1), 2), np.ones(300, int), 3)
        plane = Plane(np.array([0.1, 0.0]), np.eye(2), np.array([0.5, 1e-6]))
        whole = cells_of(rows, plane)
        assert whole.sum() == 300 * UNIT and len(whole) == GRID**2
        added = np.zeros(GRID**2, dtype=np.int64)
        for place in range(300):
            one = slice(place, place + 1)
            alone = cells_of(CodedRows(numbers[one], rows.codes[one], rows.weights[one], 3), plane)
            assert sorted(set(alone.tolist())) == [0, UNIT]
            added += alone
        assert (added == whole).all()

    def test_the_price_is_that_of_one_cell(self):
        release = learn.KMeans(SCHEMA, SPEND).plan().releases[1]
        assert release.noise.event.squared_sensitivity == UNIT**2


class TestCentres:
    @pytest.mark.statistical
    def test_groups_are_found_where_they_are(self):
        """Six groups of 1,500: noise adds a 50th to the least loss, half of it in less than 1e-9."""
        rng = np.random.default_rng(2)
        truth = np.array([[-70, -70], [-70, 60], [0, 0], [60, -60], [70, 20], [20, 80]])
        points = np.repeat(truth, 1500, axis=0) + rng.normal(0, 6, (9000, 2))
        model = learn.KMeans(SCHEMA, SPEND, n_clusters=6).fit(points, ledger=ledger())
        centres = model.cluster_centers_
        loss = ((points[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()
        least = ((points[:, None] - truth) ** 2).sum(axis=2).min(axis=1).sum()
        assert loss < 1.5 * least

    def test_one_row_of_one_column(self):
        table = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        model = learn.KMeans(table, SPEND, n_clusters=4).fit(np.zeros((1, 1)), ledger=ledger())
        assert np.isfinite(model.cluster_centers_).all()
