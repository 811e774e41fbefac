"""Schemas: public facts about private data, the privacy unit, and the neighbour relation.

Start at `columns` and `unit`, then `schema`; `files.schema_file` reads and writes TOML, and
`drafting.infer` drafts a schema.

>>> import discreet as dp
>>> unit = dp.People("user_id", max_rows=10)
>>> people = dp.Schema("people", unit=unit, columns={"age": dp.Integer(0, 120)}, size=1000)
>>> print(people)
people: private, the unit is one person (user_id), at most 10 rows, add-remove neighbours, 1000 units, version 1
  age  integer  0 to 120  NULL absent
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
