"""How a budget is divided: shares proportional to weights where that is the optimum, and no other split is better."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer.cases import REGIONS, question, relation
from discreet.data import Category, Integer, Rows, Schema
from discreet.plan import plan_question
from discreet.plan.budget_allocation import divide, release_of, routes, split
from discreet.plan.layout import layout_of
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import Correlation, Count, Mean, Quantile, Sum, Variance
from discreet.query.algebra.tally import Free, RowShare
from discreet.query.algebra.tree import Scan
from support.profile import examples

X, Y = Field("x"), Field("y")
FINE = {"a": Sum(X), "b": Sum(Y)}
MIXED = {"n": Count(), "m": Mean(X), "v": Variance(X)}
SMOOTH = {"s": Sum(Y), "m": Mean(X), "v": Variance(X)}  # the error of a count moves in whole rows
weights = st.integers(1, 9).map(Fraction)


def replanned(plan, parts):
    """The same plan with its budget divided otherwise."""
    pieces = split(plan.spend, parts)
    releases = tuple(
        release_of(old.need, piece) for old, piece in zip(plan.releases, pieces, strict=True)
    )
    return replace(plan, releases=releases)


def moved(parts, give, take, amount):
    """Move a part of one share to another."""
    found = list(parts)
    found[take] += found[give] * amount
    found[give] *= 1 - amount
    return found


@pytest.mark.usefixtures("apart")
class TestOptimum:
    """Σ wᵢ ln(errorᵢ) is least at the planned shares."""

    @settings(deadline=None, max_examples=examples(25))
    @given(
        weights, weights, st.sampled_from([PureDP("1/100"), ZCDP("1/10000"), GaussianDP("1/100")])
    )
    def test_one_total_each_is_proportional_to_weights(self, a, b, spend):
        plan = plan_question(question(relation(), FINE), spend, weights={"a": a, "b": b})
        assert plan.parts == (a / (a + b), b / (a + b))
        for give, take in ((0, 1), (1, 0)):
            other = replanned(plan, moved(plan.parts, give, take, Fraction(1, 10)))
            assert other.loss([a, b]) > plan.loss([a, b])

    @settings(deadline=None, max_examples=examples(60))
    @given(
        st.sampled_from([PureDP("1/10"), ZCDP("1/100")]),
        st.tuples(weights, weights, weights),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from([Fraction(1, 10), Fraction(1, 2)]),
    )
    def test_several_totals(self, spend, parts, give, take, amount):
        """By the true prediction, too: another split gains at most half a per cent of an error."""
        plan = plan_question(
            question(relation(), SMOOTH),
            spend,
            weights=dict(zip(SMOOTH, parts, strict=True)),
            size=10**6,
        )
        assert len(plan.releases) == 4
        other = replanned(plan, moved(plan.parts, give, take, amount))
        assert other.loss(parts) >= plan.loss(parts) - 0.005 * float(sum(parts))

    @pytest.mark.parametrize("laplace", [True, False])
    @pytest.mark.parametrize("size", [1, 100])
    def test_a_mean_is_halved_where_sum_and_count_matter_alike(self, laplace, size):
        rows = Scan(Schema("t", Rows(), {"x": Integer(-size, size)}))
        layout = layout_of(question(rows, {"m": Mean(X)}), Free(), 1, None)
        assert divide(layout, [Fraction(7)], laplace=laplace) == (Fraction(1, 2), Fraction(1, 2))

    @pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1)], ids=repr)
    def test_the_share_of_a_lone_count_is_exact(self, spend):
        plan = plan_question(question(relation(), MIXED), spend, weights={"n": 2})
        assert plan.parts[0] == Fraction(1, 2)
        assert sum(plan.parts) == 1

    def test_a_shared_count_is_pulled_by_both(self):
        rows = Scan(Schema("t", Rows(), {"x": Integer(-9, 9, default=0)}))
        alone = plan_question(question(rows, {"m": Mean(X)}), PureDP(1))
        beside = plan_question(question(rows, {"n": Count(), "m": Mean(X)}), PureDP(1))
        assert len(beside.releases) == 2
        assert alone.parts[1] == Fraction(1, 2) < beside.parts[dict(beside.uses)["n"][0]]

    def test_they_add_up_wherever_the_search_stops(self, monkeypatch):
        monkeypatch.setattr("discreet.plan.budget_allocation._STEPS", 1)
        assert sum(plan_question(question(relation(), MIXED), PureDP(1)).parts) == 1

    def test_quantiles_of_one_column_are_one_release_of_both_their_parts(self):
        plan = plan_question(
            question(relation(), {"q": Quantile(X, Fraction(1, 2)), "n": Count()}), PureDP(1)
        )
        assert plan.parts == (Fraction(1, 2), Fraction(1, 2))
        several = {"q": Quantile(X, Fraction(1, 2)), "n": Count(), "t": Quantile(X, Fraction(1, 4))}
        both = plan_question(question(relation(), several), PureDP(1))
        assert both.parts == (Fraction(2, 3), Fraction(1, 3))
        assert [places for _, places in both.uses] == [(0,), (1,), (0,)]
        assert layout_of(plan.question, Free(), 1, None).length(0, laplace=True) == 1.0

    @settings(deadline=None, max_examples=examples(15))
    @given(
        st.tuples(weights, weights),
        st.sampled_from([PureDP(1), ZCDP(1), ApproxDP(1, "1e-6"), GaussianDP(1)]),
    )
    def test_they_add_up_and_the_budget_is_used_up(self, parts, spend):
        asked = question(relation(), {"r": Correlation(X, Y), "v": Variance(X)})
        plan = plan_question(asked, spend, weights={"r": parts[0], "v": parts[1]})
        assert sum(plan.parts) == 1
        assert all(share > 0 for share in plan.parts)


class TestChoice:
    """No other mechanism that the planner knows has less predicted error; the share is not its choice."""

    @pytest.mark.parametrize(
        "spend", [PureDP(1), ZCDP(1), ApproxDP(1, "1e-6"), ApproxDP("1/10", "1e-9")], ids=repr
    )
    @pytest.mark.parametrize("statistics", [{"n": Count()}, MIXED], ids=("count", "mixed"))
    def test_ways_to_spend(self, spend, statistics):
        asked = question(relation("groups"), statistics, [("region", REGIONS)])
        plan = plan_question(asked, spend, size=10**4)
        even = [Fraction(1)] * len(statistics)
        assert plan.share == RowShare(4)
        layout = layout_of(asked, RowShare(4), 3, None)
        for route in routes(spend):
            parts = divide(layout, even, laplace=isinstance(route, PureDP))
            pieces = zip(layout.needs, split(route, parts), strict=True)
            made = tuple(release_of(need, piece) for need, piece in pieces)
            uses = tuple((use.name, use.places) for use in layout.uses)
            other = replace(
                plan, releases=made, uses=uses, recipes=tuple(use.recipe for use in layout.uses)
            )
            assert other.loss(even) >= plan.loss(even)

    def test_equal_questions_have_equal_plans(self):
        def make():
            rows = Scan(Schema("t", Rows(), {"x": Integer(0, 120), "c": Category(["a", "b"])}))
            return question(rows, {"m": Mean(X), "v": Variance(X)}, [("c", ("a", "b"))])

        assert plan_question(make(), ApproxDP(1, "1e-6")) == plan_question(
            make(), ApproxDP(1, "1e-6")
        )
        assert str(plan_question(make(), error=30)) == str(plan_question(make(), error=30))
