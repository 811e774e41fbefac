"""Entries of streams: the first write wins, periods have no gap, and a forged one is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import discreet as dp
from discreet.arithmetic.canonical import canonical_json, digest
from discreet.ledger.charge_order import ChargeOrder
from discreet.ledger.entry import read_line, seal, write_line
from discreet.ledger.review.chain_replay import ChainReplay
from discreet.ledger.stream_entries import NOISE, period_key, stream_key
from discreet.workloads.strategy_norms import StrategyNorms
from discreet.workloads.stream_noise import buy_noise
from discreet.workloads.triangular import Participation, root_strategy

NOTE = buy_noise(root_strategy(3), Participation(), 1, StrategyNorms(), dp.ZCDP("1/2"))


def body_of(noise=NOTE, **more):
    terms = {"periods": 3, "noise": noise.to_json(), "late": 0, **more}
    return canonical_json({"asked": "a stream", "stream": terms})


def order_of(event=NOTE.event, who="ann"):
    return ChargeOrder(who, "", "q", stream_key("v"), event, None, text="v", apart=False)


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    where = ":memory:" if request.param == "memory" else tmp_path / "l"
    with dp.open_ledger(where, dp.ZCDP(1)) as opened:
        yield opened


def opened_stream(ledger):
    return ledger.open_stream("v", order_of(), body_of())


class TestFirstWriteWins:
    def test_a_stream_is_charged_once(self, ledger):
        first = opened_stream(ledger)
        second = opened_stream(ledger)
        assert first.charge == second.charge and first.body == second.body
        assert ledger.spent().rho <= dp.ZCDP("1/2").rho
        assert ledger.streams() == ["v"] and ledger.stream("w") is None
        with pytest.raises(dp.InvalidArgument, match="other terms"):
            ledger.open_stream("v", order_of(), body_of(late=1))

    def test_one_seal_and_one_period_a_day(self, ledger):
        stream = opened_stream(ledger)
        entry, body = ledger.note(stream, "seal", 0, "first")
        assert body == "first" and entry.key == period_key("v", 0)
        again, kept = ledger.note(stream, "seal", 0, "second")
        assert (again, kept) == (entry, "first")
        ledger.note(stream, "period", 0, "published")
        assert ledger.note(stream, "period", 0, "else")[1] == "published"
        assert [body for _, body in ledger.notes(stream, range(3))] == ["first", "published"]
        ledger.verify()

    def test_periods_come_in_order_and_after_their_seal(self, ledger):
        stream = opened_stream(ledger)
        with pytest.raises(dp.InvalidArgument, match="before it is sealed"):
            ledger.note(stream, "period", 0, "x")
        with pytest.raises(dp.InvalidArgument, match="comes before"):
            ledger.note(stream, "seal", 1, "x")
        ledger.note(stream, "seal", NOISE, "noise")
        ledger.note(stream, "seal", 0, "x")
        with pytest.raises(dp.InvalidArgument, match="comes before"):
            ledger.note(stream, "seal", 1, "x")
        other = replace(stream, charge=replace(stream.charge, number=1))
        with pytest.raises(dp.InvalidArgument, match="no stream"):
            ledger.note(other, "seal", 1, "x")
        ledger.verify()

    def test_nothing_is_written_after_a_stop(self, ledger):
        stream = opened_stream(ledger)
        ledger.note(stream, "seal", 0, "x")
        ledger.note(stream, "stop", None, "{}", why="over")
        with pytest.raises(dp.LedgerConflict, match="was stopped"):
            ledger.note(stream, "period", 0, "x")
        assert ledger.note(stream, "seal", 0, "y")[1] == "x"
        assert ledger.stream("v").stop.why == "over"
        ledger.verify()

    def test_lines_are_read_once_for_the_list_of_streams(self, ledger, monkeypatch):
        opened_stream(ledger)
        assert ledger.streams() == ["v"]
        read = []
        lines = ledger._store.lines
        monkeypatch.setattr(
            type(ledger._store), "lines", lambda _, *ends: read.append(ends) or lines(*ends)
        )
        assert ledger.streams() == ["v"] and not read
        ledger.open_stream("w", replace(order_of(), key=stream_key("w")), body_of(late=1))
        assert ledger.streams() == ["v", "w"] and read == [(3, 3)]

    def test_people_without_an_allowance_open_nothing(self, tmp_path):
        with dp.open_ledger(tmp_path / "l", dp.ZCDP(1), allowances={"bob": dp.ZCDP(1)}) as own:
            with pytest.raises(dp.NotAllowed):
                opened_stream(own)
            own.open_stream("v", order_of(who="bob"), body_of())
            with pytest.raises(dp.NotAllowed):
                opened_stream(own)


def lines_of(ledger):
    """All lines with their bodies, of a stream with two closed days that was stopped."""
    stream = opened_stream(ledger)
    for period in range(2):
        ledger.note(stream, "seal", period, "s")
        ledger.note(stream, "period", period, "p")
    ledger.note(stream, "stop", None, "{}", why="over")
    stored = ledger._store.lines(1, 99)
    return [(read_line(each.line), each.body) for each in stored]


def replay(entries):
    """Link entries anew, as a forger would, and replay them."""
    state = ChainReplay()
    previous = ""
    for number, (entry, body) in enumerate(entries, start=1):
        linked = seal(replace(entry, number=number, previous=previous))
        previous = linked.hash
        state.step(write_line(linked), body, bodies=True)


class TestForgedStreams:
    def test_the_true_chain_holds(self):
        replay(lines_of(dp.open_ledger(":memory:", dp.ZCDP(1))))

    @pytest.mark.parametrize(
        "forge",
        [
            lambda e: [*e[:3], *e[4:]],  # a period is missing
            lambda e: [*e[:3], e[2], *e[3:]],  # sealed twice
            lambda e: [*e[:4], e[3], *e[4:]],  # published twice
            lambda e: [*e[:2], e[4], e[5], e[2], e[3], e[6]],  # out of order
            lambda e: [*e, e[6]],  # stopped twice
            lambda e: [e[0], e[1], e[6], *e[2:6]],  # goes on after its stop
            lambda e: [*e[:2], (replace(e[2][0], refers=1), "s"), *e[3:]],  # of no stream
            lambda e: [*e[:2], (replace(e[2][0], key="2:stream:v/000007"), "s"), *e[3:]],
            lambda e: [*e[:3], (replace(e[3][0], terms={"period": 5}), "p"), *e[4:]],
        ],
    )
    def test_a_stream_that_could_not_have_been_is_refused(self, forge):
        entries = lines_of(dp.open_ledger(":memory:", dp.ZCDP(1)))
        with pytest.raises(dp.LedgerCorrupt):
            replay(forge(entries))

    def test_no_period_lies_beyond_the_horizon(self):
        entries = lines_of(dp.open_ledger(":memory:", dp.ZCDP(1)))[:6]
        for period in (2, 3):
            for kind in ("seal", "period"):
                key = period_key("v", period)
                last = entries[-1][0]
                made = replace(last, kind=kind, key=key, terms={"period": period})
                entries.append((replace(made, body_hash=digest("x")), "x"))
        replay(entries[:8])
        with pytest.raises(dp.LedgerCorrupt, match="does not follow in its stream"):
            replay(entries)

    @pytest.mark.parametrize("change", [{"days": 2}, {"scale": "1"}, {"size": 9}, {"grid": 1}])
    def test_an_event_must_be_that_of_strategy_and_caps(self, change):
        noise = NOTE.to_json() | change
        body = canonical_json({"asked": "", "stream": {"periods": 3, "noise": noise}})
        ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
        ledger.open_stream("v", order_of(), body)
        with pytest.raises(dp.LedgerCorrupt, match="another event"):
            ledger.verify()

    def test_a_body_of_another_form_is_refused(self):
        ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
        ledger.open_stream("v", order_of(), json.dumps({"stream": {"periods": 3}}))
        with pytest.raises(dp.LedgerCorrupt, match="another event"):
            ledger.verify()
