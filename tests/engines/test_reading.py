"""Every declared column over every stored type reads every hostile value as the data room says."""

from __future__ import annotations

import pytest

from discreet.data import Date, Integer, Real, Rows, Schema, Timestamp
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


WRITTEN = (
    [Integer(-9, 9999, thousands=","), Integer(0, 9999, thousands="'"), Integer(-99, 99, unit="kg"), Integer(0, 100, unit="%"),
     Real(-5000, 5000, step=0.01, thousands="."  , decimal=","), Real(-5000, 5000, step=0.01, thousands=" ", unit="€"),
     Real(-99, 99, unit="$"), Real(0, 99, step=0.5, decimal=",", unit="eV"), Real(0, 99, unit="°"), Real(0, 1, unit="km/h"),
     Date("2000-01-01", "2025-01-01", format="%d/%m/%Y"), Date("2000-01-01", "2025-01-01", format="%m.%d.%Y"),
     Timestamp("2000-01-01T00:00:00", "2025-01-01T00:00:00", format="%d/%m/%Y %H:%M")]
)  # fmt: skip
SPELLED = (
    ["1,688", "12,34", "1'688", "12 kg", "12kg", "kg 12", "kg-12", "-kg12", "-12 kg", "12  kg", "kg", "kg12kg", "12 kgs", " 7 % ", "%7", "1.688,80",
     "1.688", "1 688.80 €", "€1 688", "€ -5", "-€5", "+$1.5", "$1e1", "1e1$", "$$1", "3eV", "3e1", "3,5 eV", "eV3e1", "5°", "° 5", "0.5 km/h",
     "12\nkg", "12\u00a0kg", "12 KG", "1,688\n", "31/12/2023", "13/31/2023", "12.31.2023", "31/02/2023", "31/12/2023 23:59", "31/12/2023 24:59",
     "31/12/2023\n", "", " ", "-", "٣", "1,688,", ",688", "--1", "9" * 50, "kg" * 30_000, "1" + ",000" * 9, "1" + ",000" * 20_000, "1,2kg"]
)  # fmt: skip


class TestEveryEngineReadsAsTheSchemaSays:
    @pytest.mark.parametrize("stored", VALUES)
    def test_value_by_value(self, load, stored):
        schema, table = every_value(stored)
        tally = Tally(Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free())
        wanted = in_memory({"hostile": table}).tally(tally)
        assert len(wanted) == len(table.rows)
        same_totals(load({"hostile": table}).tally(tally), wanted)

    def test_cells_that_are_written_as_declared(self, load):
        declared = {f"v{place}": column for place, column in enumerate(WRITTEN)}
        schema = Schema("spelled", Rows(), {"i": Integer(0, 1000), **declared})
        rows = [(place, *[word] * len(declared)) for place, word in enumerate(SPELLED)]
        table = Table({"i": "bigint", **dict.fromkeys(declared, "text")}, rows)
        tally = Tally(Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free())
        wanted = in_memory({"spelled": table}).tally(tally)
        assert all(len({key[place] for key in wanted}) > 1 for place in range(len(WRITTEN)))
        same_totals(load({"spelled": table}).tally(tally), wanted)

    def test_the_reference_reads_as_the_columns_do(self):
        for stored in VALUES:
            schema, table = every_value(stored)
            tally = Tally(
                Scan(schema), tuple(Field(name) for name in schema.columns), (COUNT,), Free()
            )
            keys = {key[0]: key[1:] for key in in_memory({"hostile": table}).tally(tally)}
            for row in table.rows:
                read = [
                    column.steps(value)
                    if column.kind in ("date", "timestamp")
                    else column.read(value)
                    for column, value in zip(COLUMN_LIST, row[1:], strict=True)
                ]
                assert list(keys[row[0]]) == read
