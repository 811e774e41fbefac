"""One line of a ledger: who, when, why, what was asked and which event it cost, and the hash of the line before.

The line is canonical JSON (sorted keys, no spaces, ASCII) and its hash is the SHA-256 of that without the hash itself.
So a chain can be checked with nothing but a JSON reader and SHA-256. Entries carry versioned events, never epsilons:
what they cost is worked out by whoever reads them.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Literal, TypeAlias, get_args

from ..arithmetic.canonical import canonical_json, digest
from ..errors import LedgerCorrupt
from ..frozen import field, frozen, replace
from ..privacy.events.json import Json
from .clock import read_time

EntryKind: TypeAlias = Literal[
    "open", "charge", "answer", "fail", "allow", "again", "close", "resume", "repair", "upgrade"
]
FORMAT = 1
"""Of a line; ledgers are kept for decades, so it changes only with a new number."""


@frozen
class Entry:
    """One line, as it was written.

    `terms` are those of an `open` and an `allow`, and say where a `close` leads, where a `resume` comes from and what a
    `repair` mends; an `upgrade` begins what later releases keep. `event` is of a `charge`; `refers` belongs to what
    ends a charge, `answer` or `fail`; `body_hash` is that of an answer, or of the text of what was asked; `books` is
    the digest of the accounts after this line. An `again` refers to the charge of somebody else who asked the same: its
    event counts in the account of the one who asks again, and not in everyone's. Kinds are only ever added.
    """

    number: int
    kind: EntryKind
    time: str
    who: str = ""
    why: str = ""
    question: str = ""
    key: str = ""
    part: str | int | bool | None = None
    event: Json | None = field(default=None, hash=False)
    terms: Json | None = field(default=None, hash=False)
    refers: int | None = None
    body_hash: str | None = None
    books: str = ""
    previous: str = ""
    hash: str = ""


_NAMES = tuple(f.name for f in fields(Entry))
_TYPES: dict[str, tuple[type, ...]] = {
    "number": (int,),
    "kind": (str,),
    "time": (str,),
    "who": (str,),
    "why": (str,),
    "question": (str,),
    "key": (str,),
    "part": (str, int, bool, type(None)),
    "event": (dict, type(None)),
    "terms": (dict, type(None)),
    "refers": (int, type(None)),
    "body_hash": (str, type(None)),
    "books": (str,),
    "previous": (str,),
    "hash": (str,),
    "format": (int,),
}


def seal(entry: Entry) -> Entry:
    """Return the entry with its own hash.

    >>> import discreet as dp
    >>> from dataclasses import replace
    >>> from discreet.ledger.entry import seal
    >>> first = seal(dp.Entry(1, "open", "2026-05-01T09:30:00.000000Z"))
    >>> first.hash == seal(first).hash, first.hash == seal(replace(first, why="else")).hash
    (True, False)
    """
    return replace(entry, hash=digest(canonical_json(_open(entry))))


def write_line(entry: Entry) -> str:
    """Write a sealed entry as one line of JSON."""
    return canonical_json(_open(entry) | {"hash": entry.hash})


def _open(entry: Entry) -> Json:
    return {name: getattr(entry, name) for name in _NAMES if name != "hash"} | {"format": FORMAT}


def read_line(line: str) -> Entry:
    """Read a line and check that its hash is the hash of the rest.

    >>> import discreet as dp
    >>> from discreet.ledger.entry import read_line, seal, write_line
    >>> line = write_line(seal(dp.Entry(1, "open", "2026-05-01T09:30:00.000000Z", who="ann")))
    >>> read_line(line).who
    'ann'
    >>> read_line(line.replace("ann", "bob"))
    Traceback (most recent call last):
    ...
    discreet.errors.LedgerCorrupt: entry 1 does not have the hash that it states: it was changed

    Refuses what is no entry of this format.
    """
    data = _parsed(line)
    entry = Entry(**{name: data[name] for name in _NAMES})  # type: ignore[arg-type]
    if digest(canonical_json({name: data[name] for name in data if name != "hash"})) != entry.hash:
        raise LedgerCorrupt(
            f"entry {entry.number} does not have the hash that it states: it was changed"
        )
    return entry


def _parsed(line: str) -> Json:
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.keys() != _TYPES.keys():
        raise LedgerCorrupt(
            "a line is no entry of a ledger: it was torn, or written by something else"
        )
    if data["format"] != FORMAT or data["kind"] not in get_args(EntryKind):
        raise LedgerCorrupt(
            "a line is of a format that this release does not read; use a newer one"
        )
    right = all(isinstance(data[name], types) for name, types in _TYPES.items())
    whole = all(
        data[name] is not True and data[name] is not False
        for name in ("number", "refers", "format")
    )
    if not right or not whole or not _is_time(data["time"]):
        raise LedgerCorrupt(
            "a line has a field of the wrong type: it was changed, or written by something else"
        )
    return data


def _no_constant(name: str) -> object:
    raise ValueError(f"JSON has no {name}")


def _is_time(text: str) -> bool:
    try:
        read_time(text)
    except ValueError:
        return False
    return True
