"""Terms of a ledger: budget, allowances, window, parts or blocks, fixed for good at its opening.

The terms are in the first entry of the chain. With each filter are stored the amounts into which
its budget was converted, such as the ρ of an (ε, δ). So a later release with another conversion
does not change the promise.

Law: tests/ledger/test_books.py::TestTerms
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from ..arithmetic.canonical import canonical_json
from ..arithmetic.rational import Number
from ..data.blocks import Blocks
from ..errors import DiscreetError, InvalidArgument, LedgerCorrupt
from ..frozen import frozen
from ..privacy.budget_text import budget_to_table
from ..privacy.events.json import Json
from ..privacy.filters.filter import Filter, open_filter
from ..privacy.filters.options import FilterKind as Kind
from ..privacy.measures import REPLACE, ApproxDP, GaussianDP, Measure, Neighbours, PureDP
from .block_sums import Reach
from .entry import read_who
from .parts import Parts

Window: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
OTHERS = "*"
"""Name under `allowances` for everyone who is not named."""
_FIELDS = {"filter", "allowances", "window", "parts"}


@frozen
class Charter:
    """Terms fixed at creation: the opened filter, the first allowances, window, parts or blocks."""

    filter: Filter
    allowances: tuple[tuple[str, Filter], ...] | None = None
    window: Window | None = None
    parts: Parts | None = None
    blocks: Blocks | None = None

    @property
    def divided(self) -> bool:
        """Whether charges count in parts or in blocks of the data, each by itself."""
        return self.parts is not None or self.blocks is not None

    @property
    def reach(self) -> Reach | None:
        """The blocks that one person may count in; None without blocks."""
        if self.blocks is None:
            return None
        if self.blocks.stays is not None:
            return "stays", self.blocks.stays
        return "most", self.blocks.most or 1

    def part_words(self, part: object) -> str:
        """Return the words for a part in refusals and explanations."""
        if self.blocks is None:
            return f"part {part!r}"
        return f"the {self.blocks.per}s {part}"

    @property
    def budget(self) -> Measure:
        """The promise for everything ever released, or for every window if there is one."""
        return self.filter.terms.budget

    @property
    def kind(self) -> Kind:
        """The kind of filter that counts."""
        return self.filter.kind

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation of neighbours fixed at creation; None if the first event fixes it."""
        return self.filter.neighbours

    def to_json(self) -> Json:
        """Write the terms as plain JSON types, exactly."""
        allowances = None
        if self.allowances is not None:
            allowances = {who: opened.to_json() for who, opened in self.allowances}
        parts = None if self.parts is None else self.parts.to_json()
        terms: Json = {
            "filter": self.filter.to_json(),
            "allowances": allowances,
            "window": self.window,
            "parts": parts,
        }
        # Left out where there are none: older ledgers keep their text and its digest.
        if self.blocks is not None:
            terms["blocks"] = self.blocks.to_json()
        return terms

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
    blocks: Blocks | None = None,
) -> Charter:
    """Make the terms of a new ledger.

    With blocks, (ε, δ) and Gaussian budgets are counted by `gdp` unless `kind` is given: amounts on
    blocks must add up. Half of the δ of an ApproxDP budget is kept for events with a δ of their
    own, such as the selection of unknown keys, unless `kind` or `delta` is given. A ledger that
    keeps none could never answer such a question.

    >>> import discreet as dp
    >>> from discreet.ledger.terms import make_charter
    >>> from discreet.privacy.measures import PureDP
    >>> make_charter(PureDP(3), allowances={"*": PureDP(1)}, window="month").kind
    'pure'
    >>> make_charter(dp.ApproxDP(1, "1e-6")).filter.terms.delta
    Fraction(1, 2000000)

    Refuses: everything that `open_filter` refuses, unknown windows, parts that the filter cannot
    count in parallel, and blocks beside a window, beside parts or under `residue`; InvalidArgument.
    """
    if blocks is not None:
        _check_blocks(blocks, kind=kind, window=window, parts=parts)
        if kind is None and _needs_tail(budget):
            # Here, not below: half of δ is kept for unknown keys all the same.
            if delta is None and isinstance(budget, ApproxDP):
                delta = budget.delta / 2
            kind = "gdp"
    if isinstance(budget, ApproxDP) and budget.delta and kind is None and delta is None:
        delta = budget.delta / 2
    opened = open_filter(budget, kind, delta=delta, orders=orders, neighbours=neighbours)
    if window is not None and window not in get_args(Window):
        raise InvalidArgument(
            f"window must be one of {', '.join(get_args(Window))}; got {window!r}"
        )
    if parts is not None:
        _check_parts(parts, opened)
    opened_allowances = None
    if allowances is not None:
        opened_allowances = _open_allowances(opened, allowances)
    return Charter(opened, opened_allowances, window, parts, blocks)


def _needs_tail(budget: Measure) -> bool:
    """Return whether `open_filter` would count this budget by `residue`, without a kind given."""
    if isinstance(budget, ApproxDP):
        return budget.delta > 0
    return isinstance(budget, GaussianDP)


def _check_blocks(blocks: object, *, kind: object, window: object, parts: object) -> None:
    """Refuse terms that do not go together with blocks; `block_sums` has the proof that they need."""
    if not isinstance(blocks, Blocks):
        raise InvalidArgument(
            f"blocks are given as Blocks(table, column, 'week', stays=26), got {type(blocks).__name__}"
        )
    if window is not None:
        raise InvalidArgument(
            f"blocks promise the budget for life, window={window!r} promises it anew each {window}; "
            "open the ledger with one of them"
        )
    if parts is not None:
        raise InvalidArgument(
            "a ledger has parts or blocks, not both: an interval of blocks is a part already; "
            "leave parts= out"
        )
    if kind == "residue":
        raise InvalidArgument(
            "a ledger with blocks cannot count by residue: its amounts depend on what came before "
            "and do not add up over blocks; use kind='gdp', which blocks take unless told otherwise"
        )


def _open_allowances(opened: Filter, allowances: object) -> tuple[tuple[str, Filter], ...]:
    """Open the filter of every allowance, in the order of their names."""
    if not isinstance(allowances, Mapping):
        raise InvalidArgument(
            f"allowances are given by name, {{'ann': …}}, got {type(allowances).__name__}"
        )
    pairs = []
    for who, share in allowances.items():
        pairs.append((read_allowance_name(who), allowance(opened, share)))
    # Names are unique in a mapping, so filters are never compared.
    return tuple(sorted(pairs))


def allowance(opened: Filter, share: Measure) -> Filter:
    """Open the filter of one analyst's allowance, of the ledger's kind.

    The same fraction of its δ is kept for events with a δ of their own as in the budget.

    >>> import discreet as dp
    >>> from discreet.ledger.terms import allowance
    >>> from discreet.privacy.measures import ApproxDP
    >>> allowance(dp.open_filter(ApproxDP(1, 1e-6), delta=5e-7), ApproxDP(0.5, 1e-7)).terms.delta
    Fraction(1, 20000000)

    Refuses: a measure that the ledger's kind does not count in, with InvalidArgument.
    """
    terms = opened.terms
    if isinstance(share, PureDP) and not isinstance(terms.budget, PureDP):
        options = budget_to_table(terms.budget).items()
        written = ",".join(f"{option}={amount}" for option, amount in options)
        raise InvalidArgument(
            f"an allowance is a part of the budget, in its measure: this ledger's is {terms.budget}, and {share} "
            f"alone is not; write it as the budget is, {written}, or less of each"
        )
    delta = None
    orders = None
    if isinstance(share, ApproxDP) and isinstance(terms.budget, ApproxDP):
        if opened.kind != "approximate":
            # Exact fractions: an allowance of the whole budget keeps exactly the budget's δ.
            delta = share.delta * (terms.delta / terms.budget.delta)
        if opened.kind == "renyi":
            orders = terms.orders
    made = open_filter(share, opened.kind, delta=delta, orders=orders, neighbours=opened.neighbours)
    # Amounts at other orders could not be compared with those of the budget.
    if made.terms.orders != terms.orders:
        raise InvalidArgument(
            "an allowance lists the same Rényi orders as the budget; give it at those"
        )
    return made


def read_allowance_name(who: str) -> str:
    """Check the name of an allowance: a person, or "*" for everyone who is not named."""
    if who == OTHERS:
        return OTHERS
    return read_who(who)


def _check_parts(parts: object, opened: Filter) -> None:
    """Refuse parts that a filter cannot count in parallel; `parts` has the proofs."""
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

    Refuses: terms that were changed by hand, with LedgerCorrupt.
    """
    try:
        data = json.loads(text)
        stored = data["allowances"]
        allowances = None
        if stored is not None:
            pairs = [(who, Filter.from_json(filter_json)) for who, filter_json in stored.items()]
            allowances = tuple(sorted(pairs))
        parts = None if data["parts"] is None else Parts.from_json(data["parts"])
        blocks = None
        if "blocks" in data:
            blocks = Blocks.from_json(data["blocks"])
        opened = Filter.from_json(data["filter"])
        terms = Charter(opened, allowances, data["window"], parts, blocks)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise LedgerCorrupt(f"the terms of this ledger cannot be read: {problem}") from None
    if data.keys() - {"blocks"} != _FIELDS or terms.window not in (None, *get_args(Window)):
        raise LedgerCorrupt("the terms of this ledger have an unknown window or an unknown field")
    return terms
