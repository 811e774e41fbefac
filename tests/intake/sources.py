"""Sources of every kind, each of two neighbours: 40 plain cells of one type, and one hostile cell more.

A case is a type, a plain cell and hostile ones. Text sources have cells of text, typed ones Arrow columns of any bits.
Every source has the same cells in one column for each rule by which they are read.
"""

from __future__ import annotations

import gzip
import re
import struct
from contextlib import contextmanager
from functools import partial

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dp
from discreet.errors import DiscreetError
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan

RULES = {
    "integer": dp.Integer(0, 9),
    "real": dp.Real(0, 9, step=0.5),
    "text": dp.Text(4),
    "listed": dp.Category(["1", "a"], other="else"),
    "numbers": dp.Category([1, 2]),
    "truth": dp.Boolean(default=False),
    "day": dp.Date("1980-01-01", "2010-01-01"),
    "moment": dp.Timestamp("1980-01-01T00:00:00", "2010-01-01T00:00:00", outside="null"),
}
PLAIN = 40
FAR = (2**63 - 1, -(2**63), 2**62, -(2**62))


def of_bits(kind, plain, cells):
    """A column of plain cells and others, all given by their bits; None is NULL."""
    width = kind.bit_width // 8
    bits = [plain] * PLAIN + list(cells)
    data = b"".join((bit or 0).to_bytes(width, "little", signed=True) for bit in bits)
    validity = pa.array([bit is not None for bit in bits]).buffers()[1]
    return pa.Array.from_buffers(kind, len(bits), [validity, pa.py_buffer(data)])


def of_text(kind, plain, cells):
    """A column of text that may be no UTF-8."""
    raw = {pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    column = pa.array([plain] * PLAIN + list(cells), raw.get(kind, pa.binary()))
    return pa.Array.from_buffers(kind, len(column), column.buffers())


def of_values(kind, plain, cells):
    return pa.array([plain] * PLAIN + list(cells), kind)


def of_places(kind, plain, cells):
    """A dictionary, with places that it may not have."""
    places = pa.array([plain] * PLAIN + list(cells), pa.int32())
    return pa.DictionaryArray.from_arrays(places, pa.array(["1", "a"], kind), safe=False)


def of_runs(kind, plain, cells):
    """Runs of equal cells, the plain ones one run."""
    ends = pa.array(range(PLAIN, PLAIN + 1 + len(cells)), pa.int32())
    values = of_text(kind, plain, cells)[PLAIN - 1 :]
    # Of buffers: the usual way looks at the values, and refuses to make runs of any bits.
    runs = pa.run_end_encoded(pa.int32(), kind)
    return pa.Array.from_buffers(runs, PLAIN + len(cells), [None], children=[ends, values])


def doubles(form, *values):
    return [int.from_bytes(struct.pack(form, value), "little", signed=True) for value in values]


NOT_TEXT = (b"M\xfcller", b"\xff", b"\xed\xa0\x80", b"a\xe4" * 9, b"\0", None)
ARROW = {
    **{f"int{n}": (of_bits, pa.int64() if n == 64 else getattr(pa, f"int{n}")(), 1, (-1, 2 ** (n - 1) - 1, None)) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (of_bits, getattr(pa, f"uint{n}")(), 1, (-1, None)) for n in (8, 32, 64)},
    "half": (of_bits, pa.float16(), 0x3C00, (0x7C00, 0x7E00, -0x8000)),
    "float": (of_bits, pa.float32(), *[doubles("<f", 1.0)[0], (0x7F800000, 0x7FC00001, -1)]),
    "double": (of_bits, pa.float64(), *[doubles("<d", 1.0)[0], (0x7FF << 52, (0x7FF << 52) + 1, -1, -(1 << 63))]),
    "decimal": (of_bits, pa.decimal128(38, 0), 1, (-(2**127), 2**127 - 1, 10**38)),
    "short decimal": (of_bits, pa.decimal128(9, 2), 100, (-(2**127), 10**9, None)),
    "wide decimal": (of_bits, pa.decimal256(76, 0), 1, (-(2**255), 10**75)),
    "truth": (of_values, pa.bool_(), True, (None, False)),
    "day": (of_bits, pa.date32(), 8000, (2**31 - 1, -(2**31), None)),
    "day in ms": (of_bits, pa.date64(), 8000 * 86_400_000, (*FAR[:2], 1)),
    **{f"time {unit} {zone}": (of_bits, pa.timestamp(unit, zone), 10**9 * size, FAR)
       for unit, size in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items() for zone in (None, "Europe/Oslo")},
    "text": (of_text, pa.string(), b"1", NOT_TEXT),
    "large text": (of_text, pa.large_string(), b"1", NOT_TEXT[:2]),
    "viewed text": (of_text, pa.string_view(), b"1", NOT_TEXT[:2]),
    "dictionary": (of_places, pa.string(), 0, (1, 7, -1, None)),
    "runs": (of_runs, pa.string(), b"1", (b"a", b"\xff", None)),
    "nothing": (of_values, pa.null(), None, (None,)),
    "bytes": (of_values, pa.binary(), b"1", (b"\xff", None)),
    "sixteen bytes": (of_values, pa.binary(16), b"1" * 16, (b"\xff" * 16, None)),
    "list": (of_values, pa.list_(pa.int8()), [1], ([], None)),
    "record": (of_values, pa.struct([("a", pa.int8())]), {"a": 1}, ({"a": None}, None)),
    "map": (of_values, pa.map_(pa.string(), pa.int8()), [("a", 1)], ([], None)),
    "duration": (of_bits, pa.duration("us"), 1, FAR[:2]),
    "clock": (of_bits, pa.time64("us"), 1, FAR[:2]),
}  # fmt: skip
"""Every logical type: how a column of it is made, the type, the plain cell, the hostile ones."""
WORDS = ("", "1", "x", "2000-01-01", "1e400", "NaN", "-0", "9" * 60, "Ж" * 50, "NULL", "true", '"', "a,b", "x\ny", "\ufeff1",
         "0000-00-00", "2000-02-30", "1;1;1;1", "''", "=1+1", "inf")  # fmt: skip
STORED = {
    "VARCHAR": ("'1'", ("'x'", "NULL", "'\\0'")),
    "TIMESTAMP": ("'2000-01-01'", ("'infinity'", "'-infinity'", "'290000-01-01'")),
    "TIMESTAMP_S": ("'2000-01-01'", ("'290000-01-01'", "NULL")),
    "TIMESTAMP_MS": ("'2000-01-01'", ("'infinity'", "NULL")),
    "TIMESTAMP_NS": ("'2000-01-01'", ("'infinity'", "'-infinity'")),
    "TIMESTAMPTZ_NS": ("'2000-01-01 00:00:00+00'", ("'infinity'", "'-infinity'", "'1677-09-22 00:00:00+00'")),
    "TIMESTAMPTZ": ("'2000-01-01 00:00:00+00'", ("'infinity'", "NULL")),
    "DATE": ("'2000-01-01'", ("'infinity'", "'5874897-01-01'")),
    "DOUBLE": ("1", ("'nan'", "'inf'", "-1e308")),
    "HUGEINT": ("1", ("170141183460469231731687303715884105727", "NULL")),
    "DECIMAL(38,10)": ("1", ("-1e27", "NULL")),
    "ENUM('1', 'a')": ("'1'", ("'a'", "NULL")),
    "UUID": ("'00000000-0000-0000-0000-000000000001'", ("NULL",)),
    "INTEGER[]": ("[1]", ("[]", "NULL")),
}  # fmt: skip
"""Types of DuckDB's own tables: the plain cell and the hostile ones, as SQL."""


def typed(case, cells):
    make, kind, plain, _ = ARROW[case]
    return pa.table(dict.fromkeys(RULES, make(kind, plain, cells)))


def as_parquet(case, cells, path):
    table = typed(case, cells)
    # Old writers have times of 96 bits, and others leave out the schema of Arrow.
    pq.write_table(table, path, store_schema=case != "duration")
    return path


def as_int96(case, cells, path):
    pq.write_table(typed(case, cells), path, use_deprecated_int96_timestamps=True)
    return path


def as_parts(case, cells, path):
    """Two files, the hostile cell in the second."""
    first = path.with_suffix(".first.parquet")
    pq.write_table(typed(case, ()), first)
    return [as_parquet(case, (), first), as_parquet(case, cells, path.with_suffix(".parquet"))]


def as_pandas(case, cells, _):
    column = pd.Series(pd.arrays.ArrowExtensionArray(typed(case, cells)["text"]))
    return pd.DataFrame(dict.fromkeys(RULES, column))


def as_objects(_, cells, __):
    column = pd.Series(["1"] * PLAIN + list(cells), dtype=object)
    return pd.DataFrame(dict.fromkeys(RULES, column))


def as_csv(_, cells, path, *, packed=False):
    written = ["1"] * PLAIN
    written += ['"' + cell.replace('"', '""') + '"' for cell in cells]
    lines = [",".join(RULES)]
    lines += [",".join([cell] * len(RULES)) for cell in written]
    data = "".join(f"{line}\n" for line in lines).encode()
    path = path.with_suffix(".csv.gz" if packed else ".csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def as_table(case, cells, path):
    """A table of a DuckDB file."""
    plain, _ = STORED[case]
    path = path.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(f'"{name}" {case}' for name in RULES)
        connection.execute(f"CREATE TABLE t ({columns})")
        rows = [", ".join([cell] * len(RULES)) for cell in [plain] * PLAIN + list(cells)]
        connection.execute(f"INSERT INTO t VALUES ({'), ('.join(rows)})")
        connection.execute("CREATE VIEW v AS SELECT * FROM t")
    return path


TEXT_OBJECTS = (None, b"1", 1j, 10**400, [1], {"a": 1}, float("nan"), "\ud800", pd.NaT, True, 2.5)
CASES = {
    "arrow": (ARROW, lambda case, cells, _: typed(case, cells)),
    "polars": (
        [case for case in ARROW if case not in ("text", "large text", "viewed text", "dictionary", "runs", "map", "wide decimal",
                                                "decimal", "short decimal", "half")],
        lambda case, cells, _: pl.from_arrow(typed(case, cells)),
    ),
    "pandas": ([case for case in ARROW if case not in ("dictionary", "runs")], as_pandas),
    "parquet": (
        # Parquet has no runs, no seconds and no dictionaries of its own.
        [case for case in ARROW if case not in ("runs", "dictionary") and not case.startswith("time s")],
        as_parquet,
    ),
    "int96": (["time us None", "time ms None"], as_int96),
    "parts": (["text", "time ms None", "decimal", "int64"], as_parts),
    "objects": (["objects"], as_objects),
    "csv": (["words"], as_csv),
    "gz": (["words"], partial(as_csv, packed=True)),
    "table": (STORED, lambda case, cells, path: f"{as_table(case, cells, path)}#t"),
    "view": (STORED, lambda case, cells, path: f"{as_table(case, cells, path)}#v"),
    "file": (STORED, as_table),
    "connection": (STORED, lambda case, cells, path: duckdb.connect(str(as_table(case, cells, path)))),
}  # fmt: skip
"""For each kind of source the types it can hold, and the function that makes one."""
ONE = Term(Constant(True), 1, 0, 1)


def hostile_cells(case):
    if case == "words":
        return WORDS
    if case == "objects":
        return TEXT_OBJECTS
    return ARROW[case][3] if case in ARROW else STORED[case][1]


def counted(engine, schema, name):
    """Totals of one column, and the text of the question."""
    tally = Tally(Scan(schema), (Field(name),), (ONE,), Free())
    return dict(engine.tally(tally)), engine.explain(tally), plan_of(engine, schema, tally)


def plan_of(engine, schema, tally):
    """What DuckDB would do, without its estimates of rows and the names of tables.

    Whether keys are grouped in an array or a hash table follows from the least and greatest one where tables are kept.
    """
    sql = engine._over([schema])._write(tally)[1]
    plan = engine._connection.execute(f"EXPLAIN {sql}").fetchall()[0][1]
    plan = plan.replace("Perfect Hash Group By", "Hash Group By")
    return re.sub(r"Table:.*|[~\d]+ [Rr]ows?|[\d ]|─|│", "", plan)


@contextmanager
def opened(source):
    """An engine over a source, and its twin."""
    by_name = not isinstance(source, duckdb.DuckDBPyConnection)
    if by_name and not (hasattr(source, "suffix") and source.suffix == ".duckdb"):
        source = {"t": source}
    with dp.DuckDB(source) as engine:
        yield engine


def readable(engine, rules):
    """A schema of the rules that read the source, and the refusals of the others, each in its own words."""
    refused = {}
    rules = list(rules)
    while rules:
        schema = dp.Schema("t", dp.Rows(), {name: RULES[name] for name in rules})
        try:
            engine.check(schema)
        except DiscreetError as refusal:
            name = re.match(r"t\.(\w+) is stored", str(refusal))[1]
            refused[name, "library"] = f"{type(refusal).__name__}: {refusal}", "", ""
            rules.remove(name)
        else:
            return schema, refused
    return None, refused


def seen(source, rules, folder=None):
    """What can be seen of a source by each rule: status, totals, text and plan, by every way in."""
    with opened(source) as engine:
        schema, found = readable(engine, rules)
        if schema is None:
            return found
        ways = {"library": engine, "twin": engine.twin()}
        if folder is not None and not isinstance(source, duckdb.DuckDBPyConnection):
            ways["store"] = dp.prepare({"t": source}, [schema], folder / "s.store")
        for way, asked in ways.items():
            for name in schema.columns:
                found[name, way] = counted(asked, schema, name)
            if way != "library":
                asked.close()
    return found
