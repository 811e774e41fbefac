"""The terms of a ledger: what was promised when it was opened, for good.

They stand in the first entry of the chain. The filters are stored opened, with the amounts that their budgets came to,
so that a later release with a tighter conversion does not move what people were promised.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from ..arithmetic.canonical import canonical_json
from ..arithmetic.rational import Number
from ..errors import DiscreetError, InvalidArgument, LedgerCorrupt
from ..frozen import frozen
from ..privacy.budget_text import budget_to_words
from ..privacy.events.json import Json
from ..privacy.filters.filter import Filter, open_filter
from ..privacy.filters.options import FilterKind as Kind
from ..privacy.measures import ApproxDP, Measure, PureDP
from ..privacy.neighbours import REPLACE, Neighbours
from .names import read_who
from .parts import Parts

Window: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
OTHERS = "*"
"""The name under `allowances` that stands for everyone who is not named."""
_FIELDS = {"filter", "allowances", "window", "parts"}


@frozen
class Charter:
    """What was fixed at creation: the opened filter, the first allowances, the window and the parts."""

    filter: Filter
    allowances: tuple[tuple[str, Filter], ...] | None = None
    window: Window | None = None
    parts: Parts | None = None

    @property
    def budget(self) -> Measure:
        """The promise: for everything that is ever released, or for every window if there is one."""
        return self.filter.terms.budget

    @property
    def kind(self) -> Kind:
        """The kind of filter that counts."""
        return self.filter.kind

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation that was fixed at creation; None: the first event fixes it."""
        return self.filter.neighbours

    def to_json(self) -> Json:
        """Write the terms as plain JSON types, exactly."""
        given = (
            None
            if self.allowances is None
            else {who: share.to_json() for who, share in self.allowances}
        )
        return {
            "filter": self.filter.to_json(),
            "allowances": given,
            "window": self.window,
            "parts": None if self.parts is None else self.parts.to_json(),
        }

    def text(self) -> str:
        """Write the terms as one text."""
        return canonical_json(self.to_json())


def make_charter(
    budget: Measure,
    *,
    kind: Kind | None = None,
    delta: Number | None = None,
    orders: Number | Iterable[Number] | None = None,
    neighbours: Neighbours | None = None,
    allowances: Mapping[str, Measure] | None = None,
    window: Window | None = None,
    parts: Parts | None = None,
) -> Charter:
    """Fix the terms of a new ledger.

    Of an ApproxDP budget half of δ is kept for events with a δ of their own, as the selection of unknown keys is,
    unless `kind` or `delta` says otherwise: a ledger that keeps none could never answer such a question.

    >>> import discreet as dp
    >>> from discreet.ledger.terms import make_charter
    >>> from discreet.privacy.measures import PureDP
    >>> make_charter(PureDP(3), allowances={"*": PureDP(1)}, window="month").kind
    'pure'
    >>> make_charter(dp.ApproxDP(1, "1e-6")).filter.terms.delta
    Fraction(1, 2000000)

    Refuses what `open_filter` refuses, unknown windows, and parts that the filter cannot count in parallel.
    """
    if isinstance(budget, ApproxDP) and budget.delta and kind is None and delta is None:
        delta = budget.delta / 2
    opened = open_filter(budget, kind, delta=delta, orders=orders, neighbours=neighbours)
    if window is not None and window not in get_args(Window):
        raise InvalidArgument(
            f"window must be one of {', '.join(get_args(Window))}; got {window!r}"
        )
    if parts is not None:
        _check_parts(parts, opened)
    shares = None
    if allowances is not None:
        if not isinstance(allowances, Mapping):
            raise InvalidArgument(
                f"allowances are given by name, {{'ann': …}}, got {type(allowances).__name__}"
            )
        shares = tuple(
            sorted((_name(who), allowance(opened, share)) for who, share in allowances.items())
        )
    return Charter(opened, shares, window, parts)


def allowance(opened: Filter, share: Measure) -> Filter:
    """Open the filter of one analyst's share: of the ledger's kind, with the same part of its δ kept for leaks.

    >>> import discreet as dp
    >>> from discreet.ledger.terms import allowance
    >>> from discreet.privacy.measures import ApproxDP
    >>> allowance(dp.open_filter(ApproxDP(1, 1e-6), delta=5e-7), ApproxDP(0.5, 1e-7)).terms.delta
    Fraction(1, 20000000)

    Refuses a measure that the ledger's kind does not count in.
    """
    terms, delta, orders = opened.terms, None, None
    if isinstance(share, PureDP) and not isinstance(terms.budget, PureDP):
        words = ",".join(
            f"{word}={amount}" for word, amount in budget_to_words(terms.budget).items()
        )
        raise InvalidArgument(
            f"an allowance is a part of the budget, in its measure: this ledger's is {terms.budget}, and {share} "
            f"alone is not; write it as the budget is, {words}, or less of each"
        )
    if (
        isinstance(share, ApproxDP)
        and isinstance(terms.budget, ApproxDP)
        and opened.kind != "approximate"
    ):
        delta = share.delta * (terms.delta / terms.budget.delta)
        orders = terms.orders if opened.kind == "renyi" else None
    made = open_filter(share, opened.kind, delta=delta, orders=orders, neighbours=opened.neighbours)
    if made.terms.orders != terms.orders:
        raise InvalidArgument(
            "an allowance lists the same Rényi orders as the budget; give it at those"
        )
    return made


def _name(who: str) -> str:
    return OTHERS if who == OTHERS else read_who(who)


def _check_parts(parts: object, opened: Filter) -> None:
    if not isinstance(parts, Parts):
        raise InvalidArgument(
            f"parts are given as Parts(table, column, values), got {type(parts).__name__}"
        )
    if opened.neighbours is None:
        why = "what a part costs depends on who is a neighbour"
        raise InvalidArgument(
            f"a ledger with parts needs neighbours='add-remove' or 'replace': {why}"
        )
    if opened.neighbours == REPLACE and opened.kind == "residue":
        why = "under 'replace' two parts change at once, and what the residue charges in both does not add"
        raise InvalidArgument(
            f"a ledger with parts under 'replace' cannot count by residue: {why}; use kind='gdp'"
        )


@lru_cache(maxsize=64)
def read_charter(text: str) -> Charter:
    """Read the terms from their text, exactly.

    >>> import discreet as dp
    >>> from discreet.ledger.terms import make_charter, read_charter
    >>> from discreet.privacy.measures import ZCDP
    >>> terms = make_charter(ZCDP(1), parts=dp.Parts("visits", "month", [4, 5]), neighbours="replace")
    >>> read_charter(terms.text()) == terms
    True

    Refuses terms that were changed by hand.
    """
    try:
        data = json.loads(text)
        given = data["allowances"]
        shares = (
            None
            if given is None
            else tuple(sorted((who, Filter.from_json(s)) for who, s in given.items()))
        )
        parts = None if data["parts"] is None else Parts.from_json(data["parts"])
        terms = Charter(Filter.from_json(data["filter"]), shares, data["window"], parts)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise LedgerCorrupt(f"the terms of this ledger cannot be read: {problem}") from None
    if data.keys() != _FIELDS or terms.window not in (None, *get_args(Window)):
        raise LedgerCorrupt("the terms of this ledger have an unknown window or an unknown field")
    return terms
