"""A statistic of all rows beside keys: the same totals as alone, drawn once."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.plan import plan_question
from support.noiseless import without_noise

COLUMNS = {
    "shop": dp.Category(["a", "b", "c"]),
    "spent": dp.Integer(0, 9),
    "day": dp.Category([1, 2]),
}
UNITS = [dp.Rows(), dp.People("id", max_rows=2)]
ROWS = [{"id": n // 3, "shop": "ab"[n % 2], "spent": n % 10, "day": 1 + n % 2} for n in range(20)]
SHARE = (
    "SELECT shop, COUNT(*) AS n, (SELECT {} FROM visits) AS everything FROM visits GROUP BY shop"
)


def schema_of(unit, neighbours="add-remove"):
    return dp.Schema("visits", unit, COLUMNS, neighbours=neighbours)


def parsed(sql, unit, neighbours="add-remove"):
    return dp.parse_sql(sql, {"visits": schema_of(unit, neighbours)})


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("inner", ["COUNT(*)", "COUNT(shop)", "SUM(spent)", "AVG(spent)"])
class TestOneNumber:
    """The totals of a scalar sub-query are those of the same question asked alone, one draw for all keys."""

    def test_the_needs_are_those_of_the_question_alone(self, inner, unit, neighbours):
        spend = dp.PureDP(1)
        alone = plan_question(parsed(f"SELECT {inner} AS x FROM visits", unit, neighbours), spend)
        beside = plan_question(parsed(SHARE.format(inner), unit, neighbours), spend)
        own = [beside.releases[place].need for place in dict(beside.uses)["everything"]]
        if inner != "AVG(spent)":  # a mean alone may share its totals otherwise
            assert own == [release.need for release in alone.releases]
        assert all(not need.tally.keys for need in own)

    def test_every_key_shows_the_same_draw(self, inner, unit, neighbours):
        store = dp.Memory({"visits": ROWS})
        plan = plan_question(parsed(SHARE.format(inner), unit, neighbours), dp.PureDP("1/10"))
        shown = run_plan(plan, store).column("everything")
        assert len(shown) == 3 and len(set(shown)) == 1

    def test_noise_is_drawn_once_for_all_keys(self, inner, unit, neighbours):
        """The mechanism of a total without keys gets one number, whatever the number of keys."""
        store = dp.Memory({"visits": ROWS})
        plan = plan_question(parsed(SHARE.format(inner), unit, neighbours), dp.PureDP(1))
        with without_noise() as drawn:
            run_plan(plan, store)
        sizes = sorted(len(values) for _, values in drawn)
        by_key = sum(bool(release.need.tally.keys) for release in plan.releases)
        assert sizes == sorted([3] * by_key + [1] * (len(plan.releases) - by_key))


def test_one_key_shows_the_number_too():
    """A single key that is shown is not the key of a total without keys."""
    sql = (
        "SELECT shop, (SELECT COUNT(*) FROM visits) AS n FROM visits WHERE shop = 'a' GROUP BY shop"
    )
    plan = plan_question(parsed(sql, dp.Rows()), dp.PureDP(10**9))
    assert run_plan(plan, dp.Memory({"visits": ROWS})).rows == (("a", 20),)


def test_intervals_of_all_rows_hold_at_once():
    """Rows share the noise of a sub-query, so their failure probabilities are added up."""
    sql = "SELECT shop, COUNT(*) / (SELECT COUNT(*) FROM visits) AS s, COUNT(*) AS n FROM visits GROUP BY shop"
    plan = plan_question(parsed(sql, dp.Rows()), dp.PureDP(1))
    answer = run_plan(plan, dp.Memory({"visits": ROWS}))
    made = [(name, one) for name, one in answer.question.finish.columns if name in answer.noisy]
    assert answer._beta_of_one(made, 3, 0.06) == 0.02


def test_a_part_is_charged_alone_only_if_all_rows_are_of_it():
    """The rows of the sub-query are read too, so a question whose WHERE names one part reads all."""
    parts = dp.Parts("visits", "day", (1, 2))
    whole = "SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) AS s FROM visits WHERE day = 1"
    within = "SELECT COUNT(*) / (SELECT COUNT(*) FROM visits WHERE day = 1) AS s FROM visits WHERE day = 1 AND spent > 3"
    from discreet.curator.charged_part import part_of

    assert part_of(parsed(whole, dp.Rows()), parts) is None
    assert part_of(parsed(within, dp.Rows()), parts) == 1


def test_a_question_about_another_schema_of_a_table_is_refused():
    """A tree may not bring a schema of its own for the rows of a sub-query: its caps would not hold."""
    people = dp.Schema("visits", dp.People("id", max_rows=2), COLUMNS)
    lax = dp.Schema("visits", dp.People("id", max_rows=1000), COLUMNS)
    ledger = dp.open_ledger(":memory:", dp.PureDP(9))
    curator = dp.Curator(dp.Memory({"visits": ROWS}), [people], ledger)
    hidden = dp.Table(people).aggregate(
        n=dp.query.count(), m=dp.query.overall(dp.Table(lax), dp.query.count())
    )
    with pytest.raises(dp.SchemaMismatch, match="that is not the curator's"):
        curator.ask(hidden, spend=dp.PureDP(1))
