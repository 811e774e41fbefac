"""What a cap on one person's rows cuts off: estimated privately, with intervals, charged once."""

import pytest

import discreet as dp
from answer.cases import Remembered
from answer.test_coverage import most_misses
from discreet.answer.ask import run_plan
from discreet.query.python.truncation import truncation_question

VISITS = dp.Schema("visits", dp.People("who", max_rows=3), {"cost": dp.Integer(0, 10)}, size=400)
ROWS = [{"who": p, "cost": p % 11} for p in range(400) for _ in range(1 + p % 8)]
ALL, CUT = len(ROWS), sum(max(0, p % 8 - 2) for p in range(400))
TOTAL = sum(row["cost"] for row in ROWS)
CUT_TOTAL = sum(p % 11 * max(0, p % 8 - 2) for p in range(400))


def curator(epsilon=1000):
    return dp.Curator(
        dp.Memory({"visits": ROWS}), [VISITS], dp.open_ledger(":memory:", dp.PureDP(epsilon))
    )


def test_is_what_a_count_and_a_sum_miss():
    """At large ε: the rows and the total that a question without the cap would have had beside."""
    here = curator()
    found = here.estimate_truncation("Visits", dp.PureDP(400), up_to=20, of="cost")
    assert found.columns == ("rows", "cut", "share", "total", "cut_total", "share_total")
    assert found.rows[0] == pytest.approx(
        (ALL, CUT, CUT / ALL, TOTAL, CUT_TOTAL, CUT_TOTAL / TOTAL), rel=0.01
    )
    counted = here.sql(
        "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits", spend=dp.PureDP(400)
    ).rows[0]
    assert (ALL - counted[0], TOTAL - counted[1]) == pytest.approx((CUT, CUT_TOTAL), abs=6)


def test_the_former_name_does_the_same_and_warns():
    here = curator()
    first = here.estimate_truncation("visits", dp.PureDP(1), up_to=20)
    with pytest.warns(DeprecationWarning, match="estimate_cut is now estimate_truncation") as told:
        assert here.estimate_cut("visits", dp.PureDP(1), up_to=20) == first
    assert told[0].filename == __file__


def test_is_charged_once_explained_and_given_again():
    here = curator()
    told = here.explain(truncation_question(VISITS, up_to=20), spend=dp.PureDP(1))
    assert "LEAST(COUNT(*), 20)" in str(told) and here.spent() == dp.PureDP(0)
    first, left = here.estimate_truncation("visits", dp.PureDP(1), up_to=20), here.left()
    assert left == dp.PureDP(999) and first.receipt.asked[0].text.count("LEAST(COUNT(*), 20)") == 1
    assert here.estimate_truncation("visits", 1, up_to=20) == first and here.left() == left
    assert here.estimate_truncation("visits", 1, up_to=21) != first and here.left() == dp.PureDP(
        998
    )
    assert "estimate_truncation says what is cut off" in str(
        here.explain("SELECT COUNT(*) AS n FROM visits", spend=1).warnings
    )


@pytest.mark.statistical
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_intervals_hold(level):
    """False alarm: at most 1e-11 for each of three intervals."""
    plan, exact = curator().plan(truncation_question(VISITS, up_to=12), spend=dp.PureDP(1)), {"rows": ALL, "cut": CUT, "share": CUT / ALL}  # fmt: skip
    store, runs = Remembered([]), 60
    store.store = dp.Memory({"visits": ROWS})
    ends = [run_plan(plan, store).interval(level)[0] for _ in range(runs)]
    for name, value in exact.items():
        missed = sum(
            not low - 1e-9 <= value <= high + 1e-9 for low, high in (row[name] for row in ends)
        )
        assert missed <= most_misses(runs, 1 - level, 1e-11), name


@pytest.mark.parametrize("rows", [1, 3, 4, 12, 13, 500])
def test_nobody_moves_the_totals_by_more_than_is_said(rows):
    """Also somebody with more than `up_to` rows: the second cap cuts them before anything is added up."""
    plan = curator().plan(truncation_question(VISITS, up_to=12, of="cost"), spend=dp.PureDP(1))
    few = [row for row in ROWS if row["who"] < 24]
    more = [*few, *({"who": 1000, "cost": 10} for _ in range(rows))]
    for release in plan.releases:
        before, after = (
            dp.Memory({"visits": one}).tally(release.need.tally)[()] for one in (few, more)
        )
        moved = sum(abs(b - a) for a, b in zip(before, after, strict=True))
        assert 0 <= moved <= release.mechanism.sensitivity.l1


@pytest.mark.parametrize(("table", "words", "why"), [
    ("people", {"up_to": 9}, "is a row"), ("none", {"up_to": 9}, "there is no table"),
    ("visits", {"up_to": 3}, "must be above max_rows = 3"), ("visits", {"up_to": 10**7}, "up_to"),
    ("visits", {"up_to": 9, "of": "name"}, "holds none"), ("visits", {"up_to": 9, "of": "x"}, "no column 'x'"),
])  # fmt: skip
def test_refused(table, words, why):
    visits = dp.Schema("visits", dp.People("who", max_rows=3), {"name": dp.Text(9)})
    people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 9)})
    store = dp.Memory({"visits": [], "people": []})
    here = dp.Curator(store, [visits, people], dp.open_ledger(":memory:", dp.PureDP(1)))
    with pytest.raises(dp.DiscreetError, match=why):
        here.estimate_truncation(table, dp.PureDP(1), **words)
    assert here.spent() == dp.PureDP(0)
