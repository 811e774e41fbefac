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

from ..lazy import lazy_names
from .algebra.statistic import BUILDERS

__getattr__, __dir__, __all__ = lazy_names(__name__, starred=BUILDERS)
