"""Closing of one day of a stream: read its exact totals, add noise, store the result, publish it.

    step                                            if the process dies after it, the next closing
    1  read the day's exact totals from the store   begins anew
    2  write which people use this day into the     begins anew; the days used by the lost attempt
       key file (units that are people only)        do not count
    3  write the totals into the ledger, encrypted  goes on at step 4 with these totals; the store
       (the seal)                                   is not read
    4  draw noise and compute the published totals  draws it anew: nothing was published
    5  write the published totals into the ledger   publishes the stored totals
       (the period)
    6  write the day's number into the key file     publishes the stored totals

If two processes close a day at the same time, the first seal and the first period win, and both
return what is stored. So each day has one exact total, one draw of noise that is published and one
published value. Closed days are final: rows that come, change or go later count nowhere.

Let x_s be the exact total of day s, C the strategy (a lower triangular matrix) and g the grid of
the noise. Day t measures y = g·Σ_{s≤t} C_ts·x_s + noise. Stored are running totals of the
estimates x̂_t = (y/g − Σ_{s<t} C_ts·x̂_s)/C_tt, rounded to 1/fine of a step in whole numbers, the
same on every machine. Weeks, months and totals are sums of these, so that all of them add up.

With r_s = fine·x_s − x̂_s, where x̂_s is in 1/fine of a step, C_tt·x̂_t = Σ_{s<t} C_ts·r_s +
fine·(C_tt·x_t + noise/g). So later days need only r of the past. The key file keeps r, so that
closing a day costs one product of a row of C with the r of all days before; without it r is
computed from the ledger again. Under a pure ε all noise was drawn at the opening, and the key file
keeps Σ x instead.

Guarantee: no period has two values, and none is given out before it is stored.
Law: tests/streams/test_kill.py::test_a_death_at_any_step_leaves_one_value_for_each_day
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from ..arithmetic.canonical import canonical_json
from ..engines.base import Engine, PeopleTotals, failure, one_snapshot, people_apart
from ..errors import Cancelled, DiscreetError, LedgerCorrupt
from ..frozen import frozen, replace
from ..ledger import Ledger, failpoints
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
_BLOCK = 16
_NO_ATTEMPT = bytes(_ATTEMPT_BYTES)
_DRAWN: dict[tuple[Path, str], Integers] = {}
"""Noise of the stream under a pure ε that was closed last, by key file and stream."""


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
        # A few rows at a time stay in the processor's cache; NumPy's product of integers goes by columns.
        total = np.zeros(table.shape[1], dtype=np.int64)
        for at in range(0, len(table), _BLOCK):
            part = slice(at, at + _BLOCK)
            total += (factors[part, None] * table[part]).sum(axis=0)
        return total
    return np.asarray(factors.astype(object) @ table.astype(object))


@frozen(eq=False)
class Carried:
    """Numbers of a closed day that later days need: its attempt, and r or Σ x (see module)."""

    attempt: bytes
    numbers: AnyIntegers

    def packed(self) -> bytes:
        """Write the numbers in 8 bytes each where all fit, else in 16."""
        if largest(self.numbers) < 2**62:
            return self.numbers.astype("<i8").tobytes()
        return pack_numbers(self.numbers.tolist())


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
        held: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.ledger = ledger
        self.lines = lines
        self.question = question
        self.noise = noise
        self.fine = fine
        self.seal = seal
        self.bits = bits
        # Reading a day ends at a tick: its seal and its period do not tell how long it took.
        self.held = held
        # The hash of the first line: a ledger that was moved is the same, a new one is not.
        self.stream = f"{ledger.identity}/{lines.name}"
        self._history: list[Carried] = []

    def draw_all(self) -> None:
        """Draw all noise of a stream under a pure ε and store it encrypted; the first draw wins."""
        count = self.noise.measured.block.rows
        zeros = np.zeros(count, dtype=np.int64)
        drawn = np.asarray(self.noise.measured.mechanism.release(zeros, bits=self.bits))
        self._sealed(NOISE, pack_numbers(drawn.tolist()))

    def close(self, engine: Engine, day: date, period: int) -> None:
        """Close one day, the `period`-th from 0, and store what it publishes in the ledger.

        If another process has stored a result before, that result stays.
        """
        history = self._read_history(period)
        stored = stored_notes(self.ledger, self.lines, range(max(period - 1, 0), period + 1))
        sealed = stored.get(("seal", period))
        if sealed is None:
            with self.held():
                exact, attempt = self._read(engine, day, period)
            sealed = self._sealed(period, attempt + pack_numbers(exact))
        plain = self._plain(period, sealed)
        totals = unpack_numbers(plain[_ATTEMPT_BYTES:])
        before = read_totals(stored.get(("period", period - 1), ""), len(totals))
        drawn = self._publish(period, totals, before)
        failpoints.passed("draw:after")
        body = canonical_json({"totals": drawn})
        # Of two closers the first wins: what is carried on follows from what is stored.
        _, body = self.ledger.note(self.lines, "period", period, body)
        published = read_totals(body, len(totals))
        carried = self._carry(plain[:_ATTEMPT_BYTES], totals, published, before)
        history.append(carried)
        # Before it is given out: a ledger restored from an older copy is then refused.
        self.seal.remember(self.stream, period, carried.attempt, carried.packed())
        failpoints.passed("remember:after")

    def check_order(self, last: int, closed: int) -> None:
        """Refuse a ledger with `closed` periods that lacks the period `last` of its key file.

        Such a ledger was restored from an older copy. Publishing the missing periods again would
        give them a second value.
        """
        if last >= closed:
            raise LedgerCorrupt(
                f"this ledger has {closed} periods of {self.lines.name}, and {self.seal.path.name} "
                f"remembers {last + 1}: the ledger was restored from an older copy. Restore the "
                "newer one, or stop the stream"
            )

    def _sealed(self, period: int, plain: bytes) -> str:
        """Encrypt bytes of a period, write them into the ledger, and return what it holds.

        If the ledger holds a seal of this period already, that one stays and is returned.
        """
        sealed = self.seal.encrypt(plain, f"{self.stream}/{period}")
        body = b64encode(sealed).decode()
        _, stored = self.ledger.note(self.lines, "seal", period, body)
        return stored

    def _plain(self, period: int, sealed: str) -> bytes:
        return self.seal.decrypt(b64decode(sealed), f"{self.stream}/{period}")

    def _read_history(self, period: int) -> list[Carried]:
        """Return what is needed of all days before one: from the key file, else from the ledger."""
        if len(self._history) < period:
            known = self.seal.carried(self.stream)
            size = len(self.question.cells)
            for each in range(len(self._history), period):
                if each in known:
                    attempt, raw = known[each]
                    self._history.append(Carried(attempt, _unpacked(raw, size)))
                else:
                    self._history.append(self._carried_again(each))
        return self._history

    def _carried_again(self, period: int) -> Carried:
        """Compute from the ledger what is needed of a closed day that the key file lacks."""
        stored = stored_notes(self.ledger, self.lines, range(max(period - 1, 0), period + 1))
        plain = self._plain(period, stored["seal", period])
        totals = unpack_numbers(plain[_ATTEMPT_BYTES:])
        before = read_totals(stored.get(("period", period - 1), ""), len(totals))
        published = read_totals(stored["period", period], len(totals))
        return self._carry(plain[:_ATTEMPT_BYTES], totals, published, before)

    def _carry(
        self, attempt: bytes, totals: AnyIntegers, published: AnyIntegers, before: AnyIntegers
    ) -> Carried:
        """Return r = fine·x − x̂ of a day; under a pure ε the running total of x."""
        if self.noise.sealed:
            if self._history:
                totals = totals.astype(object) + self._history[-1].numbers
            return Carried(attempt, _narrowed(totals))
        estimates = published.astype(object) - before
        return Carried(attempt, _narrowed(totals.astype(object) * self.fine - estimates))

    def _read(self, engine: Engine, day: date, period: int) -> tuple[list[int], bytes]:
        """Read the exact totals of a day by cell; return them with the number of this attempt.

        For units that are people, the days that they use are written into the key file.
        """
        tally = self.question.on(day)
        try:
            with one_snapshot(engine):
                if not self.question.tracked:
                    found = engine.tally(tally)
                    by_key = {key: sums[0] for key, sums in found.items()}
                    return [by_key.get(cell, 0) for cell in self.question.cells], _NO_ATTEMPT
                people = people_apart(engine, tally)
        except (DiscreetError, Cancelled):
            raise
        except Exception:  # noqa: BLE001
            # What it says may tell about the data: one constant message, and the day stays due.
            raise failure() from None
        return self._count_people(people, period)

    def _count_people(
        self,
        people: PeopleTotals,
        period: int,
    ) -> tuple[list[int], bytes]:
        """Add up the rows of people who still count, and store that each of them uses the day."""
        attempts = [each.attempt for each in self._read_history(period)]
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

    def _publish(self, period: int, totals: AnyIntegers, before: AnyIntegers) -> list[int]:
        """Return the running totals of a day, with its noise, in 1/fine of a step."""
        line = self.noise.line
        if isinstance(line, SealedLine):
            return self._publish_sealed(period, line, totals)
        factors = line.row(period)
        measured = self.noise.measured
        zeros = np.zeros(len(totals), dtype=np.int64)
        drawn = np.asarray(measured.mechanism.release(zeros, bits=self.bits)).astype(object)
        last = int(factors[-1])
        numerator = self.fine * (totals.astype(object) * (measured.grid * last) + drawn)
        if period:
            past = times_rows(factors[:-1], [day.numbers for day in self._history])
            numerator = numerator + past.astype(object) * measured.grid
        # Rounded half up in whole numbers.
        divisor = measured.grid * last
        found = (2 * numerator + divisor) // (2 * divisor) + before
        return [int(total) for total in found]

    def _publish_sealed(self, period: int, line: SealedLine, totals: AnyIntegers) -> list[int]:
        """Return the running totals Σ x plus a rounded combination of the opening's noise."""
        noise = self._drawn_noise(line)
        rounded = line.rounded_noise(period, noise, self.noise.measured.grid)
        exact = totals.astype(object)
        if period:
            exact = exact + self._history[-1].numbers
        return [int(total) + each for total, each in zip(exact, rounded, strict=True)]

    def _drawn_noise(self, line: SealedLine) -> Integers:
        """Return the noise that was drawn at the opening, decrypted once for one stream at a time.

        Who closes its days holds the key of it in any case.
        """
        key = (self.seal.path, self.stream)
        noise = _DRAWN.get(key)
        if noise is None:
            [sealed] = stored_notes(self.ledger, self.lines, range(NOISE, 0)).values()
            drawn = unpack_numbers(self._plain(NOISE, sealed))
            noise = drawn.astype(np.int64).reshape(line.rows, len(self.question.cells))
            # It never changes: the first that is stored wins. One is kept, which may be 30 MB.
            _DRAWN.clear()
            _DRAWN[key] = noise
        return noise


def stored_notes(
    ledger: Ledger, lines: StreamLines, periods: Iterable[int]
) -> dict[tuple[str, int], str]:
    """Return the stored bodies of periods of a stream, by kind and period."""
    found: dict[tuple[str, int], str] = {}
    for entry, body in ledger.notes(lines, periods):
        period: Any = (entry.terms or {})["period"]
        found[entry.kind, period] = body
    return found


def read_totals(body: str, size: int) -> AnyIntegers:
    """Read the running totals of a stored period; before the first day all are 0."""
    totals = json.loads(body)["totals"] if body else [0] * size
    return np.array(totals, dtype=object)


def _unpacked(raw: bytes, size: int) -> AnyIntegers:
    if len(raw) == 8 * size:
        return np.frombuffer(raw, dtype="<i8").astype(np.int64, copy=False)
    return unpack_numbers(raw)


def check_engine(engine: Engine, question: StreamQuestion) -> None:
    """Refuse before the charge what the store would refuse at each closing; no row is read."""
    if not question.tracked:
        engine.explain(question.tally)
        return
    people_apart(engine, replace(question.tally, rows=Where(question.tally.rows, Constant(False))))


def _narrowed(table: AnyIntegers) -> AnyIntegers:
    """Return whole numbers in 64 bits if all of them fit."""
    if largest(table) < 2**62:
        return table.astype(np.int64)
    return table
