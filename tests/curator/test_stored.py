"""Answers written as JSON come back as they were: every estimate, every key, every digit."""

from __future__ import annotations

import json
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.answer import answer_question
from discreet.answer.answer import Answer
from discreet.answer.stored import (
    answer_from_json,
    answer_to_json,
    estimates_from_json,
    mechanism_from_json,
    mechanism_to_json,
    scalar_from_json,
    scalar_to_json,
)
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.plan import plan_question
from discreet.statistics.correlation import CorrelationEstimate
from discreet.statistics.covariance import CovarianceEstimate
from discreet.statistics.mean import MeanEstimate
from discreet.statistics.mode import ModeEstimate
from discreet.statistics.quantile import QuantileEstimate, QuantilePoint
from discreet.statistics.releases.total import NoisyTotal, TotalEstimate
from discreet.statistics.variance import VarianceEstimate
from support.profile import examples

PATIENT = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
VISITS = dp.Schema(
    "visits",
    dp.Rows(),
    {"x": dp.Integer(-20, 100), "region": dp.Category(["N", "S", "E"]), "town": dp.Text(20)},
)
PLAN = plan_question(
    dp.parse_sql(
        "SELECT region, COUNT(*) AS a, AVG(x) AS b FROM visits GROUP BY region", {"visits": VISITS}
    ),
    dp.PureDP(1),
)

amounts = st.fractions(max_denominator=10**6)
scales = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**6)
relations = st.sampled_from(["add-remove", "replace"])
sensitivities = st.integers(1, 99).map(Fraction) | st.builds(
    lambda n, c, near: Sensitivity(n * c, n * n * c, n, near, c),
    st.integers(1, 99),
    st.integers(1, 9),
    relations,
)


def _near(sensitivity, near):
    return sensitivity.neighbours if isinstance(sensitivity, Sensitivity) else near


geometrics = st.builds(
    lambda b, s, near: dp.Geometric(b, s, neighbours=_near(s, near)),
    scales,
    sensitivities,
    relations,
)
gaussians = st.builds(
    lambda b, s, near, d: dp.DiscreteGaussian(b, s, neighbours=_near(s, near), dimension=d),
    scales, sensitivities, relations, st.none() | st.integers(1, 9),
)  # fmt: skip
mechanisms = geometrics | gaussians
noisy = st.builds(NoisyTotal, st.integers(-(2**80), 2**80), scales, mechanisms)
pairs = st.tuples(amounts, amounts)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6) | amounts
levels = st.floats(0.01, 0.99)
estimates = st.one_of(
    st.builds(TotalEstimate, noisy, st.none() | amounts, st.none() | amounts),
    st.builds(MeanEstimate, noisy, noisy, amounts, amounts, amounts),
    st.builds(
        VarianceEstimate, noisy, noisy, noisy, amounts, st.booleans(), st.booleans(), amounts
    ),
    st.builds(CovarianceEstimate, noisy, noisy, noisy, noisy, pairs, pairs, st.booleans()),
    st.builds(CorrelationEstimate, noisy, noisy, noisy, noisy, noisy, noisy, pairs, pairs),
    st.builds(QuantileEstimate, *[st.tuples(scalars, scalars)] * 3, levels),
    st.builds(QuantilePoint, scalars),
    st.builds(ModeEstimate, scalars, st.floats(0, allow_infinity=True, allow_nan=False)),
)


def same(left, right):
    """Equal, and of equal types: True is not 1."""
    return left == right and repr(left) == repr(right)


@st.composite
def answers(draw):
    """Put estimates together as an answer does; nothing is worked out from them."""
    keys = tuple(draw(st.lists(st.tuples(scalars), max_size=2)))
    rows = tuple({"a": draw(estimates), "b": draw(estimates)} for _ in keys)
    return Answer(("region", "a", "b"), (), (None, None, None), PLAN, keys, rows)


class TestAWrittenAnswer:
    @PATIENT
    @given(answer=answers())
    def test_has_the_same_keys_and_estimates_when_read(self, answer):
        written = json.loads(json.dumps(answer_to_json(answer), allow_nan=False))
        keys, rows = estimates_from_json(written, PLAN.question)
        assert same(tuple(keys), answer.keys) and same(tuple(rows), answer.estimates)

    def test_shows_the_same_table_with_the_same_intervals(self):
        store = dp.Memory(
            {"visits": [{"x": n % 90, "region": "NSE"[n % 3], "town": "Rome"} for n in range(900)]}
        )
        sql = """
            SELECT region, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, STDDEV(x) AS d, MEDIAN(x) AS q
            FROM visits GROUP BY region HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 2
        """
        question = dp.parse_sql(sql, {"visits": VISITS})
        plan = plan_question(question, dp.PureDP(20))
        answer = answer_question(question, store, dp.PureDP(20))
        found = answer_from_json(json.loads(json.dumps(answer_to_json(answer))), plan)
        assert (
            found == answer
            and str(found) == str(answer)
            and found.interval(0.8) == answer.interval(0.8)
        )

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT region, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, MEDIAN(x) AS q FROM visits GROUP BY region",
            "SELECT region, VARIANCE(x) AS v, COUNT(*) / 2 AS h FROM visits GROUP BY region ORDER BY h DESC LIMIT 2",
            "SELECT region, COUNT(*) AS n, 1.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS p FROM visits GROUP BY region",
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town HAVING COUNT(*) > 5",
            "SELECT region, COUNT(*) AS n FROM visits GROUP BY CUBE (region)",
        ],
    )
    def test_is_given_fresh_as_it_is_given_from_the_ledger(self, sql):
        store = dp.Memory(
            {"visits": [{"x": n % 90, "region": "NSE"[n % 3], "town": "Rome"} for n in range(900)]}
        )
        ledger = dp.open_ledger(":memory:", dp.ApproxDP(90, "1/1000"))
        fresh, stored = (
            dp.Curator(store, [VISITS], ledger).sql(sql, spend=dp.ApproxDP(9, "1/10000"))
            for _ in "12"
        )
        assert "answered before" in stored.caption and "answered before" not in fresh.caption
        assert fresh == stored and same(fresh.rows, stored.rows) and fresh.receipt == stored.receipt
        assert same(fresh.interval(0.8), stored.interval(0.8)) and same(
            fresh.estimates, stored.estimates
        )

    @PATIENT
    @given(mechanism=mechanisms)
    def test_keeps_its_mechanisms(self, mechanism):
        found = mechanism_from_json(json.loads(json.dumps(mechanism_to_json(mechanism))))
        assert found == mechanism and found.event == mechanism.event

    @PATIENT
    @given(value=scalars | st.dates() | st.datetimes().map(lambda time: time.replace(fold=0)))
    def test_keeps_every_scalar_with_its_type(self, value):
        assert same(scalar_from_json(json.loads(json.dumps(scalar_to_json(value)))), value)


def small():
    one = NoisyTotal(3, Fraction(1, 4), dp.DiscreteGaussian(5, 1))
    rows = {"a": TotalEstimate(one), "b": MeanEstimate(one, one, *map(Fraction, (5, 0, 10)))}
    return answer_to_json(Answer.of(PLAN, [("N",)], [rows]))


def changed(path, value):
    data = json.loads(json.dumps(small()))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return data


ESTIMATE = ("estimates", 0, "a")
WRONG = {
    "no object": [],
    "a later version": changed(("answer",), 2),
    "a version that is true": changed(("answer",), True),
    "an unknown field": small() | {"more": 1},
    "keys of another length": changed(("keys", 0), []),
    "more keys than rows": changed(("keys",), [["N"], ["S"]]),
    "an unknown statistic": changed(("estimates", 0), {"a": 1, "c": 2}),
    "an unknown estimate": changed((*ESTIMATE, "estimate"), "guess"),
    "an estimate that is a list": changed(ESTIMATE, []),
    "a missing field": changed(ESTIMATE, {"estimate": "amount"}),
    "steps in floats": changed((*ESTIMATE, "total", 0), 1.5),
    "a mechanism that is not listed": changed((*ESTIMATE, "total", 2), 7),
    "a unit in floats": changed((*ESTIMATE, "total", 1), 0.25),
    "a low end in floats": changed((*ESTIMATE, "low"), 0.0),
    "a key that is a list": changed(("keys", 0, 0), []),
    "a key with an unknown tag": changed(("keys", 0, 0), {"when": "now"}),
    "a date that is none": changed(("keys", 0, 0), {"date": "2024-13-01"}),
    "a date that is a number": changed(("keys", 0, 0), {"date": 3}),
    "an unknown mechanism": changed(("mechanisms", 0, "mechanism"), "cauchy"),
    "a mechanism that is a list": changed(("mechanisms", 0), []),
    "a dimension in floats": changed(("mechanisms", 0, "dimension"), 1.5),
    "a place of three": changed(ESTIMATE, {"estimate": "place", "cell": [1, 2, 3], "reach": [1, 2], "range": [1, 2], "level": "0.95"}),
    "a level that is no number": changed(ESTIMATE, {"estimate": "vote", "chosen": 1, "shortfall": "many"}),
    "a shortfall in floats": changed(ESTIMATE, {"estimate": "vote", "chosen": 1, "shortfall": 1.0}),
    "a truth in numbers": changed(ESTIMATE, {
        "estimate": "deviation", "squares": [1, "1", 0], "total": [1, "1", 0], "count": [1, "1", 0], "width": "1",
        "sample": 1, "root": True, "blur": "0"}),
}  # fmt: skip


class TestWhatIsNoAnswer:
    @pytest.mark.parametrize("name", WRONG)
    def test_is_refused(self, name):
        with pytest.raises(dp.InvalidArgument):
            answer_from_json(WRONG[name], PLAN)

    def test_a_float_is_no_scalar(self):
        with pytest.raises(dp.InvalidArgument, match="no value of a key"):
            scalar_to_json(1.5)

    def test_the_small_one_itself_is_read(self):
        assert answer_from_json(small(), PLAN).column("a") == [0.75]

    def test_dates_are_tagged(self):
        assert scalar_to_json(datetime(2024, 1, 2, 3)) == {"time": "2024-01-02T03:00:00"}
        assert scalar_to_json(date(2024, 1, 2)) == {"date": "2024-01-02"}
