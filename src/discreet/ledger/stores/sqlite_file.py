"""SQLite file of a ledger: schema, creation, opening, recognition, and translation of errors.

A new file is written completely beside its path and then linked to it (`os.link` is atomic), so
that no process ever sees half a ledger.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ...errors import LedgerCorrupt, LedgerUnavailable

APPLICATION = 0x44504C31
"""SQLite's application id, the ASCII text DPL1: it tells a ledger from other databases."""
VERSION = 2
"""Version of the file; 1 has no account tree, and a release that knows only 1 refuses 2."""
_MAGIC = b"SQLite format 3\0"
TABLES = """
CREATE TABLE entry (number INTEGER PRIMARY KEY, line TEXT NOT NULL, body TEXT, key TEXT NOT NULL) STRICT;
CREATE INDEX entry_key ON entry (key, number) WHERE key <> '';
CREATE TABLE state (name TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""
_QUESTION = """substr(line, instr(line, '"question":"') + 12, 64)"""
_OLD = "key <> '' AND substr(key, 1, 1) <> '#' AND substr(key, 1, 2) <> '2:'"
OLD_LINE = f"{_OLD} AND {_QUESTION}"
"""Condition on lines with a key of the first format, and the question that they state.

Quotes within texts are escaped, so the first `"question":"` of a line is its field.
"""
_REST = """substr(line, instr(line, 'Z","who":') + 9)"""
WHO = f"""substr({_REST}, 1, instr({_REST}, ',"why":') - 1)"""
"""Person of a line, as JSON: fields are sorted, so the name is between the time (…Z) and why."""
INDEXES = (
    f"CREATE INDEX IF NOT EXISTS entry_question ON entry ({_QUESTION}, number) WHERE {_OLD}",
    f"CREATE INDEX IF NOT EXISTS entry_who ON entry ({WHO}, number)",
    # It holds the keys, which stand behind the long bodies of a line: none of these is read to list them.
    f"CREATE INDEX IF NOT EXISTS entry_own ON entry ({WHO}, key) WHERE key <> ''",
)
"""Indexes that files of earlier releases do not have yet."""
_BUSY = "somebody else holds it for too long; nothing was spent, ask again"
_FULL = "the disk is full, or the file may not grow; nothing was spent. Make room and ask again"
_LOST = "reading or writing failed; if a charge was under way it may or may not stand, its answer did not go out"
# By prefix of SQLite's error name: extended codes such as SQLITE_IOERR_WRITE begin with it.
_REASONS = {
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR": _LOST,
    "SQLITE_READONLY": "it may not be written; nothing was spent. Give this process the right to write it",
    "SQLITE_CANTOPEN": "it cannot be opened; nothing was spent. Does its folder exist, and may it be written?",
    "SQLITE_PERM": "it may not be opened; nothing was spent",
    "SQLITE_NOMEM": "there is no memory for it; nothing was spent",
    "SQLITE_INTERRUPT": "the operation was interrupted; nothing was spent",
}


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's errors into LedgerUnavailable, or LedgerCorrupt for a bad file."""
    try:
        yield
    except sqlite3.Error as problem:
        name = getattr(problem, "sqlite_errorname", None) or ""
        for prefix, reason in _REASONS.items():
            if name.startswith(prefix):
                raise LedgerUnavailable(f"the ledger {path}: {reason} ({name})") from None
        raise LedgerCorrupt(
            f"the ledger {path} cannot be read: it is torn or no ledger ({name or problem})"
        ) from None
    except OSError as problem:
        raise LedgerUnavailable(
            f"the ledger {path} cannot be reached; nothing was spent ({problem.strerror})"
        ) from None


def connect(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a ledger's file; refuse other files with LedgerCorrupt."""
    # Transactions are begun by hand (isolation_level=None); the store's own lock serves threads.
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=rw",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _check_kind(connection, path)
        _configure(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is no ledger, or a ledger of a newer version."""
    kind = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if kind != APPLICATION:
        raise LedgerCorrupt(f"{path} is a database, but no ledger of discreet; nothing was changed")
    if not 1 <= version <= VERSION:
        raise LedgerCorrupt(
            f"{path} is a ledger of version {version}, this release reads up to {VERSION}; use another one"
        )


def _configure(connection: sqlite3.Connection) -> None:
    """Set durability, and keep the schema of the file from calling functions."""
    # FULL: a commit returns only after fsync, so a charge survives a loss of power.
    for setting in (
        "synchronous = FULL",
        "fullfsync = ON",
        "checkpoint_fullfsync = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {setting}")


def check_file(path: Path) -> None:
    """Refuse a file that is empty, of another format, or shorter than its header says.

    A log beside it may hold the missing pages after a crash, so the length counts only without one.
    """
    with path.open("rb") as file:
        head = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if not head.startswith(_MAGIC):
        reason = "is empty: a ledger never is" if not size else "is no ledger"
        raise LedgerCorrupt(
            f"{path} {reason}; nothing was changed. Restore it from a copy, or name another file"
        )
    # SQLite's header: page size at offset 16, where 1 means 65536, and page count at offset 28.
    page_size = int.from_bytes(head[16:18], "big")
    if page_size == 1:
        page_size = 65536
    page_count = int.from_bytes(head[28:32], "big")
    wanted = page_count * page_size
    log = log_of(path)
    if size < wanted and not (log.exists() and log.stat().st_size):
        raise LedgerCorrupt(
            f"{path} is torn: {wanted} bytes are expected, {size} are there; restore it from a copy"
        )


def identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which tell files of one name apart; None if there is no file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def log_of(path: Path) -> Path:
    """Return the path of the write-ahead log, which holds the newest entries of a file."""
    return Path(f"{path}-wal")


def make_file(path: Path, fill: Callable[[sqlite3.Connection], None]) -> bool:
    """Make a complete file beside the path and link it there; False if the path exists by then."""
    with drafted(path) as draft:
        # The connection is closed before the link: closing moves the log into the file.
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            _configure(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.executescript(f"BEGIN IMMEDIATE;{TABLES};{';'.join(INDEXES)};")
            fill(connection)
            connection.execute("COMMIT")
        return place_file(draft, path)


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """Make a private empty file beside a path; remove it and its logs at the end.

    SQLite gives the log the permissions of the file.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        yield draft
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.unlink(f"{draft}{suffix}")


def place_file(draft: Path, path: Path) -> bool:
    """Link a complete file to its name, durably; False if a file has that name by then."""
    # A link, unlike a rename, never replaces a file that another process has made meanwhile.
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    _sync_folder(path.parent)
    return True


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable: the name is data of the folder, not of the file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
