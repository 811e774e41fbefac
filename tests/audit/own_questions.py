"""The project's own SQL as something to audit: every statistic on neighbouring tables, in the tests and at large n."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet.answer import run_plan
from discreet.audit import remembered
from discreet.data import Category, Integer, People, Real, Rows, Schema, Text
from discreet.engines.memory.engine import Memory
from discreet.plan import plan_question
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from discreet.query.sql.parse import parse

ONE, RARE = PureDP(1), ApproxDP(1, "1e-2")
COLUMNS = {
    "x": Integer(0, 10),
    "y": Real(-1, 4, step="1/4"),
    "ward": Category(["A", "B"]),
    "shop": Category(["p", "q", "r"], null_key=True),
    "town": Text(12),
}
UNITS = {
    "rows": Rows(),
    "people": People("id", max_rows=2),
    "groups": People("id", max_rows=4, max_groups=2),
}


def schema(unit: str, neighbours: str = "add-remove") -> Schema:
    return Schema("visits", UNITS[unit], COLUMNS, neighbours=neighbours)


def visit(person: object, *cells: object) -> dict[str, object]:
    """Give one row; cells left out are those of an ordinary visit."""
    usual = (5, 1.0, "A", "p", "Oslo")
    return {"id": person, **dict(zip(COLUMNS, cells + usual[len(cells) :], strict=True))}


PEOPLE = [visit(1), visit(2, 7, 2.0, "B"), visit(3, 2, 0.25, "B", "q"), visit(4, 4, 3.0, "A", "q")]
CROWD = [visit(person) for person in range(30)]
"""So many people of one town that the town is shown."""
COMER = {
    "high": [visit("new", 10, 4.0, "B", "r")],
    "low": [visit("new", 0, -1.0, "A", "r")],
    "out of bounds": [visit("new", 10**9, -1e300)],
    "not a number": [visit("new", math.nan, math.nan)],
    "nothing": [visit("new", None, None, None, None, None)],
    "unknown words": [visit("new", 5, 1.0, "Z", "Z", "Atlantis")],
    "heavy": [visit("new", 10, 4.0, "B", "r")] * 50,
    "heavy everywhere": [
        visit("new", 10, 4.0, ward, shop, f"town {shop}") for ward in "AB" for shop in "pqr"
    ]
    * 4,
}
STATISTICS = {
    "count": "COUNT(*)",
    "count of values": "COUNT(x)",
    "count distinct": "COUNT(DISTINCT shop)",
    "sum": "SUM(y)",
    "mean": "AVG(x)",
    "variance": "VARIANCE(x)",
    "deviation": "STDDEV_POP(y)",
    "median": "MEDIAN(x)",
    "quantile": "QUANTILE(y, 0.9)",
    "least": "MIN(x)",
    "greatest": "MAX(x)",
    "mode": "MODE(shop)",
    "covariance": "COVAR_POP(x, y)",
    "correlation": "CORR(x, y)",
}
WHOLE = {
    "all at once": "SELECT COUNT(*) AS n, SUM(x) AS x, AVG(y) AS y, MODE(ward) AS m FROM visits",
    "by ward": "SELECT ward, COUNT(*) AS n, AVG(x) AS m FROM visits GROUP BY ward",
    "by shop": "SELECT shop, SUM(y) AS s FROM visits GROUP BY shop ORDER BY s DESC LIMIT 2",
    "by two": "SELECT ward, x >= 5 AS high, COUNT(*) AS n FROM visits GROUP BY ward, x >= 5 HAVING COUNT(*) > 0",
    "quartiles": "SELECT QUANTILE(x, 0.25) AS a, MEDIAN(x) AS b, QUANTILE(x, 0.75) AS c FROM visits",
    "median by ward": "SELECT ward, MEDIAN(x) AS m FROM visits GROUP BY ward",
    "chosen keys": "SELECT k.ward, k.shop, COUNT(v.x) AS n, SUM(v.y) AS s FROM visits AS v RIGHT JOIN (VALUES ('A', 'p'), ('B', 'r')) AS k(ward, shop) ON v.ward = k.ward AND v.shop = k.shop GROUP BY k.ward, k.shop",
    "shares": "SELECT ward, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY ward",
    "filtered": "SELECT COUNT(*) AS n, SUM(x) / NULLIF(COUNT(*), 0) AS m FROM visits WHERE y > 0 AND shop <> 'q'",
}
WORKLOADS = {
    "a cube": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY CUBE (ward)",
    "running totals": "SELECT x, SUM(COUNT(*)) OVER (ORDER BY x) AS n FROM visits GROUP BY x",
}
"""Their noise is replayed where they are planned: see tests/workloads."""
OF_PEOPLE = {
    "people": "SELECT COUNT(DISTINCT id) AS n FROM visits",
    "per person": "SELECT AVG(s) AS m FROM (SELECT id, SUM(x) AS s FROM visits GROUP BY id) AS t",
}
UNKNOWN = {
    "unknown towns": "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",
    "unknown pairs": "SELECT town, ward, SUM(x) AS s FROM visits GROUP BY town, ward",
}


ASKED = WHOLE | WORKLOADS | OF_PEOPLE | UNKNOWN


def planned(sql: str, of: Schema, spend: Measure):
    return plan_question(parse(sql, {"visits": of}), spend)


def asking(sql: str, of: Schema, spend: Measure) -> Callable[[list], object]:
    """Plan once, add up once for each data set, then give a fresh answer every time."""
    plan, stores = planned(sql, of, spend), {}

    def run(rows: list) -> object:
        if id(rows) not in stores:
            stores[id(rows)] = rows, remembered(Memory({"visits": rows}))
        return run_plan(plan, stores[id(rows)][1])

    return run


@dataclass(frozen=True)
class QuestionOptions:
    name: str
    sql: str
    unit: str
    comer: str
    spend: Measure = ONE
    neighbours: str = "add-remove"
    samples: int = 500

    @property
    def run(self) -> Callable[[list], object]:
        return asking(self.sql, schema(self.unit, self.neighbours), self.spend)

    @property
    def inputs(self) -> tuple[list, list]:
        people = CROWD if "unknown" in self.name else PEOPLE
        leaver = (
            [] if self.neighbours == "add-remove" else [visit("new", 0, -1.0, "A", "p", "Rome")]
        )
        return people + leaver, people + COMER[self.comer]

    @property
    def person(self) -> str | None:
        """Whose row a row is: its own if rows are the units."""
        return None if self.unit == "rows" else "id"


def asked(name: str, unit: str, comer: str, **more) -> QuestionOptions:
    sql = f"SELECT {STATISTICS[name]} AS v FROM visits" if name in STATISTICS else ASKED[name]
    return QuestionOptions(f"{name}, {unit}, {comer}", sql, unit, comer, **more)


CASES = [
    asked("count", "rows", "high"),
    asked("count", "people", "heavy"),
    asked("count of values", "groups", "heavy everywhere"),
    asked("count distinct", "rows", "high"),
    asked("count distinct", "people", "heavy everywhere"),
    asked("sum", "rows", "high"),
    asked("sum", "rows", "out of bounds"),
    asked("sum", "people", "heavy"),
    asked("sum", "rows", "high", neighbours="replace"),
    asked("mean", "people", "heavy", spend=ZCDP("1/2")),
    asked("variance", "rows", "not a number"),
    asked("deviation", "people", "heavy", neighbours="replace"),
    asked("median", "rows", "high", samples=250),
    asked("quantile", "people", "heavy", samples=250),
    asked("least", "rows", "low", samples=250),
    asked("greatest", "rows", "high", spend=ApproxDP(1, "1e-3"), samples=250),
    asked("mode", "rows", "high"),
    asked("mode", "people", "heavy", neighbours="replace"),
    asked("covariance", "rows", "high"),
    asked("correlation", "people", "heavy"),
    asked("all at once", "people", "heavy"),
    asked("by ward", "people", "heavy everywhere", spend=GaussianDP(1)),
    asked("by ward", "rows", "high", neighbours="replace"),
    asked("by shop", "groups", "heavy everywhere"),
    asked("by shop", "rows", "nothing"),
    asked("by two", "groups", "heavy everywhere", spend=ApproxDP(1, "1e-3")),
    asked("median by ward", "groups", "heavy everywhere", samples=250),
    asked("chosen keys", "people", "heavy everywhere"),
    asked("chosen keys", "rows", "high", neighbours="replace"),
    asked("shares", "rows", "high"),
    asked("a cube", "people", "heavy everywhere", spend=ZCDP("1/2")),
    asked("running totals", "rows", "high"),
    asked("filtered", "rows", "unknown words"),
    asked("people", "people", "heavy"),
    asked("per person", "people", "heavy"),
    asked("unknown towns", "people", "unknown words", spend=RARE, samples=1000),
    asked("unknown towns", "groups", "heavy everywhere", spend=RARE, samples=1000),
    asked("unknown pairs", "rows", "unknown words", spend=RARE, samples=1000),
    asked(
        "unknown towns", "people", "unknown words", spend=RARE, neighbours="replace", samples=1000
    ),
]
