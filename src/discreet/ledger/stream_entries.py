"""Entries of a stream: one charge at its opening, then a seal and a period for each day, one stop.

    charge   key 2:stream:NAME          terms, strategy and noise as body; the event pays for all
    seal     key 2:stream:NAME/000007   the exact totals of a period, encrypted, as body
    period   the same key               the published values of that period, as body
    stop     key 2:stream:NAME          why it ended early; nothing is paid back

A stream is a statistic that is published anew for each period (a day), under one charge. Seals,
periods and the stop refer to the charge. The first entry of each kind and period wins: whoever
comes later gets the stored one. The order is seal 0, period 0, seal 1, period 1, …; the ledger
refuses any other (InvalidArgument). Under pure ε one more seal, …/noise, holds the noise that was
drawn at the opening.

Law: tests/ledger/test_stream_entries.py::TestFirstWriteWins
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import workloads
from ..arithmetic.canonical import canonical_json
from ..errors import DiscreetError, InvalidArgument, LedgerConflict, LedgerCorrupt
from ..frozen import frozen
from ..privacy.events.json import Json, to_json
from .entry import Entry
from .stores.store import EntryWithBody, Lookup

PREFIX = "2:stream:"
NOISE = -1
"""Number of the seal that holds the noise drawn at the opening, under pure ε."""
NOTES = ("seal", "period", "stop")
_DIGITS = 6


def stream_key(name: str) -> str:
    """Return the key of a stream's charge and stop."""
    return f"{PREFIX}{name}"


def period_key(name: str, period: int) -> str:
    """Return the key of a period's seal and of its published value; `NOISE` is the sealed noise."""
    if period == NOISE:
        return f"{PREFIX}{name}/noise"
    return f"{PREFIX}{name}/{period:0{_DIGITS}d}"


@frozen
class StreamLines:
    """Charge of a stream with its body, and its stop if it was stopped."""

    charge: Entry
    body: str
    stop: Entry | None = None

    @property
    def name(self) -> str:
        """The name of the stream."""
        return self.charge.key.removeprefix(PREFIX)


def stream_of(entries: Sequence[EntryWithBody]) -> StreamLines | None:
    """Return the stream whose lines were found under its key; None if there is none.

    Refuses: a stream whose terms an import left out, with LedgerCorrupt.
    """
    charges = [(entry, body) for entry, body in entries if entry.kind == "charge"]
    if not charges:
        return None
    charge, body = charges[0]
    if body is None:
        raise LedgerCorrupt(
            f"the stream {charge.key.removeprefix(PREFIX)} was imported without its answers: its "
            "terms are lost. Import an export with answers, or open a stream of another name"
        )
    stops = [entry for entry, _ in entries if entry.kind == "stop"]
    return StreamLines(charge, body, stops[0] if stops else None)


def note_lookup(name: str, period: int) -> Lookup:
    """Return the lookup of the lines that decide whether an entry of a period may be written."""
    others = [stream_key(name)]
    if period > 0:
        others.append(period_key(name, period - 1))
    return Lookup(period_key(name, period), others=tuple(others))


def check_note(entry: Entry, entries: Sequence[EntryWithBody]) -> EntryWithBody | None:
    """Return the stored entry of the same kind and period; None if this one may be written.

    Refuses: InvalidArgument for an entry of no stream, and for one out of order; LedgerConflict for
    one of a stopped stream.
    """
    period = _period_of(entry)
    kinds = {}
    for known, body in entries:
        if known.refers == entry.refers:
            kinds[known.kind, _period_of(known)] = (known, body)
    first = kinds.get((entry.kind, period))
    if first is not None:
        return first
    stream = stream_of([pair for pair in entries if pair[0].number == entry.refers])
    if stream is None:
        raise InvalidArgument("this is no stream of this ledger; open one first")
    if any(known.kind == "stop" for known, _ in entries):
        raise LedgerConflict(f"the stream {stream.name} was stopped; open one of another name")
    if entry.kind == "period" and ("seal", period) not in kinds:
        raise InvalidArgument(f"period {period} of {stream.name} is published before it is sealed")
    follows = period is not None and period > 0
    if entry.kind == "seal" and follows and ("period", (period or 0) - 1) not in kinds:
        raise InvalidArgument(f"period {period} of {stream.name} comes before that it follows")
    return None


def _period_of(entry: Entry) -> int | None:
    period = (entry.terms or {}).get("period")
    return period if type(period) is int else None


def note_entry(charge: Entry, kind: str, period: int | None) -> Entry:
    """Return a new seal, period or stop of a stream, not yet linked into the chain."""
    key = charge.key
    terms: Json = {}
    if period is not None:
        key = period_key(charge.key.removeprefix(PREFIX), period)
        terms = {"period": period}
    return Entry(0, kind, "", who=charge.who, key=key, refers=charge.number, terms=terms)  # type: ignore[arg-type]


def body_terms(body: str) -> dict[str, Any]:
    """Return the terms of a stream from the body of its charge."""
    terms: dict[str, Any] = json.loads(body)["stream"]
    return terms


def check_same_terms(name: str, one: str, other: str) -> None:
    """Refuse two bodies whose terms differ in more than the noise: they open different streams."""
    pair = []
    for body in (one, other):
        terms = body_terms(body)
        pair.append({name: value for name, value in terms.items() if name != "noise"})
    if canonical_json(pair[0]) != canonical_json(pair[1]):
        raise InvalidArgument(
            f"there is a stream {name} with other terms; give this one another name"
        )


@dataclass(slots=True)
class StreamReplay:
    """State of one stream in a replay of the chain: periods in all, sealed and published so far."""

    name: str
    periods: int | None = None
    sealed: int = 0
    closed: int = 0
    noise: bool = False
    stopped: bool = False

    def step(self, entry: Entry) -> bool:
        """Count the next seal, period or stop; return whether it could have been written here."""
        period = _period_of(entry)
        key = stream_key(self.name) if period is None else period_key(self.name, period)
        if self.stopped or entry.key != key or entry.event is not None:
            return False
        if entry.kind == "stop":
            self.stopped = True
            return period is None
        if period == NOISE:
            fits = entry.kind == "seal" and not self.noise and not self.sealed
            self.noise = True
            return fits
        # Every period is sealed and then published, in order and once.
        fits = period == self.closed and (self.periods is None or period < self.periods)
        if entry.kind == "seal":
            fits = fits and self.sealed == self.closed
            self.sealed += 1
            return fits
        fits = fits and self.sealed == self.closed + 1
        self.closed += 1
        return fits


def replay_charge(entry: Entry, body: str | None) -> StreamReplay:
    """Return the stream that a charge opens; its event must be that of its strategy and caps.

    Refuses: another event than strategy, caps and noise say, with LedgerCorrupt.
    """
    stream = StreamReplay(entry.key.removeprefix(PREFIX))
    if body is None:
        return stream
    try:
        terms = body_terms(body)
        stream.periods = int(terms["periods"])
        noise = workloads.stream_noise.noise_from_json(terms["noise"])
        priced = to_json(noise.event) == entry.event and noise.line.size == stream.periods
    except (DiscreetError, ValueError, KeyError, TypeError):
        priced = False
    if not priced:
        raise LedgerCorrupt(
            f"entry {entry.number} was charged for another event than its stream's noise costs"
        )
    return stream
