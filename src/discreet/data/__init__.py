"""Public facts about private data: what its columns may hold, who is protected, which tables are neighbours.

Start at `columns` and `unit`, then `schema`; `schema_file` is the same in TOML, `infer` drafts one.

>>> import discreet as dp
>>> people = dp.Schema("people", unit=dp.People("user_id", max_rows=10), columns={"age": dp.Integer(0, 120)}, size=1000)
>>> print(people)
people: private, the unit is one person (user_id), at most 10 rows, add-remove neighbours, 1000 units, version 1
  age  integer  0 to 120  NULL absent
"""

from __future__ import annotations

from .columns.column import Boolean, Category, Column, ColumnType, Date, Integer, Ordered, Real, Text, Timestamp
from .files.file import read_schemas, schemas_from_toml, schemas_to_toml, write_schemas
from .infer.draft import Draft
from .infer.infer import infer
from .schema import Schema
from .unit import People, Rows, Unit

__all__ = [
    "Boolean",
    "Category",
    "Column",
    "ColumnType",
    "Date",
    "Draft",
    "Integer",
    "Ordered",
    "People",
    "Real",
    "Rows",
    "Schema",
    "Text",
    "Timestamp",
    "Unit",
    "infer",
    "read_schemas",
    "schemas_from_toml",
    "schemas_to_toml",
    "write_schemas",
]
