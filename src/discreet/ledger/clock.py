"""Clock of a ledger: times in UTC, to the microsecond, never earlier than the last entry.

A window of a budget begins by the clock. A clock that was set back must not open an old window
again, so nothing is written under it. A clock that is up to five seconds behind the last entry (a
correction by NTP) must not stop the work: the new entry then takes the time of the last one.

Law: tests/ledger/test_ledger.py::TestTheClockMayNotGoBack
"""

from __future__ import annotations

from datetime import UTC, datetime

from ..errors import LedgerUnavailable

SMALL_STEP = 5.0
"""Seconds a clock may be behind the last entry; the entry then takes the last one's time."""


def now() -> datetime:
    """Return the time of this machine."""
    return datetime.now(UTC)


def write_time(time: datetime) -> str:
    """Write a time so that text order is time order.

    >>> from datetime import UTC, datetime
    >>> from discreet.ledger.clock import write_time
    >>> write_time(datetime(2026, 5, 1, 9, 30, tzinfo=UTC))
    '2026-05-01T09:30:00.000000Z'
    """
    utc = time.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds") + "Z"


def read_time(text: str) -> datetime:
    """Read a time in exactly the form of `write_time`; raise ValueError for all other text.

    >>> from discreet.ledger.clock import read_time
    >>> read_time("2026-05-01T09:30:00.000000Z")
    datetime.datetime(2026, 5, 1, 9, 30, tzinfo=datetime.timezone.utc)
    """
    time = datetime.fromisoformat(text)
    if write_time(time) != text:
        raise ValueError("a time of a ledger is written in one way only")
    return time


def stamp(time: datetime, last: str) -> str:
    """Return the time of the next entry, at least that of the last one.

    >>> from datetime import UTC, datetime
    >>> from discreet.ledger.clock import stamp
    >>> stamp(datetime(2026, 5, 1, tzinfo=UTC), "2026-05-01T00:00:02.000000Z")
    '2026-05-01T00:00:02.000000Z'

    Refuses: a clock that is more than five seconds behind, with LedgerUnavailable.

    >>> stamp(datetime(2026, 5, 1, tzinfo=UTC), "2026-05-02T00:00:00.000000Z")
    Traceback (most recent call last):
    ...
    discreet.errors.LedgerUnavailable: the clock says 2026-05-01T00:00:00.000000Z, but the last entry is of ...
    """
    given = write_time(time)
    # Both texts have the same fixed width, so this compares times.
    if given >= last:
        return given
    behind = read_time(last) - time
    if behind.total_seconds() > SMALL_STEP:
        raise LedgerUnavailable(
            f"the clock says {given}, but the last entry is of {last}; nothing was written. Set the clock right; "
            "if it was wrong when that entry was written, see `ledger repair`"
        )
    return last
