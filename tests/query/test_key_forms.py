"""Lists of keys in SQL and Python, and forms of other dialects: what they are read as, and what is refused and how."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.query import describe, fingerprint, parse
from discreet.query.algebra.tree import JoinPublic, Nest, Select

VISITS = dp.Schema(
    "visits",
    dp.People("user_id", max_rows=8),
    {
        "spent": dp.Integer(0, 500), "shop": dp.Category(["a", "b"]), "note": dp.Text(20), "ward": dp.Integer(1, 9),
        "day": dp.Date("2024-01-01", "2024-12-31"), "seen": dp.Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
    },
)  # fmt: skip
USERS = dp.Schema(
    "users",
    dp.People("user_id", max_rows=1),
    {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])},
)
FACTS = {"shop": dp.Category(["a", "b"]), "ward": dp.Integer(1, 9)}
PAIRS = dp.Schema.public_table("pairs", FACTS, key=("shop", "ward"))
TWICE = dp.Schema.public_table("twice", FACTS)
DAYS = dp.Schema.public_table(
    "days", {"day": dp.Date("2024-01-01", "2024-12-31"), "ward": dp.Integer(1, 9)}
)
WARDS = dp.Schema.public_table(
    "wards",
    {"ward": dp.Integer(1, 9), "city": dp.Category(["X", "Y"]), "big": dp.Boolean()},
    key="ward",
)
TABLES = {schema.name: schema for schema in (VISITS, USERS, PAIRS, TWICE, DAYS, WARDS)}
ROWS = {
    ("shop", "ward"): [("a", 3), ("b", 1)],
    ("ward", "shop"): [(1, "b"), (3, "a")],
    ("ward",): [1, 3],
}
ROWS |= {("day", "ward"): [(19_723, 2)], ("shop",): ["a"], ("day",): [19_723]}
ON = "ON v.shop = k.shop AND v.ward = k.ward GROUP BY k.shop, k.ward"
TWO = "SELECT k.shop, k.ward, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN"


STORED = [(1, "X", True), (2, "X", True), (3, "Y", False), (4, "X", False)]
"""Rows of wards: the city and the size of each."""


def public_values(table, *columns):
    if table != "wards":
        return ROWS[columns]
    places = [("ward", "city", "big").index(column) for column in columns]
    picked = dict.fromkeys(tuple(row[place] for place in places) for row in STORED)
    return [row[0] if len(columns) == 1 else row for row in picked]


def ask(sql):
    return parse(sql, TABLES, public_values)


@pytest.mark.parametrize(
    "source",
    [
        f"{TWO} (VALUES ('a', 3), ('b', 1)) AS k(shop, ward) {ON}",
        f"{TWO} (SELECT 'a' AS shop, 3 AS ward UNION ALL SELECT 'b', 1) k {ON}",
        f"{TWO} pairs k {ON}",
        f"{TWO} (SELECT DISTINCT shop, ward FROM twice) k {ON}",
        f"WITH k(shop, ward) AS (VALUES ('a', 3), ('b', 1)) {TWO} k {ON}",
        f"WITH k AS (SELECT DISTINCT shop, ward FROM pairs) {TWO} k {ON}",
        TWO.replace("visits v RIGHT JOIN", "pairs k LEFT JOIN visits v") + f" {ON}",
        TWO.replace("visits v RIGHT JOIN", "visits v NATURAL RIGHT JOIN")
        + " pairs k GROUP BY k.shop, k.ward",
        TWO.replace("visits v RIGHT JOIN", "pairs k LEFT JOIN visits v")
        + " USING (shop, ward) GROUP BY k.shop, k.ward",
    ],
)
def test_a_list_of_pairs_is_the_groups(source):
    question = ask(source)
    assert question.nested == Nest((0, 1), (("a", 3), ("b", 1)))
    assert question.rows == ask("SELECT COUNT(*) AS n FROM visits").rows  # nothing is joined
    again = ask(describe(question))
    assert fingerprint(again) == fingerprint(question)


def test_an_expression_is_matched_as_a_column_of_its_own():
    question = ask(
        "SELECT k.m, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN (VALUES ('2024-03-01'), ('2024-05-01')) k(m) "
        "ON DATE_TRUNC('month', v.day) = k.m WHERE k.m > DATE '2024-01-01' GROUP BY k.m"
    )
    assert question.nested.rows == ((19_783,), (19_844,))
    assert isinstance(question.rows.rows, Select)
    assert fingerprint(ask(describe(question))) == fingerprint(question)


@pytest.mark.parametrize(
    "month", ["DATE_TRUNC('month', v.day)", "DATE_TRUNC(v.day, MONTH)", "DATE_TRUNC(day, MONTH)"]
)
def test_a_unit_may_stand_last_in_on(month):
    sql = f"SELECT k.m, COUNT(v.ward) AS n FROM visits v RIGHT JOIN (VALUES ('2024-03-01')) k(m) ON {month} = k.m GROUP BY 1"
    assert ask(sql).nested.rows == ((19_783,),)


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ("w.city", (("X",), ("Y",))),
        ("w.big, w.city", (("X", False), ("X", True), ("Y", False))),
        ("w.ward, w.city", ((1, "X"), (2, "X"), (3, "Y"), (4, "X"))),
        ("city", (("X",), ("Y",))),
    ],
)
def test_further_columns_of_a_public_table_are_groups_alone(keys, rows):
    """Each row is joined with the one public row of its key, and grouped by what that row says."""
    question = ask(
        f"SELECT {keys}, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
        f"GROUP BY {keys}"
    )
    assert sorted(question.nested.rows) == sorted(rows)
    assert isinstance(question.rows, JoinPublic)
    # The relation is that of JOIN, so that rows count, and weigh, as they do there.
    inner = ask(
        f"SELECT {keys}, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY {keys}"
    )
    assert question.rows == inner.rows
    assert fingerprint(ask(describe(question))) == fingerprint(question)


def test_some_of_the_matched_columns_are_groups_alone():
    """Rows are matched by all columns of ON, also by one that is no key: ('a', 1) is not listed."""
    question = ask(f"{TWO} pairs k {ON}".replace("k.ward, COUNT", "COUNT").replace(", k.ward", ""))
    assert question.nested.rows == (("a",),)
    assert [column for _, column in question.rows.on] == ["shop", "ward"]
    assert fingerprint(ask(describe(question))) == fingerprint(question)


def test_a_column_of_the_list_in_where_is_no_key():
    question = ask(
        "SELECT w.ward, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
        "WHERE w.big GROUP BY w.ward"
    )
    assert [key.name for key in question.keys] == ["ward"]
    assert question.nested.rows == ((1,), (2,))


@pytest.mark.parametrize(
    ("keys", "where", "rows"),
    [
        ("w.city", "w.city <> 'Y'", (("X",),)),
        ("w.city", "w.ward < 3", (("X",),)),  # ward 4 of X too is left out, and X is one key
        ("w.ward", "w.ward > 2 AND v.note = 'x'", ((3,), (4,))),
        ("w.ward", "v.ward <= 2 OR w.big", ((1,), (2,))),
        ("w.ward", "NULLIF(w.ward, 2) > 0", ((1,), (3,), (4,))),  # NULL is not true
        ("w.ward", "w.ward = 1 OR v.note = 'x'", ((1,), (2,), (3,), (4,))),  # not of the list alone
    ],
)
def test_where_on_columns_of_the_list_leaves_out_its_keys(keys, where, rows):
    sql = (
        f"SELECT {keys}, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
    )
    question = ask(f"{sql} WHERE {where} GROUP BY {keys}")
    assert sorted(question.nested.rows) == list(rows)
    assert fingerprint(ask(describe(question))) == fingerprint(question)
    with pytest.raises(dp.UnsupportedQuery, match="a list has 1 to"):
        ask(f"{sql} WHERE w.ward > 9 GROUP BY {keys}")


def test_keys_stay_where_a_row_of_the_table_may_have_null():
    """Stores leave out public rows with NULL, for which the condition may hold."""

    def without_city_of_four(table, *columns):
        return [row for row in public_values(table, *columns) if row != (4, "X")]

    sql = (
        "SELECT w.ward, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN wards w ON v.ward = w.ward "
    )
    sql += "WHERE w.city IS NULL GROUP BY w.ward"
    question = parse(sql, TABLES, without_city_of_four)
    assert len(question.nested.rows) == 4


def test_one_column_by_unnest_and_beside_another_key():
    question = ask(
        "SELECT k, v.shop, COUNT(v.user_id) AS n FROM visits v RIGHT JOIN UNNEST(['x', 'y']) AS k ON v.note = k "
        "GROUP BY k, v.shop"
    )
    assert [key.values for key in question.keys] == [("x", "y"), ("a", "b")]
    assert question.nested == Nest((0,), (("x",), ("y",)))


def test_python_takes_a_list_or_a_public_table():
    visits = dp.Table(VISITS, public_values)
    by_table = visits.count(by=["shop", "ward"], keys=PAIRS)
    assert by_table == visits.count(by=["shop", "ward"], keys=[("a", 3), ("b", 1)])
    assert visits.count(by=["day", "ward"], keys=DAYS).nested.rows == ((19_723, 2),)
    assert visits.count(by="day", keys=DAYS).keys[0].values == (19_723,)
    for table, source in ((VISITS, visits), (PAIRS, dp.Table(VISITS))):
        with pytest.raises(dp.InvalidArgument, match="keys takes a public table"):
            source.count(by=["shop", "ward"], keys=table)


def test_python_joins_a_list_of_one_column():
    """Tuples are a list that is joined; bare values are keys, and rows with others count in n."""
    visits = dp.Table(VISITS, public_values)
    joined = visits.count(by="shop", keys=[("a",), ("b",)])
    asked = ask(f"SELECT k.shop, COUNT(v.user_id) AS count FROM visits v {LIST} GROUP BY k.shop")
    assert fingerprint(joined) == fingerprint(asked)
    assert visits.count(by="shop", keys=["a", "b"]).nested is None
    with pytest.raises(dp.InvalidArgument, match="each combination once"):
        visits.count(by="shop", keys=[("a",), ("a",)])


LIST = "RIGHT JOIN (VALUES ('a'), ('b')) k(shop) ON v.shop = k.shop"


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (f"{TWO} twice k {ON}", "two of its rows may be the same keys"),
        (
            f"{TWO} pairs k ON v.shop = k.shop GROUP BY k.shop",
            "two of its rows may be the same keys",
        ),
        (
            f"SELECT k.shop, COUNT(*) AS n FROM visits v {LIST} GROUP BY k.shop",
            "COUNT(*): of a key that nobody has",
        ),
        (
            f"SELECT k.shop, COUNT(k.shop) AS n FROM visits v {LIST} GROUP BY k.shop",
            "COUNT(k.shop): of a key",
        ),
        (
            f"SELECT k.shop, COUNT(COALESCE(v.spent, 0)) AS n FROM visits v {LIST} GROUP BY 1",
            "of a key that nobody has",
        ),
        (
            f"SELECT k.shop, AVG(IFNULL(spent, 1)) AS n FROM visits v {LIST} GROUP BY 1",
            "of a key that nobody has",
        ),
        (f"SELECT COUNT(v.spent) AS n FROM visits v {LIST}", "write GROUP BY k.shop"),
        (
            "SELECT k.shop, COUNT(v.spent) AS n FROM visits v RIGHT JOIN (VALUES ('a', 3), ('b', 1)) k(shop, ward) "
            "ON v.shop = k.shop AND v.ward = k.ward GROUP BY k.shop",
            "write GROUP BY k.shop, k.ward",
        ),
        (
            f"SELECT k.shop, COUNT(v.spent) AS n FROM visits v {LIST} GROUP BY CUBE (k.shop)",
            "write GROUP BY k.shop",
        ),
        (
            f"SELECT k.shop, note, COUNT(v.spent) AS n FROM visits v {LIST} GROUP BY 1, 2",
            "the keys of note are not public",
        ),
        (
            f"SELECT s, COUNT(*) FROM (SELECT k.shop AS s FROM visits v {LIST}) t GROUP BY s",
            "in the outermost SELECT",
        ),
        (
            f"SELECT 1 FROM visits v {LIST} JOIN users u ON v.user_id = u.user_id",
            "a list of keys is joined last",
        ),
        (
            f"SELECT 1 FROM visits v {LIST.replace('RIGHT', 'LEFT')}",
            "stands on the side that is kept whole",
        ),
        (f"SELECT 1 FROM visits v {LIST} AND v.spent > 3 GROUP BY k.shop", "matched by equalities"),
        (f"SELECT 1 FROM visits v {LIST} AND v.note = k.shop GROUP BY k.shop", "is matched twice"),
        (
            f"SELECT 1 FROM visits v {LIST.replace('v.shop', 'v.user_id')} GROUP BY k.shop",
            "id of the protected person",
        ),
        (
            f"SELECT 1 FROM visits v {LIST.replace('v.shop', 'v.spent')} GROUP BY k.shop",
            "is no number",
        ),
        (
            "SELECT k.x, COUNT(v.shop) FROM visits v RIGHT JOIN (VALUES (1)) k(x) ON v.shop = k.x GROUP BY 1",
            "is no text",
        ),
        (
            "SELECT COUNT(*) FROM visits v RIGHT JOIN (VALUES (1, 2)) k(x) ON v.ward = k.x",
            "differ in number",
        ),
        (
            "SELECT COUNT(*) FROM visits v RIGHT JOIN (VALUES (v.shop)) k(x) ON v.shop = k.x",
            "of constants",
        ),
        (
            "SELECT COUNT(*) FROM visits v RIGHT JOIN (VALUES (NULL)) k(x) ON v.shop = k.x",
            "none NULL",
        ),
        (
            "SELECT COUNT(v.ward) FROM visits v RIGHT JOIN (VALUES (1), (1)) k(x) ON v.ward = k.x GROUP BY k.x",
            "each once",
        ),
        (
            "SELECT 1 FROM visits v RIGHT JOIN (VALUES (1, 2)) k(x, y) ON v.ward = k.x",
            "y of the list of keys is not",
        ),
        (
            "SELECT 1 FROM visits v RIGHT JOIN (VALUES (1, 2)) k(x, y) ON v.ward = k.x AND v.ward = k.y",
            "with two of the",
        ),
        (
            "SELECT 1 FROM visits v RIGHT JOIN (SELECT shop FROM pairs) k ON v.shop = k.shop",
            "SELECT DISTINCT",
        ),
        ("SELECT COUNT(*) FROM (VALUES (1)) k(x)", "a list of keys is public"),
        (
            "SELECT COUNT(*) FROM visits v JOIN pairs AS w(a, b) ON v.shop = w.a",
            "rename them in a sub-query",
        ),
    ],
)
def test_what_is_refused_says_what_would_work(sql, why):
    with pytest.raises(dp.UnsupportedQuery) as refused:
        ask(sql)
    assert why in str(refused.value)


def test_a_public_table_needs_somebody_who_can_read_it():
    with pytest.raises(dp.UnsupportedQuery, match="ask a curator"):
        parse(f"{TWO} pairs k {ON}", TABLES)


SAME = [
    (
        "SELECT SAFE_DIVIDE(SUM(spent), COUNT(*)) AS x FROM visits",
        "SELECT SUM(spent) / COUNT(*) AS x FROM visits",
    ),
    (
        "SELECT ZEROIFNULL(SUM(spent)) AS x FROM visits",
        "SELECT COALESCE(SUM(spent), 0) AS x FROM visits",
    ),
    (
        "SELECT ISNULL(SUM(spent), 0) AS x FROM visits",
        "SELECT COALESCE(SUM(spent), 0) AS x FROM visits",
    ),
    (
        "SELECT AVG(NULLIFZERO(spent)) AS x FROM visits",
        "SELECT AVG(NULLIF(spent, 0)) AS x FROM visits",
    ),
    (
        "SELECT NVL2(note, 'y', 'n') AS k, COUNT(*) AS n FROM visits GROUP BY k",
        "SELECT CASE WHEN note IS NOT NULL THEN 'y' ELSE 'n' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    (
        "SELECT EOMONTH(day) AS k, COUNT(*) AS n FROM visits GROUP BY k",
        "SELECT LAST_DAY(day) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    (
        "SELECT DATEPART(year, day) AS k, COUNT(*) AS n FROM visits GROUP BY DATEPART(year, day)",
        "SELECT EXTRACT(YEAR FROM day) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    (
        "SELECT CONVERT(date, seen) AS k, COUNT(*) AS n FROM visits GROUP BY CONVERT(date, seen)",
        "SELECT CAST(seen AS DATE) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    (
        "SELECT shop, RATIO_TO_REPORT(COUNT(*)) OVER () AS r FROM visits GROUP BY shop",
        "SELECT shop, COUNT(*) / SUM(COUNT(*)) OVER () AS r FROM visits GROUP BY shop",
    ),
    (
        "SELECT APPROX_QUANTILES(spent, 4)[OFFSET(1)] AS q FROM visits",
        "SELECT QUANTILE(spent, 0.25) AS q FROM visits",
    ),
    (
        "SELECT shop, ward, COUNT(*) AS n FROM visits GROUP BY ALL",
        "SELECT shop, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2",
    ),
    (
        "SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop WITH ROLLUP",
        "SELECT shop, COUNT(*) AS n FROM visits GROUP BY ROLLUP (shop)",
    ),
    (
        "SELECT sex, COUNT(*) AS n FROM visits v, users u WHERE v.user_id = u.user_id AND spent > 3 GROUP BY sex",
        "SELECT sex, COUNT(*) AS n FROM visits v JOIN users u ON v.user_id = u.user_id WHERE spent > 3 GROUP BY sex",
    ),
    (
        "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n "
        "FROM visits GROUP BY ward",
        "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS n FROM visits GROUP BY ward",
    ),
    (
        "SELECT DATE_TRUNC(v.day, MONTH) AS k, COUNT(*) AS n FROM visits v GROUP BY DATE_TRUNC(v.day, MONTH)",
        "SELECT DATE_TRUNC('month', day) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    (
        "SELECT DATE_TRUNC(day, WEEK(MONDAY)) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT DATE_TRUNC('week', day) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        "SELECT DATETIME_TRUNC(seen, MONTH) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT DATE_TRUNC('month', seen) AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        "SELECT TIMESTAMPDIFF(MONTH, day, '2024-12-31') AS k, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT DATE_DIFF('month', day, DATE '2024-12-31') AS k, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    ("SELECT COUNT(*) AS n FROM `proj.data.visits`", "SELECT COUNT(*) AS n FROM visits"),
]


@pytest.mark.parametrize(("theirs", "ours"), SAME)
def test_words_of_other_dialects_mean_the_same(theirs, ours):
    assert fingerprint(ask(theirs)) == fingerprint(ask(ours))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (
            "SELECT TOP 10 PERCENT shop, COUNT(*) FROM visits GROUP BY shop",
            "TOP 10 PERCENT: it takes a number of rows",
        ),
        ("SELECT COUNT(*) FROM visits WHERE day > NOW()", "may not depend on the clock"),
        (
            "SELECT FORMAT_DATE('%Y', day) AS k, COUNT(*) FROM visits GROUP BY k",
            "group by the date itself",
        ),
        (
            "SELECT REPLACE(note, 'a', 'b') AS k, COUNT(*) FROM visits GROUP BY k",
            "REPLACE(note, 'a', 'b'): it is not",
        ),
        (
            "SELECT CAST(spent / 3 AS INT) AS k, COUNT(*) FROM visits GROUP BY k",
            "CAST(spent / 3 AS INT): stores disagree",
        ),
        (
            "SELECT COUNT(*) FROM visits WHERE day LIKE '2024%'",
            "compare dates, as in d >= DATE '2024-01-01'",
        ),
        (
            "SELECT shop, PERCENT_RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY shop",
            "PERCENT_RANK",
        ),
        (
            "SELECT shop, STDDEV(COUNT(*)) OVER () FROM visits GROUP BY shop",
            "over results there are",
        ),
        (
            "SELECT COUNT(*) FROM visits WITH (NOLOCK)",
            "WITH (…): it is not supported in FROM; leave it out",
        ),
        ("SELECT COUNT(*) FROM visits v, users u WHERE v.spent > u.age", "CROSS JOIN"),
        (
            "SELECT DATE_TRUNC('fortnight', day) AS k, COUNT(*) FROM visits GROUP BY k",
            "its unit is one of",
        ),
        ("SELECT CONVERT(blob, note) AS k, COUNT(*) FROM visits GROUP BY k", "blob"),
        ("SELECT APPROX_QUANTILES(spent, 0)[OFFSET(1)] FROM visits", "[…]"),
        (
            "SELECT shop, COUNT(*) AS n FROM visits GROUP BY shop HAVING COUNT(*) > LAG(COUNT(*)) OVER (ORDER BY shop)",
            "HAVING: it comes before windows",
        ),
    ],
)
def test_refusals_offer_the_nearest(sql, why):
    with pytest.raises(dp.DiscreetError) as refused:
        ask(sql)
    assert why in str(refused.value)
