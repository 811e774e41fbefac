"""Rows with stored types, for tests of engines: cells that any store holds, hostile ones too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import inf, nan

from ..frozen import frozen


@frozen
class TypedRows:
    """Table to be stored: the types of its columns by name, and its rows in that order.

    The types are bigint, integer, double, real, decimal (38 digits, 6 of them after the point),
    text, boolean, date, timestamp (without a zone) and timestamptz (an instant).

    >>> from discreet.testing.typed_rows import TypedRows
    >>> TypedRows({"age": "bigint", "name": "text"}, [(37, "Ann")]).mappings()
    [{'age': 37, 'name': 'Ann'}]
    """

    types: Mapping[str, str]
    rows: Sequence[Sequence[object]]

    def mappings(self) -> list[dict[str, object]]:
        """Return the rows as the reference engine takes them."""
        return [dict(zip(self.types, row, strict=True)) for row in self.rows]


# The first and last times of the calendar, the epoch, and a time New York does not have.
_TIMES = [
    datetime(1, 1, 2),
    datetime(1969, 12, 31, 23, 59, 59, 999_999),
    datetime(2024, 3, 10, 2, 30),
    datetime(2024, 5, 1, 9, 30, 15, 750_000),
    datetime(9999, 12, 30),
]
CELLS: dict[str, list[object]] = {
    "bigint": [0, 1, -1, 3, 7, 12, 2**31, 2**53 + 1, -(2**63), 2**63 - 1],
    "integer": [0, 1, 7, 2**31 - 1, -(2**31)],
    "double": [0.0, -0.0, 0.5, 2.5, 0.49999999999999994, 2.675, 5e-324, 9.3e18, 1.7976931348623157e308, inf, -inf, nan],
    "real": [0.0, 0.5, -2.5, 3.0, 2.0**-126, inf, nan],
    "decimal": [Decimal(t) for t in ("0", "-2.5", "0.500000", "3.000001", "12345678901234567.891234", "1e30", "-1e30")],
    "text": ["", " ", "N", "n", "N ", "Ä", "👍🏽", "it's", "a\\b", "x\ny", "12", " 7 ", "+4", "0x1F", "1e3", "1e99",
             "nan", "-inf", "1,000", "12a", "9" * 19, "9" * 41, "true", "YES", "2024-02-29", "2023-02-29", "0000-01-01",
             "2024-05-01T23:59:59Z", "2024-05-01 24:00", "1969-12-31T23:59:59.999", "٣", "a" * 5000],
    "boolean": [False, True],
    "date": [date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)],
    "timestamp": list(_TIMES),
    "timestamptz": [time.replace(tzinfo=UTC) for time in _TIMES],
}  # fmt: skip
"""Cells by stored type that stores read differently, or fail on."""
