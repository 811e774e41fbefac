"""A ledger in memory: for trying things out. It ends with its process, so what it promises does too."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from itertools import islice

from ...arithmetic.canonical import canonical_json
from ...errors import LedgerUnavailable
from .. import clock, failpoints
from ..entry import Entry, write_line
from .store import NOTHING, SECOND, Decide, Lookup, Newest, Page, Snapshot, StoredLine, step_of


class LedgerInMemory:
    """Keep lines in lists, behind a lock.

    After a fork there would be two of it, each with the whole budget; so it works only where it was made.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._home = os.getpid()
        self._lines: list[tuple[str, str | None]] = []
        self._texts: dict[str, str] = {}
        self._places: dict[Lookup, list[int]] = {}

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return what stands here."""
        self._at_home()
        with self._lock:
            texts = {
                name: text for name, text in self._texts.items() if names is None or name in names
            }
            places = [
                self._places.get(one, [])
                for one in (Lookup(key=lookup.key), Lookup(question=lookup.question))
            ]
            found = [self._lines[place] for place in dict.fromkeys([*places[0], *places[1]])]
            last = self._lines[-1][0] if self._lines else ""
            return Snapshot(len(self._lines), clock.now(), last, texts, found)

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write while nobody else can."""
        self._at_home()
        with self._lock:
            page = decide(self.read(names, lookup))
            if page is not None:
                if page.entry is not None:
                    failpoints.passed(f"{step_of(page.entry)}:written")
                for entry, body in list(page.entries):
                    for place in _looks(entry):
                        self._places.setdefault(place, []).append(len(self._lines))
                    self._lines.append((write_line(entry), body))
                self._texts.update(page.texts)
            return page

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines of a range, or the newest of them."""
        self._at_home()
        if newest is not None:
            yield from self._newest(first, last, newest)
            return
        found = {
            place: look.key for look, places in self._places.items() for place in places if look.key
        }
        for place in range(max(first, 1) - 1, min(last, len(self._lines))):
            yield StoredLine(place + 1, *self._lines[place], found.get(place, ""))

    def _newest(self, first: int, last: int, newest: Newest) -> Iterator[StoredLine]:
        mark = "" if newest.who is None else f'Z","who":{canonical_json(newest.who)},'
        places = (
            place
            for place in range(min(last, len(self._lines)), first - 1, -1)
            if mark in self._lines[place - 1][0]
        )
        for place in reversed(list(islice(places, newest.most))):
            line, body = self._lines[place - 1]
            yield StoredLine(place, line, None if '"kind":"answer"' in line else body, None)

    def close(self) -> None:
        """Do nothing: what is in memory goes with the ledger."""

    def _at_home(self) -> None:
        if os.getpid() != self._home:
            why = "a copy in another process would have the whole budget again"
            raise LedgerUnavailable(
                f"a ledger in memory works only in the process that opened it: {why}; use a file"
            )


def _looks(entry: Entry) -> list[Lookup]:
    """List by what an entry is found again."""
    if not entry.key:
        return []
    first = bool(entry.question) and not entry.key.startswith((SECOND, "#"))
    return (
        [Lookup(key=entry.key), Lookup(question=entry.question)]
        if first
        else [Lookup(key=entry.key)]
    )
