"""A filter's state as JSON, exactly and for good.

Version 1, of release 0.1.0, holds no Σε. It is still written wherever nothing was spent or nothing is added up, so
that the terms of a ledger keep their text; version 2 has `added` beside. A version 1 in which something was spent does
not know what the ε added up to: the sum admits nothing then.
"""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

from ...errors import InvalidArgument
from ...frozen import frozen
from ..events.json import Json, measure_from_json, measure_to_json, read_amount, read_list
from ..neighbours import Neighbours
from .basic_composition import Sum, adds_up
from .options import FilterKind
from .rule import Amounts, FilterTerms

_SLACK = 1 + Fraction(1, 2**41)  # half of the margin by which a converted budget is rounded down
_FIELDS = {
    "filter",
    "version",
    "budget",
    "delta",
    "orders",
    "capacity",
    "used",
    "leaked",
    "neighbours",
}
_VERSIONS = {1: _FIELDS, 2: _FIELDS | {"added"}}


@frozen
class FilterState:
    """What a filter is: its kind and terms, what its budget came to, what was spent, leaked and added up."""

    kind: FilterKind
    terms: FilterTerms
    capacity: Amounts
    used: Amounts
    leaked: Fraction
    neighbours: Neighbours | None
    added: Sum


def write_state(state: FilterState) -> Json:
    """Write a state as plain JSON types."""
    plain = not adds_up(state.kind, state.terms) or (
        not any(state.used) and not state.leaked and state.added == 0
    )
    written: Json = {
        "filter": state.kind,
        "version": 1 if plain else 2,
        "budget": measure_to_json(state.terms.budget),
        "delta": str(state.terms.delta),
        "orders": [str(a) for a in state.terms.orders],
        "capacity": [str(c) for c in state.capacity],
        "used": [str(u) for u in state.used],
        "leaked": str(state.leaked),
        "neighbours": state.neighbours,
    }
    return (
        written if plain else written | {"added": None if state.added is None else str(state.added)}
    )


def read_state(data: object) -> FilterState:
    """Read a state written by `write_state`; `check_state` compares it with its budget.

    Refuses unknown kinds and versions, missing or unknown fields.
    """
    if (
        not isinstance(data, dict)
        or data.get("filter") not in get_args(FilterKind)
        or not data.keys() >= _FIELDS
    ):
        raise InvalidArgument(
            f"a filter's state is a JSON object with exactly the fields {', '.join(sorted(_FIELDS))}"
        )
    version = data["version"]
    if type(version) is not int or version not in _VERSIONS:
        raise InvalidArgument(
            f"a filter's state is not known in this version; this release reads {max(_VERSIONS)}"
        )
    if data.keys() != _VERSIONS[version]:
        raise InvalidArgument(
            f"a filter's state has exactly the fields {', '.join(sorted(_VERSIONS[version]))}"
        )
    terms = FilterTerms(
        measure_from_json(data["budget"]),
        read_amount(data["delta"], "delta"),
        _listed(data, "orders"),
    )
    capacity, used = _listed(data, "capacity"), _listed(data, "used")
    leaked, kind = read_amount(data["leaked"], "leaked"), data["filter"]
    added = _added(data, fresh=not any(used) and not leaked, counted=adds_up(kind, terms))
    return FilterState(kind, terms, capacity, used, leaked, data["neighbours"], added)


def _added(data: Json, *, fresh: bool, counted: bool) -> Sum:
    if data["version"] == 1:
        return Fraction() if fresh or not counted else None
    return None if data["added"] is None else read_amount(data["added"], "added")


def check_state(state: FilterState, terms: FilterTerms, capacity: Amounts) -> None:
    """Refuse a state that a filter opened anew with its terms does not allow."""
    if terms != state.terms:
        raise InvalidArgument("the state's delta or orders do not belong to its budget and kind")
    for name, amounts in (("capacity", state.capacity), ("used", state.used)):
        if len(amounts) != len(capacity):
            raise InvalidArgument(f"{name} must list {len(capacity)} amounts, got {len(amounts)}")
    if any(
        not 0 <= u <= c <= a * _SLACK
        for u, c, a in zip(state.used, state.capacity, capacity, strict=True)
    ):
        raise InvalidArgument(
            "the state has more capacity than its budget, or more used than its capacity"
        )
    if not 0 <= state.leaked <= terms.delta:
        raise InvalidArgument("the state has leaked more than the δ it keeps for leaks")
    if state.added is not None and not 0 <= state.added <= max(terms.epsilon, Fraction()):
        raise InvalidArgument("the state has added up more than the ε of its budget")


def _listed(data: Json, field: str) -> Amounts:
    return tuple(read_amount(a, field) for a in read_list(data[field], field))
