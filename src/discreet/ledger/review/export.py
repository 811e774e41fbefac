"""Export of a ledger as lines of JSON that anyone can check, and backup of its SQLite file.

Law: tests/ledger/test_verify.py::TestExports, tests/ledger/test_sqlite.py::TestCopies
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from ...arithmetic.canonical import canonical_json
from ...errors import InvalidArgument, LedgerCorrupt
from ..entry import read_line
from ..stores.sqlite import LedgerInSqlite
from ..stores.store import LedgerStore, LineWithBody
from .verdict import Checkpoint, Verdict
from .verify import Progress, replay_lines, verdict_of

_ANSWER = '{"answer":'
"""Beginning of a line with a body; lines of entries begin with their first field, `body_hash`."""


def export_lines(store: LedgerStore, path: str | os.PathLike[str], *, answers: bool = False) -> int:
    """Write the entries to a new file, one line each; return their number.

    With `answers` the body of each entry (an answer, the text of a question, a value of a stream)
    follows as a line of its own. Without it only the hashes are written, which are in the entries.

    Refuses: a file that exists or cannot be written, with InvalidArgument.
    """
    end = store.read(()).number
    try:
        # Mode x refuses a file that exists, also one that was made just now.
        with open(path, "x", encoding="ascii", newline="\n", opener=_open_private) as file:
            for stored in store.lines(1, end):
                file.write(f"{stored.line}\n")
                if answers and stored.body is not None:
                    answer = canonical_json({"answer": stored.body})
                    file.write(f"{answer}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise InvalidArgument(
            f"the lines cannot be written to {path}: {problem.strerror}; name a new file"
        ) from None
    return end


def _open_private(path: str, flags: int) -> int:
    """Open a file that only its owner may read."""
    return os.open(path, flags, 0o600)


def verify_export(
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    checkpoint: Checkpoint | None = None,
) -> Verdict:
    """Verify lines that `Ledger.export` wrote, without the store.

    The hash of every entry is checked and every charge is priced again. The bodies in the file are
    compared with their hashes; a body that is not in the file is not missed.

    Refuses: a chain that does not hold, with LedgerCorrupt, which names the entry; a file that
    cannot be read, with InvalidArgument.
    """
    replay = replay_lines(read_export(path), progress, checkpoint)
    return verdict_of(replay)


def read_export(path: str | os.PathLike[str]) -> list[LineWithBody]:
    """Read exported lines of entries, each with its body, or None if the file has none for it.

    Refuses: a file that cannot be read, with InvalidArgument; a torn or foreign one, with
    LedgerCorrupt.
    """
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as problem:
        raise InvalidArgument(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise LedgerCorrupt(f"{path} holds something else than lines of a ledger") from None
    if text and not text.endswith("\n"):
        raise LedgerCorrupt(f"{path} ends in the middle of a line: it is torn")
    lines: list[LineWithBody] = []
    for line in text.splitlines():
        if lines and line.startswith(_ANSWER):
            entry_line, _ = lines[-1]
            lines[-1] = (entry_line, _read_answer(line))
        else:
            lines.append((line, None))
    return lines


def _read_answer(line: str) -> str:
    """Read the body from its line; refuse other lines, with LedgerCorrupt."""
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
    """Copy a SQLite ledger's file to a new path; return the checkpoint of the copy."""
    if not isinstance(store, LedgerInSqlite):
        raise InvalidArgument("only a ledger in a file has a file to copy; `export` works for all")
    last = read_line(store.backup(path))
    return last.number, last.hash
