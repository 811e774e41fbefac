"""Questions about private data: a small closed algebra, from SQL or from tables, with one meaning on every store.

Start at `tree` (what can be asked), `expression` and `domain` (what rows say), `tally` (what a store is asked).

>>> import discreet as dp
>>> from discreet.query import count, fingerprint, mean, parse
>>> from discreet.data import Category, Integer, Rows, Schema
>>> people = Schema("people", Rows(), {"age": Integer(0, 120), "region": Category(["N", "S"])})
>>> one = dp.Table(people).where(dp.col("age") >= 18).aggregate(by="region", n=count(), age=mean("age"))
>>> sql = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people WHERE age >= 18 GROUP BY region"
>>> one == parse(sql, {"people": people}), fingerprint(one) == fingerprint(parse(sql, {"people": people}))
(True, True)
"""

from __future__ import annotations

from .algebra.tree import Question
from .python.aggregate import (
    correlation,
    count,
    count_distinct,
    count_people,
    covariance,
    maximum,
    mean,
    median,
    minimum,
    mode,
    quantile,
    standard_deviation,
    sum_of,
    variance,
)
from .python.column import Col, case, col
from .python.table import Table
from .sql.parse import parse
from .text.question import describe, fingerprint

__all__ = [
    "Col",
    "Question",
    "Table",
    "case",
    "col",
    "correlation",
    "count",
    "count_distinct",
    "count_people",
    "covariance",
    "describe",
    "fingerprint",
    "maximum",
    "mean",
    "median",
    "minimum",
    "mode",
    "parse",
    "quantile",
    "standard_deviation",
    "sum_of",
    "variance",
]
