"""Closing of one day: read its exact totals, seal them, draw noise, store, remember, give.

    step                                        a death after it
    1  exact totals of the day from the store   is run again
    2  days used, into the key file (people)     is run again under another attempt
    3  seal of the totals, into the ledger      step 4 with the sealed totals; the store is not read
    4  noise, and what is published              is drawn again: nothing was given out
    5  the period, into the ledger              the stored one is given
    6  the period's number, into the key file   the stored one is given

Of two that close at the same time the first seal and the first period win, and both give what is
stored. So each day has one total, one draw of noise and one published value. Closed days are
frozen: rows that come, change or go later count nowhere.

What day t publishes is y = g·Σ_{s≤t} C_ts·x_s + noise. Stored are running totals of the estimates
x̂_t = (y/g − Σ_{s<t} C_ts·x̂_s)/C_tt, rounded to 1/fine of a step in whole numbers, the same on
every machine. Weeks, months and totals are sums of these, so that all of them add up.

Guarantee: no period has two values, and none is given out before it is stored.
Law: tests/streams/test_kill.py::test_a_death_at_any_step_leaves_one_value_for_each_day
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np

from ..arithmetic.canonical import canonical_json
from ..engines.base import Engine, PeopleApart, failure, one_snapshot
from ..errors import Cancelled, DiscreetError, LedgerCorrupt, UnsupportedQuery
from ..frozen import replace
from ..ledger import Entry, Ledger, failpoints
from ..ledger.stream_entries import NOISE, StreamLines
from ..noise.bits import Bits
from ..query.algebra.expression import Constant
from ..query.algebra.tree import Where
from ..workloads.sealed_line import SealedLine
from ..workloads.strategy_norms import AnyIntegers, Integers, fits_64_bits, largest
from ..workloads.stream_noise import StreamNoise
from .caps import admitted
from .question import StreamQuestion
from .seal import Seal

_NUMBER_BYTES = 16
_ATTEMPT_BYTES = 16
_NO_ATTEMPT = bytes(_ATTEMPT_BYTES)


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Write whole numbers in 16 bytes each, so that their length tells nothing of their size."""
    return b"".join(int(x).to_bytes(_NUMBER_BYTES, "little", signed=True) for x in numbers)


def unpack_numbers(raw: bytes) -> AnyIntegers:
    """Read whole numbers that `pack_numbers` wrote; of 64 bits where all of them fit.

    >>> from discreet.streams.closing import pack_numbers, unpack_numbers
    >>> unpack_numbers(pack_numbers([3, -5])).tolist(), unpack_numbers(pack_numbers([2**80])).tolist()
    ([3, -5], [1208925819614629174706176])
    """
    halves = np.frombuffer(raw, dtype="<i8").reshape(-1, 2)
    low = halves[:, 0]
    # The upper half of a number of 64 bits repeats the sign of the lower half.
    if bool((halves[:, 1] == low >> 63).all()):
        return low.astype(np.int64)
    starts = range(0, len(raw), _NUMBER_BYTES)
    numbers = [int.from_bytes(raw[at : at + _NUMBER_BYTES], "little", signed=True) for at in starts]
    return np.array(numbers, dtype=object)


def times_rows(factors: Integers, rows: Sequence[AnyIntegers]) -> AnyIntegers:
    """Return Σ factor·row, exactly: in 64 bits where nothing can overflow."""
    table: Any = np.array(rows)
    bound = int(np.abs(factors).sum())
    if fits_64_bits(table, max(bound, 1)):
        return np.asarray(factors @ table)
    return np.asarray(factors.astype(object) @ table.astype(object))


class Closer:
    """Closes the days of one stream; `report.StreamReport` is its one user."""

    def __init__(
        self,
        ledger: Ledger,
        lines: StreamLines,
        question: StreamQuestion,
        noise: StreamNoise,
        fine: int,
        *,
        seal: Seal,
        bits: Bits | None = None,
    ) -> None:
        self.ledger = ledger
        self.lines = lines
        self.question = question
        self.noise = noise
        self.fine = fine
        self.seal = seal
        self.bits = bits
        # The hash of the first line: a ledger that was moved is the same, a new one is not.
        self.stream = f"{ledger.identity}/{lines.name}"
        # Sealed totals never change, so each is opened once in a run that closes many days.
        self._plains: dict[int, bytes] = {}

    def draw_all(self) -> None:
        """Draw and seal the noise of a stream under pure ε; the first seal wins."""
        count = self.noise.measured.block.rows
        zeros = np.zeros(count, dtype=np.int64)
        drawn = np.asarray(self.noise.measured.mechanism.release(zeros, bits=self.bits))
        self._sealed(NOISE, pack_numbers(drawn.tolist()))

    def close(self, engine: Engine, day: date, period: int, known: Mapping[int, Notes]) -> None:
        """Close one day. What it published is read back from the ledger, where the first wins."""
        sealed = known.get(period, Notes()).seal
        if sealed is None:
            exact, attempt = self._read(engine, day, period, known)
            sealed = self._sealed(period, attempt + pack_numbers(exact))
        days = [self.opened(each, known[each].seal or "") for each in range(period)]
        days.append(self.opened(period, sealed))
        before = [known[each].totals for each in range(period)]
        totals = self._publish(period, days, before)
        failpoints.passed("draw:after")
        body = canonical_json({"totals": totals})
        self.ledger.note(self.lines, "period", period, body)
        # Before it is given out: a ledger restored from an older copy is then refused.
        self.seal.remember(self.stream, period)
        failpoints.passed("remember:after")

    def opened(self, period: int, sealed: str) -> AnyIntegers:
        """Return the exact totals of a sealed period."""
        return unpack_numbers(self._plain(period, sealed)[_ATTEMPT_BYTES:])

    def check_order(self, last: int, closed: int) -> None:
        """Refuse a ledger that is behind its key file, which remembers period `last`.

        Its last periods were given out already; publishing them again would be a second value.
        """
        if last >= closed:
            raise LedgerCorrupt(
                f"this ledger has {closed} periods of {self.lines.name}, and {self.seal.path.name} "
                f"remembers {last + 1}: the ledger was restored from an older copy. Restore the "
                "newer one, or stop the stream"
            )

    def _sealed(self, period: int, plain: bytes) -> str:
        """Seal bytes of a period and return what is sealed in the ledger: the first wins."""
        sealed = self.seal.encrypt(plain, f"{self.stream}/{period}")
        body = b64encode(sealed).decode()
        _, stored = self.ledger.note(self.lines, "seal", period, body)
        return stored

    def _plain(self, period: int, sealed: str) -> bytes:
        if period not in self._plains:
            bound_to = f"{self.stream}/{period}"
            self._plains[period] = self.seal.decrypt(b64decode(sealed), bound_to)
        return self._plains[period]

    def _read(
        self, engine: Engine, day: date, period: int, known: Mapping[int, Notes]
    ) -> tuple[list[int], bytes]:
        """Read the exact totals of a day, and write down who has used it."""
        tally = self.question.on(day)
        try:
            with one_snapshot(engine):
                if not self.question.tracked:
                    found = engine.tally(tally)
                    by_key = {key: sums[0] for key, sums in found.items()}
                    return [by_key.get(cell, 0) for cell in self.question.cells], _NO_ATTEMPT
                people = engine.tally_people(tally)  # type: ignore[attr-defined]
        except (DiscreetError, Cancelled):
            raise
        except Exception:  # noqa: BLE001
            # What it says may tell about the data: one constant message, and the day stays due.
            raise failure() from None
        return self._count_people(people, period, known)

    def _count_people(
        self,
        people: Mapping[tuple[str, tuple[object, ...]], tuple[int, ...]],
        period: int,
        known: Mapping[int, Notes],
    ) -> tuple[list[int], bytes]:
        """Add up the people who still count; write the day that each of them uses."""
        attempts = []
        for each in range(period):
            plain = self._plain(each, known[each].seal or "")
            attempts.append(plain[:_ATTEMPT_BYTES])
        used = self.seal.used(self.stream, attempts)
        counting: dict[str, bytes | None] = {}
        by_key: dict[tuple[object, ...], int] = {}
        for (person, key), sums in people.items():
            if person not in counting:
                hashed = self.seal.hash_of(person, self.stream)
                counts = admitted(used, hashed, period, self.question.counted)
                counting[person] = hashed if counts else None
            if counting[person] is not None:
                by_key[key] = by_key.get(key, 0) + sums[0]
        exact = [by_key.get(cell, 0) for cell in self.question.cells]
        failpoints.passed("used:before")
        hashes = [hashed for hashed in counting.values() if hashed is not None]
        return exact, self.seal.write_used(self.stream, period, hashes)

    def _publish(self, period: int, days: list[AnyIntegers], before: list[list[int]]) -> list[int]:
        """Return the running totals of a day, with its noise, in 1/fine of a step."""
        if isinstance(self.noise.line, SealedLine):
            return self._publish_sealed(period, self.noise.line, days)
        factors = self.noise.line.row(period)
        measured = self.noise.measured
        exact = times_rows(factors, days).astype(object)
        zeros = np.zeros(len(exact), dtype=np.int64)
        drawn = np.asarray(measured.mechanism.release(zeros, bits=self.bits)).astype(object)
        noisy = exact * measured.grid + drawn
        totals = [np.array(each, dtype=object) for each in before]
        estimates = np.diff(np.array([0 * noisy, *totals]), axis=0)
        carried = 0 * noisy
        if period:
            carried = times_rows(factors[:-1], list(_narrowed(estimates))).astype(object)
        # x̂ = (fine·y/g − carried)/C_tt, rounded half up in whole numbers.
        divisor = measured.grid * int(factors[-1])
        numerator = noisy * self.fine - carried * measured.grid
        found = (2 * numerator + divisor) // (2 * divisor)
        if totals:
            found = found + totals[-1]
        return [int(total) for total in found]

    def _publish_sealed(self, period: int, line: SealedLine, days: list[AnyIntegers]) -> list[int]:
        """Return Σ x plus the rounded share of the noise that was drawn at the opening."""
        [(_, sealed)] = self.ledger.notes(self.lines, range(NOISE, 0))
        drawn = unpack_numbers(self._plain(NOISE, sealed))
        noise = drawn.astype(np.int64).reshape(line.rows, len(self.question.cells))
        rounded = line.rounded_noise(period, noise, self.noise.measured.grid)
        exact = times_rows(np.ones(len(days), dtype=np.int64), days)
        return [int(total) + each for total, each in zip(exact, rounded, strict=True)]


class Notes:
    """The seal and the running totals of one period, as far as they are stored."""

    __slots__ = ("seal", "totals")

    def __init__(self) -> None:
        self.seal: str | None = None
        self.totals: list[int] = []


def notes_by_period(entries: Sequence[tuple[Entry, str]]) -> dict[int, Notes]:
    """Sort the stored entries of a stream by their periods."""
    found: dict[int, Notes] = {}
    for entry, body in entries:
        period = (entry.terms or {}).get("period")
        if not isinstance(period, int):
            continue
        notes = found.setdefault(period, Notes())
        if entry.kind == "seal":
            notes.seal = body
        else:
            notes.totals = read_totals(body)
    return found


def read_totals(body: str) -> list[int]:
    """Read the running totals of a stored period."""
    totals: list[int] = json.loads(body)["totals"]
    return totals


def check_engine(engine: Engine, question: StreamQuestion) -> None:
    """Refuse before the charge what the store would refuse at each closing; no row is read."""
    if not question.tracked:
        engine.explain(question.tally)
        return
    nobody = replace(question.tally, rows=Where(question.tally.rows, Constant(False)))
    if not isinstance(engine, PeopleApart):
        raise UnsupportedQuery(
            "this store cannot tell people apart, whose days have to be counted; declare the unit "
            "as a person within a day: dp.People(id, window=(day, 'day'))"
        )
    engine.tally_people(nobody)


def _narrowed(table: AnyIntegers) -> AnyIntegers:
    """Return whole numbers in 64 bits if all of them fit."""
    if largest(table) < 2**62:
        return table.astype(np.int64)
    return table
