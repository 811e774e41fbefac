"""Schemas: public facts about private data, the privacy unit, and the neighbour relation.

Start at `columns` and `unit`, then `schema`; `schema_file` reads and writes TOML, `infer` drafts a
schema.

>>> import discreet as dp
>>> unit = dp.People("user_id", max_rows=10)
>>> people = dp.Schema("people", unit=unit, columns={"age": dp.Integer(0, 120)}, size=1000)
>>> print(people)
people: private, the unit is one person (user_id), at most 10 rows, add-remove neighbours, 1000 units, version 1
  age  integer  0 to 120  NULL absent
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .columns.column import Boolean as Boolean
    from .columns.column import Category as Category
    from .columns.column import Column as Column
    from .columns.column import ColumnType as ColumnType
    from .columns.column import Date as Date
    from .columns.column import Integer as Integer
    from .columns.column import Ordered as Ordered
    from .columns.column import Real as Real
    from .columns.column import Text as Text
    from .columns.column import Timestamp as Timestamp
    from .drafting.draft import Draft as Draft
    from .drafting.infer import infer as infer
    from .files.schema_file import read_schemas as read_schemas
    from .files.schema_file import schemas_from_toml as schemas_from_toml
    from .files.schema_file import schemas_to_toml as schemas_to_toml
    from .files.schema_file import write_schemas as write_schemas
    from .schema import Schema as Schema
    from .unit import People as People
    from .unit import Rows as Rows
    from .unit import Unit as Unit

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "columns.column": "Boolean Category Column ColumnType Date Integer Ordered Real Text Timestamp",
            "drafting.draft": "Draft",
            "drafting.infer": "infer",
            "files.schema_file": "read_schemas schemas_from_toml schemas_to_toml write_schemas",
            "schema": "Schema",
            "unit": "People Rows Unit",
        },
    )
