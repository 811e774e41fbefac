"""Curators over a ledger with blocks: what questions touch, what they cost, and what cannot be got around."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

import discreet as dp
from discreet.curator import charged_part as charged_part_module
from discreet.curator.charged_part import charged_part

VISITS = dp.Schema(
    "visits",
    dp.People("uid", max_rows=4),
    {"day": dp.Date("2020-01-01", "2049-12-31"), "ward": dp.Integer(0, 3)},
)
USERS = dp.Schema("users", dp.People("uid", max_rows=1), {"old": dp.Boolean()})
WEEKS = dp.Blocks("visits", "day", "week", stays=2)
ROWS = {
    # Person 0 stays for five weeks, of which two count; the others come once.
    "visits": [{"uid": 0, "day": f"2027-01-{4 + 7 * n:02d}", "ward": n} for n in range(4)]
    + [{"uid": n, "day": "2027-01-18", "ward": 3} for n in range(1, 9)],
    "users": [{"uid": n, "old": n % 2 == 0} for n in range(9)],
}
COUNT = "SELECT COUNT(*) AS n FROM visits"
WEEK = f"{COUNT} WHERE day >= DATE '2027-01-04' AND day < DATE '2027-01-11'"


def opened(budget=None, **terms):
    return dp.open_ledger(":memory:", budget or dp.PureDP(1), **{"blocks": WEEKS, **terms})


def curator(ledger=None, rows=None, schemas=(VISITS, USERS)):
    return dp.Curator(dp.Memory({**ROWS, **(rows or {})}), schemas, ledger or opened())


class TestTouchedBlocks:
    """A question is charged on the blocks that its WHERE names, from SQL and schema alone."""

    @pytest.mark.parametrize(
        ("sql", "part"),
        [
            (WEEK, "2027-01-04/2027-01-10"),
            (f"{COUNT} WHERE day BETWEEN DATE '2027-01-06' AND DATE '2027-01-20'", "2027-01-04/2027-01-24"),
            (f"{COUNT} WHERE day >= DATE '2027-01-06'", "2027-01-04/.."),
            (f"{COUNT} WHERE day < DATE '2027-01-04'", "../2027-01-03"),
            (f"{COUNT} WHERE ward = 1", None),
            (COUNT, None),
            ("SELECT COUNT(*) AS n FROM users", None),
            (f"{COUNT} v JOIN users u ON v.uid = u.uid WHERE v.day = DATE '2027-01-06'", None),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM visits WHERE day = DATE '2027-01-06'", None),
            ("SELECT COUNT(*) / (SELECT COUNT(*) FROM visits WHERE day = DATE '2027-01-20') AS share FROM visits"
             " WHERE day = DATE '2027-01-06'", "2027-01-04/2027-01-24"),
        ],
    )  # fmt: skip
    def test_part(self, sql, part):
        assert curator().explain(sql, spend=dp.PureDP("1/10")).part == part

    def test_several_questions_touch_all_from_the_first_to_the_last(self):
        asked = curator()
        later = WEEK.replace("01-04", "02-01").replace("01-11", "02-08")
        answers = asked.release({"a": WEEK, "b": later}, spend=dp.PureDP("1/2"))
        assert answers["a"].receipt.part == "2027-01-04/2027-02-07"

    def test_the_timestamps_of_another_zone_touch_both_days(self):
        """Midnight in Berlin is 23:00 of UTC: the week before is touched too, and charged."""
        columns = {"at": dp.Timestamp("2020-01-01T00:00:00", "2049-12-31T23:59:59")}
        schema = dp.Schema("visits", dp.People("uid", max_rows=4), columns)
        weeks = dp.Blocks("visits", "at", "week", stays=2)
        asked = dp.parse_sql(
            f"{COUNT} WHERE at >= TIMESTAMP '2027-01-03 23:00:00' AND at < TIMESTAMP '2027-01-10 23:00:00'",
            {"visits": schema},
        )
        assert charged_part({"": asked}, opened(blocks=weeks).terms) == "2026-12-28/2027-01-10"

    def test_a_warning_before_a_charge_on_blocks_to_come(self):
        told = curator().explain(COUNT, spend=dp.PureDP("1/10")).warnings
        assert any("this counts for every week to come" in warning for warning in told)
        told = curator().explain(WEEK, spend=dp.PureDP("1/10")).warnings
        assert not any("to come" in warning for warning in told)


class TestNoWayAroundTheBlocks:
    """Whatever is asked, a person counts in two weeks, and each week has its own budget."""

    @pytest.mark.parametrize(
        ("sql", "exact"),
        [
            (COUNT, 10),
            (WEEK, 1),
            (f"{COUNT} WHERE day = DATE '2027-01-18'", 8),
            ("SELECT COUNT(DISTINCT uid) AS n FROM visits WHERE ward > 1", 8),
            ("SELECT SUM(ward) AS n FROM visits", 25),
            (f"{COUNT} v JOIN users u ON v.uid = u.uid WHERE old", 6),
        ],
    )
    def test_rows_beyond_the_blocks_count_nowhere(self, sql, exact):
        answer = curator(opened(dp.PureDP(10**6))).sql(sql, spend=dp.PureDP(10**5))
        assert round(answer.to_polars()["n"][0]) == exact

    def test_models_and_synthetic_tables_read_the_same_rows(self):
        ledger = opened(dp.ZCDP(10**6))
        # All of these people are in ward 3 in their fourth week, which does not count.
        long = [dict(row, uid=n) for n in range(50) for row in ROWS["visits"][:4]]
        asked = curator(ledger, {"visits": long})
        one_row = "SELECT MAX(ward) AS ward FROM visits GROUP BY uid"
        made = asked.synthesize(one_row, spend=dp.ZCDP(10**5))
        assert set(made.to_polars()["ward"].to_list()) == {1}
        assert ledger.history(kinds=["charge"])[-1].part is None

    def test_each_week_has_its_budget(self):
        asked = curator()
        asked.sql(WEEK, spend=dp.PureDP("3/5"))
        with pytest.raises(
            dp.BudgetExceeded, match="the budget on the weeks 2027-01-11/2027-01-17"
        ):
            asked.sql(f"{COUNT} WHERE day = DATE '2027-01-12'", spend=dp.PureDP("3/5"))
        asked.sql(f"{COUNT} WHERE day = DATE '2027-01-19'", spend=dp.PureDP("3/5"))
        with pytest.raises(dp.BudgetExceeded, match="the budget has no room"):
            asked.sql("SELECT COUNT(*) AS n FROM users", spend=dp.PureDP("3/5"))
        assert asked.ledger.verify().exact

    def test_an_approximate_budget_is_spent_on_each_week(self):
        ledger = opened(dp.ApproxDP(1, "1e-6"))
        asked = curator(ledger)
        for day in ("2027-01-04", "2027-01-18", "2027-02-01"):
            answer = asked.sql(f"{COUNT} WHERE day = DATE '{day}'", spend=dp.ApproxDP(1, "5e-7"))
            assert answer.receipt.part == WEEKS.around(day, day)
        assert ledger.verify().charges == 3

    def test_a_new_year_is_new_blocks_and_no_new_version(self):
        ledger = opened()
        first = curator(ledger).sql(WEEK, spend=dp.PureDP(1))
        more = {"visits": [*ROWS["visits"], {"uid": 99, "day": "2028-01-05", "ward": 1}]}
        asked = curator(ledger, more)
        assert asked.sql(WEEK, spend=dp.PureDP(1)) == first
        asked.sql(f"{COUNT} WHERE day = DATE '2028-01-05'", spend=dp.PureDP(1))

    def test_what_is_measured_stays_within_the_blocks(self):
        """Nothing is measured beside the question: a wide table would reach into other weeks."""
        by_row = dp.Schema("visits", dp.Rows(), VISITS.columns)
        ledger = opened()
        asked = curator(ledger, schemas=(by_row,))
        asked.sql(f"{WEEK} AND ward = 1", spend=dp.PureDP("1/2"))
        asked.sql(f"{WEEK} AND ward = 2", spend=dp.PureDP("1/2"))
        assert [entry.part for entry in ledger.history(kinds=["charge"])] == [
            "2027-01-04/2027-01-10"
        ] * 2

    def test_the_store_is_told(self):
        tables = {name: pa.Table.from_pylist(rows) for name, rows in ROWS.items()}
        asked = dp.Curator(dp.DuckDB(tables), [VISITS, USERS], opened())
        [text] = asked.explain(WEEK, spend=dp.PureDP("1/10")).texts
        assert "b < a + 2" in text


class TestRefusals:
    @pytest.mark.parametrize(
        ("blocks", "words"),
        [
            (dp.Blocks("orders", "day", "week", stays=2), "has blocks of orders, which is none"),
            (dp.Blocks("visits", "ward", "week", stays=2), "is declared as integer"),
            (dp.Blocks("visits", "month", "week", stays=2), "has no column 'month'"),
        ],
    )
    def test_blocks_of_nothing(self, blocks, words):
        with pytest.raises(dp.SchemaMismatch, match=words):
            curator(opened(blocks=blocks))

    def test_a_unit_with_a_window(self):
        unit = dp.People("uid", max_rows=4, window=("day", "month"))
        with pytest.raises(dp.SchemaMismatch, match="leave the window out"):
            curator(schemas=(dp.Schema("visits", unit, VISITS.columns),))


class TestKeptTimes:
    """Questions about times that are no longer kept are refused; answers that were given stay."""

    def test_below_the_floor(self, monkeypatch):
        kept = dp.Schema("visits", VISITS.unit, VISITS.columns, keeps=("day", "12 months"))
        ledger = dp.open_ledger(":memory:", dp.PureDP(10))
        asked = curator(ledger, schemas=(kept,))
        monkeypatch.setattr(charged_part_module, "utc_today", lambda: date(2027, 6, 1))
        answer = asked.sql(WEEK, spend=dp.PureDP(1))
        monkeypatch.setattr(charged_part_module, "utc_today", lambda: date(2028, 6, 1))
        assert asked.sql(WEEK, spend=dp.PureDP(1)) == answer
        with pytest.raises(
            dp.UnsupportedQuery, match="visits keeps 12 months: rows before 2027-06-01"
        ):
            asked.sql(f"{COUNT} WHERE day = DATE '2027-01-05'", spend=dp.PureDP(1))
        with pytest.raises(dp.UnsupportedQuery, match="Answers that were given before stay"):
            asked.sql(f"{COUNT} WHERE day >= DATE '2027-05-30'", spend=dp.PureDP(1))
        assert ledger.left() == dp.PureDP(9)
        asked.sql(COUNT, spend=dp.PureDP(1))


HOSTILE = [
    # Somebody who stays for ever, without a day, beyond all ends, in every week.
    *(
        {"uid": 777, "day": f"2027-{m:02d}-{d:02d}", "ward": 9**9}
        for m in (1, 2)
        for d in range(1, 29)
    ),
    {"uid": 777, "day": None, "ward": None},
    {"uid": 777, "day": "9999-12-31", "ward": "x"},
    {"uid": 777, "day": "0001-01-01", "ward": -1},
]
ASKED = [
    (WEEK, "1/2"),
    (COUNT, "1/10"),
    (f"{COUNT} WHERE day = DATE '2027-02-03'", "1/2"),
    ("SELECT ward, COUNT(*) AS n FROM visits WHERE day >= DATE '2027-02-01' GROUP BY ward", "1/5"),
    ("SELECT COUNT(DISTINCT uid) AS n FROM visits WHERE day < DATE '2027-01-11'", "1/4"),
    (WEEK, "1/2"),
    (f"{COUNT} WHERE day = DATE '2040-01-01'", "1"),
    ("SELECT MAX(day) AS n FROM visits", "1/10"),
    (f"{COUNT} WHERE day >= DATE '2050-01-01'", "1/10"),
]


class TestNeighbours:
    """With and without one person, or with one who was deleted, only the numbers differ."""

    def told(self, engine):
        """List everything that is seen beside the released numbers."""
        ledger = opened()
        asked = dp.Curator(engine, [VISITS, USERS], ledger)
        seen = []
        for sql, epsilon in ASKED:
            try:
                explained = asked.explain(sql, spend=dp.PureDP(epsilon))
                seen += [explained.part, explained.left, explained.fits, explained.texts]
                answer = asked.sql(sql, spend=dp.PureDP(epsilon))
                frame = answer.to_polars()
                seen += [frame.shape, frame.dtypes, answer.receipt.part, answer.receipt.price]
            except dp.DiscreetError as refusal:
                seen.append((type(refusal).__name__, str(refusal)))
        entries = [(entry.kind, entry.part, entry.event) for entry in ledger.history()]
        return [*seen, entries, ledger.left_by_block(), ledger.verify().charges]

    @pytest.mark.parametrize("store", ["memory", "duckdb"])
    def test_one_person_more(self, store):
        columns = pa.schema([("uid", pa.int64()), ("day", pa.string()), ("ward", pa.string())])

        def engine(visits):
            if store == "memory":
                return dp.Memory({**ROWS, "visits": visits})
            written = [{**row, "ward": str(row["ward"])} for row in visits]
            users = pa.Table.from_pylist(ROWS["users"])
            return dp.DuckDB({"visits": pa.Table.from_pylist(written, columns), "users": users})

        without = self.told(engine(ROWS["visits"]))
        assert self.told(engine([*ROWS["visits"], *HOSTILE])) == without
        # Person 0 was deleted; and a table whose weeks are all empty.
        assert self.told(engine([row for row in ROWS["visits"] if row["uid"]])) == without
        assert self.told(engine([])) == without
        assert any(isinstance(one, tuple) and one[0] == "BudgetExceeded" for one in without)
