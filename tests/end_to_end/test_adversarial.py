"""What an adversary would try: refused before the store is touched, by the clause and without data; or harmless."""

from __future__ import annotations

import math
from contextlib import closing

import pytest

from discreet.answer import answer_question
from discreet.data import Integer, People, Real, Rows, Schema, Text
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    SchemaMismatch,
    UnboundedSensitivity,
    UnsupportedQuery,
)
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.query import parse
from end_to_end.compare import EXACT, ask
from end_to_end.stores import duckdb_beside, memory_beside, postgres_beside, spark_beside
from end_to_end.world import SCHEMAS
from engines.tables import Table

N = "SELECT COUNT(*) AS n FROM people"
HIDDEN = "4711-hidden"

REFUSED = [
    # statements, several of them, comments
    (f"{N}; DROP TABLE people", ";"),
    (f"{N};{N}", ";"),
    (f"/* {N} */ DROP TABLE people", "DROP"),
    (f"{N} -- harmless\n; DELETE FROM people", ";"),
    (f"{N} /* ; */ ; /* */ SELECT 1", ";"),
    ("COPY people TO '/tmp/out.csv'", "COPY"),
    ("COPY (SELECT COUNT(*) FROM people) TO PROGRAM 'sh'", "COPY"),
    ("ATTACH 'other.db' AS other", "ATTACH"),
    ("DETACH people", "DETACH"),
    ("INSTALL httpfs", "INSTALL"),
    ("LOAD httpfs", "LOAD"),
    ("PRAGMA database_list", "PRAGMA"),
    ("SET memory_limit = '1GB'", "SET"),
    ("RESET ALL", "RESET"),
    ("CALL pragma_version()", "CALL"),
    ("EXECUTE stolen", "EXECUTE"),
    ("PREPARE stolen AS SELECT 1", "PREPARE"),
    ("VACUUM", "VACUUM"),
    ("SHOW TABLES", "SHOW"),
    ("DESCRIBE people", "DESCRIBE"),
    ("SUMMARIZE people", "SUMMARIZE"),
    ("EXPLAIN ANALYZE SELECT COUNT(*) FROM people", "EXPLAIN"),
    ("CREATE FUNCTION f() RETURNS INT AS 'SELECT 1' LANGUAGE SQL", "CREATE"),
    ("DO $$ BEGIN PERFORM 1; END $$", "DO"),
    ("TRUNCATE people", "TRUNCATE"),
    ("MERGE INTO people USING users ON TRUE WHEN MATCHED THEN DELETE", "MERGE"),
    ("VALUES (1)", "VALUES"),
    ("TABLE people", "TABLE"),
    # files and catalogues
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "READ_CSV("),
    ("SELECT COUNT(*) FROM read_csv_auto('/etc/passwd')", "read_csv_auto("),
    ("SELECT COUNT(*) FROM read_json('x.json')", "read_json("),
    ("SELECT COUNT(*) FROM read_text('/etc/passwd')", "read_text("),
    ("SELECT COUNT(*) FROM parquet_scan('x.parquet')", "PARQUET"),
    ("SELECT COUNT(*) FROM 'file.csv'", "file.csv"),
    ('SELECT COUNT(*) FROM "file.csv"', "file.csv"),
    ("SELECT COUNT(*) FROM postgres_scan('host=x', 'public', 't')", "postgres_scan("),
    ("SELECT COUNT(*) FROM duckdb_settings()", "duckdb_settings("),
    ("SELECT COUNT(*) FROM pg_catalog.pg_shadow", "no table"),
    ("SELECT COUNT(*) FROM parquet.`/data/x`", "no table"),
    # functions that wait, fail, change or belong to somebody
    (f"{N} WHERE pg_sleep(10) IS NULL", "pg_sleep("),
    (f"{N} WHERE pg_read_file('/etc/passwd') = ''", "pg_read_file("),
    (f"{N} WHERE error('x') IS NULL", "error("),
    (f"{N} WHERE raise_error('x') IS NULL", "raise_error("),
    (f"{N} WHERE assert_true(age > 3) IS NULL", "assert_true("),
    (f"{N} WHERE java_method('java.lang.System', 'exit', 1) = ''", "java_method("),
    (f"{N} WHERE lo_import('/etc/passwd') > 0", "lo_import("),
    (f"{N} WHERE query_to_xml('SELECT 1', true, true, '') = ''", "query_to_xml("),
    (f"{N} WHERE set_config('x', 'y', false) = 'y'", "set_config("),
    (f"{N} WHERE nextval('s') > 0", "nextval("),
    (f"{N} WHERE my_function(age) > 1", "my_function("),
    (f"{N} WHERE random() < 0.5", "random()"),
    (f"{N} WHERE rand() < 0.5", "rand()"),
    ("SELECT COUNT(*) FROM visits WHERE seen < now()", "NOW"),
    ("SELECT COUNT(*) FROM visits WHERE day < CURRENT_DATE", "CURRENT_DATE"),
    ("SELECT COUNT(*) FROM visits WHERE note = CURRENT_USER", "CURRENT_USER"),
    ("SELECT COUNT(*) FROM visits WHERE note = current_setting('x')", "current_setting("),
    ("SELECT COUNT(*) FROM visits WHERE note SIMILAR TO '(a+)+'", "SIMILAR"),
    ("SELECT COUNT(*) FROM visits WHERE note ~ '(a+)+$'", "note ~"),
    ("SELECT COUNT(*) FROM visits WHERE repeat(note, 1000000000) = ''", "repeat(note"),
    (f"{N} WHERE x'41' = age", "cannot be read"),
    # recursion, correlation, windows, other people's rows
    ("WITH RECURSIVE t AS (SELECT age FROM people UNION ALL SELECT age FROM t) SELECT COUNT(*) FROM t", "WITH RECURSIVE"),
    (f"{N} p WHERE age > (SELECT AVG(age) FROM people q WHERE q.ward = p.ward)", "a sub-query in an expression"),
    (f"{N} p WHERE EXISTS (SELECT 1 FROM users u WHERE u.age = p.age)", "EXISTS"),
    (f"{N} WHERE age NOT IN (SELECT age FROM users)", "IN (SELECT …)"),
    (f"{N} WHERE age NOT IN (1, NULL)", "age IN (1, NULL)"),
    (f"{N} WHERE age = ALL (SELECT age FROM users)", "ALL"),
    ("SELECT COUNT(*) FROM people, LATERAL (SELECT people.age) t", "LATERAL"),
    ("SELECT AVG(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY income) AS r FROM people) t", "OVER"),
    ("SELECT SUM(age) OVER () FROM people", "OVER"),
    (f"{N} QUALIFY RANK() OVER (ORDER BY age) = 1", "age"),
    # joins that multiply
    ("SELECT COUNT(*) FROM people a CROSS JOIN people b", "CROSS JOIN"),
    ("SELECT COUNT(*) FROM people a, people b", "CROSS JOIN"),
    ("SELECT COUNT(*) FROM people a JOIN people b ON TRUE", "JOIN of private tables"),
    ("SELECT COUNT(*) FROM people a JOIN people b ON a.income = b.income", "JOIN of private tables"),
    ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.user_id <> b.user_id", "JOIN of private tables"),
    ("SELECT COUNT(*) FROM visits a JOIN users b ON a.user_id = b.user_id OR a.ward = b.age", "JOIN of private tables"),
    ("SELECT COUNT(*) FROM people p JOIN prices q ON p.age = q.price", "JOIN with prices"),
    ("SELECT COUNT(*) FROM visits a POSITIONAL JOIN visits b", "POSITIONAL"),
    # keys and rows that would leak
    ("SELECT COUNT(*) FROM (SELECT DISTINCT age, income FROM people) t", "DISTINCT"),
    ("SELECT COUNT(*) FROM (SELECT age FROM people UNION SELECT age FROM people) t", "UNION"),
    ("SELECT COUNT(*) FROM (SELECT age FROM people INTERSECT SELECT age FROM people) t", "INTERSECT"),
    ("SELECT COUNT(*) FROM (SELECT age FROM people ORDER BY income LIMIT 1) t", "LIMIT"),
    ("SELECT FIRST(income) FROM people", "FIRST(income)"),
    ("SELECT ARG_MAX(name, age) FROM users", "ARG_MAX("),
    ("SELECT MAX(user_id) FROM users", "user_id"),
    ("SELECT COUNT(*) FROM visits WHERE user_id = 7", "user_id"),
    ("SELECT COUNT(*) FROM people TABLESAMPLE (1 ROWS)", "TABLESAMPLE"),
    ("SELECT COUNT(*) FROM people USING SAMPLE 10", "SAMPLE"),
    ("SELECT LIST(age) FROM people", "LIST(age)"),
    ("SELECT SUM(CAST(note AS INTEGER)) FROM visits", "CAST"),
    ("SELECT COUNT(*) FROM people WHERE age::TEXT::INTEGER = 3", "CAST"),
]  # fmt: skip


class Untouched:
    """A store that must not be asked."""

    def __getattr__(self, name):
        raise AssertionError(f"the store was touched: {name}")


@pytest.mark.parametrize(
    ("sql", "clause"), REFUSED, ids=[f"{i:02d} {clause}" for i, (_, clause) in enumerate(REFUSED)]
)
def test_is_refused_before_the_store_is_touched(sql, clause):
    with pytest.raises(DiscreetError) as refused:
        answer_question(parse(sql, SCHEMAS), Untouched(), PureDP(1))
    assert isinstance(refused.value, UnsupportedQuery | SchemaMismatch)
    assert clause.casefold() in str(refused.value).split("; ")[0].casefold()


LATE = [
    (
        "SELECT note, COUNT(*) FROM visits GROUP BY note",
        PureDP(1),
        InvalidArgument,
        "the keys of note are not public",
    ),
    ("SELECT SUM(x) FROM wide", PureDP(1), UnsupportedQuery, "the noise would exceed 2\\^50 steps"),
    ("SELECT SUM(x * x) FROM wide", PureDP(1), UnsupportedQuery, "64-bit"),
    ("SELECT SUM(x) FROM heavy", PureDP(1), UnsupportedQuery, "2\\^50 steps|64-bit"),
]
WIDE = {
    "wide": Schema("wide", Rows(), {"x": Integer(-(2**62), 2**62 - 1)}),
    "heavy": Schema("heavy", People("id", max_rows=2**31), {"x": Integer(0, 2**40)}),
}


@pytest.mark.parametrize(("sql", "spend", "kind", "said"), LATE, ids=[said for *_, said in LATE])
def test_what_only_a_plan_can_refuse_is_refused_before_the_store_too(sql, spend, kind, said):
    with pytest.raises(kind, match=said):
        answer_question(parse(sql, SCHEMAS | WIDE), Untouched(), spend)


def test_a_refusal_repeats_what_was_asked_and_nothing_else():
    """A constant of the question is the asker's own, and a long one is not repeated; of the data nothing can be there,
    since nothing was read.
    """
    with pytest.raises(UnsupportedQuery, match="note SIMILAR TO '…'") as refused:
        parse(f"SELECT COUNT(*) FROM visits WHERE note SIMILAR TO '{HIDDEN}'", SCHEMAS)
    assert HIDDEN not in str(refused.value)
    with pytest.raises(UnboundedSensitivity) as unbounded:
        parse(f"SELECT COUNT(*) FROM people a JOIN people b ON a.region = '{HIDDEN}'", SCHEMAS)
    assert HIDDEN not in str(unbounded.value)


ODD = Schema(
    "odd",
    Rows(),
    {
        "tight": Integer(2**52, 2**52 + 1),
        "wide": Integer(-(2**62), 2**62 - 1),
        "x": Real(-10, 10, step=0.5),
        "word": Integer(0, 100),
        "age": Integer(0, 120),
        "text": Text(9),
    },
)
TOP = 2**63 - 1
ROWS = [
    (0, TOP, math.nan, "12", 30, HIDDEN[:9]),
    (2**52, TOP, math.inf, "x", 31, "b"),
    (2**52 + 1, TOP, -math.inf, HIDDEN, 29, "b"),
    (TOP, -TOP, None, "7 ", 30, None),
    (None, None, -0.0, None, None, ""),
    (-TOP, TOP, 1e300, "1e9", 200, "b"),
    (2**53, TOP, -2.5, "nan", -5, "b"),
]
TABLES = {
    "odd": Table(
        {
            "tight": "bigint",
            "wide": "bigint",
            "x": "double",
            "word": "text",
            "age": "bigint",
            "text": "text",
        },
        ROWS,
    )
}
ANSWERS = {
    "SUM(tight)": 6 * 2**52 + 3,
    "MIN(tight)": 2**52,
    "MAX(tight)": 2**52 + 1,
    "AVG(tight)": 2**52 + 0.5,
    "STDDEV_POP(tight)": 0.5,
    "SUM(wide)": 5 * (2**62 - 1) - 2**62,
    "COUNT(wide)": 6,
    "SUM(x)": 10 - 10 + 0 + 10 - 2.5,
    "COUNT(x)": 5,
    "COUNT_IF(x = 0)": 1,
    "COUNT_IF(x > 9)": 2,
    "COUNT_IF(x IS NULL)": 2,
    "SUM(word)": 12 + 7 + 100,
    "COUNT(word)": 3,
    "COUNT(1 / (age - 30))": 4,
    "COUNT_IF(1 / (age - 30) > 0)": 2,
    "COUNT_IF(NOT (1 / (age - 30) > 0))": 2,
    "COUNT_IF(age NOT IN (30, 31))": 3,
    "COUNT_IF(text LIKE '%')": 6,
}


def look(beside):
    sql = f"SELECT {', '.join(f'{what} AS v{i}' for i, what in enumerate(ANSWERS))} FROM odd"
    found = dict(zip(ANSWERS, ask(sql, beside, {"odd": ODD}, EXACT).rows[0], strict=True))
    assert {what: value for what, value in found.items() if value != float(ANSWERS[what])} == {}


class TestHostileValues:
    """NaN, infinities, NULL, −0.0, text that is no number, sums beyond 64 bits, divisions by zero: no error, one meaning."""

    def test_in_memory(self):
        with closing(memory_beside(TABLES)) as beside:
            look(beside)

    def test_on_duckdb(self):
        with closing(duckdb_beside(TABLES)) as beside:
            look(beside)

    def test_on_postgres(self, postgres_dsn):
        with closing(postgres_beside(TABLES, postgres_dsn)) as beside:
            look(beside)

    @pytest.mark.filterwarnings("ignore")
    def test_on_spark(self, spark_session):
        with closing(spark_beside(TABLES, spark_session)) as beside:
            look(beside)

    def test_a_value_held_by_one_row_is_not_shown(self):
        """A key of one row appears with a chance of δ = 1e-15."""
        with closing(duckdb_beside(TABLES)) as beside:
            shown = ask(
                "SELECT text, COUNT(*) AS n FROM odd GROUP BY text",
                beside,
                {"odd": ODD},
                ApproxDP(10**9, "1e-15"),
            )
        assert shown.column("text") == ["b"]
