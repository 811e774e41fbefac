"""Import what was exported: the same chain goes on in a new store.

An export is a copy. Where its ledger still lives, there are then two that can be charged, each without knowing of the
other: move a ledger instead, or import where the ledger itself is lost, or was closed. The chain says that it was
imported. What was charged after the export is not in it; a checkpoint that was kept elsewhere tells.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...errors import InvalidArgument, LedgerConflict
from ..clock import write_time
from ..entry import read_line
from ..names import read_who
from ..open import open_store
from ..review.export import read_export
from ..review.verdict import Checkpoint, Verdict
from ..review.verify import verify_store, walk_lines
from ..review.walk import Walk
from ..stores.store import DRAFT, NOTHING, Page, Snapshot
from .move import empty_target


def import_ledger(
    lines: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    name: str = "main",
    checkpoint: Checkpoint | None = None,
) -> Verdict:
    """Import a file that `Ledger.export` wrote into a new ledger; give what a verification finds there.

    Where the export has no answers, those stay behind: whoever asks such a question again is charged again.

    >>> import tempfile
    >>> import discreet as dp
    >>> from discreet.ledger import import_ledger
    >>> home = tempfile.mkdtemp()
    >>> with dp.open_ledger(f"{home}/old.ledger", dp.PureDP(1)) as ledger:
    ...     charge = ledger.charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann")
    ...     written = ledger.export(f"{home}/old.lines", answers=True)
    >>> import_ledger(f"{home}/old.lines", f"{home}/new.ledger").spent
    PureDP(0.25)

    Refuses a chain that does not hold, and a place where there is a ledger already.
    """
    if to == ":memory:":
        raise InvalidArgument(
            "a ledger in memory ends with its process; import into a file or a server"
        )
    listed = read_export(lines)
    walk = walk_lines(listed, None, checkpoint)
    store = open_store(to, read_who(name))
    try:
        store.append((DRAFT,), NOTHING, lambda there: _page(walk, listed, there))
        return verify_store(store, None, None)
    finally:
        store.close()


def _page(walk: Walk, lines: Sequence[tuple[str, str | None]], there: Snapshot) -> Page:
    if empty_target(there):
        raise LedgerConflict("a ledger is about to be moved there; name another place")
    answers = all(body is not None for line, body in lines if read_line(line).body_hash is not None)
    terms: dict[str, object] = {"from": "an export", "answers": answers}
    entry = walk.write("resume", max(write_time(there.now), read_line(lines[-1][0]).time), terms)
    return Page(entry, walk.texts(), before=[(read_line(line), body) for line, body in lines])
