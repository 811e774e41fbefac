"""TPC-H with customers protected: what can be asked equals plain SQL, what cannot is refused by its clause."""

from __future__ import annotations

from contextlib import closing

import pytest

from discreet.errors import DiscreetError, InvalidArgument, UnsupportedQuery
from discreet.plan import plan_question
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.query import parse
from end_to_end.compare import EXACT_KEYS, Case, ask, check, inside, rows_of
from end_to_end.stores import duckdb_beside, postgres_beside
from end_to_end.tpch import SCHEMAS, tpch

OF_ORDER = "orders o JOIN lineitem l ON o.custkey = l.custkey AND o.orderkey = l.orderkey"
REVENUE = "extendedprice * (1 - discount)"
LATE = "(SELECT custkey, orderkey FROM lineitem WHERE commitdate < receiptdate GROUP BY custkey, orderkey)"
LARGE = "(SELECT custkey, orderkey, SUM(quantity) AS q FROM lineitem GROUP BY custkey, orderkey HAVING SUM(quantity) > 120)"

QUESTIONS = [
    Case("Q1 pricing summary", f"""SELECT returnflag, linestatus, SUM(quantity) AS q, SUM(extendedprice) AS base, SUM({REVENUE}) AS disc,
        SUM({REVENUE} * (1 + tax)) AS charge, AVG(quantity) AS avg_q, AVG(extendedprice) AS avg_p, AVG(discount) AS avg_d, COUNT(*) AS n
        FROM lineitem WHERE shipdate <= DATE '1998-09-02' GROUP BY returnflag, linestatus HAVING COUNT(*) > 0.5"""),
    Case("Q3 unshipped revenue by month", f"""SELECT MONTH(orderdate) AS m, SUM({REVENUE}) AS revenue
        FROM customer c JOIN orders o ON c.custkey = o.custkey JOIN lineitem l ON o.custkey = l.custkey AND l.orderkey = o.orderkey
        WHERE mktsegment = 'BUILDING' AND orderdate < DATE '1995-03-15' AND shipdate > DATE '1995-03-15' GROUP BY MONTH(orderdate)
        HAVING SUM({REVENUE}) > 0.001"""),
    Case("Q4 orders with a late line", f"""SELECT orderpriority, COUNT(*) AS n FROM orders o JOIN {LATE} x
        ON o.custkey = x.custkey AND o.orderkey = x.orderkey WHERE orderdate >= DATE '1993-07-01' AND orderdate < DATE '1993-10-01'
        GROUP BY orderpriority"""),
    Case("Q5 revenue by nation of a region", f"""SELECT nation, SUM({REVENUE}) AS revenue FROM customer c
        JOIN orders o ON c.custkey = o.custkey JOIN lineitem l ON o.custkey = l.custkey AND o.orderkey = l.orderkey
        JOIN nation n ON c.nationkey = n.nationkey JOIN region r ON n.regionkey = r.regionkey WHERE region = 'ASIA'
        AND orderdate >= DATE '1994-01-01' AND orderdate < DATE '1996-01-01' GROUP BY nation HAVING SUM({REVENUE}) > 0.001 ORDER BY revenue DESC""", ordered=True),
    Case("Q6 forecast of revenue", """SELECT SUM(extendedprice * discount) AS revenue FROM lineitem WHERE shipdate >= DATE '1994-01-01'
        AND shipdate < DATE '1995-01-01' AND discount BETWEEN 0.05 AND 0.07 AND quantity < 24"""),
    Case("Q10 returns by nation", f"""SELECT nation, SUM({REVENUE}) AS revenue, COUNT(DISTINCT c.custkey) AS people FROM customer c
        JOIN orders o ON c.custkey = o.custkey JOIN lineitem l ON o.custkey = l.custkey AND o.orderkey = l.orderkey
        JOIN nation n ON c.nationkey = n.nationkey WHERE returnflag = 'R'
        GROUP BY nation HAVING COUNT(*) > 0.5 ORDER BY 2 DESC LIMIT 5""", ordered=True),
    Case("Q11 parts above a share of all", """SELECT partkey, SUM(quantity) AS q FROM lineitem GROUP BY partkey
        HAVING SUM(quantity) > (SELECT SUM(quantity) * 0.01 FROM lineitem)"""),
    Case("Q12 shipping modes and priority", f"""SELECT shipmode, COUNT(*) FILTER (WHERE orderpriority IN ('1-URGENT', '2-HIGH')) AS high,
        COUNT(*) FILTER (WHERE orderpriority NOT IN ('1-URGENT', '2-HIGH')) AS low FROM {OF_ORDER}
        WHERE shipmode IN ('MAIL', 'SHIP') AND commitdate < receiptdate AND shipdate < commitdate GROUP BY shipmode"""),
    Case("Q13 customers with and without orders", "SELECT COUNT(*) AS n, COUNT(o.custkey) AS m FROM customer c LEFT JOIN orders o ON c.custkey = o.custkey"),
    Case("Q13 how many orders customers have", """SELECT c, COUNT(*) AS n FROM (SELECT custkey, COUNT(*) AS c FROM orders
        WHERE comment NOT LIKE '%special%requests%' GROUP BY custkey) x GROUP BY c HAVING COUNT(*) > 0.5"""),
    Case("Q14 share of promotions", f"""SELECT 100.00 * SUM(CASE WHEN type LIKE 'PROMO%' THEN {REVENUE} ELSE 0 END) / SUM({REVENUE}) AS share
        FROM lineitem JOIN part USING (partkey) WHERE shipdate >= DATE '1995-09-01' AND shipdate < DATE '1996-09-01'"""),
    Case("Q15 the largest of all sums by part", """WITH r AS (SELECT partkey, SUM(quantity) AS q FROM lineitem GROUP BY partkey)
        SELECT MAX(q) AS most FROM r"""),
    Case("Q18 large orders", f"""SELECT COUNT(*) AS n, AVG(totalprice) AS price, SUM(q) AS q FROM orders o JOIN {LARGE} x
        ON o.custkey = x.custkey AND o.orderkey = x.orderkey"""),
    Case("Q22 customers with money by country", """SELECT LEFT(phone, 2) AS country, COUNT(*) AS n, SUM(acctbal) AS s FROM customer
        WHERE LEFT(phone, 2) IN ('13', '21', '23', '18') AND acctbal > 0 GROUP BY 1""", spend=EXACT_KEYS),
]  # fmt: skip
BY_NAME = {case.name: case for case in QUESTIONS}

REFUSED = {
    "Q2": ("SELECT COUNT(*) FROM lineitem l WHERE extendedprice = (SELECT MIN(extendedprice) FROM lineitem m WHERE m.partkey = l.partkey)", "a sub-query in an expression"),
    "Q4": ("SELECT orderpriority, COUNT(*) FROM orders WHERE EXISTS (SELECT 1 FROM lineitem WHERE commitdate < receiptdate) GROUP BY 1", "EXISTS"),
    "Q7": ("SELECT COUNT(*) FROM customer a JOIN customer b ON a.nationkey <> b.nationkey", "JOIN of private tables"),
    "Q9": ("SELECT COUNT(*) FROM lineitem l JOIN orders o ON l.orderkey = o.orderkey", "JOIN of private tables"),
    "Q10": ("SELECT custkey, SUM(totalprice) FROM orders GROUP BY custkey", "GROUP BY the person"),
    "Q17": ("SELECT SUM(extendedprice) / 7.0 FROM lineitem l WHERE quantity < (SELECT 0.2 * AVG(quantity) FROM lineitem)", "a sub-query in an expression"),
    "Q20": ("SELECT COUNT(*) FROM customer WHERE nationkey IN (SELECT nationkey FROM nation WHERE nation = 'CANADA')", "IN (SELECT …)"),
    "Q21": ("SELECT COUNT(*) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM lineitem l WHERE l.orderkey = o.orderkey)", "EXISTS"),
    "Q22": ("SELECT COUNT(*) FROM customer WHERE acctbal > (SELECT AVG(acctbal) FROM customer)", "a sub-query in an expression"),
}  # fmt: skip


@pytest.fixture(scope="module")
def tables():
    return tpch()


@pytest.fixture(scope="module")
def duckdb(tables):
    with closing(duckdb_beside(tables)) as beside:
        yield beside


@pytest.fixture(scope="module")
def postgres(tables, postgres_dsn):
    with closing(postgres_beside(tables, postgres_dsn)) as beside:
        yield beside


@pytest.mark.parametrize("name", BY_NAME)
def test_duckdb(name, duckdb):
    check(BY_NAME[name], duckdb, SCHEMAS)


@pytest.mark.parametrize("name", BY_NAME)
def test_postgres(name, postgres):
    check(BY_NAME[name], postgres, SCHEMAS)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, case in BY_NAME.items()
        if "HAVING" not in case.sql.replace("HAVING SUM(quantity)", "")
    ],
)
def test_at_epsilon_two_the_interval_holds_the_plain_value(name, duckdb):
    """Fewer than 100 intervals, each of which misses with a chance of 1e-12."""
    case, sure = BY_NAME[name], 1 - 1e-12
    answer = ask(
        case.sql,
        duckdb,
        SCHEMAS,
        ApproxDP(2, 1e-6) if case.spend is EXACT_KEYS else PureDP(2),
        level=sure,
    )
    exact = [i for i, column in enumerate(answer.columns) if column not in answer.noisy]
    plain = {tuple(row[i] for i in exact): row for row in duckdb.plain(case.plain_for("duckdb"))}
    for mine, ends in zip(rows_of(answer), answer.interval(sure), strict=True):
        wanted = plain[tuple(mine[i] for i in exact)]
        assert all(
            inside(value, ends.get(column))
            for column, value in zip(answer.columns, wanted, strict=True)
        )


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_by_its_clause(name):
    sql, clause = REFUSED[name]
    with pytest.raises(DiscreetError) as refused:
        parse(sql, SCHEMAS)
    assert isinstance(refused.value, UnsupportedQuery)
    assert str(refused.value).startswith(clause)


def test_keys_that_are_one_customers_own_are_never_public(duckdb):
    """Q3 as written groups by the order: its keys need δ, and then none of them is shown."""
    sql = f"SELECT l.orderkey AS k, SUM({REVENUE}) AS revenue FROM {OF_ORDER} GROUP BY 1 ORDER BY revenue DESC LIMIT 10"
    with pytest.raises(InvalidArgument, match="the keys of k are not public"):
        plan_question(parse(sql, SCHEMAS), PureDP(1))
    assert len(ask(sql, duckdb, SCHEMAS, ApproxDP(10**9, "1e-15"))) == 0
