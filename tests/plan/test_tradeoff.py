"""Three axes: given two of spend, error and queries the third, against closed forms; and several questions in one charge."""

import json
import math
from fractions import Fraction

import pytest

from answer.cases import REGIONS, question, relation
from discreet.errors import InvalidArgument
from discreet.mechanisms import DiscreteGaussian, Geometric
from discreet.plan import plan_question, plan_workload, solve_tradeoff
from discreet.privacy.calibrate import fits
from discreet.privacy.events import Repeated
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import Count, Mean, Sum

X = Field("x")
COUNT = question(relation(), {"n": Count()})
MIXED = question(relation(), {"n": Count(), "m": Mean(X)}, [("region", REGIONS)])
TOWNS = question(relation("people"), {"n": Count()}, [("town", None)])
BOX = ApproxDP(1, "1e-6")


class TestError:
    @pytest.mark.parametrize("queries", [1, 7, 100])
    def test_pure_budgets_are_divided_evenly(self, queries):
        third = solve_tradeoff(COUNT, spend=PureDP(1), queries=queries)
        assert third.found == "error"
        assert third.plan.spend == PureDP(Fraction(1, queries))
        assert third.errors == {"n": Geometric(scale=queries, sensitivity=1).error()}
        assert fits(Repeated(third.plan.event, queries), PureDP(1))

    def test_many_queries_of_a_box_are_gaussian(self):
        """σ of one query at (1, 1e-6) is 4.224678889326835 (Balle, Wang 2018); of k it is √k times that."""
        third = solve_tradeoff(COUNT, spend=BOX, queries=400)
        mechanism = third.plan.releases[0].mechanism
        assert isinstance(mechanism, DiscreteGaussian)
        assert float(mechanism.scale) == pytest.approx(20 * 4.224678889326835, rel=1e-4)
        assert isinstance(
            solve_tradeoff(COUNT, spend=BOX, queries=1).plan.releases[0].mechanism, Geometric
        )

    @pytest.mark.parametrize(
        ("budget", "kind"),
        [(PureDP(1), None), (ZCDP(1), None), (GaussianDP(1), "gdp"), (BOX, "residue"), (BOX, "zcdp"),
         (BOX, "approximate"), (BOX, "advanced"), (BOX, "renyi"), (RenyiDP({2: 1, 9: 4}), None)],
    )  # fmt: skip
    def test_a_fresh_filter_admits_all_of_them(self, budget, kind):
        under = open_filter(budget, kind)
        used = under.after(plan_question(COUNT, error=50, under=under).event)
        third = solve_tradeoff(COUNT, spend=budget, queries=20, under=used)
        assert under.admits(Repeated(third.plan.event, 20))

    def test_unknown_keys(self):
        third = solve_tradeoff(TOWNS, spend=BOX, queries=2)
        assert fits(Repeated(third.plan.event, 2), BOX)


class TestQueries:
    def test_closed_forms(self):
        scale = Geometric.for_error(30, sensitivity=1).scale
        assert solve_tradeoff(COUNT, spend=PureDP(1), error=30).queries == math.floor(scale)
        sigma = DiscreteGaussian.for_error(30, sensitivity=1).scale
        assert solve_tradeoff(COUNT, spend=ZCDP("1/2"), error=30).queries == math.floor(sigma**2)
        assert solve_tradeoff(COUNT, spend=PureDP("1/1000"), error=30).queries == 0

    def test_a_box_takes_the_noise_that_fits_more_often(self):
        third = solve_tradeoff(COUNT, spend=BOX, error=30)
        assert isinstance(third.plan.releases[0].mechanism, DiscreteGaussian)
        assert fits(Repeated(third.plan.event, third.queries), BOX)
        assert not fits(Repeated(third.plan.event, third.queries + 1), BOX)

    @pytest.mark.parametrize("kind", ["residue", "zcdp", "approximate"])
    def test_as_many_as_a_fresh_filter_admits(self, kind):
        under = open_filter(BOX, kind)
        third = solve_tradeoff(COUNT, spend=BOX, error=30, under=under)
        assert under.admits(Repeated(third.plan.event, third.queries))
        assert not under.admits(Repeated(third.plan.event, third.queries + 1))

    def test_a_filter_that_keeps_a_delta_keeps_the_same_part(self):
        under = open_filter(ApproxDP(1, "1e-6"), delta="5e-7")
        third = solve_tradeoff(COUNT, spend=ApproxDP(2, "1e-5"), error=30, under=under)
        assert open_filter(ApproxDP(2, "1e-5"), delta="5e-6").admits(
            Repeated(third.plan.event, third.queries)
        )


class TestSpend:
    def test_it_is_that_of_all_queries(self):
        one = plan_question(COUNT, error=30)
        assert solve_tradeoff(COUNT, error=30, queries=10).spend == PureDP(10 * one.spend.epsilon)
        under = open_filter(ZCDP(1))
        assert solve_tradeoff(COUNT, error=30, queries=10, under=under).spend == under.price(
            Repeated(plan_question(COUNT, error=30, under=under).event, 10)
        )

    def test_there_and_back(self):
        spend = solve_tradeoff(MIXED, error={"n": 40, "m": 3}, queries=10).spend
        assert solve_tradeoff(MIXED, error={"n": 40, "m": 3}, spend=spend).queries == 10

    def test_it_shows_itself(self):
        third = solve_tradeoff(COUNT, spend=PureDP(1), queries=10)
        assert str(third).startswith(
            "10 such questions within ε = 1, each with n ± 30 (found: error)\n"
        )
        assert json.loads(json.dumps(third.to_dict()))["queries"] == 10


class TestThirdRefuses:
    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"spend": PureDP(1)}, "exactly two"),
            ({"spend": PureDP(1), "error": 3, "queries": 2}, "exactly two"),
            ({"spend": PureDP(1), "queries": 0}, "queries"),
            ({"spend": RenyiDP({2: 1}), "queries": 3}, "Rényi"),
            ({"spend": PureDP(1), "queries": 3, "under": open_filter(ZCDP(1))}, "promises"),
            ({"error": {"z": 1}, "queries": 3}, "no statistic"),
        ],
    )
    def test_with_a_word(self, options, why):
        with pytest.raises(InvalidArgument, match=why):
            solve_tradeoff(COUNT, **options)

    def test_unknown_keys_of_a_pure_budget(self):
        with pytest.raises(InvalidArgument, match="not public"):
            solve_tradeoff(TOWNS, spend=PureDP(1), queries=2)

    def test_a_question_that_costs_nothing(self):
        from discreet.plan.several.tradeoff import _count_admitted
        from discreet.privacy.events import Promise

        with pytest.raises(InvalidArgument, match="costs nothing"):
            _count_admitted(open_filter(PureDP(1)), Promise(PureDP(0)))


class TestWorkload:
    QUESTIONS = {"count": COUNT, "mixed": MIXED}

    @pytest.mark.parametrize("spend", [PureDP(1), ZCDP(1), GaussianDP(1)], ids=repr)
    def test_one_spend_by_weights(self, spend):
        work = plan_workload(self.QUESTIONS, spend, weights={"count": 3})
        assert fits(work.event, spend)
        assert list(work) == ["count", "mixed"]
        assert len(work) == 2
        assert work.events == work["count"].events + work["mixed"].events
        assert work["count"].spend + work["mixed"].spend == spend
        assert work["count"].spend == 3 * work["mixed"].spend

    def test_a_box_goes_the_way_of_less_error(self):
        few = plan_workload(self.QUESTIONS, BOX)
        many = plan_workload({f"q{i}": question(relation(), {"s": Sum(X)}) for i in range(30)}, BOX)
        assert fits(few.event, BOX)
        assert isinstance(few["count"].releases[0].mechanism, Geometric)
        assert isinstance(many["q0"].releases[0].mechanism, DiscreteGaussian)

    def test_unknown_keys_among_them(self):
        work = plan_workload(
            {"towns": TOWNS, "n": question(relation("people"), {"n": Count()})}, BOX
        )
        assert work["towns"].selection is not None
        assert fits(work.event, BOX)

    def test_an_error_for_each(self):
        work = plan_workload(self.QUESTIONS, error={"count": 9, "mixed": {"n": 20, "m": 5}})
        assert work.statistic_errors()["count"] == {"n": 9}
        assert work.spend == PureDP(work["count"].spend.epsilon + work["mixed"].spend.epsilon)
        under = open_filter(ZCDP(1))
        priced = plan_workload(self.QUESTIONS, error=20, under=under)
        assert priced.spend == priced.price(under)

    def test_it_shows_itself(self):
        work = plan_workload(self.QUESTIONS, PureDP(1))
        assert str(work).startswith("count\nstatistic")
        assert str(work).endswith("all 2 questions, in one charge, spend ε = 1")
        assert work._repr_html_().count("<table>") == 2
        assert set(json.loads(json.dumps(work.to_dict()))["plans"]) == {"count", "mixed"}

    @pytest.mark.parametrize(
        ("questions", "options", "why"),
        [
            ({}, {"spend": PureDP(1)}, "at least one"),
            (QUESTIONS, {}, "exactly one"),
            (QUESTIONS, {"spend": PureDP(1), "error": 3}, "exactly one"),
            (QUESTIONS, {"spend": PureDP(1), "weights": {"z": 1}}, "no question z"),
            (QUESTIONS, {"spend": PureDP(1), "weights": {"count": 0}}, "weight"),
            (QUESTIONS, {"error": 3, "weights": {"count": 1}}, "leave them out"),
            (QUESTIONS, {"error": {"count": 3}}, "nothing about mixed"),
            (QUESTIONS, {"error": {"count": 3, "mixed": 3, "z": 3}}, "no question z"),
            ({"towns": TOWNS}, {"spend": PureDP(1)}, "not public"),
            (QUESTIONS, {"spend": RenyiDP({2: 1})}, "Rényi"),
        ],
    )
    def test_refusals(self, questions, options, why):
        with pytest.raises(InvalidArgument, match=why):
            plan_workload(questions, **options)
