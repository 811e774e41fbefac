"""Proof of a record: the part of a ledger's chain that may be public, as a hash chain of its own.

    kind      holds
    ------    -----------------------------------------------------------------------------------
    open      the terms: budget, filter, window, parts or blocks; no allowances
    charge    the event, the part, what was made, by which release on which kind of store
    end       what is known of all entries: access, versions, day, service, spent and left

A ledger's own lines hold names, reasons, times and names of questions, and their hashes would confirm
a guess of them. So lines are written anew, numbered anew and hashed anew. Entries that are named to be
shown keep their number, and those alone. Failures, allowances and repeated questions leave no line.

Guarantee: ledgers that differ only in names, reasons, times and questions of analysts have equal
lines. Excepted are two facts of `end`: whether more than one person was charged, and the day of the
last shown entry (else of the opening).
Refuses: a chain in which a line is missing or changed, with LedgerCorrupt, which names the line.
Law: tests/record/test_exposure.py, tests/record/test_check.py
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..answer.body import read_body
from ..arithmetic.canonical import canonical_json, digest
from ..errors import DiscreetError, InvalidArgument, LedgerCorrupt
from ..frozen import field, frozen
from ..ledger import Entry, Ledger
from ..ledger.balance import spent_of
from ..ledger.terms import Charter, read_charter
from ..privacy.events.json import Json, from_json, measure_from_json, measure_to_json
from ..privacy.measures import Measure

MALFORMED = (KeyError, TypeError, AttributeError, ValueError, RecursionError)
"""What is raised where a file of a record has not the form that it was written in."""
NOT_RECORDED = "not recorded"
"""Release and store of answers that were stored before these were kept."""


@frozen
class Charge:
    """Public facts of a charge: its event, what it paid for, and how that was made.

    `line` is its number in the proof, `entry` its number in the ledger if the charge is shown.
    `product` is "tables", "bounds", "model", "records", "stream" or "unknown".
    """

    line: int
    event: Json = field(hash=False)
    product: str
    release: str
    store: str
    part: object = None
    entry: int | None = None


@frozen
class PublicProof:
    """Lines with what they say: the terms, the charges, and the facts of all entries."""

    lines: tuple[str, ...]
    terms: Charter
    charges: tuple[Charge, ...]
    end: Json = field(hash=False)

    @property
    def spent(self) -> Measure | None:
        """The budget that was spent; None in a ledger whose budget begins anew."""
        return self._measure("spent")

    @property
    def left(self) -> Measure | None:
        """The budget that is left; None in a ledger whose budget begins anew."""
        return self._measure("left")

    def _measure(self, name: str) -> Measure | None:
        stored = self.end[name]
        if stored is None:
            return None
        return measure_from_json(stored)

    @property
    def checkpoint(self) -> tuple[int, str]:
        """Number and hash of the last line."""
        return len(self.lines), json.loads(self.lines[-1])["hash"]


def prove(ledger: Ledger, shown: Collection[int] = (), service: Json | None = None) -> PublicProof:
    """Write the public lines of a ledger; `shown` are the numbers of charges that may be named.

    Refuses: a broken chain, with LedgerCorrupt; numbers that are no answered charge, with
    InvalidArgument.
    """
    # First: nothing is said about a chain that does not hold.
    ledger.verify()
    entries = list(ledger.entries())
    bodies = stored_bodies(entries)
    _check_shown(shown, bodies)
    # Allowances are by name; whether there are any is said at the end.
    terms = ledger.terms.to_json()
    del terms["allowances"]
    facts: list[Json] = [{"kind": "open", "terms": terms}]
    askers = set()
    versions: dict[str, set[str]] = {}
    last_day = entries[0][0].time[:10]
    for entry, told in entries:
        if entry.kind != "charge" or entry.event is None:
            continue
        askers.add(entry.who)
        stored = bodies.get(entry.number)
        made, tables = _made(stored, told)
        for table, version in tables.items():
            versions.setdefault(table, set()).add(version)
        # Days of entries that are not shown would tell when somebody asked.
        if entry.number in shown:
            last_day = entry.time[:10]
        facts.append(_charge_line(entry, made, shown))
    # Their number alone: names of versions may tell when data came in.
    counted = max(map(len, versions.values()), default=0)
    facts.append(
        {
            "kind": "end",
            "access": {"allowances": _has_allowances(ledger, entries), "one": len(askers) <= 1},
            "versions": counted,
            "day": last_day,
            "service": service,
            **_balance(ledger),
        }
    )
    return read_proof(_chained(facts))


def stored_bodies(entries: Iterable[tuple[Entry, str | None]]) -> dict[int, str]:
    """Return the text of the first stored answer of each charge, by the number of the charge."""
    bodies: dict[int, str] = {}
    for entry, body in entries:
        if entry.kind == "answer" and entry.refers is not None and body is not None:
            bodies.setdefault(entry.refers, body)
    return bodies


def _check_shown(shown: Collection[int], bodies: Collection[int]) -> None:
    unknown = sorted(set(shown) - set(bodies))
    if unknown:
        numbers = ", ".join(map(str, unknown))
        raise InvalidArgument(
            f"entry {numbers} is no charge with a stored answer; `discreet ledger history` lists them"
        )


def _has_allowances(ledger: Ledger, entries: Iterable[tuple[Entry, str | None]]) -> bool:
    # Fixed at the opening, or given by a steward since.
    if ledger.terms.allowances is not None:
        return True
    return any(entry.kind == "allow" for entry, _ in entries)


def _balance(ledger: Ledger) -> Json:
    """Return spent and left; neither where the budget begins anew, since they would tell the day."""
    if ledger.terms.window is not None:
        return {"spent": None, "left": None}
    return {"spent": measure_to_json(ledger.spent()), "left": measure_to_json(ledger.left())}


def _charge_line(entry: Entry, made: Json, shown: Collection[int]) -> Json:
    line: Json = {"kind": "charge", "event": entry.event, "part": entry.part, **made}
    if entry.number in shown:
        line["entry"] = entry.number
    return line


def _made(stored: str | None, told: str | None) -> tuple[Json, dict[str, str]]:
    """Return what a charge paid for and how it was made, and the versions of its tables."""
    made: Json = {"product": "unknown", "release": NOT_RECORDED, "store": NOT_RECORDED}
    # The body of a stream's charge has its terms; others have the text of a question.
    if told is not None and "stream" in json.loads(told):
        return made | {"product": "stream"}, {}
    if stored is None:
        return made, {}
    try:
        body = read_body(stored)
    except DiscreetError:
        # Charged by code of the ledger's owner: its body is no answer of a curator.
        return made, {}
    made["product"] = _product(body.answers)
    for name in ("release", "store"):
        made[name] = (body.made or {}).get(name, NOT_RECORDED)
    return made, dict(body.versions)


def _product(answers: object) -> str:
    """Return the kind of product by the form of what is stored."""
    if not isinstance(answers, dict):
        return "unknown"
    if answers.keys() == {"low", "high"}:
        return "bounds"
    first = next(iter(answers.values()), None)
    if not isinstance(first, dict):
        return "unknown"
    if "synthetic" in first:
        return "records"
    if "answer" in first:
        return "tables"
    # Trained arrays by name: no other form is stored.
    return "model"


def _chained(facts: Sequence[Json]) -> list[str]:
    """Number the lines, and hash each with the hash of the line before."""
    lines = []
    previous = ""
    for number, line in enumerate(facts, start=1):
        unsealed = {"line": number, "previous": previous, **line}
        previous = digest(canonical_json(unsealed))
        lines.append(canonical_json({**unsealed, "hash": previous}))
    return lines


def read_proof(lines: Sequence[str]) -> PublicProof:
    """Read lines, check their chain, and price every charge again.

    Refuses: lines that were torn, changed or left out, with LedgerCorrupt.
    """
    read = []
    previous = ""
    for number, line in enumerate(lines, start=1):
        data = _parsed(line, number)
        # The number is checked with the hash before it: a line left out breaks both.
        if data.get("line") != number or data.get("previous") != previous:
            raise LedgerCorrupt(f"proof.lines: line {number} does not follow: a charge is missing")
        previous = str(data.pop("hash", ""))
        if digest(canonical_json(data)) != previous:
            raise LedgerCorrupt(f"proof.lines: line {number} was changed")
        read.append(data)
    kinds = Counter(str(data.get("kind")) for data in read)
    has_ends = kinds["open"] == kinds["end"] == 1 and kinds["charge"] == len(read) - 2
    if not has_ends or read[0]["kind"] != "open" or read[-1]["kind"] != "end":
        raise LedgerCorrupt("proof.lines: the first or the last line is missing")
    try:
        terms = read_charter(canonical_json({**read[0]["terms"], "allowances": None}))  # type: ignore[dict-item]
        charges = tuple(map(_read_charge, read[1:-1]))
        proof = PublicProof(tuple(lines), terms, charges, read[-1])
        _check_sum(proof)
    except MALFORMED:
        raise LedgerCorrupt("proof.lines: a line is not what a record writes") from None
    return proof


def _parsed(line: str, number: int) -> Json:
    try:
        data = json.loads(line)
    except MALFORMED:
        data = None
    if not isinstance(data, dict):
        raise LedgerCorrupt(f"proof.lines: line {number} is no line of a proof")
    return data


def _read_charge(data: Json) -> Charge:
    given: Any = data
    return Charge(
        line=given["line"],
        event=given["event"],
        product=given["product"],
        release=given["release"],
        store=given["store"],
        part=given["part"],
        entry=given.get("entry"),
    )


def _check_sum(proof: PublicProof) -> None:
    """Price all charges again; refuse a sum above the budget or above the stated spending.

    Nothing is checked where the budget begins anew, and where parts or blocks are charged in
    parallel.
    """
    terms = proof.terms
    spent = proof.spent
    if spent is None or terms.divided:
        return
    counted = terms.filter
    try:
        for charge in proof.charges:
            counted = counted.after(from_json(charge.event))
    except DiscreetError as problem:
        raise LedgerCorrupt(f"proof.lines: the charges do not fit the budget: {problem}") from None
    again = spent_of(counted)
    # A later release may price lower, never higher; equal texts may differ in the last digits.
    if str(again) != str(spent) and not again <= spent:
        raise LedgerCorrupt(f"proof.lines: the charges cost {again}, and {spent} is stated")
