"""The state of a filter as JSON, exactly: a ledger stores it beside its events and reads it back in any release.

The amounts derived from the budget at creation are stored too, so that a later release with a tighter conversion does
not move a budget that people were already promised.
"""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

from ...errors import InvalidArgument
from ..events.json import Json, measure_from_json, measure_to_json, read_amount, read_list
from ..measures import ApproxDP
from .filter import Filter, Kind, open_filter
from .rule import Amounts, Terms

__all__ = ["filter_from_json", "filter_to_json"]

VERSION = 1
_SLACK = 1 + Fraction(1, 2**41)  # half of the margin by which a converted budget is rounded down
_FIELDS = {"filter", "version", "budget", "delta", "orders", "capacity", "used", "leaked", "neighbours"}


def filter_to_json(filter: Filter) -> Json:  # noqa: A002 that is what it is
    """Write the state of a filter as plain JSON types.

    >>> from ..measures import PureDP
    >>> filter_to_json(open_filter(PureDP(1)))["capacity"]
    ['1']
    """
    return {
        "filter": filter.kind,
        "version": VERSION,
        "budget": measure_to_json(filter.terms.budget),
        "delta": str(filter.terms.delta),
        "orders": [str(a) for a in filter.terms.orders],
        "capacity": [str(c) for c in filter.capacity],
        "used": [str(u) for u in filter.used],
        "leaked": str(filter.leaked),
        "neighbours": filter.neighbours,
    }


def filter_from_json(data: object) -> Filter:
    """Read a state written by `filter_to_json`, exactly.

    >>> from ..measures import ApproxDP
    >>> fresh = open_filter(ApproxDP(1, 1e-6), "zcdp", delta=1e-7)
    >>> filter_from_json(filter_to_json(fresh)) == fresh
    True

    Refuses unknown kinds and versions, missing or unknown fields, and a state that its budget does not allow: more
    capacity than the budget converts to, or more spent than the capacity.
    """
    if not isinstance(data, dict) or data.get("filter") not in get_args(Kind) or data.keys() != _FIELDS:
        raise InvalidArgument(f"a filter's state is a JSON object with exactly the fields {', '.join(sorted(_FIELDS))}")
    if data["version"] != VERSION or type(data["version"]) is not int:
        raise InvalidArgument(f"a filter's state is not known in this version; this release reads {VERSION}")
    kind: Kind = data["filter"]
    fresh = _opened(data, kind)
    capacity, used = _amounts(data, "capacity", fresh), _amounts(data, "used", fresh)
    leaked = read_amount(data["leaked"], "leaked")
    if any(not 0 <= u <= c <= a * _SLACK for u, c, a in zip(used, capacity, fresh.capacity, strict=True)):
        raise InvalidArgument("the state has more capacity than its budget, or more used than its capacity")
    if not 0 <= leaked <= fresh.terms.delta:
        raise InvalidArgument("the state has leaked more than the δ it keeps for leaks")
    return Filter(kind, fresh.terms, capacity, used, leaked, fresh.neighbours)


def _opened(data: Json, kind: Kind) -> Filter:
    """Open the filter anew from the terms in the state, which checks them."""
    budget = measure_from_json(data["budget"])
    orders = tuple(read_amount(a, "orders") for a in read_list(data["orders"], "orders"))
    delta = read_amount(data["delta"], "delta")
    near = data["neighbours"]
    fixed = kind == "renyi" and isinstance(budget, ApproxDP)  # a RenyiDP budget lists its own orders
    fresh = open_filter(
        budget,
        kind,
        delta=None if kind == "approximate" else delta,
        orders=orders if fixed else None,
        neighbours=near,  # type: ignore[arg-type]
    )
    if fresh.terms != Terms(budget, delta, orders):
        raise InvalidArgument("the state's delta or orders do not belong to its budget and kind")
    return fresh


def _amounts(data: Json, field: str, fresh: Filter) -> Amounts:
    amounts = tuple(read_amount(a, field) for a in read_list(data[field], field))
    if len(amounts) != len(fresh.capacity):
        raise InvalidArgument(f"{field} must list {len(fresh.capacity)} amounts, got {len(amounts)}")
    return amounts
