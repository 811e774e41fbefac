"""Turns: whoever opens many pages at once waits for their own, and nobody else does."""

from __future__ import annotations

import threading

import pytest

from discreet.service.http.concurrency_limit import SIDE_BY_SIDE, ConcurrencyLimit
from discreet.service.http.rate_limit import TooMany


def test_one_person_has_two_pages_made_and_others_go_on():
    turns, inside, go, most = (
        ConcurrencyLimit(most=8),
        threading.Semaphore(0),
        threading.Event(),
        [],
    )

    def page(person):
        with turns.turn(person):
            most.append(turns._working[person])
            inside.release()
            go.wait(60)

    crowd = [threading.Thread(target=page, args=("ana",)) for _ in range(6)]
    for one in crowd:
        one.start()
    for _ in range(SIDE_BY_SIDE):
        assert inside.acquire(timeout=60)
    bob = threading.Thread(target=page, args=("bob",))
    bob.start()
    assert inside.acquire(timeout=60)  # while four of ana's wait
    go.set()
    for one in (*crowd, bob):
        one.join(60)
    assert len(most) == 7 and max(most) == SIDE_BY_SIDE
    assert not turns._inside and not turns._working


def test_who_has_too_many_waiting_or_waits_too_long_is_told_and_holds_nothing(monkeypatch):
    turns = ConcurrencyLimit(most=3)
    monkeypatch.setattr("discreet.service.http.concurrency_limit.QUEUE_SECONDS", 0.01)
    with turns.turn("ana"), turns.turn("ana"):
        with pytest.raises(TooMany), turns.turn("ana"):
            pass
        with pytest.raises(TooMany), turns.turn("ana"):  # the one before has let go of its place
            pass
    with turns.turn("ana"):
        pass
    assert not turns._inside and not turns._working
    with pytest.raises(KeyError), turns.turn("ana"):
        raise KeyError  # a page that breaks
    assert not turns._inside and not turns._working
