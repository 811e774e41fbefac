"""The same ledger in memory, in a file and on a server."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

import pytest

import discreet as dp


class Place:
    """Somewhere a ledger can be opened, and opened again."""

    def __init__(self, kind, where, name):
        self.kind, self.where, self.name = kind, where, name
        self.opened = []

    def open(self, *args, **terms):
        ledger = dp.open_ledger(self.where, *args, name=self.name, **terms)
        self.opened.append(ledger)
        return ledger

    def close(self):
        for ledger in self.opened:
            ledger.close()


def _place(kind, request, tmp_path):
    if kind == "memory":
        where = ":memory:"
    elif kind == "sqlite":
        where = tmp_path / "people.ledger"
    else:
        where = request.getfixturevalue("postgres_dsn")
    return Place(kind, where, secrets.token_hex(8))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """Each store in turn."""
    made = _place(request.param, request, tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgres"])
def durable(request, tmp_path):
    """Each store that outlives its process."""
    made = _place(request.param, request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def file(tmp_path):
    """The path of a ledger in a file."""
    return tmp_path / "people.ledger"


@pytest.fixture
def stopped_clock(monkeypatch):
    """A clock that the test sets: of this machine, and of the server as the ledger asks for it."""
    from discreet.ledger import clock
    from discreet.ledger.stores import postgres

    class Clock:
        def __init__(self):
            self.set(datetime(2026, 5, 14, 9, 30, tzinfo=UTC))

        def set(self, time):
            self.time = time
            monkeypatch.setattr(clock, "now", lambda: time)
            monkeypatch.setattr(postgres, "_NOW", f"SELECT timestamptz '{time.isoformat()}'")

        def move(self, **step):
            self.set(self.time + timedelta(**step))

    return Clock()
