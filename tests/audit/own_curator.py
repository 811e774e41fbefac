"""Whole answers of the project's own curator as something to audit: plan, charge, run, noise, finish, every time."""

import discreet as dp
from audit.own_questions import COMER, CROWD, ONE, PEOPLE, RARE, schema
from discreet.audit import remembered, sql_run

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY ward"
TOWNS = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
HEAVY = PEOPLE, PEOPLE + COMER["heavy everywhere"]
ALONE = CROWD, CROWD + COMER["unknown words"]
STORES = {}


def store_of(rows):
    """Add up once for each data set; the rows are kept, so that no other list takes their place."""
    if id(rows) not in STORES:
        STORES[id(rows)] = rows, remembered(dp.Memory({"visits": rows}))
    return STORES[id(rows)][1]


def maker(unit, budget):
    """Open a curator with a new ledger on a data set."""
    kind = "approximate" if isinstance(budget, dp.ApproxDP) else None
    return lambda rows: dp.Curator(
        store_of(rows), [schema(unit)], dp.open_ledger(":memory:", budget, kind=kind)
    )


CASES = {
    "public keys": (sql_run(maker("groups", ONE), BY_WARD, spend=ONE), ONE, HEAVY),
    "unknown keys": (sql_run(maker("people", RARE), TOWNS, spend=RARE), RARE, ALONE),
    "by error": (
        sql_run(maker("people", dp.PureDP(1)), BY_WARD, error={"n": 40, "s": 400}),
        ONE,
        HEAVY,
    ),
}
