"""Every store reads every cell as a plain oracle does, by every declaration of how cells are written."""

from __future__ import annotations

import csv

import pytest

import discreet as dp
from discreet.data import Boolean, Category, Date, Integer, Real, Rows, Schema, Text, Timestamp
from discreet.data.files.schema_json import column_to_dict
from discreet.intake.compatibility import misfit
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from engines.tables import Table, in_memory, same_totals
from oracles.spelled import default_of, read_cell

COUNT = Term(Constant(True), 1, 0, 1)
WARDS = ["emergency", "Ward 1", "Straße", "42"]
KG = {"kg": 1, "lb": "0.45359237", "g": "1/1000", "kilo": 1}
DAYS = ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d"]
DECLARED = (
    Category(WARDS, null=["n/a", "-"]),
    Category(WARDS, strip=True, other=True, null=["n/a", ""]),
    Category(WARDS, fold=True, null=["N/A"], default="42"),
    Category(WARDS, strip=True, fold=True, other="x", aliases={"E.R.": "emergency", "Ä1": "x", " ice ": "Ward 1"}),
    Category(WARDS, aliases={"E.R.": "emergency", "it's": "Ward 1", "\\": "42"}),
    Category([3, 42], other=-1, null=["-", "7"]),
    Boolean(null=["-", "n/a"], default=True),
    Text(6, strip=True, null=["n/a"]),
    Text(9, fold=True, strip=True, aliases={"E.R.": "emergency", "√": "root"}, null=["-", "N/A"]),
    Text(4, aliases={"n/a": "none"}, default="none"),
    Integer(-9, 2000, null=["-", "7"], outside="null"),
    Integer(0, 2000, thousands=".", decimal=",", outside="null", default=3),
    Integer(0, 5000, units={"m": 1, "km": 1000, "cm": "0.01"}, thousands=","),
    Integer(1 - 2**62, 2**62 - 1, units={"m": 1, "km": 1000}, outside="null"),
    Real(0, 100, step=0.01, units=KG),
    Real(-90, 90, step=0.5, units=KG, decimal=",", outside="null", null=["3"]),
    Real(0, 90, step=5, units={"€": 1, "ct": "0.01"}, thousands=" ", default=5),
    Real(-5, 5, step="1/7", outside="null"),
    Date("2020-01-01", "2024-12-31", format=DAYS),
    Date("2020-01-01", "2024-12-31", format=DAYS[:2], outside="null", null=["31.12.2023"], default="2021-01-01"),
    Date("0001-01-01", "9999-12-31", outside="null"),
    Timestamp("2020-01-01T00:00:00", "2024-12-31T23:59:59", format=["%d.%m.%Y", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S"]),
    Timestamp("2020-01-01T00:00:00", "2023-12-31T23:59:58", outside="null", null=["n/a"]),
)  # fmt: skip
NUMBERS = (
    ["180 lb", "180lb", "lb 180", "-5 kg", "kg-5", "-kg 5", "kg -5", "5 kg kg", "kg5kg", "5 st", "5 KG", "5  kg", "5 kilo", "500 g", "500g",
     "0.5 g", "5 g", "15 g", "2,5 kg", "2.5 kg", "1e2 kg", "1e2lb", "5e-1 lb", "1e99 lb", "-1e99 lb", "1e-99 g", "3 km", "1,5 km", "1.5 km",
     "1,500 m", "1.500 m", "0,5 cm", "50 cm", "150 cm", "250 cm", "km", " 3 km ", "9223372036854775807 km", "4611686018427387903", "4611686018427387904",
     "4611686018427387905", "-4611686018427387905", "999999999999999999", "1000000000000000000", "10 ct", "250 ct", "249.99 ct", "€5", "7 €",
     "1 688 €", "1.999", "2.000", "2.001", "2000", "2001", "2000.4", "2000.5", "2000.6", "-9.4", "-9.5", "-9.6", "-1", "-0.4", "-0.5", "-0.6", "0",
     "-0", "3", "3.0", "7", "42", "42.0", " 42", "4.2e1", "1999,5", "2000,5", "2001,5", "4.92", "4.93", "5.07", "5.08", "-5.07", "-5.08", "90.2",
     "90.25", "90.3", "1e400", "inf", "nan", "-999", "9" * 41, "1" + ",000" * 30, "٣ kg", "3 kg\n", "3\u00a0kg", "100.004", "100.005", "100.006"]
)  # fmt: skip
WORDS = (
    ["emergency", "Emergency", "EMERGENCY", " emergency", "emergency\t", "\u00a0emergency\u3000", "\ufeffemergency", "e mergency", "émergency",
     "e\u0301mergency", "Emergenc\u0177", "E.R.", "e.r.", " E.R. ", "E.R", "ward 1", "Ward 1", "WARD 1", "Ward  1", "Ward\u00a01", "ice", "ICE", " ice ",
     "Ice\n", "Straße", "STRASSE", "strasse", "STRAẞE", "straſse", "Strase", "ä1", "Ä1", "A1", "a\u03081", "it's", "IT'S", "\\", "\\\\", "42", "٤٢", "n/a",
     "N/A", " n/a ", "n/a\n", "Ñ/Á", "-", " - ", "--", "−", "", " ", "\t", "\u200b", "other", "x", "X", "none", "NONE", "null", "NULL", "None", "√", "root",
     "İstanbul", "ıstanbul", "ISTANBUL", "ΌΛΟΣ", "όλος", "Łódź", "ЁЛКА", "ёлка", "ﬁ", "Ǆ", "Æsir", "ĳs", "日本", "😀 😀", "a" * 300, "é" * 300, "ß" * 8,
     "${env:HOME}", "%", "_", "'; DROP TABLE t; --", "true", "T", "yes", "No", "y ", "\r", "a\u0300\u0301", "\u0301", "x\u0301"]
)  # fmt: skip
TIMES = (
    ["2023-12-31", "31.12.2023", "12/31/2023", "31/12/2023", "20231231", "2023.12.31", "31-12-2023", "1.1.2023", "01.01.2023", " 31.12.2023 ",
     "31.02.2023", "29.02.2023", "29.02.2024", "02/29/2024", "00.01.2023", "01.00.2023", "13/01/2023", "31.12.2019", "01.01.2020", "31.12.2024",
     "01.01.2025", "0000-01-01", "0001-01-01", "9999-12-31", "01.01.0001", "31.12.9999", "31.12.2023 23:59", "31.12.2023 24:00", "2023-12-31T23:59:58",
     "2023-12-31T23:59:59", "2023-12-31 23:59:58.999", "2023-12-31T23:59:58Z", "2024-01-01", "2020-01-01", "2019-12-31 23:59:59", "31.12.2023\n",
     "٣1.12.2023", "2023-12-3", "202312310", "2023-12-31 "]
)  # fmt: skip
CELLS = list(dict.fromkeys([*NUMBERS, *WORDS, *TIMES]))


def spelled(cells=CELLS, columns=DECLARED, stored="text"):
    declared = {f"v{place}": column for place, column in enumerate(columns)}
    schema = Schema("spelled", Rows(), {"i": Integer(0, 10_000), **declared})
    rows = [(place, *[cell] * len(declared)) for place, cell in enumerate(cells)]
    return schema, Table({"i": "bigint", **dict.fromkeys(declared, stored)}, rows)


def wanted(cells=CELLS):
    """The keys of the oracle, which has the declarations as plain values and nothing of the package."""
    facts = [column_to_dict(column) for column in DECLARED]
    for fact, column in zip(facts, DECLARED, strict=True):
        if "default" in fact:
            fact["default"] = default_of(fact)
        if fact["type"] == "real":
            fact["step"] = column.step
    return {
        (place, *(read_cell(fact, cell) for fact in facts)): (1,)
        for place, cell in enumerate(cells)
    }


def asked(schema):
    return Tally(Scan(schema), tuple(map(Field, schema.columns)), (COUNT,), Free())


def written(path, table):
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        rows.writerow(table.types)
        rows.writerows(table.rows)
    return path


class TestEveryStoreReadsAsTheOracle:
    def test_the_oracle_tells_cells_apart(self):
        """No declaration is idle: of about 250 cells each reads some and not others, and none reads as another does."""
        assert len(CELLS) > 200
        columns = list(zip(*wanted(), strict=True))[1:]
        assert all(len(set(column)) > 1 for column in columns)
        assert len(set(columns)) == len(DECLARED)

    def test_memory(self):
        schema, table = spelled()
        same_totals(in_memory({"spelled": table}).tally(asked(schema)), wanted())

    def test_stores(self, load):
        schema, table = spelled()
        same_totals(load({"spelled": table}).tally(asked(schema)), wanted())

    def test_files(self, tmp_path):
        # An empty field of a text file is NULL before any declaration is asked.
        cells = [cell for cell in CELLS if cell]
        schema, table = spelled(cells)
        path = written(tmp_path / "spelled.csv", table)
        with dp.DuckDB({"spelled": str(path)}) as store:
            same_totals(store.tally(asked(schema)), wanted(cells))

    @pytest.mark.slow  # Proposals are made for twenty columns.
    def test_prepared_stores(self, tmp_path):
        cells = [cell for cell in CELLS if cell]
        schema, table = spelled(cells)
        path = written(tmp_path / "spelled.csv", table)
        store = dp.prepare({"spelled": str(path)}, [schema], tmp_path / "spelled.store")
        same_totals(store.tally(asked(schema)), wanted(cells))
        null = {column.name: column.null for column in store.report.tables[0].columns}
        # "n/a" and " n/a " are missing, not unreadable; of the last column nothing else is.
        assert null["v22"] == 2

    def test_narrower_bounds_of_a_prepared_store(self, tmp_path):
        """outside="null" stays NULL, or the default, under narrower bounds of a store that was read before."""
        rows = Table(
            {"a": "text", "b": "text"}, [(str(x), str(x)) for x in (-1, 0, 5, 20, 21, 90, 91, "x")]
        )

        def columns(low, high):
            first = Integer(low, high, outside="null")
            return {"a": first, "b": Integer(low, high, outside="null", default=20)}

        path = written(tmp_path / "t.csv", rows)
        store = dp.prepare(
            {"t": str(path)}, [Schema("t", Rows(), columns(0, 90))], tmp_path / "t.store"
        )
        narrow = asked(Schema("t", Rows(), columns(5, 20)))
        keys = {(5, 5): (1,), (20, 20): (1,), (None, 20): (6,)}
        same_totals(in_memory({"t": rows}).tally(narrow), keys)
        same_totals(store.tally(narrow), keys)

    def test_a_store_is_asked_only_as_it_was_read(self):
        """Every declaration of reading must be the same: the cells as they were written are gone."""
        for plain, options in (
            (Integer(0, 9), {"outside": "null"}),
            (Integer(0, 9), {"units": {"m": 1}}),
            (Integer(0, 9), {"null": ["-"]}),
            (Text(9), {"strip": True}),
            (Text(9), {"fold": True}),
            (Text(9), {"aliases": {"x": "y"}}),
        ):
            bounds = (9,) if plain.kind == "text" else (0, 9)
            other = Schema("t", Rows(), {"a": type(plain)(*bounds, **options)})
            kept = Schema("t", Rows(), {"a": plain})
            assert misfit(other, kept)
            assert misfit(kept, other)
            assert misfit(other, other) is None

    @pytest.mark.parametrize(
        ("stored", "values"),
        [("bigint", [3, 7, 42, -1, 5000, -9, None]), ("boolean", [True, False, None])],
    )
    def test_other_types_read_as_the_columns_do(self, load, stored, values):
        columns = [c for c in DECLARED if c.kind not in ("date", "timestamp")]
        columns += [
            Integer(-9, 99, null=["true", "42"]),
            Category(WARDS, aliases={"TRUE": "42"}, fold=True),
        ]
        schema, table = spelled(values, columns, stored)
        keys = {
            (place, *(column.read(value) for column in columns)): (1,)
            for place, value in enumerate(values)
        }
        same_totals(load({"spelled": table}).tally(asked(schema)), keys)
