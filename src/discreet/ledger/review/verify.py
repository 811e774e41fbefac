"""Verification of a ledger: replay its chain, then compare the result with the stored books.

Guarantee: a store that passes has a chain without a gap. Each charge fits the budget and the
allowance of its time, and the stored accounts have at least the amounts that the chain adds up to.
Amounts that were computed in floats are compared with a tolerance of a billionth.

Refuses: LedgerCorrupt, which names the entry or the account; InvalidArgument for a checkpoint that
is none.

Law: tests/ledger/test_verify.py::TestEveryCorruptionIsRefused,
tests/ledger/test_verify.py::TestAForgedChainMustStillMakeSense,
tests/ledger/test_verify.py::TestTheBooksMustBeThoseOfTheChain
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...errors import InvalidArgument, LedgerCorrupt
from ..account import Account, Used, read_account
from ..account_tree import build_tree, tree_numbers
from ..balance import spent_of, spent_share
from ..snapshot import books_at, last_of
from ..stores.store import (
    ACCOUNT_TREE,
    LedgerStore,
    LineWithBody,
    Snapshot,
    StoredLine,
    accounts_in,
)
from .chain_replay import SLACK, ChainReplay
from .verdict import Checkpoint, Verdict

Progress = Callable[[int, int], object]
_EVERY = 1000
"""Entries between two calls of `progress`."""


def verify_store(
    store: LedgerStore, progress: Progress | None, checkpoint: Checkpoint | None
) -> Verdict:
    """Verify a store, up to the entry that is the last one when the verification begins."""
    return verdict_of(replay_store(store, progress, checkpoint))


def replay_store(
    store: LedgerStore, progress: Progress | None = None, checkpoint: Checkpoint | None = None
) -> ChainReplay:
    """Replay the chain of a store, compare it with the stored books, and return the replay.

    `progress(number, last)` is called after every 1,000 entries and at the last.

    Refuses: a chain or books that do not hold, with LedgerCorrupt.
    """
    # One snapshot has the last entry and the books: later charges are not seen.
    end = store.read(None)
    last_of(end)
    replay = ChainReplay()
    lines = store.lines(1, end.number)
    _replay(replay, lines, end.number, progress, checkpoint, bodies=True)
    _compare_books(replay, end)
    return replay


def replay_lines(
    lines: Sequence[LineWithBody],
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> ChainReplay:
    """Replay exported lines and return the replay; bodies are checked where the export has them."""
    replay = ChainReplay()
    stored = (StoredLine(n, line, body, None) for n, (line, body) in enumerate(lines, start=1))
    _replay(replay, stored, len(lines), progress, checkpoint, bodies=False)
    return replay


def _replay(
    replay: ChainReplay,
    lines: Iterable[StoredLine],
    end: int,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
    *,
    bodies: bool,
) -> None:
    """Step a replay through all lines; check stored keys, the checkpoint and the last number."""
    _check_checkpoint(checkpoint)
    for stored in lines:
        check_body = bodies or stored.body is not None
        entry = replay.step(stored.line, stored.body, bodies=check_body)
        # An answer under another key would not be found, and its question would be charged again.
        if stored.key not in (None, entry.key):
            raise LedgerCorrupt(
                f"entry {entry.number} is kept under another key than its own: it was changed"
            )
        if checkpoint is not None and entry.number == checkpoint[0] and entry.hash != checkpoint[1]:
            raise LedgerCorrupt(
                f"entry {entry.number} is not the one of the checkpoint: the ledger was written anew"
            )
        if progress is not None and (entry.number % _EVERY == 0 or entry.number == end):
            progress(entry.number, end)
    # Only now: a later `resume` may say that answers were left out with an export.
    if replay.missing_bodies:
        raise LedgerCorrupt(f"entry {min(replay.missing_bodies)} has lost its answer")
    number = 0 if replay.last is None else replay.last.number
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


def _compare_books(replay: ChainReplay, end: Snapshot) -> None:
    """Compare the replayed accounts with those of the store.

    If every entry's digest of the books was met, the accounts must be equal. Otherwise this release
    prices some event differently than the release that wrote, and the books must have no less than
    the chain adds up to.
    """
    books = books_at(end, "", last_of(end))
    # The account of everyone is compared under the empty name, which no person can have.
    kept = {"": books.everyone}
    for who, text in accounts_in(end.texts).items():
        kept[who] = read_account(text)
    replayed = {"": replay.books("").everyone, **replay.owners}
    same_terms = books.terms == replay.terms and books.allowances == replay.allowances
    if not same_terms or kept.keys() != replayed.keys():
        raise LedgerCorrupt(
            "the terms, allowances or accounts in the books are not those of the chain"
        )
    for who, account in replayed.items():
        # Without sums it is an account that release 0.1.0 wrote, and that was not charged since.
        expected = account if kept[who].common.added else account.without_sums()
        matches = expected == kept[who]
        if not matches and not replay.exact:
            matches = _covers(kept[who], expected)
        if not matches:
            whose = f"the account of {who}" if who else "the account of everyone"
            raise LedgerCorrupt(f"{whose} in the books is not what the chain adds up to")
    _compare_trees(replay, end)


def _compare_trees(replay: ChainReplay, end: Snapshot) -> None:
    """Compare the stored account tree with one built anew from the stored accounts."""
    # The root has the name of the tree, and pages have it before a colon.
    texts = end.texts.items()
    kept = {name: text for name, text in texts if name.partition(":")[0] == ACCOUNT_TREE}
    expected: dict[str, str] = {}
    if replay.tree is not None:
        repair, behind = tree_numbers(replay.tree)
        expected = build_tree(accounts_in(end.texts), repair, behind)
    if kept != expected:
        raise LedgerCorrupt(
            "the account tree of this ledger does not fit its accounts: one of them was changed"
        )


def _covers(kept: Account, replayed: Account) -> bool:
    """Return whether a stored account has at least the replayed amounts, within the tolerance."""
    if (replayed.since, replayed.near) != (kept.since, kept.near):
        return False
    kept_rows = dict(kept.rows())
    replayed_rows = dict(replayed.rows())
    if kept_rows.keys() != replayed_rows.keys():
        return False
    return all(_at_most(used, kept_rows[name]) for name, used in replayed_rows.items())


def _at_most(replayed: Used, kept: Used) -> bool:
    """Return whether replayed amounts are at most the stored ones, times 1 + 1e-9 for rounding."""
    for new_sum, old_sum in zip(replayed.added, kept.added, strict=True):
        # None admits nothing any more, so it is larger than every sum. Sums are exact: no slack.
        if old_sum is not None and (new_sum is None or new_sum > old_sum):
            return False
    # Amounts come from floating-point bounds, whose last digits differ between machines.
    pairs = [*zip(replayed.amounts, kept.amounts, strict=True), (replayed.leaked, kept.leaked)]
    return all(new <= old * SLACK for new, old in pairs)


def verdict_of(replay: ChainReplay) -> Verdict:
    """Return the verdict of a replay that found no fault.

    Refuses: a chain without any entry (LedgerCorrupt).
    """
    books = replay.books("")
    if replay.last is None:
        raise LedgerCorrupt("the chain is empty; a ledger has at least the entry that opened it")
    last = replay.last
    # A stream has no end of its own: its periods are its answers.
    pending = replay.charges.keys() - replay.answered - replay.failed - replay.streams.keys()
    now = books.at(last.time).filter(None)
    return Verdict(
        entries=last.number,
        charges=len(replay.charges),
        answers=len(replay.answered),
        pending=len(pending),
        promise=books.terms.budget,
        spent=spent_of(now),
        share=spent_share(now),
        exact=replay.exact,
        checkpoint=(last.number, last.hash),
    )
