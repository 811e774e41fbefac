"""Suggested bounds: private, coarse, and usually within a factor of two."""

from fractions import Fraction
from itertools import pairwise

import pytest

import discreet as dp
from answer.cases import Remembered, relation, visits
from discreet.answer.ask import gather
from discreet.answer.suggest import _octaves, plan_bounds, plan_caps, suggest_bounds
from discreet.data import Integer
from discreet.errors import InvalidArgument
from discreet.privacy.calibrate import fits
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.query.algebra.tree import Scan
from discreet.query.domains.domain import Whole

WIDE = {"x": Integer(-(2**40), 2**40)}
STORE = Remembered(visits(400))


@pytest.mark.statistical
@pytest.mark.parametrize("unit", ["rows", "people"])
@pytest.mark.parametrize("spend", [PureDP(40), ZCDP(100), ApproxDP(40, "1e-6")], ids=repr)
def test_bounds_are_near(spend, unit):
    """Values are from 0 to 59. False alarm: e^-20 or less for each of two choices."""
    found = suggest_bounds("x", relation(unit, columns=WIDE), STORE, spend=spend)
    assert found.low in (-1, 0, 1, 2)
    assert found.high in (32, 64)
    assert fits(found.events, spend)


@pytest.mark.parametrize(
    ("low", "high"), [(-5, 9), (3, 100), (-100, -3), (0, 1), (-(2**62), 2**62), (5, 6)]
)
def test_octaves_cover_the_range_without_overlap(low, high):
    ends = _octaves(Whole(Fraction(1, 2), low, high))
    assert (ends[0][0], ends[-1][1]) == (Fraction(low, 2), Fraction(high, 2))
    assert all(before[1] + Fraction(1, 2) == after[0] for before, after in pairwise(ends))
    assert all(first <= last for first, last in ends)


def test_refusals():
    for tail in (0, "1/2", -1):
        with pytest.raises(InvalidArgument, match="tail"):
            suggest_bounds("x", relation(), STORE, spend=PureDP(1), tail=tail)
    with pytest.raises(InvalidArgument, match="numbers"):
        suggest_bounds("town", relation(), STORE, spend=PureDP(1))


class TestTails:
    """Without a tail the quantiles go as far out as they can tell apart, by the declared size and the spend."""

    def test_by_size_and_spend(self):
        def tail(size, spend):
            schema = dp.Schema("people", dp.Rows(), {"x": dp.Integer(0, 10**6)}, size=size)
            return plan_bounds("x", Scan(schema), spend=dp.PureDP(spend)).releases[0].need.at

        assert tail(None, 1) == Fraction(1, 100) == tail(100, 1)
        assert tail(10**7, 1) == Fraction(1, 1000) < tail(20_000, "1/2") < Fraction(1, 100)

    def test_a_cap_is_an_upper_quantile_of_rows_per_person(self):
        visits = dp.Schema(
            "visits", dp.People("id", max_rows=64), {"paid": dp.Boolean()}, size=1_000
        )
        rows = [{"id": n, "paid": True} for n in range(1_000) for _ in range(1 + n % 8)]
        curator = dp.Curator(
            dp.Memory({"visits": rows}), [visits], dp.open_ledger(":memory:", dp.PureDP(9))
        )
        assert curator.suggest_caps("visits", spend=dp.PureDP(5)).max_rows == 8
        left = curator.left()
        assert (
            curator.suggest_caps("visits", spend=dp.PureDP(5)).max_rows == 8
            and curator.left() == left
        )
        with pytest.raises(dp.InvalidArgument, match="the unit of people is a row"):
            plan_caps(Scan(dp.Schema("people", dp.Rows(), {"x": dp.Boolean()})), spend=dp.PureDP(1))


class TestRowsPerGroup:
    """A cap on rows in one group is an upper quantile over the groups of all people."""

    WARDS = dp.Schema(
        "visits",
        dp.People("id", max_rows=16),
        {"ward": dp.Integer(1, 4), "rows": dp.Boolean()},
        size=1_000,
    )
    # At this budget one rank decides: another octave has a chance below e^-10,000.
    EXACT = dp.PureDP(10**6)
    # Everybody has 2 visits in each of four wards, or 8 in one.
    ROWS = tuple(
        {"id": n, "ward": ward, "rows": True}
        for n in range(1_000)
        for ward in ([1, 2, 3, 4] if n % 2 else [1, 1, 1, 1])
        for _ in range(2)
    )

    def curator(self, rows):
        ledger = dp.open_ledger(":memory:", dp.PureDP(10**9))
        return dp.Curator(dp.Memory({"visits": list(rows)}), [self.WARDS], ledger)

    def test_it_is_found_and_costs_nothing_again(self):
        curator = self.curator([row for row in self.ROWS if row["id"] % 2])
        found = curator.suggest_caps("visits", self.EXACT, by="ward")
        assert (found.max_rows, found.max_rows_per_group) == (16, 2)
        left = curator.left()
        assert curator.suggest_caps("visits", self.EXACT, by=["WARD"]) == found
        assert curator.left() == left
        # All rows of a person, and other groups, are other requests.
        assert curator.suggest_caps("visits", self.EXACT).max_rows == 8
        assert curator.suggest_caps("visits", self.EXACT, by="rows").max_rows_per_group == 8

    def test_people_with_many_rows_in_one_group_raise_it(self):
        found = self.curator(self.ROWS).suggest_caps("visits", self.EXACT, by="ward")
        assert found.max_rows_per_group == 8

    def test_one_person_moves_the_counts_by_no_more_than_priced(self):
        """A person with more groups than counted rows weighs no more than `max_rows` of them."""
        few = dp.Schema("visits", dp.People("id", max_rows=3), self.WARDS.columns, size=1_000)
        plan = plan_caps(Scan(few), spend=dp.PureDP(1), by=("ward",))
        [release] = plan.releases
        loud = [{"id": -1, "ward": n % 5, "rows": True} for n in range(300)]
        scores = []
        for rows in (self.ROWS, (*self.ROWS, *loud)):
            store = dp.Memory({"visits": list(rows)})
            [counts] = gather([release.need], [()], store)
            scores.append(release.need.scores(counts, ()))
        moved = max(abs(one - other) for one, other in zip(*scores, strict=True))
        assert 0 < moved <= release.mechanism.sensitivity

    @pytest.mark.parametrize("by", [5, "town", ["ward", "ward"], [None], "id"])
    def test_groups_that_are_no_columns_are_refused(self, by):
        curator = self.curator(self.ROWS)
        with pytest.raises(dp.DiscreetError):
            curator.suggest_caps("visits", dp.PureDP(1), by=by)
        assert curator.spent() == dp.PureDP(0)
