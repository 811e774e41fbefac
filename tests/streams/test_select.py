"""SELECT over what a stream has published: its numbers and its intervals, for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.engines.base import failure
from discreet.streams.seal import Seal
from discreet.workloads.tail import normal_reach
from streams.cases import BY_REGION, START, VISITS, curator, set_clock, visit

KINDS = {
    "day": "day", "week": "DATE_TRUNC('week', day)", "month": "DATE_TRUNC('month', day)",
    "quarter": "DATE_TRUNC('quarter', day)", "year": "YEAR(day)",
}  # fmt: skip


def opened(tmp_path, monkeypatch, spend, budget=None):
    """Return a curator and its stream of 40 of 60 days, under noise of a few rows."""
    set_clock(monkeypatch, 0)
    rows = [visit(number % 45, "NS"[number % 3 // 2]) for number in range(900)]
    asker = curator(rows, dp.open_ledger(tmp_path / "v.ledger", budget or spend))
    words = {"name": "visits", "start": START, "periods": 60, "seal": Seal.create(tmp_path / "k")}
    report = asker.stream(BY_REGION, spend, **words, matters={"day": 1, "total": 1})
    set_clock(monkeypatch, 40)
    report.close()
    return asker, report


def numbers(answer, *, joint=False):
    """List the last column of an answer with its intervals."""
    name = answer.columns[-1]
    ends = [row[name] for row in answer.interval(0.9, joint=joint)]
    return [(value, *pair) for value, pair in zip(answer.column(name), ends, strict=True)]


@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.PureDP(1)])
class TestIntervals:
    """Sums that SQL asks for are those of `report.by`, with the same intervals, single and joint."""

    def test_every_kind_of_sums(self, spend, tmp_path, monkeypatch):
        asker, report = opened(tmp_path, monkeypatch, spend)
        for kind, text in KINDS.items():
            found = asker.sql(
                f"SELECT {text} AS part, region, SUM(n) AS n FROM stream.visits GROUP BY 1, 2"
            )
            assert numbers(found) == [row[3:] for row in report.by(kind).rows(0.9)]
        days = asker.sql("SELECT * FROM stream.visits")
        assert days.columns == ("day", "region", "n")
        joint = [row[3:] for row in report.by("day").rows(0.9, joint=True)]
        assert np.allclose(numbers(days, joint=True), joint)
        running = asker.sql(
            "SELECT day, region, SUM(n) OVER (PARTITION BY region ORDER BY day) AS n "
            "FROM stream.visits"
        )
        assert numbers(running) == [row[3:] for row in report.by("total").rows(0.9)]

    def test_nothing_is_spent_and_no_row_is_read(self, spend, tmp_path, monkeypatch):
        asker, _ = opened(tmp_path, monkeypatch, spend)
        entries = len(asker.ledger.history())

        def fails(*_):
            raise failure()

        monkeypatch.setattr(type(asker.context.engine), "tally", fails)
        found = asker.sql("SELECT SUM(n) AS n FROM Stream.visits v WHERE v.region = 'N'", spend)
        assert len(found) == 1 and found.receipt is None and "entry 2" in found.details()
        assert len(asker.ledger.history()) == entries

    def test_other_combinations_of_days(self, spend, tmp_path, monkeypatch):
        """The interval of Σ w·day is that of noise W·z, with W worked out from the strategy itself."""
        asker, report = opened(tmp_path, monkeypatch, spend)
        [found] = asker.sql(
            "SELECT SUM(CASE WHEN EXTRACT(ISODOW FROM day) = 7 THEN 1.5 * n ELSE -0.5 * n END) AS x "
            "FROM stream.visits WHERE day >= '2027-01-08'"
        ).interval(0.9)
        weights = np.zeros(60)
        for day in range(7, 40):
            # 2027-01-01 is a Friday.
            weights[day] = 1.5 if day % 7 == 2 else -0.5
        noise = report.plan.noise
        if not noise.sealed:
            factors = np.array([np.pad(noise.line.row(day), (0, 59 - day)) for day in range(60)])
            square = float((np.linalg.solve(factors.T, weights) ** 2).sum())
            # Two regions of independent noise.
            half = float(normal_reach(np.sqrt(2 * square * noise.measured.variance), 0.1))
            assert found["x"][1] - found["x"][0] == pytest.approx(2 * half, rel=1e-3)
            return
        running = np.concatenate([weights[:-1] - weights[1:], weights[-1:]])
        each = noise.line.weights(list(range(1, 61)))
        square = 2 * float(((running @ each) ** 2).sum()) * noise.measured.variance
        width = found["x"][1] - found["x"][0] - 2 * float(np.abs(running).sum())
        assert 2 * 1.6 < width / np.sqrt(square) < 2 * 1.75


class TestForms:
    def test_what_a_released_table_has_a_stream_has(self, tmp_path, monkeypatch):
        asker, report = opened(tmp_path, monkeypatch, dp.ZCDP("1/2"))
        share = asker.sql(
            "WITH w AS (SELECT region, SUM(n) AS n FROM stream.visits GROUP BY region) "
            "SELECT region, n / SUM(n) OVER () AS share FROM w ORDER BY share DESC LIMIT 1"
        )
        [(low, high)] = [row["share"] for row in share.interval()]
        assert share.column("region") == ["N"] and low < 2 / 3 < high
        assert len(asker.sql("SELECT day, n FROM stream.visits WHERE n < -1000")) == 0
        assert asker.sql("SELECT COUNT(*) AS n FROM stream.visits").column("n") == [80]
        assert asker.sql("SELECT MAX(n) AS n FROM stream.visits").interval() == ({"n": None},)
        report.stop(why="over")
        assert len(asker.sql("SELECT day, region, n FROM stream.visits")) == 80

    def test_a_stream_without_closed_days(self, tmp_path, monkeypatch):
        set_clock(monkeypatch, 0)
        asker = curator([], dp.open_ledger(tmp_path / "v.ledger", dp.ZCDP(1)))
        key = Seal.create(tmp_path / "k")
        asker.stream(BY_REGION, dp.ZCDP(1), name="visits", start=START, periods=9, seal=key)
        assert len(asker.sql("SELECT day, n FROM stream.visits")) == 0


class TestRefusals:
    @pytest.mark.parametrize(
        ("sql", "words"),
        [
            ("SELECT n FROM stream.other", "no stream 'other' in this ledger; there are visits"),
            ("SELECT who FROM stream.visits", "no column 'who' here; there are day, region, n"),
            ("SELECT MEDIAN(n) AS m FROM stream.visits", "there are SUM, AVG, COUNT, MIN and MAX"),
            ("SELECT a.n FROM stream.visits a JOIN visits b ON a.day = b.day", "ask for each table"),
            ("SELECT a.n FROM stream.visits a, stream.more b", "ask for each by itself"),
            ("SELECT n FROM stream.visits UNION ALL SELECT n FROM stream.visits", "two questions"),
            ("SELECT COUNT(*) AS n FROM visits WHERE day IN (SELECT day FROM stream.visits)", "IN"),
            ("SELECT (SELECT SUM(n) FROM stream.visits) AS s, COUNT(*) AS n FROM visits", "alone"),
            ("WITH s AS (SELECT n FROM stream.visits) SELECT COUNT(*) AS n FROM visits", "that stream alone"),
            ("DELETE FROM stream.visits", "DELETE"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_said(self, sql, words, tmp_path, monkeypatch):
        asker, _ = opened(tmp_path, monkeypatch, dp.ZCDP("1/2"), dp.ZCDP(1))
        entries = len(asker.ledger.history())
        with pytest.raises(dp.DiscreetError, match=words):
            asker.sql(sql, dp.ZCDP("1/4"))
        assert len(asker.ledger.history()) == entries

    def test_a_stream_is_never_the_private_table_of_its_name(self, tmp_path, monkeypatch):
        asker, _ = opened(tmp_path, monkeypatch, dp.ZCDP("1/2"), dp.ZCDP(1))
        sql = "SELECT COUNT(*) AS n FROM stream.visits"
        spend = dp.ZCDP("1/4")
        for verb in (asker.explain, asker.plan, asker.rehearse):
            with pytest.raises(dp.UnsupportedQuery, match="ask it by itself, for nothing"):
                verb(sql, spend)
        with pytest.raises(dp.UnsupportedQuery, match="ask it by itself, for nothing"):
            asker.release({"a": sql}, spend)
        with pytest.raises(dp.UnsupportedQuery, match="ask it by itself, for nothing"):
            asker.synthesize("SELECT region FROM stream.visits", spend)

    def test_another_version_of_the_table(self, tmp_path, monkeypatch):
        asker, _ = opened(tmp_path, monkeypatch, dp.ZCDP("1/2"))
        raised = dp.Schema("visits", dp.Rows(), VISITS.columns, version="2")
        with pytest.raises(dp.SchemaMismatch, match="another schema, version or list of keys"):
            curator([], asker.ledger, raised).sql("SELECT n FROM stream.visits")
