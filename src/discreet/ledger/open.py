"""Opening of ledgers: in a file, on a server or in memory; a missing ledger is made.

Guarantee: of several processes that open the same new ledger at once, one makes it and the others
open it. A ledger that exists keeps its terms.

Refuses: InvalidArgument for other terms than those of the ledger; LedgerConflict for a place to
which a ledger is about to be moved; LedgerCorrupt for a file that is no ledger.

Law: tests/ledger/test_race.py::TestManyProcesses::test_only_one_of_many_makers_makes_the_ledger,
tests/ledger/test_ledger.py::TestOpeningAgain
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypedDict

from ..arithmetic.rational import Number, positive, rational
from ..connection import server_at
from ..data.blocks import Blocks
from ..errors import InvalidArgument, LedgerConflict
from ..privacy.filters.options import FilterKind as Kind
from ..privacy.measures import Measure, Neighbours
from .account_tree import build_tree
from .books import books_digest, open_books
from .clock import write_time
from .entry import Entry, read_who, seal
from .ledger import Ledger
from .parts import Parts
from .snapshot import books_at, last_of, names_for
from .stores.memory import LedgerInMemory
from .stores.sqlite import LedgerInSqlite
from .stores.store import DRAFT, NOTHING, LedgerStore, Page, Snapshot, account_name
from .terms import Charter, Window, make_charter

WAIT = 60.0
"""Seconds to wait for the write lock of another process before LedgerUnavailable."""
_NOBODY = "nobody"


class _Wanted(TypedDict):
    """Terms that the caller gives beside the budget; None for each that is not given."""

    kind: Kind | None
    delta: Number | None
    orders: Number | Iterable[Number] | None
    neighbours: Neighbours | None
    allowances: Mapping[str, Measure] | None
    window: Window | None
    parts: Parts | None
    blocks: Blocks | None


def open_ledger(
    where: str | os.PathLike[str],
    budget: Measure | None = None,
    *,
    kind: Kind | None = None,
    delta: Number | None = None,
    orders: Number | Iterable[Number] | None = None,
    neighbours: Neighbours | None = None,
    allowances: Mapping[str, Measure] | None = None,
    window: Window | None = None,
    parts: Parts | None = None,
    blocks: Blocks | None = None,
    name: str = "main",
    wait: Number = WAIT,
) -> Ledger:
    """Open a ledger, or make a new one.

    `where` is a path (SQLite), "postgresql://…" (several machines), or ":memory:". A new ledger
    needs a budget, and its terms are fixed then. For a ledger that exists, every term given must be
    the one that was fixed.

    | term | meaning |
    |---|---|
    | `kind`, `delta`, `orders`, `neighbours` | as in `open_filter`; without `kind` and `delta` |
    | | half of an ApproxDP budget's δ is kept for unknown keys |
    | `allowances` | a budget for each named person; "*" is everyone else; None lets everyone |
    | | spend up to the budget |
    | `window` | the budget begins anew each calendar day, week, month, quarter or year, in UTC |
    | `parts` | parts of a table that are charged in parallel |
    | `blocks` | the budget is the promise to a person for life, who counts in at most so many |
    | | days, weeks, months, quarters or years: `Blocks("visits", "day", "week", stays=26)` |
    | `name` | tells ledgers in one PostgreSQL database apart |
    | `wait` | seconds to wait while another process writes |

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> dp.open_ledger(":memory:", PureDP(3), window="month").left()
    PureDP(3)

    Refuses: terms other than those it was opened with, and a new ledger without a budget, with
    InvalidArgument; a file that is no ledger, with LedgerCorrupt. Nothing changes then.
    """
    wanted = _Wanted(
        kind=kind,
        delta=delta,
        orders=orders,
        neighbours=neighbours,
        allowances=allowances,
        window=window,
        parts=parts,
        blocks=blocks,
    )
    store = open_store(where, read_who(name), float(positive(wait, "wait")))
    try:
        return Ledger(store, _terms(store, budget, wanted))
    except BaseException:
        store.close()
        raise


def open_store(where: object, name: str, wait: float = WAIT) -> LedgerStore:
    """Return the store at a path or on a server; its content is not read.

    Refuses: a `where` that is neither, and text that could mean a path or a server
    (`discreet.connection`); InvalidArgument.
    """
    if not isinstance(where, str | os.PathLike) or not str(where) or "\0" in str(where):
        raise InvalidArgument('a ledger is opened at a path, at "postgresql://…" or at ":memory:"')
    if where == ":memory:":
        return LedgerInMemory()
    server = server_at(where)
    if server is not None:
        try:
            from .stores.postgres import LedgerInPostgres
        except ImportError:
            raise InvalidArgument(
                "a ledger in PostgreSQL needs psycopg: pip install 'discreet[postgres]'"
            ) from None
        return LedgerInPostgres(server, name=name, timeout=wait)
    return LedgerInSqlite(where, timeout=wait)


def _terms(store: LedgerStore, budget: Measure | None, wanted: _Wanted) -> Charter:
    """Return the terms of the ledger in a store; make the ledger if there is none.

    Refuses: InvalidArgument for given terms that differ, and for a new ledger without a budget;
    LedgerConflict for a store that is reserved for a move.
    """
    names = (*names_for(_NOBODY), DRAFT)
    snapshot = store.read(names)
    if not snapshot.number:
        _refuse_draft(snapshot)
        if budget is None:
            raise InvalidArgument(
                "there is no ledger here yet; a new one needs a budget, such as PureDP(1)"
            )
        terms = make_charter(budget, **wanted)

        def decide(now: Snapshot) -> Page | None:
            # Another process may have made the ledger since it was read, or begun a move to here.
            if now.number:
                return None
            _refuse_draft(now)
            return first_page(terms, now)

        if store.append(names, NOTHING, decide) is not None:
            return terms
        snapshot = store.read(names)
    stored = books_at(snapshot, _NOBODY, last_of(snapshot)).terms
    _compare(stored, budget, wanted)
    return stored


def _refuse_draft(snapshot: Snapshot) -> None:
    """Refuse a store to which a ledger is about to be moved."""
    if DRAFT in snapshot.texts:
        raise LedgerConflict(
            "a ledger is about to be moved here; end that by the same `ledger move`, or wait for it"
        )


def first_page(terms: Charter, snapshot: Snapshot) -> Page:
    """Return the page that opens a ledger."""
    texts = open_books(terms, _NOBODY).texts() | build_tree({})
    # Nobody has an account yet: accounts are written with the first charge of a person.
    del texts[account_name(_NOBODY)]
    entry = Entry(
        1,
        "open",
        write_time(snapshot.now),
        terms=terms.to_json(),
        books=books_digest(texts),
    )
    return Page(seal(entry), texts)


def _compare(stored: Charter, budget: Measure | None, wanted: _Wanted) -> None:
    """Refuse given terms that differ from those of the ledger; None is not given."""
    rules = stored.filter.terms
    delta = None if wanted["delta"] is None else rational(wanted["delta"], "delta")
    orders = _read_orders(wanted["orders"])
    allowances = None if wanted["allowances"] is None else dict(wanted["allowances"])
    triples: list[tuple[str, object, object]] = [
        ("budget", budget, rules.budget),
        ("kind", wanted["kind"], stored.kind),
        ("delta", delta, rules.delta),
        ("orders", orders, rules.orders),
        ("neighbours", wanted["neighbours"], stored.neighbours),
        ("allowances", allowances, _first_allowances(stored)),
        ("window", wanted["window"], stored.window),
        ("parts", wanted["parts"], stored.parts),
        ("blocks", wanted["blocks"], stored.blocks),
    ]
    for name, given, fixed in triples:
        if given is not None and given != fixed:
            raise InvalidArgument(
                f"this ledger was opened with {name} = {fixed!r}, got {given!r}; leave it out, or open another ledger"
            )


def _read_orders(orders: Number | Iterable[Number] | None) -> tuple[Fraction, ...] | None:
    if orders is None:
        return None
    listed = (orders,) if isinstance(orders, Number) else tuple(orders)
    return tuple(rational(order, "orders") for order in listed)


def _first_allowances(stored: Charter) -> dict[str, Measure] | None:
    """Return the budgets of the allowances that the ledger was opened with."""
    if stored.allowances is None:
        return None
    return {who: opened.terms.budget for who, opened in stored.allowances}
