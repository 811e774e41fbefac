"""Questions about private data: a closed algebra, built from SQL or in Python, for every store.

A question means the same on every store: the exact totals are equal to the last digit. Start at
`algebra.tree` (relations and questions), `algebra.expression` and `domains.domain` (values of
rows), and `algebra.tally` (the request that a store gets).

>>> import discreet as dp
>>> from discreet.query import count, fingerprint, mean, parse
>>> from discreet.data import Category, Integer, Rows, Schema
>>> people = Schema("people", Rows(), {"age": Integer(0, 120), "region": Category(["N", "S"])})
>>> one = dp.Table(people).where(dp.col("age") >= 18).aggregate(by="region", n=count(), age=mean("age"))
>>> sql = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM people WHERE age >= 18 GROUP BY region"
>>> one == parse(sql, {"people": people}), fingerprint(one) == fingerprint(parse(sql, {"people": people}))
(True, True)
"""

from ..lazy import lazy_names
from .algebra.statistic import BUILDERS

__getattr__, __dir__, __all__ = lazy_names(__name__, starred=BUILDERS)
