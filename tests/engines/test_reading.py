"""Every declared column over every stored type reads every hostile value as the data room says."""

from __future__ import annotations

import pytest

from discreet.data import Integer, Rows, Schema
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from engines.hostile import COLUMN_LIST, VALUES
from engines.tables import Table, in_memory, same_totals

COUNT = Term(Constant(True), 1, 0, 1)


def every_value(stored: str) -> tuple[Schema, Table]:
    """One row for each value, numbered; the same value in a column for each declaration."""
    declared = {f"v{place}": column for place, column in enumerate(COLUMN_LIST)}
    schema = Schema("hostile", Rows(), {"i": Integer(0, 1000), **declared})
    values = [None, *VALUES[stored]]
    rows = [(place, *[value] * len(declared)) for place, value in enumerate(values)]
    return schema, Table({"i": "bigint", **dict.fromkeys(declared, stored)}, rows)


class TestEveryEngineReadsAsTheSchemaSays:
    @pytest.mark.parametrize("stored", VALUES)
    def test_value_by_value(self, load, stored):
        schema, table = every_value(stored)
        tally = Tally(Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free())
        wanted = in_memory({"hostile": table}).tally(tally)
        assert len(wanted) == len(table.rows)
        same_totals(load({"hostile": table}).tally(tally), wanted)

    def test_the_reference_reads_as_the_columns_do(self):
        for stored in VALUES:
            schema, table = every_value(stored)
            tally = Tally(Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free())
            keys = {key[0]: key[1:] for key in in_memory({"hostile": table}).tally(tally)}
            for row in table.rows:
                read = [
                    column.steps(value) if column.kind in ("date", "timestamp") else column.read(value)
                    for column, value in zip(COLUMN_LIST, row[1:], strict=True)
                ]
                assert list(keys[row[0]]) == read
