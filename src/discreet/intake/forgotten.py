"""List of forgotten people: keyed hashes of ids whose rows `prepare --forgotten` leaves out.

Somebody who was deleted and comes back under the same id could lose a ledger's budget twice: by
the answers about the old rows, and by those about the new ones. So the id is remembered, as a keyed
hash, and its rows are left out wherever the list is given. The file tells how many ids are in it,
but neither the ids nor when they were added, nor how many rows they had.

The file holds the key. Whoever can read it can test whether a given id is in it; without the file
nobody can. It belongs beside the data, readable by its owner alone.

Guarantee: an id that was added is found for ever, whatever its stored type; the file is replaced in
one step, so a crash leaves the old list or the new one.

Refuses: a file that is no such list, a path that cannot be written, empty ids; InvalidArgument.

Law: tests/intake/test_forgotten.py::TestForgotten
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from pathlib import Path

from ..errors import InvalidArgument
from ..frozen import frozen

_FORMAT = 1
_KEY_BYTES = 32


@frozen
class Forgotten:
    """Keyed hashes of the ids of forgotten people."""

    key: str
    hashes: frozenset[str] = frozenset()

    def hash_of(self, person: object) -> str:
        """Return the keyed hash of an id, as text: 4711, 4711.0 and "4711" are one id."""
        if isinstance(person, float | Decimal) and isfinite(person) and person == int(person):
            person = int(person)
        # Hashed twice, as HMAC does: a hash tells nothing about the hash of a longer id.
        inner = hashlib.sha256(f"{self.key}{person}".encode()).hexdigest()
        return hashlib.sha256(f"{self.key}{inner}".encode()).hexdigest()

    def found_sql(self, person: str, stored: str, hashes: str) -> str:
        """Write a condition of DuckDB that holds for the rows of forgotten people.

        `person` is the column of the id, `stored` its type, `hashes` a query of hashes in
        parentheses. The text of the condition contains the key: never show it.
        """
        conditions = []
        for text in _texts_sql(person, stored):
            inner = f"sha256('{self.key}' || {text})"
            conditions.append(f"sha256('{self.key}' || {inner}) IN {hashes}")
        return " OR ".join(conditions)

    def holds(self, person: object) -> bool:
        """Return whether an id was forgotten."""
        return self.hash_of(person) in self.hashes

    def adding(self, people: Iterable[object]) -> Forgotten:
        """Return the list with further ids."""
        added = set(self.hashes)
        for person in people:
            if not str(person).strip():
                raise InvalidArgument("an id to be forgotten must not be empty; give the stored id")
            added.add(self.hash_of(person))
        return Forgotten(self.key, frozenset(added))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list durably, readable by its owner alone."""
        target = Path(path)
        facts = {"discreet": "forgotten", "format": _FORMAT, "key": self.key}
        text = json.dumps({**facts, "people": sorted(self.hashes)}, indent=1)
        try:
            # Made with mode 0600; renamed when it is on the disk, so no half list is ever read.
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except OSError:
            raise InvalidArgument(
                f"{target} cannot be written; is the folder there, is it yours, and is there space?"
            ) from None


def read_forgotten(path: str | os.PathLike[str], *, new: bool = False) -> Forgotten:
    """Read a list of forgotten people; with `new`, a missing file is an empty list.

    >>> import pathlib, tempfile
    >>> from discreet.intake.forgotten import read_forgotten
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "visits.forgotten"
    >>> read_forgotten(file, new=True).adding([4711]).save(file)
    >>> read_forgotten(file).holds("4711"), read_forgotten(file).holds(4712)
    (True, False)
    """
    file = Path(path)
    if new and not file.exists():
        return Forgotten(secrets.token_hex(_KEY_BYTES))
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        is_list = facts["discreet"] == "forgotten" and facts["format"] == _FORMAT
        key = facts["key"]
        people = facts["people"]
        hashes = [key, *people] if isinstance(people, list) else [""]
    except (OSError, ValueError, LookupError, TypeError):
        is_list, key, people, hashes = False, "", [], []
    # The key goes into SQL: nothing but hexadecimal digits is believed.
    if not is_list or not all(_is_hash(text) for text in hashes):
        raise InvalidArgument(
            f"{file} is no list of forgotten people; `discreet forget` makes one, and adds to it"
        )
    return Forgotten(key, frozenset(people))


def _texts_sql(person: str, stored: str) -> list[str]:
    """Write the texts by which an id may be on the list: as DuckDB shows it, and as an integer.

    A column of whole numbers becomes DOUBLE where pandas reads one missing id, and DECIMAL in many
    exports: 4711.0 and 4711.00 are found by the list's 4711.
    """
    shown = f"CAST({person} AS VARCHAR)"
    if stored not in ("DOUBLE", "FLOAT") and not stored.startswith("DECIMAL"):
        return [shown]
    # Beyond 2^127 a number is no HUGEINT; DECIMAL has at most 38 digits.
    whole = f"CAST(TRY_CAST({person} AS HUGEINT) AS VARCHAR)"
    return [shown, f"CASE WHEN {person} = trunc({person}) THEN {whole} END"]


def _is_hash(text: object) -> bool:
    if not isinstance(text, str) or len(text) != 2 * _KEY_BYTES:
        return False
    return set(text) <= set("0123456789abcdef")
