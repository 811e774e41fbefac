"""Tamper checks of a ledger's SQLite file: foreign objects, a removed log, an older copy.

A file has two tables and up to four indexes (one in files of release 0.1.0). A trigger or a view
in it could change data that is written or read, so any other object is refused.

The newest entries are in the write-ahead log (`…-wal`) until SQLite moves them into the file. If
that log is deleted, or an older file is put in place of a newer one, spending is forgotten. So the
number of the last entry is also noted as an extended attribute of the file, after each commit. A
file that ends before that number is refused. File systems without extended attributes have no such
note: there only verification against a checkpoint shows a loss.

Law: tests/ledger/test_sqlite_checks.py::test_objects_of_somebody_else_are_refused,
tests/ledger/test_sqlite_checks.py::TestTheLog
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path

from ...errors import LedgerCorrupt

_NOTE = "user.discreet.last"
_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_END = "SELECT max(number) FROM entry"


def check_objects(connection: sqlite3.Connection, path: Path, tables: str) -> None:
    """Refuse a file that holds other objects than the tables and indexes of a ledger.

    >>> import sqlite3
    >>> from pathlib import Path
    >>> from discreet.ledger.stores.sqlite_checks import check_objects
    >>> connection = sqlite3.connect(":memory:")
    >>> made = connection.executescript("CREATE TABLE a (x); CREATE VIEW b AS SELECT x FROM a")
    >>> check_objects(connection, Path("people.ledger"), "CREATE TABLE a (x)")
    Traceback (most recent call last):
    ...
    discreet.errors.LedgerCorrupt: people.ledger holds a view that no ledger has: somebody has changed it; ...
    """
    # The texts of the statements are compared too: an index with another expression is foreign.
    expected = _objects_of(tables)
    for kind, name, sql in connection.execute(_OBJECTS):
        if (kind, name, sql) not in expected:
            remedy = "nothing was written. Restore it from a copy, or remove that with sqlite3 and verify the ledger"
            raise LedgerCorrupt(
                f"{path} holds a {kind} that no ledger has: somebody has changed it; {remedy}"
            )


@lru_cache(maxsize=4)
def _objects_of(tables: str) -> frozenset[tuple[str, str, str]]:
    """Return the objects that the statements make, as SQLite itself writes them."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(tables)
        return frozenset(empty.execute(_OBJECTS))


def note_end(path: Path, number: int) -> None:
    """Note the number of the last entry as an attribute of the file, if the file system can."""
    with suppress(OSError, AttributeError):
        os.setxattr(path, _NOTE, str(number).encode())


def noted_end(path: Path) -> int:
    """Return the number of the last entry that is noted at the file; 0 if there is no note."""
    try:
        return int(os.getxattr(path, _NOTE))
    except (OSError, AttributeError, ValueError):
        return 0


def check_end(connection: sqlite3.Connection, path: Path, noted: int) -> None:
    """Refuse a file that ends before the noted entry; the note was read before the file."""
    end = connection.execute(_END).fetchone()[0] or 0
    if end < noted:
        raise LedgerCorrupt(
            f"{path} ends with entry {end}, but entry {noted} was written here: its log ({path.name}-wal) was removed, "
            "or an older copy was put in its place. Nothing was changed; put back what is missing, or accept the loss "
            "by `ledger repair --lost`, which counts the budget as spent"
        )
