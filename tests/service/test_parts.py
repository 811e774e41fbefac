"""Grid, limits, log, metrics: the small parts by themselves."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.base import cancelled, failure
from discreet.errors import EngineFailure, SchemaMismatch
from discreet.service.config import RequestBounds
from discreet.service.http import rate_limit as limits_room
from discreet.service.http.audit_log import Log, place_of
from discreet.service.http.metrics import Metrics
from discreet.service.http.rate_limit import Limits, TokenBuckets, TooMany
from discreet.service.jobs.paced_engine import pace
from discreet.service.jobs.timing_grid import TimingGrid
from service.loops import run

seconds = st.floats(0, 10_000)


class TestGrid:
    """A query that starts at t shows what came of it at t + g·2^j, whichever comes first after it is done."""

    @given(st.sampled_from([0.05, 0.25, 1.0]), seconds)
    def test_the_tick_is_the_first_power_of_two_that_is_late_enough(self, base, taken):
        tick = TimingGrid(base).tick(0.0, taken)
        ticks = [base * 2**j for j in range(40)]
        assert tick == next(t for t in ticks if t >= taken - 1e-9 * taken)

    @given(seconds, seconds)
    def test_between_two_ticks_all_times_look_the_same(self, one, other):
        grid = TimingGrid(0.25)
        if grid.tick(0.0, one) == grid.tick(0.0, other):
            for now in (0.1, 0.25, 1.0, 4096.0, 1e6):
                assert grid.shows(0.0, one, now) == grid.shows(0.0, other, now)

    def test_what_is_not_finished_is_not_shown(self):
        assert not TimingGrid(0.25).shows(0.0, None, 1e9)

    def test_it_waits_for_the_moment(self):
        started = time.time()
        run(TimingGrid(0.05).until, started + 0.05)
        assert time.time() >= started + 0.049
        run(TimingGrid(0.05).until, started)


class TestPaced:
    """The store's totals, and its failures, come at ticks fixed before it is asked."""

    def engine(self, act):
        class Store:
            def tally(self, tally):
                return act(tally)

            def explain(self, tally):
                return "text"

            def check(self, schema):
                raise SchemaMismatch("no")

            def public_values(self, table, column):
                return ("a",)

        return pace(Store(), 0.2)

    def test_totals_are_held_back(self):
        began = time.time()
        assert self.engine(lambda _: {(): (1,)}).tally(None) == {(): (1,)}
        assert time.time() - began >= 0.149

    def test_failures_are_held_back_unless_somebody_stopped_the_query(self):
        def fails(_):
            raise failure()

        def stops(_):
            raise cancelled()

        began = time.time()
        with pytest.raises(EngineFailure):
            self.engine(fails).tally(None)
        held = time.time() - began
        began = time.time()
        with pytest.raises(EngineFailure):
            self.engine(stops).tally(None)
        assert held >= 0.149
        assert time.time() - began < held

    def test_all_else_passes(self):
        engine = self.engine(None)
        assert (engine.explain(None), engine.public_values(None, "x")) == ("text", ("a",))
        with pytest.raises(SchemaMismatch):
            engine.check(None)


class TestLimits:
    def test_a_bucket_refills_steadily(self):
        now = [0.0]
        bucket = TokenBuckets(60, clock=lambda: now[0])
        assert all(bucket.wait("a") == 0 for _ in range(60))
        assert bucket.wait("a") == pytest.approx(1.0)
        assert bucket.wait("b") == 0
        now[0] = 1.0
        assert bucket.wait("a") == 0
        assert bucket.wait("a") > 0

    def test_the_longest_unused_are_forgotten(self, monkeypatch):
        monkeypatch.setattr(limits_room, "MAX_KEYS", 2)
        bucket = TokenBuckets(1)
        for key in ("a", "b", "c"):
            bucket.wait(key)
        assert bucket.wait("b") > 0
        assert bucket.wait("a") == 0

    def test_a_person_who_asks_too_often_must_wait(self):
        limits = Limits(RequestBounds(requests_per_minute=2))
        limits.request("ana")
        limits.request("ana")
        with pytest.raises(TooMany) as refused:
            limits.request("ana")
        assert 1 <= refused.value.seconds <= 30
        limits.request("bob")

    def test_an_address_that_fails_too_often_must_wait(self):
        limits = Limits(RequestBounds(failures_per_minute=1))
        limits.failure("here")
        with pytest.raises(TooMany):
            limits.failure("here")
        limits.failure("there")


class TestLog:
    def test_a_line_says_who_did_what(self, tmp_path):
        log = Log(str(tmp_path / "audit.log"))
        log.write("sql done", who="ana", dataset="census", question="ab12", status=200)
        log.write("enter", status=401)
        first, second = [
            json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()
        ]
        assert (first["who"], first["verb"], first["question"], first["status"]) == (
            "ana",
            "sql done",
            "ab12",
            200,
        )
        assert set(second) == {"time", "verb", "status"}
        assert (tmp_path / "audit.log").stat().st_mode & 0o077 == 0

    def test_without_a_file_it_goes_to_the_standard_error(self, capsys):
        Log().write("enter", status=401)
        assert json.loads(capsys.readouterr().err)["status"] == 401

    def test_what_broke_is_named_without_what_it_said(self):
        with pytest.raises(KeyError) as raised:
            {}["Ada Lovelace, 36"]
        assert place_of(raised.value).startswith("KeyError at test_parts.py:")
        assert "Ada" not in place_of(raised.value)


def test_metrics_count_classes_of_status_only():
    metrics = Metrics()
    for status in (200, 201, 404, 502):
        metrics.count(status)
    assert 'status="2xx"} 2' in metrics.text()
    assert 'status="5xx"} 1' in metrics.text()
