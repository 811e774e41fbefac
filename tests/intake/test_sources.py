"""Neighbours at the source: one hostile cell changes neither the reader, a status, a text, a plan nor another total."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import DiscreetError, SchemaMismatch
from discreet.intake.arrow import id_column, total_column
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tally import Free, Tally
from discreet.query.algebra.tree import Scan
from intake.sources import ARROW, CASES, ONE, PLAIN, RULES, hostile_cells, seen, typed
from support.profile import DEEP

EVERY = [(kind, case) for kind, (cases, _) in CASES.items() for case in cases]
SOME = EVERY if DEEP else EVERY[::5]
PAIRS: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def _printed():
    yield
    print(f"\n{PAIRS.total():,} pairs of neighbours at the source: {dict(PAIRS)}")  # noqa: T201


def one_more(found, plain):
    more = {key: found.get(key, (0,))[0] - plain.get(key, (0,))[0] for key in {*found, *plain}}
    return list(filter(None, more.values())) == [1]


@pytest.mark.parametrize(("kind", "case"), SOME)
def test_one_cell_moves_nothing_but_its_own_count(tmp_path, kind, case):
    make = CASES[kind][1]
    turn = EVERY.index((kind, case))
    rules = list(RULES) if DEEP else list(RULES)[turn % 2 :: 2]
    cells = hostile_cells(case) if DEEP else hostile_cells(case)[turn % 2 :: 2][:2]
    folder = tmp_path if DEEP or turn % 4 == 0 else None
    plain = seen(make(case, (), tmp_path / "plain.parquet"), rules, folder)
    assert len(plain) >= len(rules)
    for number, cell in enumerate(cells):
        hostile = seen(make(case, (cell,), tmp_path / f"t{number}.parquet"), rules, folder)
        assert hostile.keys() == plain.keys()
        for way, (totals, text, plan) in plain.items():
            found, own_text, own_plan = hostile[way]
            PAIRS[kind] += 1
            assert (own_text, own_plan) == (text, plan), way
            if isinstance(totals, str):
                assert found == totals, way
            else:
                assert sum(count for (count,) in totals.values()) % PLAIN == 0, way
                assert one_more(found, totals), (way, found, totals)


class TestTheDefectAsItWasFound:
    """One name in Latin-1 made `explain` show another table, and every charged question of a service fail."""

    @pytest.mark.parametrize("last", [b"Miller", b"M\xfcller"])
    def test_through_a_twin(self, tmp_path, last):
        raw = pa.array([b"Ann"] * 300 + [last], pa.binary())
        names = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
        pq.write_table(pa.table({"x": [5] * 301, "name": names}), tmp_path / "t.parquet")
        schema = dp.Schema("people", dp.Rows(), {"x": dp.Integer(0, 9), "name": dp.Text(20)})
        question = "SELECT SUM(x) AS s FROM people"
        with (
            dp.DuckDB({"people": tmp_path / "t.parquet"}) as engine,
            dp.open_ledger(":memory:", dp.PureDP(100)) as ledger,
        ):
            shown = dp.Curator(engine, [schema], ledger).explain(question, spend=dp.PureDP(1))
            assert 'FROM "people" AS t' in shown.texts[0]
            with engine.twin() as twin:
                answer = dp.Curator(twin, [schema], ledger).sql(question, spend=dp.PureDP(50))
        assert abs(answer.rows[0][0] - 1505) < 20


class TestTwins:
    @pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "parquet", "view", "connection"])
    def test_a_twin_has_every_table(self, tmp_path, kind):
        cases, make = CASES[kind]
        case = "int64" if "int64" in cases else "DOUBLE"
        found = seen(make(case, (), tmp_path / "t.parquet"), ["integer"])
        assert found["integer", "twin"] == found["integer", "library"]
        assert found["integer", "twin"][0] == {(1,): (PLAIN,)}

    def test_two_schemas_of_one_view_keep_their_own_copies(self):
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE base AS SELECT 1 AS a, 2 AS b")
            connection.execute("CREATE VIEW t AS SELECT * FROM base")
            engine = dp.DuckDB(connection)
            for name in ("a", "b", "a"):
                schema = dp.Schema("t", dp.Rows(), {name: dp.Integer(0, 9)})
                engine.check(schema)
                rows = dp.Curator(engine, [schema], dp.open_ledger(":memory:", dp.PureDP(100)))
                assert rows.sql(f"SELECT COUNT({name}) AS n FROM t", spend=50).rows[0][0] == 1


UNREADABLE = ("bytes", "sixteen bytes", "list", "record", "map", "duration", "clock")
NO_IDS = ("list", "record", "map", "duration", "clock")


class TestTypesThatNoColumnReads:
    @pytest.mark.parametrize("case", UNREADABLE)
    def test_columns_are_refused_by_their_type(self, case):
        for rule in RULES.values():
            schema = dp.Schema("t", dp.Rows(), {"text": rule})
            refused = pytest.raises(SchemaMismatch, match=r"t\.text is stored as .*reads nothing")
            with dp.DuckDB({"t": typed(case, ())}) as engine, refused:
                engine.check(schema)

    @pytest.mark.parametrize("case", ARROW)
    def test_ids_are_told_apart_or_refused(self, case):
        """No two ids become one, and none is dropped without a word."""
        make, kind, plain, cells = ARROW[case]
        cell = None if case == "nothing" else plain
        ids = make(kind, plain, [cell for cell in cells if cell is not None][:1])
        table = pa.table({"id": ids, "x": [1] * len(ids)})
        schema = dp.Schema("t", dp.People("id", max_rows=50), {"x": dp.Integer(0, 9)})
        with dp.DuckDB({"t": table}) as engine:
            if case in NO_IDS:
                with pytest.raises(SchemaMismatch, match=r"t\.id is stored as .*no person's id"):
                    engine.check(schema)
                return
            engine.check(schema)
            curator = dp.Curator(engine, [schema], dp.open_ledger(":memory:", dp.PureDP(1000)))
            answer = curator.sql("SELECT COUNT(*) AS n FROM t", spend=dp.PureDP(500))
        wanted = 0 if cell is None else PLAIN
        assert abs(answer.rows[0][0] - wanted) <= 2

    def test_equal_ids_meet_and_others_do_not(self):
        """Days in milliseconds, wide decimals, bytes: as values some of these would become one."""
        kinds = {
            pa.date64(): pa.array([0, 1, 86_400_000 - 1], pa.int64()).view(pa.date64()),
            pa.decimal256(76, 0): pa.array([10**60, 10**60 + 1, 10**60 + 2], pa.decimal256(76, 0)),
            pa.binary(): pa.array([b"a", b"\xff", b"a\0"]),
            pa.uuid(): pa.array([b"1" * 16, b"2" * 16, b"\xff" * 16], pa.uuid()),
            pa.timestamp("ns", "UTC"): pa.array([0, 1, 999], pa.int64()).view(
                pa.timestamp("ns", "UTC")
            ),
        }
        for kind, cells in kinds.items():
            found = id_column(pa.chunked_array([cells, cells]))
            assert len(set(map(str, found.to_pylist()))) == 3, kind
            assert found.slice(0, 3).equals(found.slice(3)), kind


class TestDamagedColumns:
    """Buffers that do not fit together are refused; which cell they were meant to hold nobody knows."""

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
    def test_offsets(self, kind):
        width = 8 if kind == pa.large_string() else 4
        for offsets in ([0, 99, 1], [0, -5, 1], [0, 2**30, 2]):
            data = b"".join(place.to_bytes(width, "little", signed=True) for place in offsets)
            buffers = [None, pa.py_buffer(data), pa.py_buffer(b"ab")]
            column = pa.chunked_array([pa.Array.from_buffers(kind, 2, buffers)])
            with pytest.raises(dp.InvalidArgument, match="damaged"):
                id_column(column)

    def test_runs(self):
        values = pa.array(["a", "b"])
        # Runs that Arrow itself lets pass: only the last end is compared with the length.
        for ends in ([2, 2], [0, 2], [-1, 2]):
            made = pa.Array.from_buffers(
                pa.run_end_encoded(pa.int32(), pa.string()),
                2,
                [None],
                children=[pa.array(ends, pa.int32()), values],
            )
            with pytest.raises(dp.InvalidArgument, match="damaged"):
                total_column(pa.chunked_array([made]))

    def test_a_file_that_is_none_of_parquet(self, tmp_path):
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        good = tmp_path / "good.parquet"
        pq.write_table(pa.table({"x": list(range(5000))}), good)
        whole = good.read_bytes()
        # Bytes of the first page, which the footer does not cover.
        broken = whole[:4] + b"\xff" * 300 + whole[304:]
        for place, data in enumerate([b"", b"PAR1", b"x" * 100, whole[:-9], broken]):
            path = tmp_path / f"{place}.parquet"
            path.write_bytes(data)
            refused = pytest.raises(DiscreetError, match="cannot be read|could not be read")
            with dp.DuckDB({"t": path}) as engine, refused:
                engine.check(schema)


def test_text_of_pandas_is_read_by_its_type_alone():
    """Half a character, which Arrow cannot hold, beside plain text."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Text(9)})
    for cell in ("b", "\ud800"):
        frame = pd.DataFrame({"x": pd.Series(["a"] * 3 + [cell], dtype="string[python]")})
        with dp.DuckDB({"t": frame}) as engine:
            engine.check(schema)
            curator = dp.Curator(engine, [schema], dp.open_ledger(":memory:", dp.PureDP(99)))
            sql = "SELECT COUNT(*) AS n FROM t WHERE x = 'a'"
            assert curator.sql(sql, spend=dp.PureDP(50)).rows[0][0] == 3


class TestParquetByItsOwnSchema:
    def test_times_of_96_bits_reach_beyond_nanoseconds(self, tmp_path):
        times = [datetime(1500, 1, 1), datetime(2000, 1, 1), datetime(3000, 1, 1)]
        table = pa.table({"x": pa.array(times, pa.timestamp("us"))})
        pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Date("1000-01-01", "3500-01-01")})
        with dp.DuckDB({"t": tmp_path / "t.parquet"}) as engine:
            found = engine.tally(Tally(Scan(schema), (Field("x"),), (ONE,), Free()))
        days = [(time - datetime(1970, 1, 1)).days for time in times]
        assert found == {(day,): (1,) for day in days}

    @pytest.mark.parametrize("kept", [False, True])
    def test_a_duration_is_the_whole_number_that_parquet_stores(self, tmp_path, kept):
        table = pa.table({"x": pa.array([5, 2**63 - 1, None], pa.int64()).view(pa.duration("us"))})
        pq.write_table(table, tmp_path / "t.parquet", store_schema=kept)
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9)})
        with dp.DuckDB({"t": tmp_path / "t.parquet"}) as engine:
            engine.check(schema)
            found = engine.tally(Tally(Scan(schema), (Field("x"),), (ONE,), Free()))
        assert found == {(5,): (1,), (9,): (1,), (None,): (1,)}


class TestTotalColumns:
    def test_runs_are_decoded_cell_by_cell(self):
        runs = pa.RunEndEncodedArray.from_arrays(
            pa.array([2, 3, 6], pa.int16()), pa.array(["a", None, "b"])
        )
        cells = ["a", "a", None, "b", "b", "b"]
        for start in range(6):
            found = total_column(pa.chunked_array([runs.slice(start), runs]))
            assert found.to_pylist() == cells[start:] + cells

    @pytest.mark.parametrize("unit", ["s", "ms"])
    @pytest.mark.parametrize("far", [2**62, -(2**62), 2**63 - 1, -(2**63)])
    def test_times_beyond_microseconds_are_null_at_both_ends(self, unit, far):
        kind = pa.timestamp(unit)
        found = total_column(pa.chunked_array([pa.array([0, far], pa.int64()).view(kind)]))
        assert found.to_pylist() == [datetime(1970, 1, 1), None]
