"""Planning through the curator: one question, several, or the third of spend, error and queries."""

from __future__ import annotations

from fractions import Fraction

import pytest

import discreet as dp
from curator.cases import COUNT, MEAN, curator, opened


class TestAPlan:
    def test_of_one_question_is_what_will_be_charged(self):
        asked = curator()
        plan = asked.plan(MEAN, spend=dp.PureDP(1))
        assert asked.sql(MEAN, spend=dp.PureDP(1)).plan == plan and asked.ledger.price(
            plan.event
        ) == dp.PureDP(1)

    def test_of_several_is_one_event(self):
        work = curator().plan({"a": COUNT, "b": MEAN}, spend=dp.PureDP(1), weights={"b": 3})
        assert list(work) == ["a", "b"] and work["a"].spend == dp.PureDP("1/4")

    def test_finds_the_third(self):
        asked = curator(opened(dp.PureDP(1)))
        assert asked.plan(COUNT, spend=dp.PureDP(1), error=30).queries == 10
        assert asked.plan(COUNT, spend=dp.PureDP(1), queries=10).errors == {"n": 30.0}
        assert asked.plan(COUNT, error=30, queries=10).spend <= dp.PureDP(1)

    def test_is_the_same_whatever_was_spent_before(self):
        """Plans are made under the ledger's filter as it was opened: a stored answer stays findable."""
        asked = curator(opened(dp.ApproxDP(1, 1e-6), kind="residue"))
        first = asked.sql(COUNT, error=100)
        asked.sql(MEAN, spend=dp.ZCDP("1/1000"))
        left = asked.left()
        assert asked.sql(COUNT, error=100) == first and asked.left() == left

    @pytest.mark.parametrize(
        "budget", [dp.ZCDP(1), dp.GaussianDP(1), dp.ApproxDP(2, 1e-6), dp.PureDP(9)], ids=range(4)
    )
    def test_under_every_kind_of_ledger(self, budget):
        asked = curator(opened(budget))
        answer = asked.sql(MEAN, error={"n": 60, "income": 300})
        said = str(answer.receipt.shown_price())
        assert answer.receipt.promise == budget and answer.caption.startswith(f"cost {said}")
        asked.ledger.verify()

    def test_a_release_by_errors(self):
        asked = curator()
        answers = asked.release(
            {"a": COUNT, "b": MEAN}, error={"a": 30, "b": {"n": 60, "income": 300}}
        )
        assert all(len(answer) == 3 for answer in answers.values())

    def test_size_and_weights_reach_the_planner(self):
        asked = curator()
        small, large = (asked.plan(MEAN, error=100, size=size).spend for size in (100, 10_000))
        assert large.epsilon < small.epsilon
        plan = asked.plan(MEAN, spend=dp.PureDP(1), weights={"n": 9})
        assert (
            plan.statistic_errors()["n"]
            < asked.plan(MEAN, spend=dp.PureDP(1)).statistic_errors()["n"]
        )


class TestUnknownKeys:
    """Keys that are not public need a δ of the ledger: there is one in every ledger of an (ε, δ), else a word."""

    def test_a_usual_ledger_answers(self):
        asked = curator(opened(dp.ApproxDP(10, 1e-5)))
        answer = asked.sql(
            "SELECT town, COUNT(*) AS n FROM people GROUP BY town", dp.ApproxDP(3, 1e-6)
        )
        assert answer.column("town") == ["Rome"]

    def test_what_the_budget_can_pay_comes_first(self):
        """Geometric noise of ε = 5 misses less, but the whole of this ledger could not pay it."""
        asked = curator(opened(dp.ApproxDP(10, 1e-5)))
        assert asked.explain("SELECT COUNT(*) AS n FROM people", dp.ApproxDP(5, 1e-6)).fits

    @pytest.mark.parametrize(
        "budget", [dp.PureDP(9), dp.ZCDP(1), dp.GaussianDP(1)], ids=["pure", "zcdp", "gaussian"]
    )
    @pytest.mark.parametrize(
        "price", [{"spend": dp.ApproxDP(1, 1e-6)}, {"spend": dp.PureDP(1)}, {"error": 9}]
    )
    def test_a_ledger_without_delta_says_what_to_do(self, budget, price):
        asked = curator(opened(budget))
        with pytest.raises(
            dp.InvalidArgument, match="open it for an ApproxDP budget.*or list the keys"
        ):
            asked.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town", **price)
        assert len(asked.history()) == 0


ASKED = (
    "COUNT(*)",
    "SUM(income)",
    "AVG(income)",
    "STDDEV(income)",
    "COVAR_POP(age, income)",
    "CORR(age, income)",
    "MEDIAN(age)",
    "MODE(region)",
    "COUNT(DISTINCT region)",
)


class TestTheWholeBudgetIsPlannedToFit:
    @pytest.mark.parametrize("kind", [None, "zcdp", "renyi", "gdp"])
    def test_in_one_question_whatever_is_asked(self, kind):
        whole = dp.ApproxDP(1, "1e-6")
        asked = curator(opened(whole, kind=kind))
        for what in ASKED:
            for spend in (whole, dp.PureDP(1)):
                told = asked.explain(f"SELECT {what} AS it FROM people", spend=spend)
                assert told.fits and told.price.epsilon <= 1

    def test_and_what_is_left_fits_next(self):
        """Gaussian noise closes the sum of ε; the next question is planned with Gaussian noise then."""
        asked = curator(opened(dp.ApproxDP(1, "1e-6")))
        told = asked.explain(COUNT, spend=dp.GaussianDP("1/10"))
        asked.sql(COUNT, spend=dp.GaussianDP("1/10"))
        assert (
            asked.left() == told.after
            and asked.room().epsilon < Fraction(1, 5) < asked.left().epsilon
        )
        asked.sql(MEAN, spend=dp.ApproxDP(asked.left().epsilon, "1e-6"))
        with pytest.raises(
            dp.BudgetExceeded,
            match=r"of \(ε, δ\) = \(1, 1e-06\) there is left ε = 0 in one question",
        ):
            asked.sql(MEAN, spend=dp.ApproxDP(1, "1e-6"))
        assert "which does not fit" in str(asked.explain(MEAN, spend=dp.ApproxDP(1, "1e-6")))
        assert asked.ledger.verify().exact

    def test_a_box_of_the_whole_says_why_it_does_not_fit(self):
        ledger = opened(dp.ApproxDP(1, "1e-6"))
        with pytest.raises(dp.BudgetExceeded, match="is kept for events with a δ of their own"):
            ledger.charge(dp.events.Promise(dp.ApproxDP(1, "1e-6")), who="ana")
