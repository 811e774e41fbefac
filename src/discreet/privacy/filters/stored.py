"""State of a filter as JSON, exactly and for ever.

| version | written | difference |
|---|---|---|
| 1 | by release 0.1.0; still where nothing was spent or the filter adds up no ε | no `added` |
| 2 | otherwise | has Σε of all events in `added` |

Where the filter adds up ε and a version 1 has spent something, Σε is not known. The rule of sums
then admits nothing.

Law: tests/privacy/test_filter_json.py::test_the_format_is_pinned
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, get_args

from ...errors import InvalidArgument
from ...frozen import frozen
from ..events.json import Json, measure_from_json, measure_to_json, read_amount, read_list
from ..measures import Neighbours
from .basic_composition import Sum, adds_up
from .options import FilterKind
from .rule import Amounts, FilterTerms

if TYPE_CHECKING:
    from .filter import Filter

# Half of the margin (2^−40) by which a converted budget is rounded down: a capacity converted by
# another release may be larger by a rounding error, and still keeps the promise.
_SLACK = 1 + Fraction(1, 2**41)
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
    """Content of a filter: kind, terms, capacity, and the amounts used, leaked and added up."""

    kind: FilterKind
    terms: FilterTerms
    capacity: Amounts
    used: Amounts
    leaked: Fraction
    neighbours: Neighbours | None
    added: Sum


def write_state(state: Filter | FilterState) -> Json:
    """Write a filter, or its state, as plain JSON types."""
    is_fresh = not any(state.used) and not state.leaked and state.added == 0
    needs_sum = adds_up(state.kind, state.terms) and not is_fresh
    written: Json = {
        "filter": state.kind,
        "version": 2 if needs_sum else 1,
        "budget": measure_to_json(state.terms.budget),
        "delta": str(state.terms.delta),
        "orders": [str(order) for order in state.terms.orders],
        "capacity": [str(amount) for amount in state.capacity],
        "used": [str(amount) for amount in state.used],
        "leaked": str(state.leaked),
        "neighbours": state.neighbours,
    }
    if needs_sum:
        written["added"] = None if state.added is None else str(state.added)
    return written


def read_state(data: object) -> FilterState:
    """Read a state written by `write_state`; `check_state` compares it with its budget.

    Refuses: InvalidArgument for unknown kinds and versions, missing or unknown fields.

    Law: tests/privacy/test_filter_json.py::test_what_is_no_state_is_refused
    """
    if (
        not isinstance(data, dict)
        or data.get("filter") not in get_args(FilterKind)
        or not data.keys() >= _FIELDS
    ):
        fields = ", ".join(sorted(_FIELDS))
        raise InvalidArgument(f"a filter's state is a JSON object with exactly the fields {fields}")
    version = data["version"]
    # `type(...) is int`, because True would be read as version 1.
    if type(version) is not int or version not in _VERSIONS:
        raise InvalidArgument(
            f"a filter's state is not known in this version; this release reads {max(_VERSIONS)}"
        )
    if data.keys() != _VERSIONS[version]:
        fields = ", ".join(sorted(_VERSIONS[version]))
        raise InvalidArgument(f"a filter's state has exactly the fields {fields}")
    budget = measure_from_json(data["budget"])
    delta = read_amount(data["delta"], "delta")
    orders = _read_amounts(data, "orders")
    terms = FilterTerms(budget, delta, orders)
    capacity = _read_amounts(data, "capacity")
    used = _read_amounts(data, "used")
    leaked = read_amount(data["leaked"], "leaked")
    kind = data["filter"]
    is_spent = any(used) or bool(leaked)
    sum_is_lost = is_spent and adds_up(kind, terms)
    added = _read_sum(data, sum_is_lost=sum_is_lost)
    return FilterState(kind, terms, capacity, used, leaked, data["neighbours"], added)


def _read_sum(data: Json, *, sum_is_lost: bool) -> Sum:
    if data["version"] == 1:
        # Version 1 did not store Σε. An unknown sum must admit nothing.
        return None if sum_is_lost else Fraction()
    if data["added"] is None:
        return None
    return read_amount(data["added"], "added")


def check_state(state: FilterState, terms: FilterTerms, capacity: Amounts) -> None:
    """Refuse a state that a filter opened anew with its terms does not allow.

    Refuses: InvalidArgument for terms, capacities, spending, leaks or sums beyond the budget.
    """
    if terms != state.terms:
        raise InvalidArgument("the state's delta or orders do not belong to its budget and kind")
    for name, amounts in (("capacity", state.capacity), ("used", state.used)):
        if len(amounts) != len(capacity):
            raise InvalidArgument(f"{name} must list {len(capacity)} amounts, got {len(amounts)}")
    for used, stored, converted in zip(state.used, state.capacity, capacity, strict=True):
        if not 0 <= used <= stored <= converted * _SLACK:
            raise InvalidArgument(
                "the state has more capacity than its budget, or more used than its capacity"
            )
    if not 0 <= state.leaked <= terms.delta:
        raise InvalidArgument("the state has leaked more than the δ it keeps for leaks")
    if state.added is not None and not 0 <= state.added <= max(terms.epsilon, Fraction()):
        raise InvalidArgument("the state has added up more than the ε of its budget")


def _read_amounts(data: Json, field: str) -> Amounts:
    return tuple(read_amount(amount, field) for amount in read_list(data[field], field))
