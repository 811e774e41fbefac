"""Move of a ledger to another store, and import of an export: the same chain goes on there.

A move closes the old ledger:

    step                                                          effect
    1  a draft with a secret token is written to the new store    no charges in the new store
    2  an entry with the token's hash closes the old ledger       no more charges in the old store
    3  all lines, answers and books are copied in one             charges in the new store
       transaction, with an entry that names their source

The second step decides. A crash before it leaves the old ledger as it was. A crash after it leaves
a closed ledger, and the same call again completes the move.

An export is a copy. If its ledger still exists, there are then two that can be charged, and neither
knows of the other. Move a ledger instead, or import only where the ledger itself is lost or closed.
The chain says that it was imported. Charges after the export are not in it; verification against a
checkpoint that was noted later shows this.

Guarantee: a closed ledger goes to the store that holds its token and to no other. So there are
never two ledgers to charge, not even if it is moved twice.

Refuses: InvalidArgument for a target with a ledger, LedgerConflict for a target that is reserved
for another ledger or that is not the one the ledger was closed for.

Law: tests/ledger/test_life.py::TestAMove,
tests/ledger/test_life.py::test_a_copy_of_a_draft_is_no_third_place,
tests/ledger/test_life.py::TestAnImport
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence

from ...arithmetic.canonical import canonical_json, digest
from ...errors import InvalidArgument, LedgerConflict, LedgerCorrupt
from ...privacy.events.json import Json
from ..clock import stamp, write_time
from ..entry import Entry, read_line, read_who, write_line
from ..open import open_store
from ..review.chain_replay import ChainReplay
from ..review.export import read_export
from ..review.verdict import Checkpoint, Verdict
from ..review.verify import replay_lines, verify_store
from ..snapshot import last_of
from ..stores.sqlite import LedgerInSqlite
from ..stores.store import (
    DRAFT,
    NOTHING,
    EntryWithBody,
    LedgerStore,
    LineWithBody,
    Page,
    Snapshot,
)
from .optimistic import append_if_unchanged, following_entry
from .upgrade import upgrade_store


def move_ledger(
    where: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    name: str = "main",
    to_name: str = "main",
) -> Verdict:
    """Move a ledger to a new file or to "postgresql://…"; return its verification there.

    >>> import tempfile
    >>> import discreet as dp
    >>> from discreet.ledger import move_ledger
    >>> home = tempfile.mkdtemp()
    >>> with dp.open_ledger(f"{home}/laptop.ledger", dp.PureDP(1)) as ledger:
    ...     charge = ledger.charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann")
    >>> move_ledger(f"{home}/laptop.ledger", f"{home}/server.ledger").spent
    PureDP(0.25)
    >>> dp.open_ledger(f"{home}/laptop.ledger").charge(dp.Laplace(scale=4, sensitivity=1).event, who="ann")
    Traceback (most recent call last):
    ...
    discreet.errors.LedgerConflict: this ledger was closed for good on ...

    Refuses: a target that has a ledger already. If the move is interrupted, call it again with the
    same arguments.
    """
    if ":memory:" in (where, to):
        raise InvalidArgument(
            "a ledger in memory ends with its process; it is moved neither from there nor to there"
        )
    source = open_store(where, read_who(name))
    target = open_store(to, read_who(to_name))
    source_label = _label(source, name)
    target_label = _label(target, to_name)
    try:
        last = last_of(source.read(()))
        # A closed source means that an earlier call was interrupted after step 2.
        if last.kind != "close":
            token = _draft(source, target)
            last = _close(source, token, target_label)
        _copy(source, target, last, (source_label, target_label))
        return verify_store(target, None, (last.number, last.hash))
    finally:
        source.close()
        target.close()


def _draft(source: LedgerStore, target: LedgerStore) -> str:
    """Step 1: write a draft with a secret token to the target, and return the token.

    If an earlier call of the same move has written one, its token is returned. A draft of another
    ledger is refused, with LedgerConflict.
    """
    upgrade_store(source)
    first = next(iter(source.lines(1, 1)))
    # The hash of the first entry identifies a ledger: it covers the terms and the time.
    ledger = read_line(first.line).hash
    draft = canonical_json({"ledger": ledger, "token": secrets.token_hex(16)})

    def decide(snapshot: Snapshot) -> Page | None:
        if empty_target(snapshot):
            return None
        return Page(None, {DRAFT: draft})

    target.append((DRAFT,), NOTHING, decide)
    # Read back: a draft of an interrupted move, or of another ledger, may have been there before.
    kept = json.loads(target.read((DRAFT,)).texts[DRAFT])
    if kept["ledger"] != ledger:
        raise LedgerConflict("another ledger is about to be moved there; name another place")
    return str(kept["token"])


def empty_target(target: Snapshot) -> bool:
    """Return whether a store without a ledger holds a draft; refuse a store that has a ledger."""
    if target.number:
        raise InvalidArgument("there is a ledger there already; name a new place")
    return DRAFT in target.texts


def _close(source: LedgerStore, token: str, label: str) -> Entry:
    """Step 2: verify the source and write its `close` entry, with the hash of the token.

    Returns the last entry; if another process has closed the ledger meanwhile, that one's.
    """

    def make(_: ChainReplay, last: Entry, snapshot: Snapshot) -> Page | None:
        if last.kind == "close":
            return None
        time = stamp(snapshot.now, last.time)
        # Only the hash: a reader of the old chain must not be able to take over the move.
        terms: Json = {"to": label, "token": digest(token)}
        entry = following_entry(last, "close", time, terms, snapshot.texts)
        return Page(entry, {})

    append_if_unchanged(source, make)
    return last_of(source.read(()))


def _copy(source: LedgerStore, target: LedgerStore, last: Entry, labels: tuple[str, str]) -> None:
    """Step 3: write a closed ledger into the store that holds its token, unless it is there.

    A copy of the draft under another name holds the token too, and is refused by its label.
    """
    source_label, target_label = labels
    texts = {name: text for name, text in source.read(None).texts.items() if name != DRAFT}
    closing = last.terms or {}

    def decide(snapshot: Snapshot) -> Page | None:
        if snapshot.number:
            return None
        draft = json.loads(snapshot.texts.get(DRAFT, "{}"))
        has_token = digest(draft.get("token", "")) == closing.get("token")
        if not has_token or target_label != closing.get("to"):
            raise LedgerConflict(
                f"this ledger was closed for good: it goes on as {closing.get('to')}"
            )
        # The clock of the target may be behind the one that wrote the last entry.
        time = max(write_time(snapshot.now), last.time)
        terms: Json = {"from": source_label, "answers": True}
        entry = following_entry(last, "resume", time, terms, texts)
        return Page(entry, texts, before=copied_lines(source, last.number))

    target.append((DRAFT,), NOTHING, decide)
    # A ledger that was there before must be this one: it holds the closing entry at its number.
    copied = [stored.line for stored in target.lines(last.number, last.number)]
    if copied != [write_line(last)]:
        raise LedgerConflict(
            f"there is another ledger there; this one goes on as {closing.get('to')}"
        )


def copied_lines(source: LedgerStore, end: int) -> Iterator[EntryWithBody]:
    """Read all lines with their bodies, each checked against its hash.

    Refuses: a source that was changed meanwhile, with LedgerCorrupt.
    """
    number = 0
    for number, line, body, _ in source.lines(1, end):
        entry = read_line(line)
        if entry.number != number:
            raise LedgerCorrupt(
                f"entry {number} says that it is entry {entry.number}: the ledger was changed"
            )
        yield entry, body
    if number != end:
        raise LedgerCorrupt(f"entries {number + 1} to {end} are missing")


def _label(store: LedgerStore, name: str) -> str:
    """Return a readable name of a store, without its path, host or password."""
    if isinstance(store, LedgerInSqlite):
        return store.path.name
    return f"the ledger {name} in PostgreSQL"


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
