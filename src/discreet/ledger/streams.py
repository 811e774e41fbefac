"""Streams of a ledger: charge a stream once at its opening, then store its values, each once.

A stream is a statistic that is published anew for each period. A seal holds the encrypted exact
totals of a period, a period entry its published value.

Law: tests/ledger/test_stream_entries.py::TestFirstWriteWins
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from ..arithmetic.canonical import digest
from ..errors import BudgetExceeded, InvalidArgument
from . import charge_order, stream_entries
from .charge_order import ChargeOrder
from .entry import Entry, EntryKind, read_line, read_text
from .life.upgrade import KnownSums
from .snapshot import last_of, next_page, read_found, require_allowance, written_entry
from .stores.store import Decide, EntryWithBody, LedgerStore, Lookup, Page, Snapshot
from .stream_entries import StreamLines


class StreamBooks:
    """Base class of `Ledger` with its methods for streams.

    Guarantee: a stream is charged once, and of each period one value is stored.
    Law: tests/ledger/test_stream_entries.py::TestFirstWriteWins
    """

    _store: LedgerStore
    _sums: KnownSums
    _listed: tuple[int, tuple[str, ...]] = (0, ())
    """Number of the last line that `streams` has read, and the names of streams up to it."""

    @abstractmethod
    def _write(self, entry: Entry, lookup: Lookup, decide: Decide) -> Page | None:
        """Let the store decide and write in one exclusive transaction."""

    @property
    def identity(self) -> str:
        """Hash of the first entry: it stays the same when the ledger is moved or imported."""
        first = next(iter(self._store.lines(1, 1)))
        return read_line(first.line).hash

    def open_stream(self, name: str, order: ChargeOrder, body: str) -> StreamLines:
        """Charge the opening of a stream once; return it as it is stored.

        A stream of this name with the same terms is returned, and nothing is charged.

        Refuses: the errors of `charge`, and a name that a stream of other terms has
        (InvalidArgument).
        """
        key = stream_entries.stream_key(name)
        entry = replace(charge_order.entry_of(order), key=key, body_hash=digest(body))
        known: list[StreamLines] = []

        def decide(snapshot: Snapshot) -> Page | None:
            known.clear()
            require_allowance(snapshot, entry.who)
            stream = stream_entries.stream_of(read_found(snapshot.found))
            if stream is not None:
                known.append(stream)
                return None
            books = self._sums.books(snapshot, entry.who)
            return next_page(snapshot, books, last_of(snapshot), entry, body)

        try:
            page = self._write(entry, Lookup(key), decide)
        except BudgetExceeded as refusal:
            raise charge_order.restate_refusal(order, refusal) from None
        if not known:
            return StreamLines(written_entry(page), body)
        stream_entries.check_same_terms(name, known[0].body, body)
        return known[0]

    def stream(self, name: str) -> StreamLines | None:
        """Return the stream of this name, with its charge, terms and stop; None if none has it."""
        key = stream_entries.stream_key(read_text(name, "name"))
        snapshot = self._store.read((), Lookup(key))
        return stream_entries.stream_of(read_found(snapshot.found))

    def note(
        self, stream: StreamLines, kind: EntryKind, period: int | None, body: str, *, why: str = ""
    ) -> tuple[Entry, str]:
        """Store a seal, a period or the stop (`kind`) of a stream, with its body.

        Return the entry and the body that are stored: those of an earlier call, if there was one.

        Refuses: LedgerConflict for a stopped stream, InvalidArgument for an entry out of order;
        nothing is written then.
        """
        entry = stream_entries.note_entry(stream.charge, kind, period)
        hashed = replace(entry, body_hash=digest(body), why=read_text(why, "why"))
        first: list[EntryWithBody] = []
        number = stream_entries.NOISE if period is None else period
        lookup = stream_entries.note_lookup(stream.name, number)

        def decide(snapshot: Snapshot) -> Page | None:
            first.clear()
            known = stream_entries.check_note(hashed, read_found(snapshot.found))
            if known is not None:
                first.append(known)
                return None
            books = self._sums.books(snapshot, hashed.who)
            return next_page(snapshot, books, last_of(snapshot), hashed, body)

        page = self._write(hashed, lookup, decide)
        if not first:
            return written_entry(page), body
        stored, text = first[0]
        return stored, charge_order.check_body(stored, text)

    def stop_stream(self, name: str, *, why: str) -> None:
        """Stop a stream for good. What was published stays; nothing is paid back.

        Refuses: a name that no stream has, and no reason (InvalidArgument).
        """
        if not isinstance(why, str) or not why.strip():
            raise InvalidArgument(
                "say why the stream is stopped: why='…'; it is kept in the ledger"
            )
        self.note(self.known_stream(name), "stop", None, "{}", why=why)

    def known_stream(self, name: str) -> StreamLines:
        """Return the stream of this name, with its charge, terms and stop.

        Refuses: a name that no stream has (InvalidArgument).
        """
        lines = self.stream(name)
        if lines is None:
            known = ", ".join(self.streams()) or "none"
            raise InvalidArgument(f"there is no stream {name!r} in this ledger; there are {known}")
        return lines

    def closed_periods(self, stream: StreamLines, known: int = 0) -> int:
        """Return the number of published periods of a stream, of which `known` are known before."""
        # Periods are published in order and stay: the first open one is searched by bisection.
        step = 1
        while self._is_published(stream, known + step - 1):
            known += step
            step *= 2
        while step > 1:
            step //= 2
            if self._is_published(stream, known + step - 1):
                known += step
        return known

    def _is_published(self, stream: StreamLines, period: int) -> bool:
        return any(entry.kind == "period" for entry, _ in self.notes(stream, [period]))

    def notes(self, stream: StreamLines, periods: Iterable[int]) -> list[tuple[Entry, str]]:
        """Return the stored seals and published values of some periods, each with its body.

        Refuses: a body without the hash in its entry, with LedgerCorrupt.
        """
        keys = tuple(stream_entries.period_key(stream.name, period) for period in periods)
        snapshot = self._store.read((), Lookup(others=keys))
        entries = read_found(snapshot.found)
        return [(entry, charge_order.check_body(entry, body)) for entry, body in entries]

    def streams(self) -> list[str]:
        """List the names of all streams, in the order of their opening.

        Lines that an earlier call has read are not read again: a service asks every minute.
        """
        known, names = self._listed
        end = self._store.read(()).number
        if end < known:
            # Another ledger has taken the place of the one that was read.
            known, names = 0, ()
        found = [*names, *self._opened_between(known + 1, end)]
        # One assignment: of two threads either may win, each with a list that is complete.
        self._listed = (end, tuple(found))
        return found

    def _opened_between(self, first: int, last: int) -> list[str]:
        """List the names of the streams that were opened by these lines."""
        names: list[str] = []
        if first > last:
            return names
        for stored in self._store.lines(first, last):
            # Looked for in the text first: most lines are no streams, and reading one costs more.
            if stream_entries.PREFIX not in stored.line:
                continue
            entry = read_line(stored.line)
            if entry.kind == "charge" and entry.key.startswith(stream_entries.PREFIX):
                names.append(entry.key.removeprefix(stream_entries.PREFIX))
        return names
