"""What may befall a ledger's file from outside: objects of somebody else in it, a log that is taken away.

A file is two tables and three indexes; a trigger or a view in it could change what is written or read: it is refused.

The newest entries stand in the log (`…-wal`) until they are moved into the file. Who deletes that log, or puts an older
file in the place of a newer one, forgets what was spent. So the number of the last entry is also noted at the file
itself, as an extended attribute, after each commit; a file that ends before that number is refused. File systems
without such attributes do without: there only a checkpoint tells.
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
    """Refuse a file that holds anything else than what a ledger is made of.

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
    for kind, name, sql in connection.execute(_OBJECTS):
        if (kind, name, sql) not in _made(tables):
            what = "nothing was written. Restore it from a copy, or remove that with sqlite3 and verify the ledger"
            raise LedgerCorrupt(
                f"{path} holds a {kind} that no ledger has: somebody has changed it; {what}"
            )


@lru_cache(maxsize=4)
def _made(tables: str) -> frozenset[tuple[str, str, str]]:
    """Return what the statements make, in SQLite's own words."""
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(tables)
        return frozenset(empty.execute(_OBJECTS))


def note_end(path: Path, number: int) -> None:
    """Note at the file which entry is the last one, where the file system can."""
    with suppress(OSError, AttributeError):
        os.setxattr(path, _NOTE, str(number).encode())


def noted_end(path: Path) -> int:
    """Return which entry is noted at the file as the last one; 0 where none is."""
    try:
        return int(os.getxattr(path, _NOTE))
    except (OSError, AttributeError, ValueError):
        return 0


def check_end(connection: sqlite3.Connection, path: Path, noted: int) -> None:
    """Refuse a file that ends before the entry that was noted at it before it was looked at."""
    end = connection.execute(_END).fetchone()[0] or 0
    if end < noted:
        raise LedgerCorrupt(
            f"{path} ends with entry {end}, but entry {noted} was written here: its log ({path.name}-wal) was removed, "
            "or an older copy was put in its place. Nothing was changed; put back what is missing, or accept the loss "
            "by `ledger repair --lost`, which counts the budget as spent"
        )
