"""Import of an exported ledger: the same chain goes on in a new store.

An export is a copy. If its ledger still exists, there are then two that can be charged, and neither
knows of the other. Move a ledger instead, or import only where the ledger itself is lost or closed.
The chain says that it was imported. Charges after the export are not in it; a checkpoint that was
kept elsewhere tells.

Law: tests/ledger/test_life.py::TestAnImport
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...errors import InvalidArgument, LedgerConflict
from ..clock import write_time
from ..entry import read_line
from ..names import read_who
from ..open import open_store
from ..review.chain_replay import ChainReplay
from ..review.export import read_export
from ..review.verdict import Checkpoint, Verdict
from ..review.verify import replay_lines, verify_store
from ..stores.store import DRAFT, NOTHING, LineWithBody, Page, Snapshot
from .move import empty_target


def import_ledger(
    lines: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    name: str = "main",
    checkpoint: Checkpoint | None = None,
) -> Verdict:
    """Import a file that `Ledger.export` wrote into a new ledger; return its verification.

    If the export has no answers, they are lost: a person who asks such a question again is charged
    again.

    >>> import tempfile
    >>> import discreet as dp
    >>> from discreet.ledger import import_ledger
    >>> home = tempfile.mkdtemp()
    >>> with dp.open_ledger(f"{home}/old.ledger", dp.PureDP(1)) as ledger:
    ...     charge = ledger.charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann")
    ...     written = ledger.export(f"{home}/old.lines", answers=True)
    >>> import_ledger(f"{home}/old.lines", f"{home}/new.ledger").spent
    PureDP(0.25)

    Refuses: LedgerCorrupt for a chain that does not hold; InvalidArgument for a target that has a
    ledger already, and for a target in memory.
    """
    if to == ":memory:":
        raise InvalidArgument(
            "a ledger in memory ends with its process; import into a file or a server"
        )
    exported = read_export(lines)
    if not exported:
        raise InvalidArgument(
            "the file has no lines, so it is no export of a ledger; name another file"
        )
    # The whole chain is verified before anything is written.
    replay = replay_lines(exported, None, checkpoint)
    store = open_store(to, read_who(name))
    try:
        store.append((DRAFT,), NOTHING, lambda target: _import_page(replay, exported, target))
        return verify_store(store, None, None)
    finally:
        store.close()


def _import_page(replay: ChainReplay, lines: Sequence[LineWithBody], target: Snapshot) -> Page:
    """Return the page with all lines, and a `resume` entry that says that they were imported."""
    if empty_target(target):
        raise LedgerConflict("a ledger is about to be moved there; name another place")
    entries = [(read_line(line), body) for line, body in lines]
    answers = all(body is not None for entry, body in entries if entry.body_hash is not None)
    terms: dict[str, object] = {"from": "an export", "answers": answers}
    last, _ = entries[-1]
    # The clock of this machine may be behind the one that wrote the export.
    time = max(write_time(target.now), last.time)
    entry = replay.write("resume", time, terms)
    return Page(entry, replay.texts(), before=entries)
