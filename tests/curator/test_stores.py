"""The curator over real stores and servers: lost connections, several curators at once, many threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pyarrow as pa
import pytest

import discreet as dp
from curator.cases import COUNT, PEOPLE, ROWS, curator, opened
from discreet import learn

MESSAGE = "the store could not answer; what it said is not shown, since it may tell about the data"


@pytest.fixture
def served(postgres_dsn):
    """A table of people in PostgreSQL, and a way to cut every connection but one's own."""
    import psycopg

    table = f"people_{uuid4().hex}"
    with psycopg.connect(postgres_dsn, autocommit=True) as admin:
        admin.execute(
            f"CREATE TABLE {table} (age int, income float, region text, ward int, town text)"
        )
        for row in ROWS["people"]:
            admin.execute(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s)", list(row.values()))

        def cut(pattern):
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE %s",
                [pattern],
            )

        yield postgres_dsn, table, cut
        admin.execute(f"DROP TABLE {table}")


def test_a_lost_connection_is_one_constant_message_and_the_next_question_works(served):
    dsn, table, cut = served
    with dp.Postgres(dsn, tables={"people": table}) as store:
        asked = dp.Curator(store, [PEOPLE], opened())
        assert len(asked.sql(COUNT, spend=dp.PureDP(1))) == 3
        cut(f"%{table[:20]}%")
        outcomes = []
        for n in range(3):
            try:
                asked.sql(f"SELECT COUNT(*) AS n FROM people WHERE age > {n}", spend=dp.PureDP(1))
                outcomes.append("answer")
            except dp.EngineFailure as failed:
                outcomes.append(str(failed))
    assert set(outcomes) <= {"answer", MESSAGE} and outcomes[-1] == "answer"
    assert asked.spent() == dp.PureDP(4)
    asked.ledger.verify()


def test_two_curators_share_one_ledger_on_a_server(postgres_dsn):
    name = f"ledger_{uuid4().hex[:12]}"
    ledgers = [dp.open_ledger(postgres_dsn, dp.PureDP(1), name=name) for _ in range(2)]
    asked = [curator(ledger, who=who) for ledger, who in zip(ledgers, ("ana", "bob"), strict=True)]

    def ask(n):
        try:
            return asked[n % 2].sql(
                f"SELECT COUNT(*) AS n FROM people WHERE age > {n // 4}", spend=dp.PureDP("1/3")
            )
        except dp.BudgetExceeded:
            return None

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(16)))
    granted = [answer for answer in answers if answer is not None]
    assert (
        ledgers[0].left() == dp.PureDP(0)
        and len({answer.receipt.stored_as for answer in granted}) <= 3
    )
    assert dp.verify_receipt(granted[0].receipt, answer=granted[0], ledger=ledgers[1])
    ledgers[1].verify()
    for ledger in ledgers:
        ledger.close()


def test_eight_threads_on_one_duckdb(tmp_path):
    store = dp.DuckDB({"people": pa.Table.from_pylist(ROWS["people"])})
    with opened(dp.PureDP(100), tmp_path / "a.ledger") as ledger:
        asked, start = dp.Curator(store, [PEOPLE], ledger), threading.Barrier(8)

        def ask(n):
            start.wait()
            return [
                asked.sql(f"SELECT COUNT(*) AS n FROM people WHERE age > {k}", spend=dp.PureDP(1))
                for k in (n, 7)
            ]

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        assert len({answer[1].receipt.to_json() for answer in answers}) == 1
        assert len({answer[0].receipt.to_json() for answer in answers}) == 8
        assert ledger.spent() == dp.PureDP(8)
        ledger.verify()


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_a_store_in_memory_or_a_file_gives_the_same_course(where, tmp_path):
    asked = curator(opened(where=tmp_path / "a.ledger" if where == "file" else where))
    asked.sql(COUNT, spend=dp.PureDP(1))
    asked.suggest_bounds("people", "age", dp.PureDP(1))
    with pytest.raises(dp.BudgetExceeded):
        asked.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(9))
    assert [entry.kind for entry in asked.ledger.history()] == [
        "open",
        "charge",
        "answer",
        "charge",
        "answer",
    ]


def test_what_the_store_would_refuse_is_refused_before_the_charge():
    """Ids of different types are compared by no store; an answer, a model and a table would all have been paid for."""
    tables = {
        "visits": pa.table(
            {"id": pa.array([1, 2], pa.int64()), "minutes": pa.array([3, 4], pa.int64())}
        ),
        "bills": pa.table(
            {"id": pa.array(["1", "2"], pa.string()), "cost": pa.array([5, 6], pa.int64())}
        ),
    }
    visits = dp.Schema("visits", dp.People("id", max_rows=1), {"minutes": dp.Integer(0, 60)})
    bills = dp.Schema("bills", dp.People("id", max_rows=1), {"cost": dp.Integer(0, 60)})
    asked = dp.Curator(dp.DuckDB(tables), [visits, bills], dp.open_ledger(":memory:", dp.ZCDP(5)))
    joined = "FROM visits JOIN bills USING (id)"
    for ask in (
        lambda: asked.sql(f"SELECT COUNT(*) AS n {joined}", spend=dp.ZCDP(1)),
        lambda: asked.release({"a": f"SELECT COUNT(*) AS n {joined}"}, spend=dp.ZCDP(1)),
        lambda: asked.learn(f"SELECT minutes, cost {joined}", learn.PCA(), dp.ZCDP(1)),
        lambda: asked.synthesize(
            f"SELECT minutes, cost {joined}", dp.ZCDP(1), bins={"minutes": 2, "cost": 2}
        ),
    ):
        with pytest.raises(dp.SchemaMismatch, match="stored as different types"):
            ask()
    assert len(asked.ledger.history()) == 1
