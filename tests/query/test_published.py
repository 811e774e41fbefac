"""SELECT over a published stream: read as the stream's own question, or refused; nothing private is reached."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.query.sql.published import read_published, stream_in

VISITS = dp.Schema(
    "visits",
    dp.Rows(),
    {"day": dp.Date("2027-01-01", "2027-01-31"), "ward": dp.Category(["A", "B"])},
)
SCHEMAS = {"visits": VISITS, "others": dp.Schema("others", dp.Rows(), VISITS.columns)}
INNER = "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward"


def read(sql):
    return read_published(sql, INNER, dp.parse_sql(INNER, SCHEMAS), SCHEMAS, None)


@pytest.mark.parametrize(
    ("names", "sql"),
    [
        (["day", "ward", "n"], "SELECT day, ward, n FROM stream.visits"),
        (["more"], "SELECT s.n + 1 AS more FROM \"stream\".visits AS s WHERE s.ward = 'A'"),
        (
            ["mean"],
            "WITH days AS (SELECT day, SUM(n) AS n FROM STREAM.visits GROUP BY day) SELECT AVG(n) AS mean FROM days",
        ),
    ],
)
def test_is_post_processing_of_the_streams_question(names, sql):
    assert stream_in(sql) == "visits"
    asked, question = dp.parse_sql(INNER, SCHEMAS), read(sql)
    assert (question.rows, question.keys) == (asked.rows, asked.keys)
    assert set(question.statistics) <= set(asked.statistics)
    assert [name for name, _ in question.finish.columns] == names


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT (SELECT SUM(n) FROM stream.visits) AS s, COUNT(*) AS n FROM others", "GROUP BY in a sub-query"),
        ("WITH s AS (SELECT n FROM stream.visits) SELECT COUNT(*) AS n FROM visits", "that stream alone"),
        ("SELECT a.n FROM stream.visits a JOIN others b ON a.day = b.day", "ask for each table"),
    ],
)  # fmt: skip
def test_reads_no_other_table(sql, words):
    with pytest.raises(dp.UnsupportedQuery, match=words):
        read(sql)


def test_two_streams_are_refused_by_name():
    with pytest.raises(
        dp.UnsupportedQuery, match=r"stream\.a and stream\.b.*ask for each by itself"
    ):
        stream_in("SELECT a.n FROM stream.a AS a, stream.b AS b")


def test_too_deep_is_said():
    deep = f"SELECT {'(' * 5_000}n{')' * 5_000} AS n FROM stream.visits"
    for way in (stream_in, read):
        with pytest.raises(dp.UnsupportedQuery, match="deep"):
            way(deep)
