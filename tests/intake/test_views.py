"""Views that take the types of their columns from rows, names that DuckDB looks for elsewhere, stores that are open elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.duckdb.manifest import MARK
from discreet.errors import SchemaMismatch

PEOPLE = dp.Schema("people", dp.Rows(), {"x": dp.Integer(0, 9)})


def count(engine):
    engine.check(PEOPLE)
    curator = dp.Curator(engine, [PEOPLE], dp.open_ledger(":memory:", dp.PureDP(1000)))
    return curator.sql("SELECT COUNT(x) AS n FROM people", spend=dp.PureDP(500)).rows[0][0]


@pytest.fixture
def connection(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "5\n" * 30)
    (tmp_path / "t.json").write_text('{"x": 5}\n' * 30)
    pq.write_table(pa.table({"x": [5] * 30}), tmp_path / "t.parquet")
    with duckdb.connect() as opened:
        opened.execute("CREATE TABLE base AS SELECT 5 AS x, 'a' AS y FROM range(30)")
        opened.execute(f"CREATE MACRO hidden() AS TABLE SELECT * FROM '{tmp_path}/t.csv'")
        opened.execute(f"CREATE MACRO one() AS (SELECT min(x) FROM '{tmp_path}/t.csv')")
        yield opened


GUESSES = [
    "SELECT * FROM read_csv('{0}/t.csv')",
    "SELECT * FROM '{0}/t.csv'",
    "SELECT * FROM read_json('{0}/t.json')",
    "SELECT * FROM read_parquet('{0}/t.parquet')",
    "SELECT * FROM base UNION ALL SELECT x, 'b' FROM read_csv('{0}/t.csv')",
    "SELECT (SELECT max(x) FROM '{0}/t.csv') AS x FROM base",
    "WITH t AS (SELECT * FROM '{0}/t.csv') SELECT * FROM t",
    "SELECT * FROM hidden()",
    "SELECT one() AS x FROM base",
    "SELECT * FROM frame",
    "SELECT b.* FROM base AS b JOIN read_csv('{0}/t.csv') AS c ON b.x = c.x",
]
SURE = [
    "SELECT * FROM base",
    "SELECT x FROM base WHERE x > (SELECT min(x) - 1 FROM base)",
    "WITH t AS (SELECT * FROM base) SELECT a.* FROM t AS a",
    "SELECT b.x FROM base AS b LEFT JOIN (SELECT 1 AS z) AS c ON b.x = c.z",
    "SELECT CAST(x AS VARCHAR) AS x FROM base",
    "SELECT 5 AS x FROM range(30)",
    "SELECT min(x) OVER () AS x FROM base UNION ALL SELECT 5 FROM base WHERE false",
]


class TestViewsThatGuess:
    @pytest.mark.parametrize("text", GUESSES)
    def test_are_refused_unless_trusted(self, tmp_path, connection, text):
        frame = pd.DataFrame({"x": [5] * 30})
        connection.register("frame", frame)
        connection.execute(f"CREATE TEMP VIEW people AS {text.format(tmp_path)}")
        with pytest.raises(SchemaMismatch, match=r"people is a view .*trusted=\['people'\]"):
            dp.DuckDB(connection).check(PEOPLE)
        connection.execute("CREATE VIEW above AS SELECT * FROM people")
        with pytest.raises(SchemaMismatch, match="above is a view"):
            dp.DuckDB(connection).check(dp.Schema("above", dp.Rows(), PEOPLE.columns))
        assert count(dp.DuckDB(connection, trusted=["people"])) >= 30

    @pytest.mark.parametrize("text", SURE)
    def test_views_of_tables_are_read(self, connection, text):
        connection.execute(f'CREATE VIEW "v AS (x)" (x) AS {text}' if "b.x" in text else f"CREATE VIEW people AS {text}")  # fmt: skip
        if "b.x" in text:
            connection.execute('CREATE VIEW people AS SELECT * FROM "v AS (x)"')
        assert count(dp.DuckDB(connection)) == 30

    @pytest.mark.parametrize("cells", [[5] * 30, [5] * 29 + ["x"]])
    def test_a_registered_frame_is_refused_whatever_it_holds(self, cells):
        with duckdb.connect() as connection:
            connection.register("people", pd.DataFrame({"x": pd.Series(cells, dtype=object)}))
            with pytest.raises(SchemaMismatch, match="people is a view"):
                dp.DuckDB(connection).check(PEOPLE)

    def test_views_of_files(self, tmp_path, connection):
        path = tmp_path / "t.duckdb"
        with duckdb.connect(str(path)) as made:
            made.execute("CREATE TABLE base AS SELECT 5 AS x FROM range(30)")
            made.execute("CREATE VIEW people AS SELECT * FROM base")
            made.execute(f"CREATE VIEW guessed AS SELECT * FROM '{tmp_path}/t.csv'")
        guessed = dp.Schema("guessed", dp.Rows(), PEOPLE.columns)
        for engine in (dp.DuckDB(path), dp.DuckDB({"people": path, "guessed": path})):
            with engine, engine.twin() as twin:
                assert count(engine) == count(twin) == 30
                with pytest.raises(SchemaMismatch, match="guessed is a view"):
                    engine.check(guessed)
        with pytest.raises(SchemaMismatch, match="guessed is a view"):
            dp.prepare({"guessed": f"{path}#guessed"}, [guessed], tmp_path / "s")

    def test_a_variable_of_the_program_is_no_table(self, connection):
        people = pd.DataFrame({"x": [5] * 30})
        with pytest.raises(SchemaMismatch, match="no table people"):
            dp.DuckDB(connection).check(PEOPLE)
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.people AS SELECT 5 AS x FROM range(20)")
        assert count(dp.DuckDB(connection)) == 20
        assert len(people) == 30


class TestStoresThatDoNotOpen:
    def test_one_that_is_open_elsewhere_is_named_so(self, tmp_path):
        path = tmp_path / "people.store"
        dp.prepare({"people": pa.table({"x": [5]})}, [PEOPLE], path).close()
        code = (
            f"import duckdb; c = duckdb.connect({str(path)!r}); print('open', flush=True); input()"
        )
        other = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            assert other.stdout.readline() == b"open\n"
            for source in (path, {"people": f"{path}#people"}):
                with pytest.raises(dp.InvalidArgument, match=r"people\.store is open elsewhere"):
                    dp.DuckDB(source)
        finally:
            other.communicate(b"\n")
        with duckdb.connect(str(path)), pytest.raises(dp.InvalidArgument, match="open elsewhere"):
            dp.DuckDB(path)
        assert count(dp.DuckDB(path)) == 1

    def test_others_are_not_there_or_no_such_files(self, tmp_path):
        with pytest.raises(dp.InvalidArgument, match="is not there"):
            dp.DuckDB(tmp_path / "people.duckdb")
        (tmp_path / "people.duckdb").write_bytes(b"x" * 5000)
        with pytest.raises(dp.InvalidArgument, match="cannot be opened as a DuckDB file"):
            dp.DuckDB(tmp_path / "people.duckdb")

    def test_a_damaged_mark(self, tmp_path):
        path = tmp_path / "people.store"
        dp.prepare({"people": pa.table({"x": [5]})}, [PEOPLE], path).close()
        with duckdb.connect(str(path)) as store:
            ((written,),) = store.execute(f"SELECT facts FROM {MARK}").fetchall()
        facts = json.loads(written)
        table = facts["tables"]["people"]
        damaged = [
            "",
            "[]",
            "null",
            "7",
            "{",
            written[:-40],
            "[" * 100_000,
            json.dumps(facts | {"tables": None}),
        ]
        for name in table:
            for odd in (None, 7, [7], {"a": 7}):
                changed = {"people": table | {name: odd}}
                damaged.append(json.dumps(facts | {"tables": changed}))
            without = {field: fact for field, fact in table.items() if field != name}
            damaged.append(json.dumps(facts | {"tables": {"people": without}}))
        refused = 0
        for text in damaged:
            with duckdb.connect(str(path)) as store:
                store.execute(f"UPDATE {MARK} SET facts = ?", [text])
            try:
                dp.DuckDB(path).close()
            except dp.InvalidArgument as refusal:
                assert "prepare it again" in str(refusal)
                refused += 1
        # Some odd values are read as "no", or as text.
        assert refused >= 25


NO_TEXT = ["rot13", "hex", "base64", "bz2", "zlib", "uu", "quopri", "undefined", "idna", "punycode", "\0", "", "no such"]  # fmt: skip


@pytest.mark.parametrize("encoding", NO_TEXT)
def test_codecs_that_make_no_text_are_no_encodings(encoding):
    with pytest.raises(dp.InvalidArgument, match="there is no encoding"):
        dp.Csv("people.csv", encoding=encoding)
