"""Names of columns: each its own, in any case, and one that every store can hold."""

from __future__ import annotations

from collections.abc import Iterable

from ...data.unit import read_name
from ...errors import InvalidArgument, UnsupportedQuery
from .refusal import refusal


def fresh(name: str, prefix: str, taken: Iterable[str]) -> str:
    """Return a name for a column that no other has, in any case: its own, else with the table's name before it.

    >>> from discreet.query.algebra.names import fresh
    >>> fresh("city", "wards", ["ward"]), fresh("ward", "wards", ["WARD", "wards.ward"])
    ('city', 'wards.ward 2')
    """
    used = {other.casefold() for other in taken}
    if name.casefold() not in used:
        return name
    base, number = f"{prefix}.{name}" if len(f"{prefix}.{name}".encode()) <= 58 else "column", 1
    candidate = base
    while candidate.casefold() in used:
        number += 1
        candidate = f"{base} {number}"
    return candidate


def own_names(names: list[str]) -> None:
    """Refuse names that no table can have, or that differ at most in case."""
    for name in names:
        try:
            read_name(name, "a column")
        except InvalidArgument as error:
            raise UnsupportedQuery(f"AS: {error}") from None
    if len({name.casefold() for name in names}) < len(names):
        raise refusal("AS", "two columns have the same name", "give each its own name")
