"""Ledger entry: one line of the hash chain.

An entry says who, when, why, the fingerprint of the question, the event that was charged, and the
hash of the line before. The line is canonical JSON (sorted keys, no spaces, ASCII). Its hash is the
SHA-256 of that text without the field `hash`, so a chain can be checked with a JSON reader and
SHA-256 alone.

Entries carry versioned events, never epsilons: readers compute the price from the event.

Names of people and reasons are short printable text that every store can hold (`read_who`,
`read_text`).

Guarantee: an entry of format 1 is read for ever, and the same entry is the same text for ever.

Refuses: LedgerCorrupt for a line that is torn, changed or of another format.

Law: tests/ledger/test_books.py::test_a_line_of_the_first_format_is_read_for_ever,
tests/ledger/test_verify.py::TestEveryCorruptionIsRefused
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Literal, TypeAlias, get_args

from ..arithmetic.canonical import canonical_json, digest
from ..errors import InvalidArgument, LedgerCorrupt
from ..frozen import field, frozen, replace
from ..privacy.events.json import Json
from .clock import read_time

EntryKind: TypeAlias = Literal[
    "open",
    "charge",
    "answer",
    "fail",
    "allow",
    "again",
    "close",
    "resume",
    "repair",
    "upgrade",
    "seal",
    "period",
    "stop",
]
FORMAT = 1
"""Format of a line. Ledgers are kept for decades: any change of the format is a new number."""
# Limits of stored texts; the index of names in PostgreSQL holds 200 characters too.
LONGEST_WHO = 200
LONGEST_TEXT = 2000
# PostgreSQL holds no NUL in text, and UTF-8 has no surrogates.
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


@frozen
class Entry:
    """One line of a ledger, as it was written.

    | field | meaning |
    |---|---|
    | `question`, `key` | fingerprint of the question; idempotency key, by which answers are found |
    | `part` | the public part of the data that was charged; None for all the data |
    | `terms` | of an `open` and an `allow`; the target of a `close`, the source of a `resume`, |
    | | the reason of a `repair`, the file version of an `upgrade`, the period of a stream |
    | `event` | the event of a `charge` or an `again` |
    | `refers` | the charge that an `answer` or a `fail` ends, or that an `again` repeats, or |
    | | the stream of a `seal`, a `period` or a `stop` |
    | `body_hash` | hash of the text beside the line: an answer, a question, a stream's value |
    | `books` | digest of terms, allowances and accounts after this line (`books.books_digest`) |
    | `previous`, `hash` | hash of the line before, and of this one |

    An `again` repeats the charge of another person who asked the same. Its event counts in the
    account of the person who asks again, and not in everyone's. Kinds are only ever added.
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
    unsealed = canonical_json(_unsealed(entry))
    return replace(entry, hash=digest(unsealed))


def write_line(entry: Entry) -> str:
    """Write a sealed entry as one line of JSON."""
    data = _unsealed(entry)
    data["hash"] = entry.hash
    return canonical_json(data)


def _unsealed(entry: Entry) -> Json:
    """Return the fields that the hash covers: all but the hash itself."""
    data = {name: getattr(entry, name) for name in _NAMES if name != "hash"}
    data["format"] = FORMAT
    return data


def read_line(line: str) -> Entry:
    """Read a line and check that its hash is the hash of the other fields.

    >>> import discreet as dp
    >>> from discreet.ledger.entry import read_line, seal, write_line
    >>> line = write_line(seal(dp.Entry(1, "open", "2026-05-01T09:30:00.000000Z", who="ann")))
    >>> read_line(line).who
    'ann'
    >>> read_line(line.replace("ann", "bob"))
    Traceback (most recent call last):
    ...
    discreet.errors.LedgerCorrupt: entry 1 does not have the hash that it states: it was changed

    Refuses: a line that is no entry of this format, with LedgerCorrupt.
    """
    data = _parse(line)
    entry = Entry(**{name: data[name] for name in _NAMES})  # type: ignore[arg-type]
    unsealed = {name: data[name] for name in data if name != "hash"}
    if digest(canonical_json(unsealed)) != entry.hash:
        raise LedgerCorrupt(
            f"entry {entry.number} does not have the hash that it states: it was changed"
        )
    return entry


def _parse(line: str) -> Json:
    """Read a line as JSON; refuse wrong fields, formats and types, with LedgerCorrupt."""
    try:
        data = json.loads(line, parse_constant=_refuse_constant)
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
    if not _has_right_types(data):
        raise LedgerCorrupt(
            "a line has a field of the wrong type: it was changed, or written by something else"
        )
    return data


def _has_right_types(data: Json) -> bool:
    """Return whether every field of a line has a type of `_TYPES`, and the time its form."""
    for name, types in _TYPES.items():
        if not isinstance(data[name], types):
            return False
    # In Python True is an int, but no number of an entry is written as true or false.
    for name in ("number", "refers", "format"):
        if isinstance(data[name], bool):
            return False
    return _is_time(str(data["time"]))


def _refuse_constant(name: str) -> object:
    """Refuse NaN and infinities, which Python's reader accepts although JSON does not have them."""
    raise ValueError(f"JSON has no {name}")


def _is_time(text: str) -> bool:
    try:
        read_time(text)
    except ValueError:
        return False
    return True


def read_who(value: object) -> str:
    """Check the name of a person.

    >>> from discreet.ledger.entry import read_who
    >>> read_who("ann@example.org")
    'ann@example.org'
    >>> read_who("*")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: who must be a printable name of at most 200 characters, and not '*'; got '*'

    Refuses: "*", names that are empty, too long or not printable, and surrounding spaces, with
    InvalidArgument.
    """
    if not isinstance(value, str) or not _is_name(value):
        shown = repr(value)[:60]
        raise InvalidArgument(
            f"who must be a printable name of at most {LONGEST_WHO} characters, and not '*'; got {shown}"
        )
    return value


def _is_name(text: str) -> bool:
    if not text.isprintable() or not 0 < len(text) <= LONGEST_WHO:
        return False
    # A star is everyone who is not named (`terms.OTHERS`), so nobody can have it as a name.
    return text == text.strip() and text != "*"


def read_text(value: object, name: str) -> str:
    r"""Return a text that is only stored, after a check of its length and characters.

    >>> from discreet.ledger.entry import read_text
    >>> read_text("weekly report,\nsecond try", "why")
    'weekly report,\nsecond try'

    Refuses: other types, more than 2000 characters, and characters that no store can hold;
    InvalidArgument.
    """
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        kind = f"{len(value)} characters" if isinstance(value, str) else type(value).__name__
        raise InvalidArgument(
            f"{name} must be text of at most {LONGEST_TEXT} characters, got {kind}"
        )
    if _NOT_STORABLE.search(value):
        raise InvalidArgument(f"{name} holds a character that no store can hold; leave it out")
    return value
