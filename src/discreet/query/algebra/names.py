"""Column names: unique in any case, and such that every store can hold them."""

from __future__ import annotations

from collections.abc import Iterable

from ...data.unit import read_name
from ...errors import InvalidArgument, UnsupportedQuery
from .refusal import refusal

_MAX_BASE_BYTES = 58
"""PostgreSQL cuts names after 63 bytes; five are left for a blank and a number."""


def unused_name(name: str, prefix: str, taken: Iterable[str]) -> str:
    """Return a column name that no other has, in any case.

    It is the name itself, else the name after the prefix, else that with a number.

    >>> from discreet.query.algebra.names import unused_name
    >>> unused_name("city", "wards", ["ward"]), unused_name("ward", "wards", ["WARD", "wards.ward"])
    ('city', 'wards.ward 2')
    """
    used = {other.casefold() for other in taken}
    if name.casefold() not in used:
        return name
    base = f"{prefix}.{name}"
    if len(base.encode()) > _MAX_BASE_BYTES:
        base = "column"
    candidate = base
    number = 1
    while candidate.casefold() in used:
        number += 1
        candidate = f"{base} {number}"
    return candidate


def require_unique_names(names: list[str]) -> None:
    """Refuse names that no table can have, or that differ at most in case."""
    for name in names:
        try:
            read_name(name, "a column")
        except InvalidArgument as error:
            raise UnsupportedQuery(f"AS: {error}") from None
    folded = {name.casefold() for name in names}
    if len(folded) < len(names):
        raise refusal("AS", "two columns have the same name", "give each its own name")
