"""Standing reports: one charge, days that close by the calendar, final numbers that add up."""

from __future__ import annotations

import math
import shutil
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.curator.verbs.stream import find_stream, stream_state
from discreet.ledger import clock, failpoints
from streams.cases import (
    ALL,
    BY_REGION,
    PEOPLE,
    PERSON_DAYS,
    PLENTY,
    START,
    VISITS,
    column,
    curator,
    set_clock,
    visit,
)

ROWS = [visit(day % 9, "NS"[day % 2], who=f"p{day}") for day in range(90)]
WORDS = {"start": START.isoformat(), "periods": 14, "matters": {"total": 1, "day": 1}}


@pytest.fixture
def seal(tmp_path):
    return dp.Seal.create(tmp_path / "visits.key")


@pytest.fixture
def ledger(tmp_path):
    with dp.open_ledger(tmp_path / "visits.ledger", dp.ZCDP(10**13)) as opened:
        yield opened


class TestAStream:
    def test_one_charge_then_every_day_for_nothing(self, tmp_path, seal, monkeypatch):
        set_clock(monkeypatch, 0)
        with dp.open_ledger(tmp_path / "l", dp.ZCDP(1)) as ledger:
            asker = curator(ROWS, ledger)
            report = asker.stream(BY_REGION, dp.ZCDP("1/2"), name="visits", seal=seal, **WORDS)
            spent = ledger.spent()
            assert Fraction("0.499") < spent.rho <= Fraction(1, 2)
            again = asker.stream(BY_REGION, dp.ZCDP("1/2"), name="visits", seal=seal, **WORDS)
            assert again.number == report.number
            set_clock(monkeypatch, 5)
            assert len(report.close()) == 10
            assert ledger.spent() == spent
            assert ledger.verify().pending == 0

    def test_exact_numbers_where_noise_is_nothing(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 9)
        report = curator(ROWS, ledger).stream(BY_REGION, PLENTY, name="visits", seal=seal, **WORDS)
        assert column(report.close()) == [5] * 18
        assert column(report.by("week")) == [15, 15, 30, 30]
        assert column(report.total()) == [45, 45]
        assert column(report.by("total"))[-2:] == [45, 45]
        assert column(report.between("2027-01-02", date(2027, 1, 3))) == [10, 10]
        assert column(report.by("year"), "to") == [date(2027, 1, 9)] * 2

    def test_a_question_built_in_python_is_the_same_stream(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 9)
        asker = curator(ROWS, ledger)
        asked = asker.table("visits").aggregate(by=["day", "region"], n=dp.query.count())
        plan = asker.plan_stream(asked, PLENTY, **WORDS)
        assert plan.noise == asker.plan_stream(BY_REGION, PLENTY, **WORDS).noise
        report = asker.stream(asked, PLENTY, name="visits", seal=seal, **WORDS)
        assert (
            asker.stream(asked, PLENTY, name="visits", seal=seal, **WORDS).number == report.number
        )
        assert column(report.close()) == [5] * 18
        assert column(asker.streams(seal)["visits"].total()) == [45, 45]

    def test_sums_of_numbers(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 3)
        rows = [visit(0, minutes=5), visit(1, minutes=90), visit(1, minutes=None)]
        sql = "SELECT day, SUM(minutes) AS m FROM visits GROUP BY day"
        report = curator(rows, ledger).stream(sql, PLENTY, name="m", seal=seal, **WORDS)
        assert column(report.close(), "m") == [5, 60, 0]

    @pytest.mark.parametrize("day", ["DATE_TRUNC('day', seen)", "CAST(seen AS DATE)"])
    def test_days_of_timestamps_are_days_of_utc(self, day, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 3)
        schema = dp.Schema(
            "visits",
            dp.Rows(),
            {"seen": dp.Timestamp("2020-01-01T00:00:00", "2060-12-31T23:59:59")},
        )
        times = ["2027-01-01T00:00:00", "2027-01-01T23:59:59", "2027-01-02T00:00:00", None]
        rows = [{"seen": time} for time in times]
        sql = f"SELECT {day} AS d, COUNT(*) AS n FROM visits GROUP BY 1"
        report = curator(rows, ledger, schema).stream(sql, PLENTY, name="v", seal=seal, **WORDS)
        assert column(report.close()) == [2, 1, 0]

    def test_pure_noise_is_sealed_at_the_opening(self, tmp_path, seal, monkeypatch):
        set_clock(monkeypatch, 0)
        with dp.open_ledger(tmp_path / "l", dp.PureDP(10**9)) as ledger:
            asker = curator(ROWS, ledger)
            report = asker.stream(BY_REGION, dp.PureDP(10**9), name="v", seal=seal, **WORDS)
            assert ledger.left() == dp.PureDP(0)
            assert [entry.kind for entry in ledger.history()][-1] == "seal"
            set_clock(monkeypatch, 9)
            assert column(report.close()) == [5] * 18
            noise = [entry for entry in ledger.history() if entry.key.endswith("/noise")]
            asker.stream(BY_REGION, dp.PureDP(10**9), name="v", seal=seal, **WORDS)
            again = [entry for entry in ledger.history() if entry.key.endswith("/noise")]
            assert noise == again and len(noise) == 1
            ledger.verify()

    @pytest.mark.parametrize(
        "budget",
        [dp.ApproxDP(3, "1e-6"), dp.GaussianDP(2), dp.ZCDP(1)],
    )
    def test_every_ledger_but_one_with_windows(self, budget, seal, monkeypatch):
        set_clock(monkeypatch, 1)
        ledger = dp.open_ledger(":memory:", budget)
        spend = {dp.ApproxDP: dp.ApproxDP(1, "1e-7"), dp.GaussianDP: dp.GaussianDP(1)}
        report = curator(ROWS, ledger).stream(
            ALL, spend.get(type(budget), dp.ZCDP("1/9")), name="v", seal=seal, **WORDS
        )
        assert len(report.close()) == 1
        ledger.verify()
        windowed = dp.open_ledger(":memory:", budget, window="month")
        with pytest.raises(dp.UnsupportedQuery, match="each window"):
            curator(ROWS, windowed).stream(ALL, dp.ZCDP("1/9"), name="v", seal=seal, **WORDS)

    def test_late_changed_and_deleted_rows_count_nowhere(self, ledger, seal, monkeypatch):
        """Closed days are frozen; a row counts if it is there when its day closes."""
        set_clock(monkeypatch, 3)
        rows = [visit(0), visit(0, "S"), visit(1)]
        first = curator(rows, ledger).stream(
            BY_REGION, PLENTY, name="v", seal=seal, late=1, **WORDS
        )
        assert column(first.close()) == [1, 1, 1, 0]
        set_clock(monkeypatch, 5)
        # Day 0: one deleted, one re-keyed, one late. Day 2: came in time.
        later = [visit(0, "N"), visit(0, "N"), visit(2, "S")]
        second = curator(later, ledger).stream(
            BY_REGION, PLENTY, name="v", seal=seal, late=1, **WORDS
        )
        assert column(second.close()) == [0, 1, 0, 0]
        assert column(second.by("day")) == [1, 1, 1, 0, 0, 1, 0, 0]

    def test_days_close_by_the_calendar_with_or_without_data(self, ledger, seal, monkeypatch):
        report = None
        for day, closed in [(0, 0), (2, 0), (3, 1), (9, 7), (40, 14)]:
            set_clock(monkeypatch, day)
            report = curator([], ledger).stream(ALL, PLENTY, name="v", seal=seal, late=2, **WORDS)
            report.close()
            assert report.closed == closed
        assert report.closes_at("2027-01-01").isoformat() == "2027-01-04T00:00:00+00:00"
        assert column(report.total()) == [0]

    def test_numbers_are_final_and_add_up(self, tmp_path, seal, monkeypatch):
        with dp.open_ledger(tmp_path / "l", dp.ZCDP(1)) as ledger:
            seen = []
            for day in range(1, 15):
                set_clock(monkeypatch, day)
                report = curator(ROWS, ledger).stream(
                    ALL, dp.ZCDP("1/10"), name="v", seal=seal, **WORDS
                )
                seen += column(report.close())
                assert column(report.by("day")) == seen
                assert column(report.total()) == [sum(seen)]
                assert sum(column(report.by("week"))) == sum(seen)
                assert column(report.by("total")) == np.cumsum(seen).tolist()

    def test_a_stopped_stream_stays_as_it_is(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 2)
        asker = curator(ROWS, ledger)
        report = asker.stream(ALL, PLENTY, name="v", seal=seal, **WORDS)
        report.close()
        with pytest.raises(dp.InvalidArgument, match="why"):
            report.stop(why=" ")
        report.stop(why="the survey ended")
        report.stop(why="once more")
        set_clock(monkeypatch, 5)
        with pytest.raises(dp.LedgerConflict, match="was stopped"):
            report.close()
        assert column(report.by("day")) == [10, 10]
        assert asker.streams()["v"].stopped
        assert [entry.why for entry in ledger.history() if entry.kind == "stop"] == [
            "the survey ended"
        ]
        ledger.verify()


class TestThePlan:
    def test_a_year_of_totals_reaches_the_bound(self, ledger):
        plan = curator(ROWS, ledger).plan_stream(
            BY_REGION, dp.ZCDP("1/2"), start="2027-01-01", periods=365, matters={"total": 1}
        )
        assert plan.noise.line.name == "optimum"
        assert plan.gap <= 1e-3
        assert plan.bound.rmse == pytest.approx(2.634, abs=1e-3)
        assert plan.errors["total"] == pytest.approx(2.635, abs=1e-3)

    def test_five_kinds_alike_by_default(self, ledger):
        asker = curator(ROWS, ledger)
        alike = asker.plan_stream(ALL, dp.ZCDP("1/2"), start="2027-01-01", periods=60)
        totals = asker.plan_stream(
            ALL, dp.ZCDP("1/2"), start="2027-01-01", periods=60, matters={"total": 1}
        )
        assert alike.errors["week"] < totals.errors["week"]
        assert alike.errors["total"] > totals.errors["total"]
        assert alike.gap < 2e-3
        assert "one charge" in str(alike)

    def test_several_days_a_person_are_fitted(self, ledger):
        plan = curator(ROWS, ledger, PEOPLE).plan_stream(
            ALL,
            dp.ZCDP("1/2"),
            start="2027-01-01",
            periods=60,
            per_person=dp.Days(7, apart=7, rows=2),
            matters={"total": 1},
        )
        assert plan.noise.line.name == "fitted"
        assert plan.noise.norms.size == 2 * 2**20
        assert dict(plan.tried)["fitted"] < dict(plan.tried)["root"]
        assert 0 < plan.gap < 0.2

    def test_a_person_within_a_day_needs_no_caps(self, ledger):
        plan = curator(ROWS, ledger, PERSON_DAYS).plan_stream(
            ALL, dp.ZCDP("1/2"), start="2027-01-01", periods=20
        )
        assert plan.noise.counted.days == 1
        assert plan.noise.norms.size == 3 * 2**20

    def test_replaced_rows_cost_twice_the_square(self, ledger):
        swapped = dp.Schema("visits", dp.Rows(), dict(VISITS.columns), neighbours="replace")
        own = curator(ROWS, dp.open_ledger(":memory:", dp.ZCDP(1)), swapped).plan_stream(
            ALL, dp.ZCDP("1/2"), start="2027-01-01", periods=20, matters={"total": 1}
        )
        plain = curator(ROWS, ledger).plan_stream(
            ALL, dp.ZCDP("1/2"), start="2027-01-01", periods=20, matters={"total": 1}
        )
        assert own.rmse == pytest.approx(plain.rmse * math.sqrt(2), rel=1e-6)


class TestIntervals:
    @pytest.mark.statistical
    def test_days_weeks_and_totals_are_covered(self, tmp_path, seal, monkeypatch):
        """1,500 keys of 14 days at 90 %. The keys have independent noise, so coverage of one sum has
        a standard error of 0.8 %; below 84 % has probability ≤ 1e-9."""
        schema = dp.Schema(
            "visits", dp.Rows(), {"day": VISITS.columns["day"], "k": dp.Integer(1, 1500)}
        )
        set_clock(monkeypatch, 14)
        ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
        sql = "SELECT day, k, COUNT(*) AS n FROM visits GROUP BY day, k"
        report = curator([], ledger, schema).stream(
            sql, dp.ZCDP("1/50"), name="v", seal=seal, **WORDS
        )
        report.close()
        for table in (report.by("day"), report.by("week"), report.by("total"), report.total()):
            ends = np.array(table.interval(0.9))
            covered = (ends[:, 0] <= 0) & (ends[:, 1] >= 0)
            by_sum = covered.reshape(len(table.sums), -1).mean(axis=1)
            assert (by_sum >= 0.84).all()
            assert by_sum.mean() <= 0.95

    def test_joint_intervals_are_wider(self, tmp_path, seal, monkeypatch):
        set_clock(monkeypatch, 14)
        for spend in (dp.ZCDP("1/99"), dp.PureDP("1/9")):
            ledger = dp.open_ledger(":memory:", spend)
            report = curator(ROWS, ledger).stream(ALL, spend, name="v", seal=seal, **WORDS)
            report.close()
            table = report.by("day")
            widths = [high - low for low, high in table.interval(0.95)]
            joint = [high - low for low, high in table.interval(0.95, joint=True)]
            assert all(wide > narrow for wide, narrow in zip(joint, widths, strict=True))

    def test_tables_are_frames_and_json_too(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 2)
        report = curator(ROWS, ledger).stream(BY_REGION, PLENTY, name="v", seal=seal, **WORDS)
        table = report.close()
        assert table.to_polars().columns == ["from", "to", "region", "n", "low", "high"]
        assert table.to_json()["rows"][0] == ["2027-01-01", "2027-01-01", "N", 5, 5.0, 5.0]
        assert "stream v by day" in str(table) and "<table" in table._repr_html_()
        with pytest.raises(dp.InvalidArgument, match="no column 'm'"):
            table.column("m")


class TestRefusals:
    """Each in the user's words, before anything is charged or read."""

    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            ("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", "the day of each row"),
            ("SELECT COUNT(*) AS n FROM visits", "the day of each row"),
            ("SELECT day, AVG(minutes) AS m FROM visits GROUP BY day", "no sum of days"),
            ("SELECT day, MEDIAN(minutes) AS m FROM visits GROUP BY day", "no sum of days"),
            ("SELECT day, COUNT(*) AS n, SUM(minutes) AS m FROM visits GROUP BY day", "one stream"),
            ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day ORDER BY n", "ORDER BY"),
            ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day HAVING COUNT(*) > 5", "HAVING"),
            ("SELECT day, 2 * COUNT(*) AS n FROM visits GROUP BY day", "computed"),
            (
                "SELECT DATE_TRUNC('week', day) AS w, COUNT(*) AS n FROM visits GROUP BY 1",
                "day by day",
            ),
            (
                "SELECT day, COUNT(*) AS n FROM (SELECT day FROM visits UNION ALL "
                "SELECT day FROM visits) AS twice GROUP BY day",
                "copies rows",
            ),
            (
                "SELECT day, region, COUNT(*) AS n FROM visits GROUP BY CUBE (day, region)",
                "one set",
            ),
        ],
    )
    def test_questions(self, ledger, seal, sql, words):
        with pytest.raises(dp.UnsupportedQuery, match=words):
            curator(ROWS, ledger).stream(sql, PLENTY, name="v", seal=seal, **WORDS)
        assert len(ledger.history()) == 1

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"periods": 40_000}, "36525"),
            ({"periods": 0}, "periods"),
            ({"start": "tomorrow"}, "2027-01-31"),
            ({"late": -1}, "late"),
            ({"matters": {"hour": 1}}, "hour"),
            ({"matters": {"day": 0}}, "above 0"),
            ({"matters": 3}, "weight"),
            ({"per_person": 3}, "dp.Days"),
            ({"name": "a b"}, "identifier"),
            ({"seal": None}, "Seal.create"),
        ],
    )
    def test_words(self, ledger, seal, change, words):
        given = {"name": "v", "seal": seal, **WORDS, **change}
        with pytest.raises(dp.InvalidArgument, match=words):
            curator(ROWS, ledger).stream(ALL, PLENTY, **given)
        assert len(ledger.history()) == 1

    def test_units(self, ledger, seal):
        caps = dp.Days(3)
        with pytest.raises(dp.UnsupportedQuery, match="leave it out"):
            curator(ROWS, ledger).stream(ALL, PLENTY, name="v", seal=seal, per_person=caps, **WORDS)
        with pytest.raises(dp.UnsupportedQuery, match="any day"):
            curator(ROWS, ledger, PEOPLE).stream(ALL, PLENTY, name="v", seal=seal, **WORDS)
        with pytest.raises(dp.UnsupportedQuery, match="already"):
            curator(ROWS, ledger, PERSON_DAYS).stream(
                ALL, PLENTY, name="v", seal=seal, per_person=caps, **WORDS
            )
        people = "SELECT day, COUNT(DISTINCT who) AS n FROM visits GROUP BY day"
        with pytest.raises(dp.UnsupportedQuery, match="no sum of days"):
            curator(ROWS, ledger, PEOPLE).stream(
                people, PLENTY, name="v", seal=seal, per_person=caps, **WORDS
            )

    def test_unknown_keys(self, ledger, seal):
        schema = dp.Schema("visits", dp.Rows(), {"day": VISITS.columns["day"], "note": dp.Text(20)})
        sql = "SELECT day, note, COUNT(*) AS n FROM visits GROUP BY day, note"
        with pytest.raises(dp.UnsupportedQuery, match="not public"):
            curator([], ledger, schema).stream(sql, PLENTY, name="v", seal=seal, **WORDS)

    def test_a_long_pure_stream(self, seal):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        with pytest.raises(dp.UnsupportedQuery, match="4,096"):
            curator([], ledger).stream(
                ALL, dp.PureDP(1), name="v", seal=seal, start="2027-01-01", periods=5000
            )

    def test_a_budget_that_is_too_small(self, seal):
        ledger = dp.open_ledger(":memory:", dp.ZCDP("1/10"))
        with pytest.raises(dp.BudgetExceeded):
            curator([], ledger).stream(ALL, dp.ZCDP(1), name="v", seal=seal, **WORDS)
        assert len(ledger.history()) == 1

    def test_another_stream_of_the_same_name(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 1)
        asker = curator(ROWS, ledger)
        asker.stream(ALL, PLENTY, name="v", seal=seal, **WORDS)
        with pytest.raises(dp.InvalidArgument, match="other terms"):
            asker.stream(BY_REGION, PLENTY, name="v", seal=seal, **WORDS)
        with pytest.raises(dp.InvalidArgument, match="there are v"):
            find_stream(asker.context, "w")

    def test_a_changed_schema(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 1)
        curator(ROWS, ledger).stream(BY_REGION, PLENTY, name="v", seal=seal, **WORDS)
        columns = dict(VISITS.columns) | {"region": dp.Category(["N", "S", "E"])}
        later = curator(ROWS, ledger, dp.Schema("visits", dp.Rows(), columns))
        with pytest.raises(dp.SchemaMismatch, match="another schema"):
            find_stream(later.context, "v")
        # The others stay within reach, and what the refusal advises works.
        assert later.streams() == {}
        ledger.stop_stream("v", why="a region more")
        assert stream_state(ledger, "v")["stopped"]
        report = later.stream(BY_REGION, PLENTY, name="w", seal=seal, **WORDS)
        assert list(later.streams()) == [report.name] == ["w"]

    def test_ranges_that_are_not_closed(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 3)
        report = curator(ROWS, ledger).stream(ALL, PLENTY, name="v", seal=seal, **WORDS)
        report.close()
        for first, last in [("2026-12-31", "2027-01-02"), ("2027-01-02", "2027-01-04")]:
            with pytest.raises(dp.InvalidArgument, match="closed days from 2027-01-01"):
                report.between(first, last)
        with pytest.raises(dp.InvalidArgument, match="one of day, week"):
            report.by("hour")

    def test_closing_without_the_key_file(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 3)
        asker = curator(ROWS, ledger)
        asker.stream(ALL, PLENTY, name="v", seal=seal, **WORDS)
        with pytest.raises(dp.InvalidArgument, match="Seal.load"):
            asker.streams()["v"].close()

    def test_a_failing_store_has_one_message_and_the_day_stays_due(self, ledger, seal, monkeypatch):
        set_clock(monkeypatch, 2)
        report = curator(ROWS, ledger).stream(ALL, PLENTY, name="v", seal=seal, **WORDS)

        def fail(self, tally):
            raise RuntimeError("row 7 holds 'ann'")

        with monkeypatch.context() as patched:
            patched.setattr(dp.Memory, "tally", fail)
            with pytest.raises(dp.EngineFailure) as failed:
                report.close()
        assert "ann" not in str(failed.value)
        assert column(report.close()) == [10, 10]

    def test_a_sealed_day_needs_the_store_no_more(self, ledger, seal, monkeypatch):
        """A death after the seal: rows may be gone meanwhile, and the day closes all the same."""
        set_clock(monkeypatch, 1)
        report = curator(ROWS, ledger).stream(ALL, PLENTY, name="v", seal=seal, **WORDS)

        def die(step):
            if step == "seal:after":
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(failpoints, "passed", die)
            with pytest.raises(KeyboardInterrupt):
                report.close()
        with monkeypatch.context() as patched:
            patched.setattr(dp.Memory, "tally", None)
            assert column(report.close()) == [10]


class TestNeighbours:
    """Statuses, entries, shapes and sizes are the same with and without one unit."""

    @pytest.mark.parametrize("schema", [VISITS, PEOPLE, PERSON_DAYS])
    @pytest.mark.parametrize(
        "extra",
        [
            [visit(0, who="zoe")],
            [visit(day, "S", who="zoe") for day in range(9)],
            [visit(3, "N", who="zoe", minutes=m) for m in range(20)],
            [{"day": "no day", "region": None, "who": "zoe"}],
        ],
    )
    def test_what_is_stored_has_the_same_shape(self, schema, extra, tmp_path, monkeypatch):
        caps = {"per_person": dp.Days(2, apart=2)} if schema is PEOPLE else {}
        shapes = []
        for place, rows in enumerate(([visit(1)], [visit(1), *extra])):
            set_clock(monkeypatch, 9)
            seal = dp.Seal.create(tmp_path / f"{place}.key")
            ledger = dp.open_ledger(tmp_path / f"{place}.ledger", dp.ZCDP(1))
            report = curator(rows, ledger, schema).stream(
                BY_REGION, dp.ZCDP("1/3"), name="v", seal=seal, **WORDS, **caps
            )
            table = report.close()
            stored = [
                (entry.kind, entry.key, entry.terms, entry.who, entry.event)
                for entry in ledger.history()[1:]
            ]
            sizes = [
                len(body)
                for entry, body in ledger.notes(ledger.stream("v"), range(9))
                if entry.kind == "seal"
            ]
            shapes.append(
                (stored, sizes, len(table), table.columns, [len(r) for r in table.rows()])
            )
        assert shapes[0] == shapes[1]


class TestMovedLedgers:
    def test_a_moved_and_an_imported_ledger_go_on(self, tmp_path, seal, monkeypatch):
        from discreet.ledger import import_ledger, move_ledger, verify_export

        now = clock.now() + timedelta(days=1)
        monkeypatch.setattr(clock, "now", lambda: now)
        start = (now - timedelta(days=3)).date()
        words = {**WORDS, "start": start}
        rows = [{"day": start, "region": "N", "minutes": 1}] * 4
        with dp.open_ledger(tmp_path / "one.ledger", dp.ZCDP(10**13)) as ledger:
            report = curator(rows, ledger).stream(ALL, PLENTY, name="v", seal=seal, **words)
            assert column(report.close()) == [4, 0, 0]
            ledger.export(tmp_path / "lines", answers=True)
            ledger.backup(tmp_path / "backup.ledger")
        verify_export(tmp_path / "lines")
        move_ledger(tmp_path / "one.ledger", tmp_path / "two.ledger")
        import_ledger(tmp_path / "lines", tmp_path / "three.ledger")
        later = now + timedelta(days=1)
        monkeypatch.setattr(clock, "now", lambda: later)
        with dp.open_ledger(tmp_path / "two.ledger") as moved:
            found = curator(rows, moved).streams(seal)["v"]
            assert column(found.close()) == [0]
            assert column(found.by("day")) == [4, 0, 0, 0]
            moved.verify()
        # The import has three days, the key file remembers the fourth.
        with (
            dp.open_ledger(tmp_path / "three.ledger") as old,
            pytest.raises(dp.LedgerCorrupt, match="older copy"),
        ):
            curator(rows, old).streams(seal)["v"].close()

    def test_an_export_without_answers_loses_its_streams(self, tmp_path, seal, monkeypatch):
        from discreet.ledger import import_ledger, verify_export

        with dp.open_ledger(tmp_path / "one.ledger", dp.ZCDP(10**13)) as ledger:
            start = clock.now().date() - timedelta(days=2)
            report = curator([], ledger).stream(
                ALL, PLENTY, name="v", seal=seal, **{**WORDS, "start": start}
            )
            report.close()
            ledger.export(tmp_path / "lines")
        verify_export(tmp_path / "lines")
        import_ledger(tmp_path / "lines", tmp_path / "two.ledger")
        with (
            dp.open_ledger(tmp_path / "two.ledger") as old,
            pytest.raises(dp.LedgerCorrupt, match="without its answers"),
        ):
            curator([], old).streams(seal)


class TestStoredStreams:
    """Ledgers with streams, as 0.2.0 first wrote them, open and go on for ever."""

    COLUMNS = {"day": VISITS.columns["day"], "region": VISITS.columns["region"]}
    SCHEMA = dp.Schema("visits", dp.People("who", max_rows=3), COLUMNS)

    @pytest.mark.parametrize(
        ("name", "days"), [("measured", [8, 1, -1, 0, 7, 0]), ("sealed", [8, -1, -2, 0, 6, 0])]
    )
    def test_they_say_what_they_said_and_go_on(self, name, days, tmp_path):
        from discreet.ledger import import_ledger

        home = Path(__file__).parents[1] / "fixtures" / "streams_0_2_0"
        shutil.copy(home / f"{name}.key", tmp_path / "v.key")
        import_ledger(home / f"{name}.lines", tmp_path / "v.ledger")
        with dp.open_ledger(tmp_path / "v.ledger") as ledger:
            rows = [{"day": date(2026, 1, 4), "region": "N", "who": f"q{n}"} for n in range(100)]
            report = curator(rows, ledger, self.SCHEMA).streams(dp.Seal.load(tmp_path / "v.key"))[
                "visits"
            ]
            assert column(report.by("day")) == days
            assert 50 < column(report.close())[0] < 150
            assert report.closed == 6
            ledger.verify()


class Unread(dp.Memory):
    """A store whose rows nobody may read."""

    def __init__(self):
        super().__init__({"visits": []})

    def tally(self, *_):
        raise AssertionError("a rehearsal reads no private row")


class TestRehearsals:
    @pytest.mark.parametrize("schema", [VISITS, PERSON_DAYS])
    def test_all_days_of_made_up_rows(self, schema):
        """As the stream will be: its days, keys and intervals; nothing is charged, no row is read."""
        ledger = dp.open_ledger(":memory:", PLENTY)
        words = {"start": START, "periods": 40, "matters": {"week": 1}}
        asker = dp.Curator(Unread(), [schema], ledger)
        report = asker.rehearse_stream(BY_REGION, dp.ZCDP(10**10), rows=300, **words)
        assert report.closed == 40 and len(report.by("day")) == 80
        # All rows have a day of the stream but those of a NULL region.
        assert 250 < sum(report.total().column("n")) <= 300
        assert report.plan.errors == asker.plan_stream(BY_REGION, dp.ZCDP(10**10), **words).errors
        assert len(ledger.history()) == 1 and asker.streams() == {}

    def test_what_the_stream_refuses(self):
        asker = curator([], dp.open_ledger(":memory:", dp.ZCDP(1)))
        words = {"start": START, "periods": 4, "matters": {"day": 1}}
        with pytest.raises(dp.BudgetExceeded):
            asker.rehearse_stream(ALL, dp.ZCDP(2), **words)
        with pytest.raises(dp.UnsupportedQuery, match="the day of each row"):
            asker.rehearse_stream("SELECT COUNT(*) AS n FROM visits", dp.ZCDP(1), **words)
