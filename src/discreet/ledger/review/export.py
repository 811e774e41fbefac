"""Take a ledger along: its lines as text that anyone can check, or a copy of its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ...arithmetic.canonical import canonical_json
from ...errors import InvalidArgument, LedgerCorrupt
from ..entry import read_line
from ..stores.sqlite import LedgerInSqlite
from ..stores.store import LedgerStore
from .verdict import Checkpoint, Verdict
from .verify import Progress, verdict_of, walk_lines

_ANSWER = '{"answer":'


def export_lines(store: LedgerStore, path: str | os.PathLike[str], *, answers: bool = False) -> int:
    """Write the lines to a new file, one entry each; give their number.

    The hashes of answers always go along; the answers themselves only if they are asked for, each as a line of its own
    after that of its entry.
    """
    end = store.read(()).number
    try:
        with open(path, "x", encoding="ascii", newline="\n", opener=_for_its_owner) as file:
            for _, line, body, _ in store.lines(1, end):
                file.write(f"{line}\n")
                if answers and body is not None:
                    file.write(f"{canonical_json({'answer': body})}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise InvalidArgument(
            f"the lines cannot be written to {path}: {problem.strerror}; name a new file"
        ) from None
    return end


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def verify_export(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    checkpoint: Checkpoint | None = None,
) -> Verdict:
    """Verify lines that `Ledger.export` wrote, without the store: every hash, every charge priced again.

    Raises LedgerCorrupt, saying which entry; refuses a file that cannot be read.
    """
    return verdict_of(walk_lines(read_export(path), progress, checkpoint))


def read_export(path: str | os.PathLike[str]) -> list[tuple[str, str | None]]:
    """Read lines that were exported, each with its answer if that went along.

    Refuses a file that cannot be read or holds something else.
    """
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as problem:
        raise InvalidArgument(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise LedgerCorrupt(f"{path} holds something else than lines of a ledger") from None
    if text and not text.endswith("\n"):
        raise LedgerCorrupt(f"{path} ends in the middle of a line: it is torn")
    found: list[tuple[str, str | None]] = []
    for line in text.splitlines():
        if found and line.startswith(_ANSWER):
            found[-1] = (found[-1][0], _answer(line))
        else:
            found.append((line, None))
    return found


def _answer(line: str) -> str:
    try:
        body = json.loads(line)["answer"]
    except (ValueError, KeyError, TypeError):
        body = None
    if not isinstance(body, str):
        raise LedgerCorrupt(
            "a line is no answer of a ledger: it was torn, or written by something else"
        )
    return body


def backup_file(store: LedgerStore, path: str | os.PathLike[str]) -> Checkpoint:
    """Copy a SQLite ledger's file to a new place; give where the copy ends."""
    if not isinstance(store, LedgerInSqlite):
        raise InvalidArgument("only a ledger in a file has a file to copy; `export` works for all")
    last = read_line(store.backup(path))
    return last.number, last.hash
