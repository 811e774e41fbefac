"""Standing reports by `dp.connect`: opened, closed, shown and stopped as at hand, with equal numbers."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.streams.seal import Seal
from service.deployment import serving
from service.test_streams import SQL, START, deploy, set_day

WORDS = {"start": START, "periods": 30, "matters": {"day": 1, "total": 1}}


def test_a_remote_stream_is_the_stream(tmp_path, monkeypatch):
    set_day(monkeypatch, 0)
    with serving(deploy(tmp_path)) as house:
        ana = dp.connect(house.url, token=house.tokens["ana"])
        stella = dp.connect(house.url, token=house.tokens["stella"], dataset="people")
        with ana, stella:
            report = ana.stream(SQL, dp.ZCDP(1), name="visits", **WORDS)
            assert ana.stream(SQL, dp.ZCDP(1), name="visits", **WORDS).number == report.number
            with pytest.raises(dp.UnsupportedQuery, match="day of each row"):
                ana.stream("SELECT COUNT(*) AS n FROM visits", dp.ZCDP(1), name="w", **WORDS)
            with pytest.raises(dp.InvalidArgument, match="other terms"):
                ana.stream(SQL, dp.ZCDP(2), name="visits", **WORDS)
            set_day(monkeypatch, 9)
            with pytest.raises(dp.NotAllowed):
                report.close()
            closed = stella.streams()["visits"].close()
            assert len(closed) == 18 and report.closed == report.due == 9
            assert report.by("day").rows() == closed.rows()
            assert ana.left_by_block() == []
            sql = "SELECT ward, SUM(n) AS n FROM stream.visits GROUP BY ward"
            asked = ana.sql(sql, dp.ZCDP(1), level=0.9)
            with pytest.raises(dp.NotAllowed):
                report.stop(why="no")
            stella.streams()["visits"].stop(why="it ended")
            assert report.stopped and "stopped" in repr(report)
            views = {kind: report.by(kind).rows(0.9, joint=True) for kind in ("week", "total")}
            ranged = report.between(START, START).rows()
            assert report.closes_at(START).date() > START and report.plan.gap is not None
    with dp.open_ledger(tmp_path / "people.ledger") as ledger:
        schemas = dp.read_schemas(tmp_path / "people.toml")
        curator = dp.Curator(dp.Memory({"visits": []}), schemas, ledger)
        local = curator.streams(Seal.load(tmp_path / "visits.key"))["visits"]
        assert {kind: local.by(kind).rows(0.9, joint=True) for kind in views} == views
        read_here = curator.sql(sql, level=0.9)
        assert read_here.interval(0.9) == asked.interval(0.9) and read_here.rows == asked.rows
        assert local.between(START, START).rows() == ranged
        ledger.verify()
