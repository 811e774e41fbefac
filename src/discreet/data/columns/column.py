"""Column types of a schema: public facts about one value, known without looking at the data.

    Integer(low, high)            integers, clipped
    Real(low, high, step=None)    numbers on a grid, clipped, rounded to the nearest step
    Date(low, high)               days, clipped
    Timestamp(low, high)          seconds of UTC, clipped
    Category(values)              a closed public list of keys
    Boolean()                     true or false
    Text(max_length)              free text; its keys are not public

Each type reads a stored value (`read`), has a rule for NULL (`nulls`), and lists its public keys
(`keys`) or refuses with the reason. The first four are ordered: a value is a whole number of
steps from zero (of times: from 1970). `steps` reads a stored value as that number, and `at` turns
the number back into a value. `ends` are the bounds in steps, `width` the number of steps between
them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .categorical import Boolean, Category, Text
from .numeric import Integer, Real
from .temporal import Date, Temporal, Timestamp

__all__ = [
    "Boolean",
    "Category",
    "Column",
    "ColumnType",
    "Date",
    "Integer",
    "Numeric",
    "Ordered",
    "Real",
    "Temporal",
    "Text",
    "Timestamp",
]

Numeric: TypeAlias = Integer | Real
Ordered: TypeAlias = Numeric | Temporal
Column: TypeAlias = Ordered | Category | Boolean | Text
ColumnType: TypeAlias = Literal[
    "integer", "real", "date", "timestamp", "category", "boolean", "text"
]
