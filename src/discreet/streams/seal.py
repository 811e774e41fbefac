"""Key file of streams: the secret key, the last period of each stream, and the days people used.

Exact totals are kept in the ledger, encrypted with AES-256-GCM and bound to ledger, stream and
period. Without the key nobody who reads the ledger can read an exact total. The key file is a
SQLite database that only its owner may read; each write is durable when it returns.

The file also keeps the numbers of closed days that later days need (`closing`), so that closing a
day does not decrypt all earlier ones. They could be computed from the ledger again, and are as
private as the key.

    state                          effect
    the ledger lacks periods of    closing is refused: the ledger was restored from an older copy;
    the file                       a second value of a period would reveal what noise hides
    the file lacks periods of      closing goes on if units are rows; it is refused if used days
    the ledger                     of people are stored, since they would be counted anew
    the file is lost               no day can be closed any more; what was published stays

The days that people use are written before the encrypted totals that count them (the seal), under
a random number of the attempt. The seal names its attempt. Days of an attempt whose seal is not in
the ledger count for nobody, so days used and seal take effect together.

Days used, and the numbers of closed days, are removed once no day of the stream can close any more
(`clear`); the file then shrinks. The last period stays for ever.

Law: tests/streams/test_seal.py::TestSeal
"""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument, LedgerCorrupt, LedgerUnavailable
from ..frozen import field, frozen
from ..ledger import failpoints
from ..optional import load

_APPLICATION = 0x64735331
_HASH_BYTES = 16
_NONCE_BYTES = 12
_KEY_BYTES = 32
_TABLES = """
CREATE TABLE secret (key BLOB NOT NULL);
CREATE TABLE last (stream TEXT PRIMARY KEY, period INTEGER NOT NULL);
CREATE TABLE used (stream TEXT NOT NULL, attempt BLOB NOT NULL, period INTEGER NOT NULL,
    people BLOB NOT NULL, PRIMARY KEY (stream, attempt));
"""
# Files of earlier versions have no such table.
_CARRIED = """
CREATE TABLE IF NOT EXISTS carried (stream TEXT NOT NULL, period INTEGER NOT NULL,
    attempt BLOB NOT NULL, numbers BLOB NOT NULL, PRIMARY KEY (stream, period))
"""


@frozen(repr=False)
class Seal:
    """Secret key of streams in a file; `Seal.create` makes one, `Seal.load` opens it.

    Guarantee: `repr` and `str` show the name of the file only.
    Refuses: a file that is there already, or that is none of this kind (InvalidArgument).
    Law: tests/streams/test_seal.py::TestSeal
    """

    path: Path
    _key: bytes = field(compare=False)

    @classmethod
    def create(cls, path: str | Path) -> Seal:
        """Make a new key in a new file that only its owner may read."""
        file = Path(path)
        part = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
        key = secrets.token_bytes(_KEY_BYTES)
        try:
            # The mode is set at creation.
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with _database(part) as database:
                database.executescript(f"BEGIN;{_TABLES}PRAGMA application_id = {_APPLICATION};")
                database.execute("INSERT INTO secret VALUES (?)", (key,))
                database.execute("COMMIT")
            failpoints.passed("key:written")
            # A link never replaces a file: a key is never overwritten, nor seen half made.
            os.link(part, file)
        except OSError:
            raise InvalidArgument(
                f"{file.name} cannot be made, or is there already; name a new file"
            ) from None
        finally:
            part.unlink(missing_ok=True)
        return cls(file, key)

    @classmethod
    def open(cls, path: str | Path) -> Seal:
        """Open a key file, or make it where there is none; of several at once one makes it."""
        if not Path(path).exists():
            # Another process may be making it: then it is there in a moment, with its key.
            with suppress(InvalidArgument):
                return cls.create(path)
        return cls.load(path)

    @classmethod
    def load(cls, path: str | Path) -> Seal:
        """Open a key file that `create` made."""
        file = Path(path)
        key = None
        if file.is_file():
            # A file of another kind cannot be read as a database: it is refused below.
            with suppress(LedgerUnavailable), _database(file) as database:
                if database.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION:
                    [(key,)] = database.execute("SELECT key FROM secret").fetchall()
        if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
            raise InvalidArgument(
                f"{file.name} holds no key of streams; dp.Seal.create(…) makes one"
            )
        return cls(file, key)

    def encrypt(self, plain: bytes, bound_to: str) -> bytes:
        """Encrypt bytes under a fresh nonce; `decrypt` needs the same text `bound_to`."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + bytes(self._cipher().encrypt(nonce, plain, bound_to.encode()))

    def decrypt(self, sealed: bytes, bound_to: str) -> bytes:
        """Decrypt what `encrypt` wrote for the same text.

        Refuses: another key, another text and changed bytes, with LedgerCorrupt.
        """
        nonce = sealed[:_NONCE_BYTES]
        cipher = self._cipher()
        try:
            plain = cipher.decrypt(nonce, sealed[_NONCE_BYTES:], bound_to.encode())
        except Exception:  # noqa: BLE001 of the package, which need not be installed
            raise LedgerCorrupt(
                f"what is sealed was not sealed by {self.path.name}, or was changed; the stream "
                "goes on with the file it was opened with"
            ) from None
        return bytes(plain)

    def hash_of(self, person: str, stream: str) -> bytes:
        """Return the keyed hash of a person's id: nobody without the key can test an id."""
        text = f"{stream}\n{person}".encode()
        return hmac.new(self._key, text, sha256).digest()[:_HASH_BYTES]

    def last(self, stream: str) -> int:
        """Return the last period of a stream that was remembered as published; −1 for none."""
        with _database(self.path) as database:
            rows = database.execute(
                "SELECT period FROM last WHERE stream = ?", (stream,)
            ).fetchall()
        return int(rows[0][0]) if rows else -1

    def remember(
        self, stream: str, period: int, attempt: bytes = b"", numbers: bytes = b""
    ) -> None:
        """Store durably, before a period is published, that it is in the ledger.

        `attempt` and `numbers` are what later days need of it.
        """
        with _written(self.path, "remember") as database:
            database.execute(
                "INSERT INTO last VALUES (?, ?) ON CONFLICT (stream) DO UPDATE "
                "SET period = max(period, excluded.period)",
                (stream, period),
            )
            database.execute(_CARRIED)
            database.execute(
                "INSERT OR IGNORE INTO carried VALUES (?, ?, ?, ?)",
                (stream, period, attempt, numbers),
            )

    def carried(self, stream: str) -> dict[int, tuple[bytes, bytes]]:
        """Return for each remembered period its attempt and the numbers that later days need."""
        with _database(self.path) as database:
            database.execute(_CARRIED)
            rows = database.execute(
                "SELECT period, attempt, numbers FROM carried WHERE stream = ?", (stream,)
            ).fetchall()
        return {period: (attempt, numbers) for period, attempt, numbers in rows}

    def write_used(self, stream: str, period: int, people: Iterable[bytes]) -> bytes:
        """Store durably which people (keyed hashes) use a day; return the random attempt number."""
        attempt = secrets.token_bytes(_HASH_BYTES)
        # In order of the hashes, so that the file tells nothing of the order of rows.
        packed = b"".join(sorted(people))
        with _written(self.path, "used") as database:
            database.execute(
                "INSERT INTO used VALUES (?, ?, ?, ?)", (stream, attempt, period, packed)
            )
        failpoints.passed("used:after")
        return attempt

    def used(self, stream: str, attempts: Iterable[bytes]) -> dict[bytes, tuple[int, int]]:
        """Return for each person the number of days used in these attempts, and the last of them.

        Refuses: a file without one of the attempts, which is older than its ledger (LedgerCorrupt).
        """
        with _database(self.path) as database:
            rows = database.execute(
                "SELECT attempt, period, people FROM used WHERE stream = ? ORDER BY period",
                (stream,),
            ).fetchall()
        known = {attempt: (period, people) for attempt, period, people in rows}
        found: dict[bytes, tuple[int, int]] = {}
        for attempt in attempts:
            if attempt not in known:
                raise LedgerCorrupt(
                    f"{self.path.name} is older than its ledger: it has forgotten on which days "
                    "people counted. Restore the newer file, or stop the stream"
                )
            period, packed = known[attempt]
            for start in range(0, len(packed), _HASH_BYTES):
                person = packed[start : start + _HASH_BYTES]
                count, _ = found.get(person, (0, 0))
                found[person] = (count + 1, period)
        return found

    def clear(self, stream: str) -> None:
        """Remove what only later closings of a stream would need; its last period stays."""
        with _database(self.path) as database:
            database.execute(_CARRIED)
            kept = database.execute(
                "SELECT EXISTS (SELECT 1 FROM used WHERE stream = :s) "
                "OR EXISTS (SELECT 1 FROM carried WHERE stream = :s)",
                {"s": stream},
            ).fetchone()
            if kept == (0,):
                return
            # What is removed is overwritten, and the file shrinks.
            database.execute("PRAGMA secure_delete = ON")
            for table in ("used", "carried"):
                database.execute(f"DELETE FROM {table} WHERE stream = ?", (stream,))  # noqa: S608
            database.execute("VACUUM")

    def _cipher(self) -> Any:  # noqa: ANN401 a class of the package
        return load("cryptography.hazmat.primitives.ciphers.aead", "sign").AESGCM(self._key)

    def __repr__(self) -> str:
        return f"<Seal {self.path.name}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidArgument("a secret key is not pickled; load it from its file there")


@contextmanager
def _written(path: Path, step: str) -> Iterator[sqlite3.Connection]:
    """Open the file for one transaction, which is durable when the step has ended."""
    with _database(path) as database:
        database.execute("BEGIN IMMEDIATE")
        yield database
        failpoints.passed(f"{step}:written")
        database.execute("COMMIT")


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for one step; a write is durable when the step has ended."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as database:
            database.execute("PRAGMA synchronous = FULL")
            yield database
    except sqlite3.DatabaseError:
        raise LedgerUnavailable(
            f"the key file {path.name} cannot be read or written; nothing was published"
        ) from None
