"""Plans: what is released keeps the promise, moves no more than declared, and is seen before anything runs."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer.cases import REGIONS, UNITS, question, relation
from discreet.answer.ask import gather, run_plan
from discreet.data import Boolean, Integer, Rows, Schema, Text
from discreet.errors import InvalidArgument, UnsupportedQuery
from discreet.frozen import replace
from discreet.mechanisms import (
    DiscreteGaussian,
    GaussianThreshold,
    Geometric,
    LaplaceThreshold,
    PartitionSelection,
)
from discreet.mechanisms.selection.place_weights import EQUAL_WEIGHTS
from discreet.mechanisms.selection.quantile_pair import QuantileAndInterval
from discreet.mechanisms.selection.ranks import PlaceRange, RankedRows
from discreet.plan import Selection, plan_question, routes, split
from discreet.plan.plan import public_tuples
from discreet.plan.selection import selection_of
from discreet.plan.thresholded_count import CountSelection
from discreet.privacy.calibrate import fits
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    CountDistinct,
    CountPeople,
    Mean,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from discreet.query.algebra.tally import RowShare
from discreet.query.algebra.tree import Scan, Union
from discreet.statistics.releases.choice import ChoiceNeed
from discreet.statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from oracles.tally import Store
from support.profile import examples

X, Y = Field("x"), Field("y")
STATISTICS = {
    "n": Count(), "total": Sum(X), "mean": Mean(X), "variance": Variance(X), "correlation": Correlation(X, Y),
    "median": Quantile(X, Fraction(1, 2)), "high": Quantile(Field("day"), Fraction(9, 10)),
    "values": CountDistinct(Field("region")), "mode": Mode(Field("region")),
}  # fmt: skip
SPENDS = [PureDP(1), ZCDP(0.5), ApproxDP(1, "1e-6"), GaussianDP(1)]
NEIGHBOURS = ("add-remove", "replace")

values = st.one_of(st.none(), st.integers(-60, 140))
row = st.fixed_dictionaries({
    "x": values, "y": values, "region": st.sampled_from([*REGIONS, None, "?"]),
    "town": st.sampled_from("abc"), "day": st.sampled_from(["2024-01-01", "2024-07-09", "1999-01-01", "no", None]),
})  # fmt: skip
person = st.lists(row, max_size=40)


def owned(who, rows):
    return [{"id": who, **one} for one in rows]


def moves(before, after):
    change = [b - a for a, b in zip(before, after, strict=True)]
    return (
        sum(map(abs, change)),
        sum(c * c for c in change),
        max(map(abs, change)),
        sum(c != 0 for c in change),
    )


def check_places(release, keys, tables):
    """The scores of a level, all parts and keys together, move by no more than declared; parts follow what was chosen."""
    ladder = release.need.ladder
    # Value and interval at once declare the same score of a place, and their own level of it.
    made = replace(release.need, intervals=False).choices(release.epsilon)
    if isinstance(release.mechanism, QuantileAndInterval):
        assert release.mechanism.sensitivity == made.sensitivity(made.aim(0, 1), 0)
    else:
        made = release.mechanism
    parts, moved, apart = made.parts, dict[int, Fraction](), dict[int, Fraction]()
    rows = [
        [RankedRows(table.get(key, {}), parts, made.weight) for table in tables] for key in keys
    ]
    whole = PlaceRange(
        ladder.first * parts, ladder.last * parts + parts - 1, (ladder.last + 1) * parts
    )
    todo = [(pair, 0, len(made.ats), whole, 0) for pair in rows]
    while todo:
        pair, start, stop, where, level = todo.pop()
        aim, middle = made.aim(start, stop), (start + stop) // 2
        least, most = change_of(pair, where, aim, made.weight)
        far = max(most, -least) / made.sensitivity(aim, level)
        moved[level] = moved.get(level, Fraction()) + far
        apart[level] = apart.get(level, Fraction()) + (most - least) * made.rate(aim, level)
        place = made._draw(pair[0], where, aim, level, EQUAL_WEIGHTS, bits=None)
        below, above = PlaceRange(where.low, place, place), PlaceRange(place, where.high, where.end)
        sides = ((start, middle, below), (middle + 1, stop, above))
        todo += [(pair, a, b, part, level + 1) for a, b, part in sides if a < b]
    assert all(far <= 1 for far in moved.values())
    assert all(loss <= made.epsilon / made.levels for loss in apart.values())


def change_of(pair, where, aim, weight):
    """How much the scores of one choice change, least and most, over its places: they are constant between rows."""
    near = {place + side for rows in pair for cell in rows.cells for place in range(cell * rows.parts, (cell + 1) * rows.parts)
            for side in (-1, 0, 1)}  # fmt: skip
    places = [place for place in {where.low, where.high, *near} if where.low <= place <= where.high]
    wanted = [aim.rank(rows.below(where.end) - rows.below(where.low), weight) for rows in pair]
    change = [
        pair[0].depth(where, p, wanted[0], aim.scale)
        - pair[1].depth(where, p, wanted[1], aim.scale)
        for p in places
    ]
    return Fraction(min(change)), Fraction(max(change))


def check_replay(plan, keys, tables):
    """No mechanism's input moves by more than its declared sensitivity."""
    needs = [release.need for release in plan.releases]
    found = [gather(needs, keys, Store({"visits": table})) for table in tables]
    for release, *counts in zip(plan.releases, *found, strict=True):
        need = release.need
        if isinstance(need, ChoiceNeed):
            each = [[need.scores(c, key) for key in keys] for c in counts]
            change = [
                [b - a for a, b in zip(x, y, strict=True)] for x, y in zip(*each, strict=True)
            ]
            moved = max(
                sum(map(max, change)), -sum(map(min, change))
            )  # over all combinations of outcomes
            assert moved <= need.sensitivity == release.mechanism.sensitivity
        elif isinstance(need, PlaceNeed):
            check_places(release, keys, [need.counts(c) for c in counts])
        else:
            exact = ([need.exact(c, key) for key in keys] for c in counts)
            l1, squared, most, changed = moves(
                *(np.ravel(np.array(one, dtype=object)).tolist() for one in exact)
            )
            stated = need.sensitivity
            assert (l1 <= stated.l1, squared <= stated.squared_l2, most <= stated.linf) == (
                True,
                True,
                True,
            )
            assert changed <= stated.changed
            assert release.mechanism.sensitivity == stated


class TestReplay:
    """On neighbouring tables the inputs of all mechanisms are near, and nothing else visible differs."""

    @settings(deadline=None, max_examples=examples(25))
    @given(
        person,
        person,
        st.lists(row, max_size=6),
        st.sampled_from(["people", "groups"]),
        st.sampled_from(NEIGHBOURS),
    )
    @pytest.mark.parametrize("keyed", [False, True])
    def test_people(self, keyed, mine, yours, others, unit, neighbours):  # noqa: PLR0917
        asked = question(relation(unit, neighbours), STATISTICS | {"people": CountPeople()},
                         [("region", REGIONS)] if keyed else [])  # fmt: skip
        plan = plan_question(asked, ZCDP(1))
        near = owned(0, others) + (owned(2, yours) if neighbours == "replace" else [])
        check_replay(plan, plan.keys, [owned(0, others) + owned(1, mine), near])

    @settings(deadline=None, max_examples=examples(25))
    @given(row, row, st.lists(row, max_size=6), st.sampled_from(NEIGHBOURS))
    def test_rows(self, mine, yours, others, neighbours):
        plan = plan_question(
            question(relation("rows", neighbours), STATISTICS, [("region", REGIONS)]), PureDP(1)
        )
        check_replay(
            plan,
            plan.keys,
            [[*others, mine], [*others, yours] if neighbours == "replace" else others],
        )

    @settings(deadline=None, max_examples=examples(15))
    @given(person, st.lists(row, max_size=6))
    def test_public_keys_all_appear_in_their_order(self, mine, others):
        plan = plan_question(
            question(relation("people"), {"n": Count()}, [("region", REGIONS)]), PureDP(1)
        )
        for table in (owned(0, others), owned(0, others) + owned(1, mine)):
            answer = run_plan(plan, Store({"visits": table}))
            assert answer.columns == ("region", "n")
            assert answer.column("region") == list(REGIONS)

    @settings(deadline=None, max_examples=examples(50))
    @given(person, st.sampled_from(["people", "groups", "rows"]), st.lists(row, max_size=6))
    def test_selection_counts_a_person_once_in_few_keys(self, mine, unit, others):
        chosen = selection_of(
            question(relation(unit), {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6")
        )
        mine = mine[:1] if unit == "rows" else mine
        before = Store({"visits": owned(0, others)}).tally(chosen.tally)
        after = Store({"visits": owned(0, others) + owned(1, mine)}).tally(chosen.tally)
        change = [after[key][0] - before.get(key, (0,))[0] for key in after]
        assert set(change) <= {0, 1}
        assert sum(change) <= chosen.rule.max_groups


class TestPrice:
    """What a plan does fits what it may spend, by the accountant's own word."""

    @pytest.mark.parametrize("neighbours", NEIGHBOURS)
    @pytest.mark.parametrize("unit", UNITS)
    @pytest.mark.parametrize("spend", SPENDS, ids=repr)
    def test_public_keys(self, spend, unit, neighbours):
        small = {name: STATISTICS[name] for name in ("n", "mean", "mode")}
        asked = (
            small if isinstance(spend, ApproxDP) else STATISTICS
        )  # a numerical price of many events takes its time
        plan = plan_question(
            question(relation(unit, neighbours), asked, [("region", REGIONS)]), spend
        )
        assert plan.selection is None
        assert fits(plan.events, spend)
        assert {event.neighbours for event in plan.events} == {neighbours}
        if not isinstance(spend, ApproxDP):
            assert not fits([*plan.events, plan.events[0]], spend)

    @pytest.mark.parametrize("neighbours", NEIGHBOURS)
    @pytest.mark.parametrize("unit", UNITS)
    def test_unknown_keys(self, unit, neighbours):
        spend = ApproxDP(1, "1e-6")
        asked = question(
            relation(unit, neighbours), {"n": Count(), "mean": Mean(X)}, [("town", None)]
        )
        plan = plan_question(asked, spend)
        assert isinstance(plan.selection, Selection | CountSelection)
        assert fits(plan.events, spend)
        assert {event.neighbours for event in plan.events} == {neighbours}


class TestChoices:
    def test_pure_is_geometric_and_the_rest_gaussian(self):
        asked = question(relation(), {"n": Count()})
        assert isinstance(plan_question(asked, PureDP(1)).releases[0].mechanism, Geometric)
        assert isinstance(plan_question(asked, ZCDP(1)).releases[0].mechanism, DiscreteGaussian)

    @pytest.mark.usefixtures("apart")
    def test_an_approximate_budget_goes_the_way_of_less_error(self):
        one = plan_question(question(relation(), {"n": Count()}), ApproxDP(1, "1e-6"))
        assert isinstance(one.releases[0].mechanism, Geometric)
        many = plan_question(question(relation(), {f"q{i}": Sum(Field(c)) for i, c in enumerate("xyxyxy")}
                                      | {f"m{i}": Variance(Field(c)) for i, c in enumerate("xy")}
                                      | {"r": Correlation(X, Y)}), ApproxDP("1/2", "1e-6"))  # fmt: skip
        assert isinstance(many.releases[0].mechanism, DiscreteGaussian)

    def test_no_noise_is_worth_a_share_that_cuts_rows_by_key(self):
        """GroupShare(2, 2) would have less noise, and count other rows."""
        asked = question(relation("groups"), {"n": Count()}, [("region", REGIONS)])
        assert plan_question(asked, ZCDP(1)).share == RowShare(4)
        assert plan_question(
            question(relation("groups"), {"n": Count()}), ZCDP(1)
        ).share == RowShare(4)

    @pytest.mark.usefixtures("apart")
    def test_the_same_total_is_released_once(self):
        plan = plan_question(
            question(relation(), {"a": Count(), "b": Count(), "m": Mean(X), "v": Variance(X)}),
            PureDP(1),
        )
        places = dict(plan.uses)
        assert places["a"] == places["b"]
        assert places["m"][1] == places["v"][2]
        assert len(plan.releases) == 4

    @pytest.mark.usefixtures("apart")
    def test_weights_divide_the_budget(self):
        asked = question(relation(), {"a": Count(), "b": Sum(X)})
        plan = plan_question(asked, PureDP(1), weights={"a": Fraction(3)})
        assert [float(r.mechanism.scale / r.mechanism.sensitivity.l1) for r in plan.releases] == [
            4 / 3,
            4.0,
        ]

    def test_errors_are_predicted(self):
        asked = question(
            relation(),
            {
                "n": Count(),
                "median": Quantile(X, Fraction(1, 2)),
                "v": CountDistinct(Field("region")),
            },
        )
        errors = plan_question(asked, PureDP(3)).errors()
        assert errors["n"] == (3.0,)
        assert len(errors["median"]) == 1
        assert errors["v"] == (3.0,)
        assert isinstance(plan_question(asked, PureDP(3)).releases[1], PlaceRelease)


class TestText:
    def test_a_plan_shows_itself(self):
        asked = {"n": Count(), "median": Quantile(X, Fraction(1, 2))}
        lines = str(plan_question(question(relation(), asked), PureDP(2))).splitlines()
        assert lines[0].split("  ")[0] == "statistic"
        assert lines[1].split() == [
            "n",
            "DiscreteLaplace",
            "1",
            "50",
            "%",
            "every",
            "row",
            "±",
            "3",
            "ε",
            "=",
            "1",
        ]
        assert lines[2].startswith("median")
        # Its error is a range in the unit of the column; in rows it is told below.
        assert "± 0 to " in lines[2]
        assert re.search(r"median ± [0-9.]+ rows for ", lines[3])
        assert len(lines) == 4
        assert lines[-1].endswith("without looking at any data")

    @pytest.mark.parametrize(
        ("unit", "says"), [("people", "3 rows a person"), ("groups", "4 rows a person")]
    )
    def test_shares_and_selected_keys(self, unit, says):
        plan = plan_question(
            question(relation(unit), {"n": Count(), "m": Mean(X)}, [("town", None)]),
            ApproxDP(1, "1e-6"),
        )
        assert "(keys)" in str(plan)
        assert says in str(
            plan_question(question(relation(unit), {"n": Count()}, [("region", REGIONS)]), ZCDP(1))
        )


class TestSelectionRules:
    @pytest.mark.parametrize(
        ("spend", "unit", "rule"),
        [
            (ApproxDP(1, "1e-6"), "groups", PartitionSelection),
            (ApproxDP("1e-5", "1e-9"), "people", LaplaceThreshold),
        ],
    )
    def test_the_rule_that_shows_most(self, spend, unit, rule):
        assert isinstance(
            selection_of(question(relation(unit), {"n": Count()}, [("town", None)]), spend).rule,
            rule,
        )

    def test_many_keys_a_person(self, monkeypatch):
        monkeypatch.setitem(UNITS, "many", type(UNITS["people"])("id", max_rows=200))
        asked = question(relation("many"), {"n": Count()}, [("town", None)])
        chosen = selection_of(asked, ApproxDP(1, "1e-6"))
        assert isinstance(chosen.rule, GaussianThreshold)
        assert fits(chosen.event, ApproxDP(1, "1e-6"))

    @pytest.mark.statistical
    @pytest.mark.parametrize("spend", [ApproxDP(1, "1e-9"), ApproxDP("1/10000", "1e-9")])
    def test_keys_of_many_are_shown_and_keys_of_one_are_not(self, spend):
        """False alarm: at most δ/3 of 1e-9 for the key of one person; that of a billion is never missed."""
        plan = plan_question(question(relation("people"), {"n": Count()}, [("town", None)]), spend)

        class Big:
            def tally(self, _):
                return {("Oslo",): (10**9,), ("Eve",): (1,), (None,): (10**9,)}

        assert run_plan(plan, Big()).column("town") == ["Oslo"]

    @pytest.mark.parametrize("null_key", [True, False])
    def test_null_is_a_key_only_where_it_is_declared(self, null_key):
        rows = relation("people", columns={"town": Text(20, null_key=null_key)})
        plan = plan_question(question(rows, {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6"))

        class Big:
            def tally(self, _):
                return {("Oslo",): (10**7,), (None,): (10**7,)}

        assert set(run_plan(plan, Big()).column("town")) == (
            {"Oslo", None} if null_key else {"Oslo"}
        )

    def test_no_key_at_all(self):
        plan = plan_question(
            question(relation("people"), {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6")
        )
        answer = run_plan(plan, Store({"visits": []}))
        assert answer.rows == ()

    def test_a_listed_key_beside_an_unknown_one(self):
        asked = question(relation("people"), {"n": Count()}, [("town", None), ("region", ("N",))])
        plan = plan_question(asked, ApproxDP(1, "1e-6"))

        class Big:
            def tally(self, _):
                return {("Oslo", "N"): (10**6,), ("Oslo", "S"): (10**6,)}

        assert run_plan(plan, Big()).column("region") == ["N"]


class TestRefusals:
    def test_unknown_keys_without_delta(self):
        asked = question(relation("people"), {"n": Count()}, [("town", None)])
        for spend in (PureDP(1), ZCDP(1), GaussianDP(1), ApproxDP(0, "1e-6")):
            with pytest.raises(InvalidArgument, match="town"):
                plan_question(asked, spend)

    def test_unknown_keys_of_rows_read_twice(self):
        twice = Union((relation(), relation()))
        with pytest.raises(UnsupportedQuery, match="more than once"):
            plan_question(question(twice, {"n": Count()}, [("town", None)]), ApproxDP(1, "1e-6"))

    def test_too_many_keys(self):
        wide = relation(columns={"a": Integer(0, 999), "b": Integer(0, 999)})
        asked = question(
            wide, {"n": Count()}, [("a", tuple(range(1000))), ("b", tuple(range(1000)))]
        )
        with pytest.raises(InvalidArgument, match="100,000"):
            public_tuples(asked)

    def test_noise_too_wide(self):
        wide = Scan(Schema("wide", Rows(), {"x": Integer(0, 2**61), "yes": Boolean()}))
        with pytest.raises(UnsupportedQuery, match="coarser"):
            plan_question(question(wide, {"total": Sum(X)}), PureDP(1))

    def test_renyi(self):
        with pytest.raises(InvalidArgument, match="Rényi"):
            plan_question(question(relation(), {"n": Count()}), RenyiDP({2: 1}))

    @pytest.mark.parametrize("weights", [{"m": 1}, {"n": 0}, {"n": -1}])
    def test_weights(self, weights):
        with pytest.raises(InvalidArgument, match="weight"):
            plan_question(question(relation(), {"n": Count()}), PureDP(1), weights=weights)


class TestSplit:
    @given(
        st.lists(st.integers(1, 9).map(Fraction), min_size=1, max_size=6), st.sampled_from(SPENDS)
    )
    @settings(deadline=None, max_examples=examples(40))
    def test_parts_add_up(self, weights, spend):
        for route in routes(spend):
            assert route.implies(spend)
            parts = split(route, weights)
            total = parts[0]
            for part in parts[1:]:
                total = total + part
            assert total == route

    def test_delta_alone_is_gaussian(self):
        (only,) = routes(ApproxDP(0, "1e-3"))
        assert isinstance(only, GaussianDP)
        assert only.implies(ApproxDP(0, "1e-3"))
