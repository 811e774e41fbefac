"""Ranges of predicted errors: from public facts alone, and around the errors that data show."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dp
from discreet.arithmetic.rounding import shown
from discreet.plan import solve_tradeoff
from discreet.plan.plan import Plan
from discreet.plan.text.plan import range_text
from discreet.statistics.shared_totals import SumWay

COLUMNS = {
    "x": dp.Integer(0, 100),
    "y": dp.Integer(0, 100, default=0),
    "z": dp.Integer(0, 100, default=0),
    "day": dp.Date("2024-01-01", "2024-12-31"),
    "key": dp.Category(["a", "b", "c", "d"]),
}
RUNS = 100_000
SLACK = 6.2 * math.sqrt(0.05 * 0.95 / RUNS)
"""6.2 deviations of a measured chance of 5 %: exceeded with a chance below 1e-9."""


ONE = dp.PureDP(1)


def planned(
    asked: str, spend: dp.Measure = ONE, rows: int | None = 20_000, **terms: object
) -> Plan:
    people = dp.Schema("t", dp.Rows(), COLUMNS, size=rows)
    return dp.plan_question(dp.parse_sql(asked, {"t": people}), spend, **terms)


class TestTheRangeHolds:
    """Between the ends of a range lie the 95 % errors of the best and of the worst data supposed."""

    @pytest.mark.statistical
    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/8")], ids=repr)
    def test_means_by_key(self, spend):
        """The mean of an even share in the middle of the range, and that of a hundredth at its end."""
        plan = planned("SELECT key, AVG(x) AS it FROM t GROUP BY key", spend)
        low, high = plan.error_ranges()["it"]
        assert low < plan.statistic_errors()["it"] < high
        random = np.random.default_rng(3)
        noises = plan._noises(plan.uses[0][1])
        draw = random.laplace if noises[0].laplace else random.normal
        made = [draw(0, noise.scale * noise.worth, RUNS) for noise in noises]
        # The totals are Σ(1 − t) and Σt of values t in 0..1, or Σ(x − 50) and n.
        if plan.way is SumWay.APART:
            total, rows = made
        else:
            total, rows = 100 * (made[1] - made[0]) / 2, made[0] + made[1]
        few, many = plan.size_range("it")
        assert (few, many) == (50, 5_000)
        # A noise of whole steps is a little wider than the continuous one that is drawn here.
        assert np.mean(np.abs(total / (many + rows)) > 0.97 * low) >= 0.05 - SLACK
        worst = 50 - high
        noisy = np.clip((worst * few + total) / np.maximum(few + rows, 1), -50, 50)
        assert np.mean(np.abs(noisy - worst) > high) <= 0.05 + SLACK

    @pytest.mark.parametrize("spend", [dp.PureDP(1), dp.ZCDP("1/8")], ids=repr)
    def test_correlations_from_evenly_spread_to_a_twelfth_of_the_range(self, spend):
        """From shared totals, and from six totals with Gaussian noise."""
        plan = planned("SELECT CORR(y, z) AS it FROM t", spend)
        low, high = plan.error_ranges()["it"]
        even = plan.errors_elsewhere()["it"]
        assert low < next(iter(even.values())) < high == plan.statistic_errors()["it"]
        assert low > high / 150

    def test_quantiles_in_the_unit_of_their_column(self):
        coarse = planned("SELECT MEDIAN(y) AS it FROM t", dp.PureDP("1/50"))
        low, high = coarse.error_ranges()["it"]
        assert low == 0 and 2 <= high <= 4
        days = planned("SELECT MEDIAN(day) AS it FROM t", dp.PureDP("1/4"), 1_000)
        low, high = days.error_ranges()["it"]
        assert low == 0 and 5 <= high <= 30
        assert "MAX" not in planned("SELECT MAX(y) AS it FROM t").error_ranges()


class TestSizes:
    @pytest.mark.parametrize(
        ("asked", "size", "terms", "expected"),
        [
            ("SELECT AVG(y) AS it FROM t", 20_000, {}, (20_000, 20_000)),
            ("SELECT AVG(x) AS it FROM t", 20_000, {}, (10_000, 20_000)),
            ("SELECT AVG(x) AS it FROM t", 20_000, {"size": 500}, (500, 500)),
            ("SELECT key, AVG(y) AS it FROM t GROUP BY key", 20_000, {}, (50, 5_000)),
            ("SELECT AVG(y) AS it FROM t", None, {}, (10, 100_000)),
            ("SELECT AVG(y) AS it FROM t WHERE x > 3", 20_000, {}, (10, 100_000)),
            ("SELECT key, AVG(y) AS it FROM t GROUP BY key", 40, {}, (1, 10)),
        ],
    )
    def test_the_table_of_sizes(self, asked, size, terms, expected):
        assert planned(asked, rows=size, **terms).size_range("it") == expected

    def test_what_is_foretold_has_no_range(self):
        """One key of so many values: within a factor of 1.5 of any mean's error."""
        plan = planned("SELECT AVG(y) AS it, COUNT(*) AS n FROM t")
        assert plan.error_ranges() == {}
        assert plan.least_errors()["it"] > plan.statistic_errors()["it"] / 1.6
        assert "n" not in plan.least_errors()


class TestShown:
    def test_the_range_stands_for_the_error_and_says_what_it_supposes(self):
        """The table has the range alone; one number stands only beside the data that it is for."""
        plan = planned("SELECT key, AVG(x) AS it FROM t GROUP BY key")
        text, row = str(plan), plan.to_dict()["rows"][0]
        shown_range = f"± {range_text(plan.error_ranges()['it'])}"
        assert text.splitlines()[1].split("  ")[-1].strip() == shown_range
        assert row["range"] == plan.error_ranges()["it"]
        assert f"it ± {shown(row['error'])} for any data of " in text
        found = solve_tradeoff(plan.question, spend=ONE, queries=2)
        assert f"each with it ± {range_text(found.plan.error_ranges()['it'])} " in str(found)
        asked = solve_tradeoff(plan.question, error=3, queries=2)
        assert f"each with it ± {asked.errors['it']:.6g} " in str(asked)
        assert (
            "it from the best to the worst of these data, with 5,000 to 50 values per key" in text
        )

    def test_a_quantile_says_the_interval_to_be_expected(self):
        plan = planned("SELECT MEDIAN(y) AS it FROM t", rows=1_000)
        assert "it is expected from the 49.8 % to the 50.2 % quantile" in str(plan)
        assert "its interval about from the 49." in str(plan)
        alone = planned("SELECT MEDIAN(y) AS it FROM t", rows=1_000, intervals=False)
        assert "its interval" not in str(alone)
        deciles = ", ".join(f"QUANTILE_CONT(y, 0.{i}) AS q{i}" for i in range(1, 10))
        assert str(planned(f"SELECT {deciles} FROM t")).count("is expected from") == 2


def test_clipped_predictions_decide_no_plan():
    """A correlation of few rows is predicted as ± 2 in every way; the way of least noise is taken."""
    plan = planned("SELECT CORR(y, z) AS it FROM t", rows=300)
    assert plan.statistic_errors()["it"] == 2
    assert plan.way is SumWay.BY_COLUMN


def test_several_quantiles_have_wider_intervals_than_one():
    one = planned("SELECT MEDIAN(y) AS it FROM t").releases[0]
    two = planned("SELECT MEDIAN(y) AS it, QUANTILE_CONT(y, 0.9) AS at FROM t").releases[0]
    assert 5 < one.interval_rows(0.05) < two.interval_rows(0.05)
