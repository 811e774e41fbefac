"""Open a ledger: a file, a server or memory; make it if it is not there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict

from ..arithmetic.rational import Number, positive, rational
from ..connection import server_at
from ..errors import InvalidArgument, LedgerConflict
from ..privacy.filters.options import FilterKind as Kind
from ..privacy.measures import Measure
from ..privacy.neighbours import Neighbours
from .account_tree import whole_roll
from .books import open_books, vouch
from .clock import write_time
from .entry import Entry, seal
from .ledger import Ledger
from .names import read_who
from .parts import Parts
from .snapshot import books_at, last_of, names_for
from .stores.memory import LedgerInMemory
from .stores.sqlite import LedgerInSqlite
from .stores.store import DRAFT, NOTHING, LedgerStore, Page, Snapshot, account_name
from .terms import Charter, Window, make_charter

WAIT = 60.0
"""Seconds to wait for somebody else's turn before LedgerUnavailable."""


class _Wanted(TypedDict):
    kind: Kind | None
    delta: Number | None
    orders: Number | Iterable[Number] | None
    neighbours: Neighbours | None
    allowances: Mapping[str, Measure] | None
    window: Window | None
    parts: Parts | None


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
    name: str = "main",
    wait: Number = WAIT,
) -> Ledger:
    """Open a ledger, or make a new one: a path (SQLite), "postgresql://…" (several machines), or ":memory:".

    A new ledger needs a budget; its terms are fixed then. `kind`, `delta`, `orders` and `neighbours` are those of
    `open_filter`, but that half of an ApproxDP budget's δ is kept for unknown keys if neither `kind` nor `delta` is
    given; `allowances` gives each named person a share ("*" is everyone else, None lets everyone spend up to
    the budget); with a `window` the budget begins anew each calendar day, week, month, quarter or year, in UTC; `parts`
    are charged in parallel. For one that exists, what is given must be what was fixed. `name` tells ledgers in one
    PostgreSQL database apart; `wait` is how many seconds somebody else's turn may take.

    >>> import discreet as dp
    >>> from discreet.privacy.measures import PureDP
    >>> dp.open_ledger(":memory:", PureDP(3), window="month").left()
    PureDP(3)

    Refuses other terms than those it was opened with; a file that is no ledger is LedgerCorrupt. Nothing changes then.
    """
    wanted = _Wanted(
        kind=kind,
        delta=delta,
        orders=orders,
        neighbours=neighbours,
        allowances=allowances,
        window=window,
        parts=parts,
    )
    store = open_store(where, read_who(name), float(positive(wait, "wait")))
    try:
        return Ledger(store, _terms(store, budget, wanted))
    except BaseException:
        store.close()
        raise


def open_store(where: object, name: str, wait: float = WAIT) -> LedgerStore:
    """Return the store at a place, whatever it holds.

    Refuses what is no place, and what may be meant as a path or as a server (`discreet.connection`).
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
    """Return the terms of the ledger that is there, or write those of a new one."""
    names = (*names_for("nobody"), DRAFT)
    found = store.read(names)
    if not found.number:
        _no_draft(found)
        if budget is None:
            raise InvalidArgument(
                "there is no ledger here yet; a new one needs a budget, such as PureDP(1)"
            )
        terms = make_charter(budget, **wanted)
        page = store.append(
            names,
            NOTHING,
            lambda there: None if there.number else first_page(terms, _no_draft(there)),
        )
        found = found if page is not None else store.read(names)
        if page is not None:
            return terms
    stored = books_at(found, "nobody", last_of(found)).terms
    _compare(stored, budget, wanted)
    return stored


def _no_draft(snapshot: Snapshot) -> Snapshot:
    """Refuse a place to which a ledger is about to be moved."""
    if DRAFT in snapshot.texts:
        raise LedgerConflict(
            "a ledger is about to be moved here; end that by the same `ledger move`, or wait for it"
        )
    return snapshot


def first_page(terms: Charter, snapshot: Snapshot) -> Page:
    """Return the page that opens a ledger."""
    texts = open_books(terms, "nobody").texts() | whole_roll({})
    del texts[account_name("nobody")]
    entry = Entry(1, "open", write_time(snapshot.now), terms=terms.to_json(), books=vouch(texts))
    return Page(seal(entry), texts)


def _compare(stored: Charter, budget: Measure | None, wanted: _Wanted) -> None:
    """Refuse terms that differ from those the ledger was opened with; what is not given does not count."""
    rules = stored.filter.terms
    pairs: list[tuple[str, object, object]] = [
        ("budget", budget, rules.budget),
        ("kind", wanted["kind"], stored.kind),
        (
            "delta",
            None if wanted["delta"] is None else rational(wanted["delta"], "delta"),
            rules.delta,
        ),
        ("orders", _orders(wanted["orders"]), rules.orders),
        ("neighbours", wanted["neighbours"], stored.neighbours),
        ("allowances", _shares(wanted["allowances"]), _budgets(stored)),
        ("window", wanted["window"], stored.window),
        ("parts", wanted["parts"], stored.parts),
    ]
    for name, given, fixed in pairs:
        if given is not None and given != fixed:
            raise InvalidArgument(
                f"this ledger was opened with {name} = {fixed!r}, got {given!r}; leave it out, or open another ledger"
            )


def _orders(orders: Number | Iterable[Number] | None) -> object:
    if orders is None:
        return None
    listed = (orders,) if isinstance(orders, Number) else tuple(orders)
    return tuple(rational(a, "orders") for a in listed)


def _shares(allowances: Mapping[str, Measure] | None) -> object:
    return None if allowances is None else dict(allowances)


def _budgets(stored: Charter) -> object:
    return (
        None
        if stored.allowances is None
        else {who: share.terms.budget for who, share in stored.allowances}
    )
