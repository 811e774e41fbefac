"""Siblings: one charge measures all that its price allows, and later parts of it are free."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from curator.cases import PEOPLE, ROWS, curator, opened
from discreet.curator import wide_measurement
from discreet.ledger import failpoints
from discreet.query.bounds.siblings import wide_question

ONE = dp.PureDP(1)
NORTH = "SELECT ward, COUNT(*) AS n FROM people WHERE region = 'N' GROUP BY ward"
SOUTH = (
    "SELECT ward AS w, COUNT(*) AS m FROM people WHERE region = 'S' GROUP BY ward ORDER BY m DESC"
)
BOTH = "SELECT region, ward, COUNT(*) AS n FROM people GROUP BY region, ward"
MEASURES = [
    (dp.PureDP(9), dp.PureDP(1)),
    (dp.ZCDP(9), dp.ZCDP("1/10")),
    (dp.GaussianDP(9), dp.GaussianDP("1/10")),
    (dp.ApproxDP(9, "1/1000"), dp.ApproxDP("1/2", "1/100000")),
]
STATISTICS = ["COUNT(*)", "COUNT(age)", "SUM(age)", "AVG(income)", "COUNT(*), SUM(age)"]


class Sealed(dp.Memory):
    """A store that must not be read."""

    def tally(self, tally, /):
        raise AssertionError("read")


class TestAWideMeasurement:
    def test_makes_the_other_parts_free(self):
        asked = curator()
        north = asked.sql(NORTH, spend=ONE)
        sealed = dp.Curator(Sealed(ROWS), [PEOPLE], asked.ledger)
        south = sealed.sql(SOUTH, spend=ONE)
        both = sealed.sql(BOTH, spend=ONE)
        assert asked.spent() == ONE and asked.ledger.verify().charges == 1
        known = {row[:2]: row[2] for row in both.rows}
        assert [known["N", ward] for ward in north.column("ward")] == north.column("n")
        assert [known["S", ward] for ward in south.column("w")] == south.column("m")
        assert south.interval(0.9)[0]["m"][1] - south.column("m")[0] == pytest.approx(
            north.interval(0.9)[0]["n"][1] - north.column("n")[0]
        )

    def test_is_found_if_the_wide_question_was_asked_first(self):
        asked = curator()
        both = asked.sql(BOTH, spend=ONE)
        north = asked.sql(NORTH, spend=ONE)
        assert asked.spent() == ONE and [row[2] for row in both.rows][:4] == north.column("n")

    @pytest.mark.parametrize(("budget", "spend"), MEASURES)
    @pytest.mark.parametrize("statistics", STATISTICS)
    def test_has_the_event_of_the_question(self, budget, spend, statistics):
        """The charge is that of a curator without siblings, byte for byte."""
        sql = f"SELECT ward, {statistics} FROM people WHERE region = 'N' GROUP BY ward"
        charges = []
        for siblings in (True, False):
            asked = curator(opened(budget), siblings=siblings)
            asked.sql(sql, spend=spend)
            other = asked.sql(sql.replace("'N'", "'S'"), spend=spend)
            [first, *more] = asked.ledger.history(kinds=("charge",))
            charges.append((first.event, first.part, asked.plan(sql, spend).events))
            assert len(more) == (0 if siblings else 1) and len(other) == 4
        assert charges[0] == charges[1]

    def test_counts_what_the_question_counts(self):
        """At a large spend the noise is all but gone: every part has its exact numbers."""
        asked = curator(opened(dp.PureDP(10**6)))
        much = dp.PureDP(10**4)
        for region in ("N", "S", "E"):
            found = asked.sql(NORTH.replace("'N'", f"'{region}'"), spend=much)
            exact = [
                sum(row["region"] == region and row["ward"] == ward for row in ROWS["people"])
                for ward in (1, 2, 3, 4)
            ]
            assert found.column("n") == pytest.approx(exact, abs=0.1)
        assert asked.ledger.verify().charges == 1

    def test_has_receipts_that_the_ledger_proves(self):
        asked = curator(signer=dp.Signer.create())
        for sql, region in ((NORTH, "N"), (SOUTH, "S")):
            answer = asked.sql(sql, spend=ONE)
            receipt = dp.verify_receipt(
                answer.receipt.to_json(), answer=answer, ledger=asked.ledger
            )
            assert dict(receipt.shown) == {"region": region}
            assert f"the part with region = {region}" in str(receipt)
        other = asked.sql(BOTH, spend=ONE)
        with pytest.raises(dp.ClaimRefuted):
            dp.verify_receipt(receipt, answer=other)

    @pytest.mark.parametrize(
        "changed",
        [{"region": "E"}, {"region": "N", "ward": 1}, {"town": "N"}, {"region": 1}, {"n": 1}],
    )
    def test_proves_no_other_part(self, changed):
        asked = curator()
        receipt = asked.sql(NORTH, spend=ONE).receipt
        with pytest.raises(dp.ClaimRefuted):
            dp.verify_receipt(replace(receipt, shown=tuple(changed.items())), ledger=asked.ledger)

    def test_is_explained_as_it_is_run(self):
        asked = curator()
        before = asked.explain(NORTH, spend=ONE)
        # By two keys, region and ward, where one was asked for.
        assert not before.stored and "by 2 keys" in before.texts[0]
        asked.sql(NORTH, spend=ONE)
        assert asked.explain(SOUTH, spend=ONE).stored and asked.spent() == ONE
        assert asked.explain(SOUTH, spend=dp.PureDP(2)).stored is False

    def test_can_be_switched_off(self):
        asked = curator(siblings=False)
        asked.sql(NORTH, spend=ONE)
        asked.sql(SOUTH, spend=ONE)
        assert asked.spent() == dp.PureDP(2)
        with pytest.raises(dp.InvalidArgument, match="siblings is True or False"):
            curator(siblings=1)

    def test_is_for_the_same_terms_only(self):
        asked = curator()
        asked.sql(NORTH, spend=ONE)
        asked.sql(SOUTH, spend=dp.PureDP("1/2"))
        asked.sql(SOUTH, spend=ONE, nonnegative=True)
        assert asked.ledger.verify().charges == 3

    def test_with_an_error_and_weights(self):
        asked = curator()
        sql = "SELECT COUNT(*) AS n, SUM(age) AS s FROM people WHERE region = 'N'"
        asked.sql(sql, error={"n": 30, "s": 2_000})
        asked.sql(sql.replace("'N'", "'S'"), error={"n": 30, "s": 2_000})
        assert asked.ledger.verify().charges == 1
        asked.sql(sql, spend=ONE, weights={"n": 3})
        asked.sql(sql.replace("'N'", "'E'"), spend=ONE, weights={"n": 3})
        assert asked.ledger.verify().charges == 2


class TestReuse:
    def test_only_charges_nothing_and_refuses_what_is_not_released(self):
        asked = curator()
        with pytest.raises(dp.BudgetExceeded, match="it would cost ε = 1") as refused:
            asked.sql(NORTH, spend=ONE, reuse="only")
        assert refused.value.asked == ONE and len(asked.ledger.history()) == 1
        north = asked.sql(NORTH, spend=ONE)
        south = asked.sql(SOUTH, spend=ONE, reuse="only")
        assert asked.sql(NORTH, spend=ONE, reuse="only") == north and len(south) == 4
        assert asked.spent() == ONE
        with pytest.raises(dp.BudgetExceeded):
            asked.sql(SOUTH, spend=dp.PureDP("1/2"), reuse="only")
        with pytest.raises(dp.BudgetExceeded):
            asked.release({"a": NORTH, "b": SOUTH}, spend=ONE, reuse="only")
        assert asked.sql("SELECT DISTINCT region FROM people", reuse="only").rows

    def test_only_does_not_tell_what_a_colleague_has_asked(self):
        office = curator(opened(allowances={"ana": dp.PureDP(5), "bob": dp.PureDP(5)}))
        refusals = []
        for _ in range(2):
            with pytest.raises(dp.BudgetExceeded) as refused:
                office.named("bob").sql(SOUTH, spend=ONE, reuse="only")
            refusals.append(str(refused.value))
            office.named("ana").sql(NORTH, spend=ONE)
        assert refusals[0] == refusals[1]

    def test_false_measures_what_is_asked_and_uses_nothing_else(self):
        asked = curator()
        asked.sql(NORTH, spend=ONE, reuse=False)
        asked.sql(SOUTH, spend=ONE, reuse=False)
        assert asked.ledger.verify().charges == 2
        # What was measured by itself stays the answer to that question.
        first = asked.sql(NORTH, spend=ONE)
        assert (
            first == asked.sql(NORTH, spend=ONE, reuse=False) and asked.ledger.verify().charges == 2
        )

    @pytest.mark.parametrize("reuse", [1, None, "yes", "ONLY"])
    def test_refuses_other_words(self, reuse):
        with pytest.raises(dp.InvalidArgument, match='reuse is True, False or "only"'):
            curator().sql(NORTH, spend=ONE, reuse=reuse)


class TestACrash:
    def test_leaves_a_charge_under_which_any_part_is_run(self, monkeypatch):
        asked = curator()

        def die(step):
            if step == "run:before":
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(failpoints, "passed", die)
            with pytest.raises(KeyboardInterrupt):
                asked.sql(NORTH, spend=ONE)
        south = asked.sql(SOUTH, spend=ONE)
        assert asked.ledger.verify().charges == 1 and len(south) == 4
        assert asked.sql(NORTH, spend=ONE).receipt.number == south.receipt.number


class TestNeighbours:
    @settings(max_examples=30, deadline=None)
    @given(
        row=st.fixed_dictionaries(
            {
                "region": st.sampled_from(["N", "S", "E", None, "x"]),
                "ward": st.integers(0, 5),
                "age": st.integers(-9, 200),
            }
        )
    )
    @pytest.mark.parametrize("statistic", ["COUNT(*)", "SUM(age)", "COUNT(age)"])
    def test_one_row_changes_a_wide_table_by_its_sensitivity_at_most(self, statistic, row):
        """Hostile rows too: values beyond the bounds and outside of the declared keys."""
        sql = f"SELECT ward, {statistic} AS n FROM people WHERE region = 'N' GROUP BY ward"
        wide = wide_question(dp.parse_sql(sql, {"people": PEOPLE})).question
        [release] = dp.plan_question(wide, ONE).releases
        rows = ROWS["people"][:5]
        tallies = [
            dp.Memory({"people": data}).tally(release.need.tally) for data in (rows, [*rows, row])
        ]
        keys = tallies[0].keys() | tallies[1].keys()
        changed = [abs(tallies[0].get(key, (0,))[0] - tallies[1].get(key, (0,))[0]) for key in keys]
        assert sum(changed) <= release.event.sensitivity


class TestWhatIsNotWidened:
    def test_replace_neighbours_where_the_price_would_change(self):
        """A count alone changes by one at most, two cells of it by two: the event is another."""
        people = dp.Schema("people", dp.Rows(), PEOPLE.columns, neighbours="replace")
        asked = dp.Curator(dp.Memory(ROWS), [people], opened())
        one = "SELECT COUNT(*) AS n FROM people WHERE region = 'N'"
        asked.sql(one, spend=ONE)
        asked.sql(one.replace("'N'", "'S'"), spend=ONE)
        assert asked.ledger.verify().charges == 2
        planned = [asked.plan(sql, ONE).events for sql in (NORTH, BOTH)]
        asked.sql(NORTH, spend=ONE)
        asked.sql(SOUTH, spend=ONE)
        # With two keys or more the event is the same, and then the siblings are measured.
        assert asked.ledger.verify().charges == (3 if planned[0] == planned[1] else 4)

    def test_ledgers_with_parts(self):
        parts = dp.Parts("people", "region", ("N", "S", "E"))
        asked = curator(opened(parts=parts, neighbours="add-remove"))
        asked.sql(NORTH, spend=ONE)
        asked.sql(SOUTH, spend=ONE)
        charges = asked.ledger.history(kinds=("charge",))
        assert [charge.part for charge in charges] == ["N", "S"]

    def test_people(self):
        asked = curator()
        sql = "SELECT COUNT(*) AS n FROM visits WHERE paid = TRUE"
        asked.sql(sql, spend=ONE)
        asked.sql(sql.replace("TRUE", "FALSE"), spend=ONE)
        assert asked.ledger.verify().charges == 2

    def test_nothing_is_charged_or_run_if_the_wide_plan_is_another(self, monkeypatch):
        """The rule is the event: a planner that prices the wide question otherwise is not followed."""
        asked = curator()
        usual = wide_measurement.to_json
        monkeypatch.setattr(
            wide_measurement,
            "to_json",
            lambda event, seen=[]: (seen.append(1), (len(seen), usual(event)))[1],
        )
        asked.sql(NORTH, spend=ONE)
        monkeypatch.undo()
        asked.sql(SOUTH, spend=ONE)
        assert asked.ledger.verify().charges == 2


class TestBetweenPeople:
    def told(self, before):
        """All that bob sees of asking about the south, after what others have asked."""
        allowances = {"ana": dp.PureDP(5), "bob": dp.PureDP(5)}
        office = curator(opened(allowances=allowances))
        for sql in before:
            office.named("ana").sql(sql, spend=ONE)
        bob = office.named("bob")
        explained = str(bob.explain(SOUTH, spend=ONE))
        answer = bob.sql(SOUTH, spend=ONE)
        receipt = json.loads(answer.receipt.to_json())
        for name in ("number", "charge", "time", "hash"):
            del receipt[name]
        del receipt["asked"][0]["answer"]
        entry = bob.history()[0]
        seen = [entry.kind, entry.question, entry.key, entry.event, entry.refers, answer.caption]
        return office, (
            explained,
            receipt,
            seen,
            bob.left(),
            bob.spent(),
            list(bob.history().asked.values()),
        )

    @pytest.mark.parametrize("before", [[NORTH], [BOTH], [SOUTH]])
    def test_what_a_colleague_has_asked_does_not_show(self, before):
        office, with_ana = self.told(before)
        assert office.ledger.spent() == ONE and office.ledger.verify().charges == 1
        alone, without = self.told([])
        assert with_ana == without and alone.ledger.spent() == ONE

    def test_shared_questions_are_free(self):
        office = curator(share_questions=True)
        office.named("ana").sql(NORTH, spend=ONE)
        assert office.named("bob").sql(SOUTH, spend=ONE).receipt.who == "ana"
        assert office.ledger.verify().charges == 1 and office.named("bob").spent() == dp.PureDP(0)


@pytest.mark.statistical
@pytest.mark.parametrize("runs", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("measure", [dp.PureDP("1/100"), dp.ZCDP("1/20000")])
def test_intervals_of_parts_that_nobody_asked_for_hold(measure, runs):
    """1,000 cells a run, 100,000 in all; a bound of 6.5 standard errors fails by chance once in 10^10."""
    columns = {"a": dp.Integer(1, 40), "b": dp.Integer(1, 25)}
    schema = dp.Schema("t", dp.Rows(), columns)
    rows = [{"a": 1 + n % 40, "b": 1 + n % 25} for n in range(2_000)]
    exact = {}
    for row in rows:
        exact[row["a"], row["b"]] = exact.get((row["a"], row["b"]), 0) + 1
    held = dict.fromkeys((0.5, 0.9, 0.95, 0.99), 0)
    for _ in range(runs):
        ledger = dp.open_ledger(":memory:", type(measure)(9))
        asked = dp.Curator(dp.Memory({"t": rows}), [schema], ledger)
        asked.sql("SELECT b, COUNT(*) AS n FROM t WHERE a = 7 GROUP BY b", spend=measure)
        every = asked.sql("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b", spend=measure)
        assert ledger.verify().charges == 1 and len(every) == 1_000
        for level in held:
            for key, interval in zip(every.keys, every.interval(level), strict=True):
                low, high = interval["n"]
                held[level] += low <= exact.get(key, 0) <= high
    cells = 1_000 * runs
    for level, times in held.items():
        error = 6.5 * (level * (1 - level) / cells) ** 0.5
        assert level - error <= times / cells <= level + 0.015 + error, (level, times / cells)


def test_every_spelling_of_a_part_finds_it():
    asked = curator()
    for sql in (
        NORTH,
        "SELECT COUNT(*) c, ward FROM people WHERE 'N' = region GROUP BY ward",
        "SELECT ward, COUNT(*) AS n FROM people WHERE region IN ('N') GROUP BY ward HAVING COUNT(*) > 3",
        "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM people WHERE region = 'N') AS p GROUP BY ward",
    ):
        asked.sql(sql, spend=ONE)
    assert asked.ledger.verify().charges == 1
