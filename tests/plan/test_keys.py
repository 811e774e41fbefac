"""Unknown keys: shown by a count that is asked for, or selected with a part of ε; and whom a person's keys betray."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest

import discreet as dp
from discreet.answer.ask import run_plan, with_secret_salt
from discreet.mechanisms.laws.tails import laplace_tail
from discreet.plan.selection import Selection
from discreet.plan.thresholded_count import CountSelection, count_needed
from discreet.privacy.compose import compose
from discreet.privacy.events import KeySelection, Promise
from discreet.query.algebra.tally import Free, KeptKeys

SPEND = dp.ApproxDP(1, "1e-6")
ROWS = dp.Schema("rows", dp.Rows(), {"town": dp.Text(12), "x": dp.Integer(0, 10)})
MANY = dp.People("id", max_rows=6, max_groups=2)
VISITS = dp.Schema("rows", MANY, {"town": dp.Text(12), "x": dp.Integer(0, 10)})
REPLACED = dp.Schema(
    "rows", MANY, {"town": dp.Text(12), "x": dp.Integer(0, 10)}, neighbours="replace"
)
COUNT = "SELECT town, COUNT(*) AS n FROM rows GROUP BY town"
PEOPLE = "SELECT town, COUNT(DISTINCT id) AS n FROM rows GROUP BY town"
MEAN = "SELECT town, AVG(x) AS m FROM rows GROUP BY town"
BARE = "SELECT town FROM rows GROUP BY town"


def planned(sql, schema=ROWS, spend=SPEND, **terms):
    return dp.plan_question(dp.parse_sql(sql, {"rows": schema}), spend, **terms)


class TestACountThatIsAskedForShowsTheKeys:
    def test_keys_and_counts_have_one_price(self):
        plan = planned(COUNT)
        assert isinstance(plan.selection, CountSelection) and plan.selection.threshold == 15
        assert plan.events == (KeySelection(plan.releases[0].event, Fraction(1, 10**6)),)
        assert count_needed(plan.selection) <= 18 and plan.statistic_errors() == {"n": 3.0}
        assert compose(plan.events).delta(epsilon=1) <= 1.0001e-6

    def test_a_persons_own_keys_appear_with_probability_at_most_delta(self):
        """1 + Z reaches the threshold in any of g keys."""
        rows, found = 1, planned(PEOPLE, VISITS).selection
        assert (
            found.tally.share == KeptKeys(2, rows)
            and found.release.mechanism.sensitivity.changed == 2
        )

        def alone(held):
            return (
                1 - (1 - laplace_tail(found.release.mechanism.scale, found.threshold - held)) ** 2
            )

        if isinstance(found.release.mechanism, dp.Geometric):
            assert alone(rows) <= float(found.delta) < alone(rows + 1)
        assert found.release.mechanism.sensitivity.l1 == 2 * rows

    def test_under_replace_it_is_two_steps_of_half_the_price(self):
        found = planned(PEOPLE, REPLACED).selection
        assert found.event == Promise(SPEND, neighbours="replace")
        scale, steps = found.release.mechanism.scale, found.threshold - 1
        assert scale == 4  # 2 keys at ε/2
        leak = 1e-6 / (1 + math.exp(0.5))
        assert (
            1 - (1 - laplace_tail(scale, steps)) ** 2
            <= leak
            < 1 - (1 - laplace_tail(scale, steps - 1)) ** 2
        )

    @pytest.mark.parametrize("schema", [VISITS, REPLACED])
    @pytest.mark.parametrize("spend", [SPEND, dp.ApproxDP("1/3", "1e-9"), dp.ApproxDP(3, "1e-3")])
    def test_what_a_whole_threshold_leaves_of_delta_is_spent_too(self, schema, spend):
        """Exactly: P[r + Z ≥ t] + p·P[r + Z = t − 1] in any of g keys is at most δ, and all but a millionth of it."""
        found = planned(PEOPLE, schema, spend).selection
        scale, share = mp.mpf(found.release.mechanism.scale.numerator), found.tally.share
        with mp.workdps(50):
            a = mp.exp(-found.release.mechanism.scale.denominator / scale)
            steps, luck = (
                found.threshold - share.rows,
                mp.mpf(found.luck.numerator) / found.luck.denominator,
            )
            alone = a**steps / (1 + a) + luck * a ** (steps - 1) * (1 - a) / (1 + a)
            any_of = 1 - (1 - alone) ** share.groups
            half = mp.mpf(spend.epsilon.numerator) / spend.epsilon.denominator / 2
            most = mp.mpf(found.delta.numerator) / found.delta.denominator
            most /= 1 if schema is VISITS else 1 + mp.exp(half)
            assert isinstance(found.release.mechanism, dp.Geometric) and 0 < found.luck < 1
            assert most * (1 - mp.mpf(10) ** -6) <= any_of <= most

    @pytest.mark.statistical
    def test_a_noisy_count_one_below_is_shown_so_often(self):
        """20,000 keys of 14 people: how many are shown is binomial; a false alarm is rarer than 1e-9 (six deviations)."""
        found = planned(COUNT).selection
        chance = laplace_tail(Fraction(1), 1) + float(found.luck) * math.tanh(0.5)
        shown = found.show({(f"key {number}",): 14 for number in range(20_000)})
        assert abs(len(shown) - 20_000 * chance) <= 6.2 * math.sqrt(20_000 * chance * (1 - chance))
        assert min(shown.values()) == found.threshold - 1

    def test_which_way_follows_from_the_question_alone(self):
        assert planned(COUNT) == planned(COUNT)
        for sql in (
            MEAN,
            "SELECT town, COUNT(*) FILTER (WHERE x > 3) AS n FROM rows GROUP BY town",
        ):
            assert isinstance(planned(sql).selection, Selection)
        rows = dp.Schema(
            "rows", dp.People("id", max_rows=6), {"town": dp.Text(12), "x": dp.Integer(0, 10)}
        )
        for schema in (
            rows,
            VISITS,
        ):  # rows in each key have no bound of their own, whatever `max_groups` is
            assert isinstance(planned(COUNT, schema).selection, Selection)

    def test_sums_beside_it_cost_no_more_delta(self):
        plan = planned("SELECT town, COUNT(*) AS n, SUM(x) AS s FROM rows GROUP BY town")
        assert isinstance(plan.selection, CountSelection) and len(plan.events) == 2
        assert compose(plan.events).delta(epsilon=1) <= 1.0001e-6


class TestSelection:
    def test_keys_get_as_much_as_one_statistic(self):
        assert planned(MEAN).selection.budget.epsilon == Fraction(1, 2)
        assert planned(
            "SELECT town, AVG(x) AS m, SUM(x) AS s FROM rows GROUP BY town"
        ).selection.part == Fraction(1, 3)

    def test_keys_without_a_statistic_get_all(self):
        plan = planned(BARE)
        assert (
            plan.selection.budget == SPEND and plan.releases == () and plan.statistic_errors() == {}
        )
        assert planned("SELECT DISTINCT town FROM rows") == plan

    def test_a_ledger_keeps_its_own_delta(self):
        under = dp.open_filter(SPEND, delta="5e-7")
        for sql in (COUNT, MEAN, BARE):
            plan = planned(sql, under=under)
            assert under.admits(plan.event)


class TestPeopleInTooManyKeys:
    STORE = [
        {"id": person, "town": town, "x": 1} for person in range(300) for town in ("a", "b", "c")
    ]

    @pytest.mark.parametrize("sql", [COUNT, PEOPLE, BARE])
    def test_keep_some_of_them(self, sql):
        """With none of them counted the table was empty."""
        answer = run_plan(
            planned(sql, VISITS, dp.ApproxDP(10, "1e-6")), dp.Memory({"rows": self.STORE})
        )
        assert answer.column("town") == ["a", "b", "c"]
        if sql == PEOPLE:
            assert 550 < sum(answer.column("n")) < 650

    def test_by_a_salt_that_is_drawn_anew(self):
        tally = planned(PEOPLE, VISITS).selection.tally
        first, second = with_secret_salt(tally), with_secret_salt(tally)
        assert tally.share.salt == "" and first.share.salt != second.share.salt
        assert with_secret_salt(planned(COUNT).selection.tally).share == Free()
        store = dp.Memory({"rows": self.STORE})
        backwards = dp.Memory({"rows": self.STORE[::-1]})
        assert store.tally(first) == backwards.tally(first) != store.tally(second)


def test_several_questions_of_unknown_keys_fit_a_fresh_ledger():
    """All of (ε, δ) is spent; what the ledger keeps for keys is divided among them."""
    ledger = dp.open_ledger(":memory:", SPEND)
    curator = dp.Curator(dp.Memory({"rows": [{"town": "a", "x": 1}] * 500}), [ROWS], ledger)
    answers = curator.release({"counts": COUNT, "means": MEAN, "bare": BARE}, spend=SPEND)
    assert [answer.column("town") for answer in answers.values()] == [
        ["a"]
    ] * 3 and ledger.verify().exact


@pytest.mark.parametrize(
    "sql", [COUNT, "SELECT town, COUNT(*) AS n, SUM(x) AS s FROM rows GROUP BY town"]
)
def test_the_whole_of_a_fresh_ledger_shows_as_many_keys_as_the_whole_promise_allows(sql):
    """All of δ is for the keys, not the part that a ledger keeps for them; and nothing is left then."""
    ledger = dp.open_ledger(":memory:", SPEND)
    curator = dp.Curator(dp.Memory({"rows": [{"town": "a", "x": 1}] * 500}), [ROWS], ledger)
    told, alone = curator.plan(sql, spend=SPEND).selection, planned(sql).selection
    assert isinstance(told, CountSelection) and told == alone and told.delta == SPEND.delta
    assert curator.explain(sql, spend=SPEND).fits
    assert curator.sql(sql, spend=SPEND).column("town") == ["a"] and ledger.verify().exact
    assert curator.left() == dp.ApproxDP(0, 0) and curator.spent() == SPEND
    with pytest.raises(dp.BudgetExceeded):
        curator.sql(MEAN, spend=dp.ApproxDP("1/1000", "1e-9"))


def test_less_than_the_whole_keeps_to_what_a_ledger_keeps_for_keys():
    under = dp.open_filter(SPEND, delta="5e-7")
    for spend in (dp.ApproxDP("0.99", "1e-6"), dp.ApproxDP(1, "9e-7")):
        assert planned(COUNT, spend=spend, under=under).selection.delta == Fraction(5, 10**7)
    touched = under.after(dp.Laplace(scale=10**6, sensitivity=1).event)
    assert planned(COUNT, under=touched).selection.delta == Fraction(5, 10**7)
