"""Verify a ledger: walk its chain, then compare what it adds up to with the books that the store keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from ...errors import InvalidArgument, LedgerCorrupt
from ..account import Account, Used, read_account
from ..account_tree import numbers, whole_roll
from ..balance import spent_of, spent_share
from ..snapshot import books_at, last_of
from ..stores.store import ROLL, LedgerStore, Snapshot, StoredLine, account_name
from .verdict import Checkpoint, Verdict
from .walk import SLACK, Walk

Progress = Callable[[int, int], object]
_EVERY = 1000


def verify_store(
    store: LedgerStore, progress: Progress | None, checkpoint: Checkpoint | None
) -> Verdict:
    """Verify what a store keeps, up to the entry that is the last one when it begins."""
    return verdict_of(walk_store(store, progress, checkpoint))


def walk_store(
    store: LedgerStore, progress: Progress | None = None, checkpoint: Checkpoint | None = None
) -> Walk:
    """Walk what a store keeps and compare it with the books; give where the walk ended."""
    end = store.read(None)
    last_of(end)
    walk = Walk()
    _follow(walk, store.lines(1, end.number), end.number, progress, checkpoint, bodies=True)
    _compare(walk, end)
    return walk


def walk_lines(
    lines: Sequence[tuple[str, str | None]],
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> Walk:
    """Walk lines that were exported, with those answers that went along; give where the walk ended."""
    walk = Walk()
    found = (
        StoredLine(place, line, body, None) for place, (line, body) in enumerate(lines, start=1)
    )
    _follow(walk, found, len(lines), progress, checkpoint, bodies=False)
    return walk


def _follow(
    walk: Walk,
    lines: Iterable[StoredLine],
    end: int,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
    *,
    bodies: bool,
) -> None:
    _check_checkpoint(checkpoint)
    for found in lines:
        entry = walk.step(found.line, found.body, bodies=bodies or found.body is not None)
        if found.key not in (None, entry.key):  # it would not be found, and be paid for again
            raise LedgerCorrupt(
                f"entry {entry.number} is kept under another key than its own: it was changed"
            )
        if checkpoint is not None and entry.number == checkpoint[0] and entry.hash != checkpoint[1]:
            raise LedgerCorrupt(
                f"entry {entry.number} is not the one of the checkpoint: the ledger was written anew"
            )
        if progress is not None and (entry.number % _EVERY == 0 or entry.number == end):
            progress(entry.number, end)
    if walk.bare:
        raise LedgerCorrupt(f"entry {min(walk.bare)} has lost its answer")
    number = 0 if walk.last is None else walk.last.number
    if number != end:
        raise LedgerCorrupt(f"entries {number + 1} to {end} are missing")
    if checkpoint is not None and checkpoint[0] > number:
        raise LedgerCorrupt(
            f"the checkpoint is entry {checkpoint[0]}, the ledger ends at {number}: it is an older copy"
        )


def _check_checkpoint(checkpoint: object) -> None:
    match checkpoint:
        case None | (int(), str()):
            return
    raise InvalidArgument("a checkpoint is a number and a hash, as Verdict.checkpoint gives them")


def _compare(walk: Walk, end: Snapshot) -> None:
    """Compare the accounts with those of the store.

    If every entry's digest of the books was met, they must be equal to the digit. Otherwise this release prices
    something differently than the one that wrote, and the books must have no less than the chain adds up to.
    """
    books = books_at(end, "", last_of(end))
    kept = {"": books.everyone} | {
        name.removeprefix(account_name("")): read_account(text)
        for name, text in end.texts.items()
        if name.startswith(account_name(""))
    }
    added = {"": walk.books("").everyone} | walk.owners
    if books.terms != walk.terms or books.shares != walk.shares or kept.keys() != added.keys():
        raise LedgerCorrupt(
            "the terms, allowances or accounts in the books are not those of the chain"
        )
    for who, walked in added.items():
        account = walked if kept[who].common.added else walked.without_sums()
        if account != kept[who] and (walk.exact or not _covered(account, kept[who])):
            whose = f"the account of {who}" if who else "the account of everyone"
            raise LedgerCorrupt(f"{whose} in the books is not what the chain adds up to")
    _compare_rolls(walk, end)


def _compare_rolls(walk: Walk, end: Snapshot) -> None:
    """Compare the roll with the accounts that the store keeps."""
    accounts = {
        name.removeprefix(account_name("")): text
        for name, text in end.texts.items()
        if name.startswith(account_name(""))
    }
    kept = {
        name: text
        for name, text in end.texts.items()
        if name == ROLL or name.startswith(f"{ROLL}:")
    }
    wanted = {} if walk.roll is None else whole_roll(accounts, *numbers(walk.roll))
    if kept != wanted:
        raise LedgerCorrupt("the roll of people in the books is not that of their accounts")


def _covered(added: Account, kept: Account) -> bool:
    """Return whether the books have at least what was added up, but for the last digits."""
    if (added.since, added.near) != (kept.since, kept.near) or dict(added.parts).keys() != dict(
        kept.parts
    ).keys():
        return False
    pairs = [
        (added.common, kept.common),
        *((used, dict(kept.parts)[name]) for name, used in added.parts),
    ]
    return all(_at_most(a, k) for a, k in pairs)


def _at_most(added: Used, kept: Used) -> bool:
    amounts: list[tuple[Fraction, Fraction]] = [*zip(added.amounts, kept.amounts, strict=True)]
    sums = all(
        k is None or (a is not None and a <= k)
        for a, k in zip(added.added, kept.added, strict=True)
    )
    return sums and all(a <= k * SLACK for a, k in [*amounts, (added.leaked, kept.leaked)])


def verdict_of(walk: Walk) -> Verdict:
    """Return what a walk has found."""
    books = walk.books("")
    if walk.last is None:
        raise LedgerCorrupt("the chain is empty; a ledger has at least the entry that opened it")
    now = books.at(walk.last.time).filter(None)
    return Verdict(
        entries=walk.last.number,
        charges=len(walk.charges),
        answers=len(walk.answered),
        pending=len(walk.charges.keys() - walk.answered - walk.failed),
        promise=books.terms.budget,
        spent=spent_of(now),
        share=spent_share(now),
        exact=walk.exact,
        checkpoint=(walk.last.number, walk.last.hash),
    )
