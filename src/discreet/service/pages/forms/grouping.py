"""Grouping of the query builder: by its keys, tables of two keys each, all tables, or running totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ....data.columns.column import Date, Integer
from ....data.schema import Schema
from ....errors import InvalidArgument

TABLES = {
    "these": "just this table",
    "pairs": "every table of up to two of them",
    "cube": "every table of any of them",
    "running": "running totals",
}
"""What each choice is called; all but the first are planned together, so that their counts add up."""
KEY_FIELDS = ("by", "and", "with")


def key_fields(form: Mapping[str, str], schema: Schema) -> tuple[str, ...]:
    """Read the keys of a form in their order, each once.

    Refuses what is no column.
    """
    names = tuple(dict.fromkeys(form[field] for field in KEY_FIELDS if form.get(field)))
    known = [name for name, _ in schema.declared]
    if any(name not in known for name in names):
        raise InvalidArgument(f"choose a column of {schema.name}: {', '.join(known)}")
    return names


def write_groups(keys: Sequence[str], tables: str) -> str:
    """Write the clause that groups by keys.

    >>> from discreet.service.pages.forms.grouping import write_groups
    >>> write_groups(["sex", "age"], "pairs")
    'GROUP BY GROUPING SETS ((), (sex), (age), (sex, age))'
    >>> write_groups(["sex", "age"], "cube"), write_groups(["sex"], "these")
    ('GROUP BY CUBE (sex, age)', 'GROUP BY sex')

    Refuses other words.
    """
    if tables not in TABLES:
        raise InvalidArgument(f"choose one of {', '.join(TABLES.values())}")
    if tables == "pairs":
        sets = [part for size in range(min(2, len(keys)) + 1) for part in combinations(keys, size)]
        return f"GROUP BY GROUPING SETS ({', '.join('(' + ', '.join(part) + ')' for part in sets)})"
    listed = ", ".join(keys)
    return f"GROUP BY CUBE ({listed})" if tables == "cube" else f"GROUP BY {listed}"


def running_key(keys: Sequence[str], statistic: str, schema: Schema) -> str:
    """Return the key that totals run along.

    Refuses several keys, one without an order, and a statistic that does not add up.
    """
    if statistic not in ("rows", "sum"):
        raise InvalidArgument(
            "running totals are of counts and sums; choose how many rows, or the sum of a column"
        )
    ordered = [name for name, column in schema.declared if isinstance(column, Integer | Date)]
    if len(keys) != 1 or keys[0] not in ordered:
        among = (
            f"one of {', '.join(ordered)}"
            if ordered
            else f"a key with an order, which {schema.name} does not have"
        )
        raise InvalidArgument(f"running totals go along one key that has an order; choose {among}")
    return keys[0]
