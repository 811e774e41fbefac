"""In-memory store of a ledger, for trials: the ledger and its promise end with the process."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence

from ...arithmetic.canonical import canonical_json
from ...errors import LedgerUnavailable
from .. import clock, failpoints
from ..entry import Entry, read_line, write_line
from .store import (
    NOTHING,
    SECOND_FORMAT,
    UNSEEN_BODIES,
    Decide,
    LineWithBody,
    Lookup,
    Newest,
    Page,
    Since,
    Snapshot,
    StoredLine,
    step_of,
)


class LedgerInMemory:
    """Store in lists, behind a lock; usable only in the process that made it.

    After a fork there would be two copies, each with the whole budget. So every call in another
    process raises LedgerUnavailable.

    Law: tests/ledger/test_race.py::test_a_ledger_in_memory_does_not_cross_a_fork
    """

    def __init__(self) -> None:
        # Reentrant: `append` reads while it holds the lock.
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._lines: list[LineWithBody] = []
        self._texts: dict[str, str] = {}
        self._keys: dict[str, dict[str, None]] = {}
        """Keys of each person's entries; the values say nothing."""
        self._index: dict[Lookup, list[int]] = {}
        """Positions in `_lines` by key, and by question for keys of the first format."""

    def read(self, names: Sequence[str] | None, lookup: Lookup = NOTHING) -> Snapshot:
        """Return the content at one moment."""
        self._check_process()
        with self._lock:
            wanted = self._texts.keys() if names is None else names
            texts = {name: text for name, text in self._texts.items() if name in wanted}
            by_key = self._index.get(Lookup(key=lookup.key), [])
            by_former: list[int] = []
            if lookup.former:
                by_former = self._index.get(Lookup(key=lookup.former), [])
            by_question = self._index.get(Lookup(question=lookup.question), [])
            by_others: list[int] = []
            for key in lookup.others:
                by_others += self._index.get(Lookup(key=key), [])
            # A line may be found both ways; a dict keeps the order and drops the second.
            positions = dict.fromkeys([*by_key, *by_former, *by_others, *by_question])
            found = [self._lines[position] for position in positions]
            last = self._lines[-1][0] if self._lines else ""
            newer = self._newer(lookup.since)
            return Snapshot(len(self._lines), clock.now(), last, texts, found, newer)

    def append(self, names: Sequence[str] | None, lookup: Lookup, decide: Decide) -> Page | None:
        """Decide and write while nobody else can."""
        self._check_process()
        with self._lock:
            page = decide(self.read(names, lookup))
            if page is None:
                return None
            if page.entry is not None:
                failpoints.passed(f"{step_of(page.entry)}:written")
            # All entries are read before the first is written: a source that fails writes nothing.
            for entry, body in list(page.entries):
                for lookup_key in _lookups(entry):
                    self._index.setdefault(lookup_key, []).append(len(self._lines))
                if entry.key:
                    self._keys.setdefault(entry.who, {})[entry.key] = None
                self._lines.append((write_line(entry), body))
            self._texts.update(page.texts)
            return page

    def keys(self, starts: Collection[str], who: str | None) -> list[str]:
        """List the keys that begin with one of some texts of equal length, each once, in order."""
        self._check_process()
        with self._lock:
            if who is not None:
                known = self._keys.get(who, {})
            else:
                known = {key: None for keys in self._keys.values() for key in keys}
            return sorted(key for key in known if key.startswith(tuple(starts)))

    def _newer(self, since: Since | None) -> list[str]:
        """Return the keys of the entries after a number."""
        if since is None:
            return []
        entries = [read_line(line) for line, _ in self._lines[since.number :]]
        return [entry.key for entry in entries if since.who in (None, entry.who)]

    def lines(self, first: int, last: int, newest: Newest | None = None) -> Iterator[StoredLine]:
        """Return the lines of a range, or the newest of them."""
        self._check_process()
        if newest is not None:
            yield from self._newest(first, last, newest)
            return
        keys: dict[int, str] = {}
        for lookup, positions in self._index.items():
            if lookup.key:
                keys.update(dict.fromkeys(positions, lookup.key))
        for position in range(max(first, 1) - 1, min(last, len(self._lines))):
            line, body = self._lines[position]
            yield StoredLine(position + 1, line, body, keys.get(position, ""))

    def _newest(self, first: int, last: int, newest: Newest) -> Iterator[StoredLine]:
        """Yield the newest lines of a range, without the bodies that lists do not show."""
        # Fields are sorted in a line, so the name comes right after the time, which ends with Z.
        mark = "" if newest.who is None else f'Z","who":{canonical_json(newest.who)},'
        numbers: list[int] = []
        for number in range(min(last, len(self._lines)), first - 1, -1):
            if len(numbers) == newest.most:
                break
            if mark in self._lines[number - 1][0]:
                numbers.append(number)
        for number in reversed(numbers):
            line, body = self._lines[number - 1]
            unseen = any(f'"kind":"{kind}"' in line for kind in UNSEEN_BODIES)
            shown = None if unseen else body
            yield StoredLine(number, line, shown, None)

    def close(self) -> None:
        """Do nothing: memory is freed with the ledger."""

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            why = "a copy in another process would have the whole budget again"
            raise LedgerUnavailable(
                f"a ledger in memory works only in the process that opened it: {why}; use a file"
            )


def _lookups(entry: Entry) -> list[Lookup]:
    """List the lookups that find an entry: its key, and its question if the key is an old one."""
    if not entry.key:
        return []
    lookups = [Lookup(key=entry.key)]
    # Keys of the second format and numbered keys are found by themselves alone.
    is_first_format = not entry.key.startswith((SECOND_FORMAT, "#"))
    if entry.question and is_first_format:
        lookups.append(Lookup(question=entry.question))
    return lookups
