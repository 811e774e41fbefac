"""Move a ledger to another store: the same chain goes on there, and the old one is closed for good.

    1  a draft with a secret token is written to the new store    nothing can be charged there
    2  an entry with the token's hash closes the old ledger       nothing can be charged there any more
    3  all lines, answers and books go over in one transaction,   from now on it is charged here
       with an entry that says where they come from

The second step decides. Whoever dies before it leaves the old ledger as it was; whoever dies after it leaves a closed
one, and the same call again ends the move. A closed ledger goes to the store that holds its token and to no other, so
there are never two ledgers to charge, not even if somebody moves it twice.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator

from ...arithmetic.canonical import canonical_json, digest
from ...errors import InvalidArgument, LedgerConflict, LedgerCorrupt
from ...privacy.events.json import Json
from ..clock import stamp, write_time
from ..entry import Entry, read_line, write_line
from ..names import read_who
from ..open import open_store
from ..review.verdict import Verdict
from ..review.verify import verify_store
from ..review.walk import Walk
from ..snapshot import last_of
from ..stores.sqlite import LedgerInSqlite
from ..stores.store import DRAFT, NOTHING, LedgerStore, Page, Snapshot
from .optimistic import append_at_rest, following
from .upgrade import upgrade_store


def move_ledger(
    where: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    name: str = "main",
    to_name: str = "main",
) -> Verdict:
    """Move a ledger: to a new file, or to "postgresql://…"; give what a verification finds there.

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

    Refuses a place where there is a ledger already. If it is interrupted, call it again with the same places.
    """
    if ":memory:" in (where, to):
        raise InvalidArgument(
            "a ledger in memory ends with its process; it is moved neither from there nor to there"
        )
    source, target = open_store(where, read_who(name)), open_store(to, read_who(to_name))
    try:
        last = last_of(source.read(()))
        if last.kind != "close":
            last = _close(source, _draft(source, target), _label(target, to_name))
        _copy(source, target, last, (_label(source, name), _label(target, to_name)))
        return verify_store(target, None, (last.number, last.hash))
    finally:
        source.close()
        target.close()


def _draft(source: LedgerStore, target: LedgerStore) -> str:
    """Reserve a place in the target; give its token. The same ledger finds its own place again."""
    upgrade_store(source)
    ledger = read_line(next(iter(source.lines(1, 1)))[1]).hash
    text = canonical_json({"ledger": ledger, "token": secrets.token_hex(16)})
    target.append(
        (DRAFT,), NOTHING, lambda there: None if empty_target(there) else Page(None, {DRAFT: text})
    )
    kept = json.loads(target.read((DRAFT,)).texts[DRAFT])
    if kept["ledger"] != ledger:
        raise LedgerConflict("another ledger is about to be moved there; name another place")
    return str(kept["token"])


def empty_target(there: Snapshot) -> bool:
    """Return whether a draft stands in a store without a ledger; refuse one that has a ledger."""
    if there.number:
        raise InvalidArgument("there is a ledger there already; name a new place")
    return DRAFT in there.texts


def _close(source: LedgerStore, token: str, label: str) -> Entry:
    """Verify a ledger and write its last entry; give it. Somebody else may have closed it in the meantime."""

    def make(_: Walk, last: Entry, snapshot: Snapshot) -> Page | None:
        if last.kind == "close":
            return None
        terms: Json = {"to": label, "token": digest(token)}
        return Page(
            following(last, "close", stamp(snapshot.now, last.time), terms, snapshot.texts), {}
        )

    append_at_rest(source, make)
    return last_of(source.read(()))


def _copy(source: LedgerStore, target: LedgerStore, last: Entry, labels: tuple[str, str]) -> None:
    """Write all of a closed ledger into the store that it was closed for and that holds its token, unless it is there.

    A copy of the draft under another name holds the token too, and is refused.
    """
    texts = {name: text for name, text in source.read(None).texts.items() if name != DRAFT}
    closing = last.terms or {}

    def decide(there: Snapshot) -> Page | None:
        if there.number:
            return None
        held = digest(json.loads(there.texts.get(DRAFT, "{}")).get("token", ""))
        if (held, labels[1]) != (closing.get("token"), closing.get("to")):
            raise LedgerConflict(
                f"this ledger was closed for good: it goes on as {closing.get('to')}"
            )
        time = max(write_time(there.now), last.time)
        entry = following(last, "resume", time, {"from": labels[0], "answers": True}, texts)
        return Page(entry, texts, before=copied_lines(source, last.number))

    target.append((DRAFT,), NOTHING, decide)
    if [found.line for found in target.lines(last.number, last.number)] != [write_line(last)]:
        raise LedgerConflict(
            f"there is another ledger there; this one goes on as {(last.terms or {}).get('to')}"
        )


def copied_lines(source: LedgerStore, end: int) -> Iterator[tuple[Entry, str | None]]:
    """Read all lines with their bodies, each checked against its hash.

    Refuses a source that was changed in the meantime.
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
    """Name a place for people, without its path, host or password."""
    return (
        store.path.name if isinstance(store, LedgerInSqlite) else f"the ledger {name} in PostgreSQL"
    )
