"""Take a ledger along: its lines as text that anyone can check, or a copy of its file."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import InvalidArgument, LedgerCorrupt
from ..entry import read_line
from ..stores.sqlite import LedgerInSqlite
from ..stores.store import LedgerStore
from .verdict import Checkpoint, Verdict
from .verify import Progress, verify_lines

__all__ = ["backup_file", "export_lines", "verify_export"]


def export_lines(store: LedgerStore, path: str | os.PathLike[str]) -> int:
    """Write the lines to a new file, one entry each; the bodies of answers stay behind, their hashes go along."""
    end = store.read(()).number
    try:
        with open(path, "x", encoding="ascii", newline="\n", opener=_for_its_owner) as file:
            for _, line, _ in store.lines(1, end):
                file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise InvalidArgument(f"the lines cannot be written to {path}: {problem.strerror}; name a new file") from None
    return end


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def verify_export(
    path: str | os.PathLike[str], progress: Progress | None = None, *, checkpoint: Checkpoint | None = None
) -> Verdict:
    """Verify lines that `Ledger.export` wrote, without the store: every hash, every charge priced again.

    Raises LedgerCorrupt, saying which entry; refuses a file that cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as problem:
        raise InvalidArgument(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise LedgerCorrupt(f"{path} holds something else than lines of a ledger") from None
    if text and not text.endswith("\n"):
        raise LedgerCorrupt(f"{path} ends in the middle of a line: it is torn")
    return verify_lines(text.splitlines(), progress, checkpoint)


def backup_file(store: LedgerStore, path: str | os.PathLike[str]) -> Checkpoint:
    """Copy a SQLite ledger's file to a new place; give where the copy ends."""
    if not isinstance(store, LedgerInSqlite):
        raise InvalidArgument("only a ledger in a file has a file to copy; `export` works for all")
    last = read_line(store.backup(path))
    return last.number, last.hash
